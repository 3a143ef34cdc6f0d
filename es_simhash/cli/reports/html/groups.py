"""The page about all groups: totals, charts, the largest groups, and what was left out."""

from __future__ import annotations

import json
from collections.abc import Iterator

from es_simhash._core.html import Html, element, table
from es_simhash._core.humanize import counted, share, with_error
from es_simhash.cli.reports.group_report import GroupReport, Key, LargeGroup, Setup, key_of, likeness, near
from es_simhash.cli.reports.html.page import chart, differences, header, legend, page, pieces, section
from es_simhash.cli.show.form_detection import forms_sentences
from es_simhash.groups.groups import Group, Member
from es_simhash.plans.explain.text_differences import excerpt

# The length of a group's title, and of the excerpts from canonical texts, and from texts with a shared key.
_TITLE = 90
_EXCERPT = 500
_EXCERPT_OF_KEY = 160
_COMPARED = {"fingerprints": "fingerprints, without reading texts", "texts": "texts"}


def report_page(report: GroupReport) -> str:
    """Return the page."""
    return page(f"Near-duplicates in {report.setup.name}", *_sections(report))


def _sections(report: GroupReport) -> Iterator[Html]:
    yield _header(report)
    yield section("In numbers", _totals(report))
    yield from map(chart, report.charts)
    if report.largest:
        yield section("The largest groups", *_groups(report))
    if report.shared_keys:
        yield section("Text that very many documents share", *_shared_keys(report))
    omissions = [element("li", each) for each in report.counts.notes]
    yield section("Left out", element("ul", omissions) if omissions else element("p", "Nothing."))
    yield section("Settings", _settings(report.setup))


# ---- what it came to


def _header(report: GroupReport) -> Html:
    counts, setup, sentences = report.counts, report.setup, list[str]()
    if counts.groups:
        sentences.append(
            f"{counted(counts.documents - counts.duplicates, 'document')} would remain without duplicates."
        )
    if report.largest:
        sentences.append(f"The largest group has {counted(report.largest[0].size, 'document')}.")
    if report.counts.notes:
        sentences.append("The end of this page lists what is in no group, or was not compared.")
    return header(_headline(report), " ".join(sentences), setup.name, setup.made_at)


def _headline(report: GroupReport) -> str:
    counts = report.counts
    if not counts.documents:
        return "No documents to compare."
    if not counts.groups:
        return f"No near-duplicates among {counted(counts.documents, 'document')}."
    are = "is a duplicate" if counts.duplicates == 1 else "are duplicates"
    of = f"{counts.duplicates:,} of {counted(counts.documents, 'document')}"
    return f"{of} {are}, in {counted(counts.groups, 'group')}."


def _totals(report: GroupReport) -> Html:
    counts = report.counts
    share = f"{counts.duplicates / counts.documents:.1%} of all" if counts.documents else ""
    tiles = [
        ("documents", counts.documents, "that were compared"),
        ("duplicates", counts.duplicates, share),
        ("groups", counts.groups, "connected by near-duplicates"),
        ("remaining", counts.documents - counts.duplicates, "without duplicates"),
        ("pairs of equal texts", counts.identical, "counted with the previous one only"),
        ("pairs of similar texts", counts.near, f"of {counts.compared:,} compared"),
    ]
    made = []
    for name, count, note in tiles:
        small = element("small", note, class_="faint")
        made.append(element("p", element("span", name), element("b", f"{count:,}"), small, class_="tile"))
    return element("div", made, class_="tiles")


# ---- the largest groups


def _groups(report: GroupReport) -> Iterator[Html]:
    """Show canonical documents of the largest groups, and the duplicates least like them."""
    yield element(
        "p",
        "Canonical documents of each group, and the duplicates least like them, with ",
        legend("what only the canonical one has", "what only the duplicate has"),
    )
    forms = forms_sentences(report.forms, report.setup.criteria)
    yield from (element("p", said) for said in (forms, *report.warnings) if said)
    for number, group in enumerate(report.largest):
        yield _group(group, report, is_open=not number)
    if more := report.counts.groups - len(report.largest):
        yield element("p", f"and {counted(more, 'group')} more", class_="faint")


def _group(group: LargeGroup, report: GroupReport, *, is_open: bool) -> Html:
    shown, unshown = group.shown, group.size - len(group.shown.members)
    is_form = shown.canonical.canonical in report.forms
    stand = f"A chain of small changes, with {group.canonicals:,} canonical documents."
    return element(
        "details",
        element(
            "summary",
            element("b", counted(group.size, "document")),
            element("small", " looks like a form", class_="faint") if is_form else "",
            " ",
            _title(shown.canonical, report),
        ),
        element("p", "group ", _group_name(shown.id, report.setup), _farthest(group), class_="faint"),
        element("p", stand) if group.canonicals > 1 else "",
        [_canonical(each, shown, report) for each in shown.members if each.is_canonical],
        element("p", f"and {counted(unshown, 'member')} more", class_="faint") if unshown else "",
        class_="boxed",
        open=is_open,
    )


def _canonical(canonical: Member, group: Group, report: GroupReport) -> Html:
    own = [each for each in group.members if each.canonical == canonical.canonical and each != canonical]
    members = [_member(each, canonical, report) for each in sorted(own, key=likeness)]
    name = _name(*key_of(canonical), report.setup)
    return element("div", element("h3", "canonical: ", name), _excerpt(key_of(canonical), report, _EXCERPT), members)


def _member(member: Member, canonical: Member, report: GroupReport) -> Html:
    similarity = member.similarity
    if similarity is not None:
        alike = f"similarity {with_error(similarity, member.standard_error)}"
    else:
        alike = "" if member.distance is None else _bits_apart(member.distance)
    small = element("small", alike, class_="faint")
    head = element("h3", _name(*key_of(member), report.setup), small)
    first, second = (report.texts.get(key_of(each)) for each in (canonical, member))
    if first is None or second is None:
        return element("div", head, pieces(None))
    return element("div", head, differences(report.setup.scheme, first, second))


def _excerpt(key: Key, report: GroupReport, most: int) -> Html:
    text = report.texts.get(key)
    return pieces(None if text is None else excerpt(report.setup.scheme, text, most))


def _title(canonical: Member, report: GroupReport) -> Html:
    """Return the beginning of the first canonical text, or the document's id."""
    text = report.texts.get(key_of(canonical))
    shown = () if text is None else excerpt(report.setup.scheme, text, _EXCERPT)
    title = " ".join(shown[0].text.split()) if shown else canonical.id
    return element("bdi", f"{title[:_TITLE]} …" if len(title) > _TITLE else title, class_="faint")


def _name(index: str, id_: str, setup: Setup) -> Html:
    """Name a document, with its index if the page is about another one."""
    other = "" if index in ("", setup.name) else element("small", " in ", element("bdi", index), class_="faint")
    return element("span", element("bdi", id_, class_="code"), other)


def _group_name(name: str, setup: Setup) -> Html:
    """Name the group, with a link to its documents if there is such a page."""
    shown = element("bdi", name, class_="code")
    return element("a", shown, href=setup.link(name), rel="noreferrer") if setup.link else shown


def _farthest(group: LargeGroup) -> str:
    """Say how far members are from the documents that stand for them."""
    if group.similarity is not None:
        return f", similarity down to {share(group.similarity)}"
    return "" if group.distance is None else f", up to {_bits_apart(group.distance)}"


def _bits_apart(distance: int) -> str:
    return f"{counted(distance, 'bit')} of the fingerprints {'differs' if distance == 1 else 'differ'}"


# ---- what needs a look


def _shared_keys(report: GroupReport) -> Iterator[Html]:
    yield element(
        "p",
        "Often boilerplate: a footer, a template, an error page. Documents that share it were not compared with all "
        "others that have it.",
    )
    for each in report.shared_keys:
        example = _name(*key_of(each.example), report.setup)
        yield element("p", element("b", counted(each.documents, "document")), ", such as ", example)
        yield _excerpt(key_of(each.example), report, _EXCERPT_OF_KEY)


def _settings(setup: Setup) -> Html:
    scheme, options = setup.scheme, setup.options
    rows: list[tuple[str, str | Html]] = [
        ("documents", setup.name),
        ("texts in", ", ".join(setup.fields) or "all strings of a document"),
        ("preset", scheme.name),
        ("near-duplicates", near(setup.criteria, scheme)),
        ("canonical document", options.canonical.name),
        ("compared", _COMPARED[setup.criteria.decided_by]),
        ("filter", element("code", json.dumps(options.filter, ensure_ascii=False)) if options.filter else "none"),
    ]
    if setup.scope:
        rows.append(("scope", element("code", json.dumps(setup.scope.to_json(), ensure_ascii=False))))
    if options.strip:
        rows.append(("removed from texts", element("code", "  ".join(options.strip))))
    if options.max_bucket is not None:
        rows.append(("compared with a document", f"{counted(options.max_bucket, 'document')} at most"))
    if setup.date_field:
        rows.append(("dates in", setup.date_field))
    return table(["setting", "value"], rows)
