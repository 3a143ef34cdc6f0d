"""The pages of the desk: all groups, one group, two documents, and the queue of pairs to judge."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from es_simhash._core.html import Html, element, table
from es_simhash._core.humanize import counted, share, shortened
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import cell
from es_simhash.cli.desk.desk import Desk, Pair, Row, Wanted
from es_simhash.cli.reports.html.explanation import side_by_side
from es_simhash.plans.explain.text_differences import changes, difference

# Of a text in a list.
_BEGINNING = 120
# Longer texts are cut before they are aligned word by word.
_MOST_CHARACTERS = 200_000

_DIFFERENT, _SAME = "different", "same"


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
        _more(wanted, len(rows), total),
    )


def _row(row: Row) -> list[str | Html]:
    link = element("a", f"group {row.number + 1:,}", href=f"/group?n={row.number}")
    similarity = "" if row.similarity is None else share(row.similarity)
    text = element("bdi", _beginning(row.text))
    return [link, f"{row.size:,}", similarity, element("bdi", row.name), element("div", text, _parts(row.parts))]


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


def _more(wanted: Wanted, shown: int, total: int) -> Html:
    pages = {"Earlier groups": wanted.page - 1, "More groups": wanted.page + 1}
    last = (total - 1) // 50
    links = [element("a", name, href=_at(wanted, page)) for name, page in pages.items() if 0 <= page <= last]
    return element("nav", *[part for link in links for part in (link, " ")], aria_label="pages") if links else Html("")


def _at(wanted: Wanted, page: int) -> str:
    return "/?" + urlencode(
        {"size": wanted.size, "low": wanted.low, "high": wanted.high, "value": wanted.value, "page": page}
    )


def group_page(desk: Desk, number: int) -> str:
    """Return the page of one group with all its members."""
    members = desk.members(number)
    names = {position: name for position, name, _, _ in members}
    rows: list[list[str | Html]] = []
    for position, name, canonical, similarity in members:
        is_canonical = position == canonical
        compare = element("a", "compare", href=f"/pair?a={canonical}&b={position}")
        rows.append(
            [
                element("bdi", name),
                "canonical" if is_canonical else element("bdi", names.get(canonical, "")),
                "" if is_canonical or similarity is None else share(similarity),
                "" if is_canonical else compare,
            ]
        )
    return _page(
        f"Group {number + 1}",
        element("h1", f"Group {number + 1:,} of {desk.total:,}: {counted(len(members), 'document')}"),
        element("p", element("a", "All groups", href="/", data_key="g")),
        table(["document", "duplicate of", "similarity", ""], rows),
    )


def queue_page(desk: Desk, place: int) -> str:
    """Return the page that asks about one pair of the queue."""
    answers = desk.answers()
    pair = desk.pair_at(place)
    head = f"Pair {place + 1:,} of {len(desk.queue):,}: is the second a duplicate of the first?"
    moves = [
        element("a", "← previous", href=f"/review?at={max(0, place - 1)}", data_key="ArrowLeft"),
        element("a", "skip → (x)", href=f"/review?at={(place + 1) % len(desk.queue)}", data_key="x"),
        element("a", "all groups (g)", href="/", data_key="g"),
    ]
    undo = _form("/undo", [element("button", "undo (u)", data_key="u")]) if desk.made else ""
    return _page(
        head,
        element("h1", head),
        element("p", answers.sentence, role="status"),
        _ask(pair, place),
        element("nav", [part for link in moves for part in (link, " ")], undo, aria_label="queue"),
        *_shown(desk, pair),
    )


def pair_page(desk: Desk, pair: Pair) -> str:
    """Return the page that compares two documents, and asks about them."""
    return _page(
        "Two documents",
        element("h1", "Two documents"),
        _ask(pair, None),
        element("p", element("a", "All groups (g)", href="/", data_key="g")),
        *_shown(desk, pair),
    )


def finished_page(desk: Desk) -> str:
    """Return the page for when all pairs of the queue are judged."""
    text = desk.answers().sentence if len(desk.queue) else "There are no duplicates to judge."
    return _page(
        "Review",
        element("h1", "All pairs are judged" if len(desk.queue) else "Nothing to review"),
        element("p", text, role="status"),
        element("p", element("a", "All groups", href="/", data_key="g")),
    )


def message_page(title: str, text: str) -> str:
    """Return a page that says what went wrong."""
    return _page(title, element("h1", title), element("p", text), element("p", element("a", "All groups", href="/")))


def _ask(pair: Pair, place: int | None) -> Html:
    answers = {
        _SAME: "same (s)",
        _DIFFERENT: "different (d)",
        "first": "the first stands for both (1)",
        "second": "the second stands for both (2)",
    }
    keys = {_SAME: "s", _DIFFERENT: "d", "first": "1", "second": "2"}
    buttons = [
        element("button", text, name="verdict", value=value, data_key=keys[value]) for value, text in answers.items()
    ]
    first, second = pair.positions
    hidden = {"a": str(first), "b": str(second), **({} if place is None else {"at": str(place)})}
    inputs = [element("input", type="hidden", name=name, value=value) for name, value in hidden.items()]
    return _form("/decide", [*inputs, *buttons])


def _form(action: str, content: list[Html]) -> Html:
    return element("form", content, action=action, method="post", class_="answers")


def _shown(desk: Desk, pair: Pair) -> Iterator[Html]:
    a, b = (text[:_MOST_CHARACTERS] for text in pair.texts)
    yield element("p", _sentence(desk, pair, a, b))
    yield from (element("p", said, class_="said") for said in pair.said)
    if any(pair.parts):
        names = dict.fromkeys([*pair.parts[0], *pair.parts[1]])
        rows = [[name, *(element("bdi", cell(part.get(name))) for part in pair.parts)] for name in names]
        yield table(["field", *pair.names], rows)
    yield element("section", side_by_side(difference(desk.settings, (a, b)), pair.names), aria_label="both texts")


def _sentence(desk: Desk, pair: Pair, a: str, b: str) -> str:
    if a == b:
        return "The texts are the same."
    said = changes(desk.settings, (a, b)).sentence
    if pair.similarity is None:
        return f"{said[:1].upper()}{said[1:]}."
    threshold = "" if desk.threshold is None else f", threshold {desk.threshold:g}"
    return f"Similarity {share(pair.similarity, desk.threshold)}{threshold}: {said}."


def _parts(parts: Json) -> Html:
    said = " · ".join(shortened(cell(value)) for value in parts.values() if value not in (None, ""))
    return element("div", element("bdi", said), class_="faint") if said else Html("")


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
