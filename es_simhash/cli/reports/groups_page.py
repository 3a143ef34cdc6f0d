"""The page about all groups: totals, charts, the largest and the most doubtful groups, and what was left out."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from es_simhash._core.html import Html, element, table
from es_simhash._core.humanize import counted, share, with_error
from es_simhash.cli.reports.group_report import (
    GroupingSettings,
    GroupReport,
    Key,
    LargeGroup,
    key_of,
    likeness,
    nearness_in_words,
)
from es_simhash.cli.reports.page import chart, contents, differences, header, legend, page, pieces, section
from es_simhash.cli.show.groups import forms_sentences
from es_simhash.groups.groups import Group, Member
from es_simhash.plans.text_differences import excerpt

# The length of a group's title, and of the excerpts from canonical texts, and from texts with a shared key.
_TITLE = 90
_EXCERPT = 500
_EXCERPT_OF_KEY = 160
# Of groups; those that would make the page longer are counted only.
_MOST_CHARACTERS = 4_000_000
_GROUPS, _SHARED, _LEFT_OUT = "Groups", "Text that very many documents share", "Left out"
_COMPARED = {"fingerprints": "fingerprints, without reading texts", "texts": "texts"}


def report_page(report: GroupReport) -> str:
    """Return the page."""
    script = _script() if report.largest else ""
    return page(f"Near-duplicates in {report.setup.name}", *_sections(report), script=script)


@cache
def _script() -> str:
    """Return what searches and sorts the groups of the page."""
    return files(__package__).joinpath("groups.js").read_text(encoding="utf-8")


def _sections(report: GroupReport) -> Iterator[Html]:
    yield _header(report)
    titles = ["In numbers", *(each.title for each in report.charts)]
    titles += [_GROUPS] if report.largest else []
    titles += [_SHARED] if report.shared_keys else []
    yield contents([*titles, _LEFT_OUT, "Settings"])
    yield section("In numbers", _totals(report))
    yield from map(chart, report.charts)
    if report.largest:
        yield section(_GROUPS, *_groups(report))
    if report.shared_keys:
        yield section(_SHARED, *_shared_keys(report))
    omissions = [element("li", each) for each in report.counts.notes]
    yield section(_LEFT_OUT, element("ul", omissions) if omissions else element("p", "Nothing."))
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


# ---- the groups


def _groups(report: GroupReport) -> Iterator[Html]:
    """Show canonical documents of groups, the duplicates least like them, and the names of all others."""
    yield element(
        "p",
        "Canonical documents of each group, and the duplicates least like them, with ",
        legend("what only the canonical one has", "what only the duplicate has"),
    )
    forms = forms_sentences(report.forms, report.setup.criteria)
    yield from (element("p", said) for said in (forms, *report.warnings) if said)
    yield element("p", "To decide pair by pair: ", element("code", _desk(report.setup.name)))
    yield _controls()
    made = _made(report)
    yield element("div", made, id="list")
    if more := report.counts.groups - len(made):
        yield element("p", f"and {counted(more, 'group')} more", class_="faint")


def _desk(name: str) -> str:
    """Return the command that opens the desk for review; of several files it shows one at a time."""
    return f"es-simhash show {'FILE' if ', ' in name else shlex.quote(name)}"


def _controls() -> Html:
    """Show the search and the order; the script of the page unhides them."""
    orders = {"size": "largest first", "doubt": "most doubtful first"}
    options = [element("option", text, value=value) for value, text in orders.items()]
    return element(
        "p",
        element("label", "Search ", element("input", type="search", id="search")),
        " ",
        element("label", "Order ", element("select", options, id="order")),
        " ",
        element("span", id="found", role="status", class_="faint"),
        id="controls",
        hidden=True,
    )


def _made(report: GroupReport) -> list[Html]:
    """Return the groups, as many as the page has room for."""
    by_doubt = sorted(range(len(report.largest)), key=lambda number: report.largest[number].doubt)
    ranks = {number: rank for rank, number in enumerate(by_doubt)}
    made, length = list[Html](), 0
    for number, group in enumerate(report.largest):
        shown = _group(group, report, is_open=not number, ranks=(number, ranks[number]))
        length += len(shown)
        if made and length > _MOST_CHARACTERS:
            break
        made.append(shown)
    return made


def _group(group: LargeGroup, report: GroupReport, *, is_open: bool, ranks: tuple[int, int]) -> Html:
    shown, unshown = group.shown, group.size - len(group.shown.members) - len(group.named)
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
        _named(group, report) if group.named else "",
        element("p", f"and {counted(unshown, 'member')} more", class_="faint") if unshown else "",
        class_="boxed",
        open=is_open,
        data_size=str(ranks[0]),
        data_doubt=str(ranks[1]),
    )


def _named(group: LargeGroup, report: GroupReport) -> Html:
    """Show other members by name and similarity, folded."""
    rows = [
        element("li", _name(*key_of(each), report.setup), " ", element("small", _alike(each), class_="faint"))
        for each in group.named
    ]
    return element("details", element("summary", counted(len(rows), "other member")), element("ul", rows))


def _canonical(canonical: Member, group: Group, report: GroupReport) -> Html:
    own = [each for each in group.members if each.canonical == canonical.canonical and each != canonical]
    members = [_member(each, canonical, report) for each in sorted(own, key=likeness)]
    name = _name(*key_of(canonical), report.setup)
    return element("div", element("h3", "canonical: ", name), _excerpt(key_of(canonical), report, _EXCERPT), members)


def _member(member: Member, canonical: Member, report: GroupReport) -> Html:
    small = element("small", _alike(member), class_="faint")
    head = element("h3", _name(*key_of(member), report.setup), small)
    first, second = (report.texts.get(key_of(each)) for each in (canonical, member))
    if first is None or second is None:
        return element("div", head, pieces(None))
    return element("div", head, differences(report.setup.scheme, first, second))


def _alike(member: Member) -> str:
    if member.is_canonical:
        return "canonical"
    if member.similarity is not None:
        return f"similarity {with_error(member.similarity, member.standard_error)}"
    return "" if member.distance is None else _bits_apart(member.distance)


def _excerpt(key: Key, report: GroupReport, most: int) -> Html:
    text = report.texts.get(key)
    return pieces(None if text is None else excerpt(report.setup.scheme, text, most))


def _title(canonical: Member, report: GroupReport) -> Html:
    """Return the beginning of the first canonical text, or the document's id."""
    text = report.texts.get(key_of(canonical))
    shown = () if text is None else excerpt(report.setup.scheme, text, _EXCERPT)
    title = " ".join(shown[0].text.split()) if shown else canonical.id
    return element("bdi", f"{title[:_TITLE]} …" if len(title) > _TITLE else title, class_="faint")


def _name(index: str, id_: str, setup: GroupingSettings) -> Html:
    """Name a document, with its index if the page is about another one."""
    other = "" if index in ("", setup.name) else element("small", " in ", element("bdi", index), class_="faint")
    return element("span", element("bdi", id_, class_="code"), other)


def _group_name(name: str, setup: GroupingSettings) -> Html:
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


def _settings(setup: GroupingSettings) -> Html:
    scheme, options = setup.scheme, setup.options
    rows: list[tuple[str, str | Html]] = [
        ("documents", setup.name),
        ("texts in", ", ".join(setup.fields) or "all strings of a document"),
        ("preset", scheme.name),
        ("near-duplicates", nearness_in_words(setup.criteria, scheme)),
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
