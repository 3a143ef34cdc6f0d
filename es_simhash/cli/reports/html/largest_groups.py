"""The largest groups on the page: canonical documents, and the duplicates least like them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from es_simhash._core.html import Html, element
from es_simhash._core.humanize import counted, with_error
from es_simhash.cli.reports.groups.collector import GroupReport, Setup, ShownCanonical, ShownGroup, ShownMember
from es_simhash.cli.show.forms import forms_sentences
from es_simhash.plans.explain.excerpts import Piece

# The length of a group's title.
_TITLE = 90


def groups(report: GroupReport) -> Iterator[Html]:
    """Yield each group."""
    yield element(
        "p",
        "Canonical documents of each group, and the duplicates least like them, with ",
        element("del", "what only the canonical one has"),
        " and ",
        element("ins", "what only the duplicate has"),
        ".",
    )
    if said := forms_sentences(report.forms, report.setup.criteria):
        yield element("p", said)
    for number, group in enumerate(report.largest):
        yield _group(group, report.setup, is_open=not number)
    if more := report.counts.groups - len(report.largest):
        yield element("p", f"and {counted(more, 'group')} more", class_="faint")


def name_of(index: str, id_: str, setup: Setup) -> Html:
    """Name a document, with its index if the page is about another one."""
    other = "" if index in ("", setup.name) else element("small", " in ", element("bdi", index), class_="faint")
    return element("span", element("bdi", id_, class_="code"), other)


def pieces(shown: Sequence[Piece] | None) -> Html:
    """Show the pieces of a text."""
    if shown is None:
        return element("p", "Its text is missing or cannot be read.", class_="faint")
    return element("p", [_piece(piece) for piece in shown], class_="text", dir="auto")


def _group(group: ShownGroup, setup: Setup, *, is_open: bool) -> Html:
    stand = f"A chain: {group.canonicals:,} documents stand for themselves." if group.canonicals > 1 else ""
    form = element("small", " looks like a form", class_="faint") if group.is_form else ""
    more = f"and {counted(group.unshown, 'member')} more" if group.unshown else ""
    return element(
        "details",
        element("summary", element("b", counted(group.size, "document")), form, " ", _title(group)),
        element("p", "group ", _group_name(group.id, setup), _farthest(group), class_="faint"),
        element("p", stand) if stand else "",
        [_canonical(each, setup) for each in group.shown],
        element("p", more, class_="faint") if more else "",
        class_="group",
        open=is_open,
    )


def _canonical(shown: ShownCanonical, setup: Setup) -> Html:
    name = name_of(shown.member.index, shown.member.id, setup)
    head = element("h3", "canonical: ", name)
    return element("div", head, pieces(shown.excerpt), [_member(each, setup) for each in shown.duplicates])


def _group_name(name: str, setup: Setup) -> Html:
    """Name the group, with a link to its documents if there is such a page."""
    shown = element("bdi", name, class_="code")
    return element("a", shown, href=setup.link(name), rel="noreferrer") if setup.link else shown


def _title(group: ShownGroup) -> Html:
    """Return the beginning of the first canonical text, or the document's id."""
    first = group.shown[0]
    text = " ".join(first.excerpt[0].text.split()) if first.excerpt else first.member.id
    return element("bdi", f"{text[:_TITLE]} …" if len(text) > _TITLE else text, class_="faint")


def _farthest(group: ShownGroup) -> str:
    """Say how far members are from the documents that stand for them."""
    text = ""
    if group.similarity is not None:
        text += f", similarity down to {group.similarity:.2f}"
    if group.distance is not None:
        text += f", up to {counted(group.distance, 'bit')} apart"
    return text


def _member(shown: ShownMember, setup: Setup) -> Html:
    member = shown.member
    similarity = member.similarity
    near = [] if similarity is None else [f"similarity {with_error(similarity, member.standard_error, 2)}"]
    near += [] if member.distance is None else [counted(member.distance, "bit")]
    head = element(
        "h3",
        name_of(member.index, member.id, setup),
        element("small", ", ".join(near), class_="faint"),
    )
    return element("div", head, _changes(shown), class_="member")


def _changes(shown: ShownMember) -> Html:
    if shown.is_same:
        return element("p", "The same text.", class_="faint")
    if shown.changes is not None and not shown.changes:
        return element("p", "The same text, except for differences that the scheme ignores.", class_="faint")
    return pieces(shown.changes)


def _piece(piece: Piece) -> str | Html:
    if piece.kind == "removed":
        return element("del", piece.text)
    if piece.kind == "added":
        return element("ins", piece.text)
    if piece.kind == "both":
        return piece.text
    what = "the same" if piece.kind == "same" else "more"
    return element("small", f" … {counted(piece.left_out, 'character')} {what} … ", class_="faint")
