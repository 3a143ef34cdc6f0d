"""The pages of the desk: all groups, one group, two documents, and the queue of pairs to judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from urllib.parse import urlencode

from es_simhash._core.html import Html, element, table
from es_simhash._core.humanize import counted, share, shortened
from es_simhash._core.rows import cell
from es_simhash.cli.desk.desk import PAGE, Desk, MemberRow, Pair, Row, Shown, Wanted
from es_simhash.cli.reports.html.explanation import side_by_side
from es_simhash.plans.explain.text_differences import changes, difference

# Of a text in a list.
_BEGINNING = 120
# Longer texts are cut before they are aligned word by word.
_MOST_CHARACTERS = 200_000

# Each with its key.
_ANSWERS = (
    ("same", "s", "same"),
    ("different", "d", "different"),
    ("first", "1", "the first stands for both"),
    ("second", "2", "the second stands for both"),
)


def groups_page(desk: Desk, wanted: Wanted) -> str:
    """Return the page that lists groups."""
    rows, total = desk.rows(wanted)
    numbers = f"{counted(total, 'group')} of {desk.total:,}" if total != desk.total else counted(total, "group")
    shown = table(["group", "documents", "lowest similarity", "canonical document", "text"], map(_row, rows))
    return _page(
        f"Groups in {desk.name}",
        element("h1", "Groups in ", element("bdi", desk.name)),
        _review(desk),
        _filters(wanted),
        element("p", f"{numbers}, the largest first.", role="status"),
        shown if rows else element("p", "No group is like this. Widen the filter."),
        _pages("groups", "/", asdict(wanted), wanted.page, total),
    )


def _row(row: Row) -> list[str | Html]:
    link = element("a", f"group {row.number + 1:,}", href=f"/group?n={row.number}")
    similarity = "" if row.similarity is None else share(row.similarity)
    return [link, f"{row.size:,}", similarity, element("bdi", row.canonical.name), _text(row.canonical)]


def _review(desk: Desk) -> Html:
    answers = desk.answers()
    left = len(desk.queue) - len(answers.are_right)
    what = f"Review {counted(left, 'pair')}" if left else "All pairs of the queue are judged"
    return element(
        "p", element("a", what, href="/review", class_="button", data_key="r"), " ", element("span", answers.sentence)
    )


def _filters(wanted: Wanted) -> Html:
    fields = [
        _input("size", "at least this many documents", str(wanted.size), type="number", min="2"),
        _input("low", "similarity from", f"{wanted.low:g}", type="number", min="0", max="1", step="0.01"),
        _input("high", "to", f"{wanted.high:g}", type="number", min="0", max="1", step="0.01"),
        _input("value", "with this value in a shown field, such as a source", wanted.value, type="text"),
        element("button", "Filter"),
    ]
    find = element(
        "form", _input("id", "find the group of a document", "", type="text"), element("button", "Find"), action="/find"
    )
    return element("div", element("form", fields, action="/", class_="filters"), find)


def _input(name: str, label: str, value: str, **attributes: str) -> Html:
    return element("label", label, " ", element("input", name=name, value=value, **attributes))


def _pages(what: str, address: str, query: Mapping[str, object], page: int, total: int) -> Html:
    """Make the links to the first page, the one before, the next and the last."""
    last = (total - 1) // PAGE
    wanted = {f"First {what}": 0, f"Earlier {what}": page - 1, f"More {what}": page + 1, f"Last {what}": last}
    links = [
        element("a", name, href=f"{address}?{urlencode({**query, 'page': each})}")
        for name, each in wanted.items()
        if 0 <= each <= last and each != page
    ]
    return element("nav", links, aria_label="pages") if links else Html("")


def group_page(desk: Desk, number: int, page: int = 0) -> str:
    """Return a page of the members of a group."""
    members, total = desk.members(number, page)
    first, size = page * PAGE + 1, counted(total, "document")
    last = first + len(members) - 1
    shown = f"Documents {first:,} to {last:,} of {total:,}, as they were found; what was decided stands with each."
    return _page(
        f"Group {number + 1}",
        element("h1", f"Group {number + 1:,} of {desk.total:,}: {size}"),
        element("p", shown, role="status"),
        _nav(desk),
        table(["document", "duplicate of", "similarity", "compare", "text"], map(_member, members)),
        _pages("documents", "/group", {"n": number}, page, total),
    )


def _member(row: MemberRow) -> list[str | Html]:
    name, other = row.document.name, row.canonical_name
    shown = element("div", _text(row.document), _said(row.said))
    if row.position == row.canonical:
        return [element("bdi", name), "canonical", "", "", shown]
    similarity = "" if row.similarity is None else share(row.similarity)
    pair = f"/pair?a={row.canonical}&b={row.position}"
    compare = element("a", "compare", href=pair, aria_label=f"compare {other} and {name}")
    return [element("bdi", name), element("bdi", other), similarity, compare, shown]


def queue_page(desk: Desk, place: int) -> str:
    """Return the page that asks about one pair of the queue."""
    pair, total = desk.pair_at(place), len(desk.queue)
    head = f"Pair {place + 1:,} of {total:,}: is the second a duplicate of the first?"
    moves = [
        element("a", "← previous", href=f"/review?at={max(0, place - 1)}", data_key="ArrowLeft"),
        element("a", "skip → (x)", href=f"/review?at={(place + 1) % total}", data_key="x"),
    ]
    return _judging(desk, head, desk.answers().sentence, pair, moves, {"at": str(place)})


def pair_page(desk: Desk, pair: Pair) -> str:
    """Return the page that compares two documents, and asks about them."""
    return _judging(desk, "Two documents", "", pair, [], {})


def _judging(desk: Desk, head: str, sentence: str, pair: Pair, moves: list[Html], at: dict[str, str]) -> str:
    group = [] if pair.group < 0 else [element("a", "its group", href=f"/group?n={pair.group}")]
    return _page(
        head,
        element("h1", head),
        _status(desk, sentence),
        _ask(pair, at),
        _nav(desk, *moves, *group),
        *_shown(desk, pair),
    )


def finished_page(desk: Desk) -> str:
    """Return the page for when all pairs of the queue are judged."""
    text = desk.answers().sentence if len(desk.queue) else "There are no duplicates to judge."
    title = "All pairs are judged" if len(desk.queue) else "Nothing to review"
    return _page("Review", element("h1", title), _status(desk, text), _nav(desk))


def message_page(title: str, text: str) -> str:
    """Return a page that says what went wrong."""
    return _page(title, element("h1", title), element("p", text), element("p", element("a", "All groups", href="/")))


def _status(desk: Desk, sentence: str) -> Html:
    # Only the first page after a decision says that it is saved.
    said, desk.kept = f"{desk.kept} {sentence}".strip(), ""
    return element("p", said, role="status")


def _said(sentences: Iterable[str]) -> list[Html]:
    return [element("p", each, class_="said") for each in sentences]


def _nav(desk: Desk, *links: Html) -> Html:
    undo = [_form("/undo", [element("button", "undo (u)", data_key="u")])] if desk.made else []
    return element("nav", links, element("a", "all groups (g)", href="/", data_key="g"), undo, aria_label="desk")


def _ask(pair: Pair, at: dict[str, str]) -> Html:
    buttons = [
        element("button", f"{text} ({key})", name="verdict", value=value, data_key=key) for value, key, text in _ANSWERS
    ]
    hidden = dict(zip("ab", map(str, pair.positions), strict=True)) | at
    inputs = [element("input", type="hidden", name=name, value=value) for name, value in hidden.items()]
    return _form("/decide", [*inputs, *buttons])


def _form(action: str, content: list[Html]) -> Html:
    return element("form", content, action=action, method="post", class_="answers")


def _shown(desk: Desk, pair: Pair) -> Iterator[Html]:
    a, b = (each.text[:_MOST_CHARACTERS] for each in pair.documents)
    names, (own, others) = [each.name for each in pair.documents], (each.parts for each in pair.documents)
    yield element("p", _sentence(desk, pair, a, b))
    yield from _said(pair.said)
    if own or others:
        rows = [[name, *(element("bdi", cell(each.get(name))) for each in (own, others))] for name in {**own, **others}]
        yield table(["field", *names], rows)
    yield element("section", side_by_side(difference(desk.settings, (a, b)), names), aria_label="both texts")


def _sentence(desk: Desk, pair: Pair, a: str, b: str) -> str:
    if a == b:
        return "The texts are the same."
    said = changes(desk.settings, (a, b)).sentence
    if pair.similarity is None:
        return f"{said[:1].upper()}{said[1:]}."
    threshold = "" if desk.threshold is None else f", threshold {desk.threshold:g}"
    return f"Similarity {share(pair.similarity, desk.threshold)}{threshold}: {said}."


def _text(shown: Shown) -> Html:
    said = " · ".join(shortened(cell(value)) for value in shown.parts.values() if value not in (None, ""))
    parts = element("div", element("bdi", said), class_="faint") if said else Html("")
    return element("div", element("bdi", _beginning(shown.text)), parts)


def _beginning(text: str) -> str:
    words = " ".join(text[: 2 * _BEGINNING].split())
    return f"{words[:_BEGINNING]} …" if len(words) > _BEGINNING else words


def _page(title: str, *content: Html | str) -> str:
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("link", rel="stylesheet", href="/desk.css"),
        element("script", src="/desk.js", defer=True),
    ]
    body = element("body", element("main", *content))
    return f"<!doctype html>\n{element('html', element('head', head), body, lang='en')}\n"
