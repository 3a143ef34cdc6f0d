"""The server of the desk, for this machine alone, and its pages.

Every request needs the token, once in the address and then as a cookie that other sites cannot send. The name that a
request calls the server by must be that of this machine, so that no other site can pretend to be it. What changes
something comes from these pages only. Pages load and run nothing but the two files of the desk.
"""

from __future__ import annotations

import hmac
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

from es_simhash._core.html import Html, element, table
from es_simhash._core.humanize import counted, share, shortened
from es_simhash._core.rows import cell
from es_simhash.cli.desk.desk import PAGE, Desk, GroupFilter, MemberRow, Pair, Row, ShownDocument
from es_simhash.cli.reports.explanation_page import side_by_side
from es_simhash.cli.reports.page import style
from es_simhash.documents.decisions import Verdict
from es_simhash.errors import EsSimhashError
from es_simhash.plans.text_differences import changes, difference

_MOST_BYTES = 64 << 10
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_SAFE = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_FORM = "application/x-www-form-urlencoded"
_HTML = "text/html; charset=utf-8"

Query = Mapping[str, str]


class _RefusedError(Exception):
    """A request that is not answered, with its status and a sentence."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class DeskServer(ThreadingHTTPServer):
    """The desk at a port of this machine; ``address`` is what to open in a browser."""

    daemon_threads = True

    def __init__(self, desk: Desk) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.desk, self.token = desk, secrets.token_urlsafe(24)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that went away."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def hosts(self) -> set[str]:
        """The names that requests may call it by."""
        return {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}

    @property
    def cookie(self) -> str:
        """The name of the cookie, which is that of this desk among others of the machine."""
        return f"desk-{self.server_port}"

    @property
    def address(self) -> str:
        """The address with its token."""
        return f"http://127.0.0.1:{self.server_port}/?token={self.token}"


def _review(desk: Desk) -> Html:
    answers = desk.answers()
    left = len(desk.queue) - len(answers.are_right)
    what = f"Review {counted(left, 'pair')}" if left else "All pairs of the queue are judged"
    return element(
        "p", element("a", what, href="/review", class_="button", data_key="r"), " ", element("span", answers.sentence)
    )


class _Handler(BaseHTTPRequestHandler):
    server: DeskServer
    timeout = 30

    def do_GET(self) -> None:
        self._answered(self._get)

    def do_POST(self) -> None:
        self._answered(self._post)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: addresses have the token."""

    def _answered(self, answer: Callable[[], None]) -> None:
        try:
            if self.headers.get("Host") not in self.server.hosts:
                raise _RefusedError(HTTPStatus.MISDIRECTED_REQUEST, "This is not the name of the desk.")
            answer()
        except _RefusedError as error:
            title = "Not found" if error.status == HTTPStatus.NOT_FOUND else "Refused"
            self._page(message_page(title, str(error)), error.status)
        except EsSimhashError as error:
            self._page(message_page("That failed", str(error)), HTTPStatus.BAD_GATEWAY)
        except (ValueError, LookupError):
            self._page(message_page("Not found", "There is nothing at this address."), HTTPStatus.NOT_FOUND)

    # ---- who asks

    def _check_token(self) -> None:
        cookies = SimpleCookie()
        try:
            cookies.load(self.headers.get("Cookie", ""))
        except CookieError:
            cookies.clear()
        given = cookies.get(self.server.cookie)
        if given is None or not self._is_token(given.value):
            raise _RefusedError(HTTPStatus.FORBIDDEN, "Open the address that es-simhash show has printed.")

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.server.token.encode())

    # ---- pages

    def _get(self) -> None:
        path, query = self._address()
        if path == "/" and "token" in query:
            if not self._is_token(query["token"]):
                raise _RefusedError(HTTPStatus.FORBIDDEN, "Open the address that es-simhash show has printed.")
            cookie = f"{self.server.cookie}={self.server.token}; HttpOnly; SameSite=Strict; Path=/"
            to = f"/find?{urlencode({'id': query['id']})}" if "id" in query else "/"
            self._redirect(to, {"Set-Cookie": cookie})
            return
        self._check_token()
        if path in _FILES:
            kind, content = _FILES[path]()
            self._send(content.encode(), kind)
        elif path == "/find":
            self._find(query["id"])
        elif path == "/review" and "at" not in query:
            self._next(0)
        else:
            self._page(self._PAGES[path](self, query))

    def _groups(self, query: Query) -> str:
        wanted = GroupFilter(
            size=int(query.get("size") or 2),
            low=float(query.get("low") or 0),
            high=float(query.get("high") or 1),
            value=query.get("value", ""),
            page=max(0, int(query.get("page") or 0)),
        )
        return groups_page(self.server.desk, wanted)

    def _group(self, query: Query) -> str:
        return group_page(self.server.desk, _natural(query["n"]), _natural(query.get("page", "0")))

    def _pair(self, query: Query) -> str:
        desk = self.server.desk
        return pair_page(desk, desk.pair(_natural(query["a"]), _natural(query["b"])))

    def _review(self, query: Query) -> str:
        return queue_page(self.server.desk, _natural(query["at"]))

    _PAGES: ClassVar[Mapping[str, Callable[[_Handler, Query], str]]] = {
        "/": _groups,
        "/group": _group,
        "/pair": _pair,
        "/review": _review,
    }

    def _find(self, id_: str) -> None:
        found = self.server.desk.group_of(id_)
        if found is None:
            raise _RefusedError(HTTPStatus.NOT_FOUND, f"The document {id_!r} is in no group.")
        self._redirect("/group?n={}&page={}".format(*found))

    def _next(self, place: int) -> None:
        desk = self.server.desk
        following = desk.queue.next_after(place, set(desk.answers().are_right))
        if following is None and self.command == "GET":
            self._page(finished_page(desk))
        else:
            self._redirect("/review" if following is None else f"/review?at={following}")

    # ---- decisions

    def _post(self) -> None:
        self._check_token()
        if self.headers.get("Origin") not in {f"http://{host}" for host in self.server.hosts}:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "Decisions are taken from the pages of the desk only.")
        if self.headers.get_content_type() != _FORM:
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "This is not a form of the desk.")
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= _MOST_BYTES:
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The form is too long.")
        form = _first_values(self.rfile.read(length).decode())
        path, _ = self._address()
        if path == "/undo":
            self._redirect(self.server.desk.undo())
        elif path == "/decide":
            self._decide(form)
        else:
            raise LookupError(path)

    def _decide(self, form: Query) -> None:
        desk, verdict = self.server.desk, form["verdict"]
        a, b = _natural(form["a"]), _natural(form["b"])
        place = _natural(form["at"]) if "at" in form else None
        page = f"/pair?a={a}&b={b}" if place is None else f"/review?at={place}"
        said: dict[str, Verdict] = dict.fromkeys(("first", "second"), "canonical")
        said |= {"same": "same", "different": "different"}
        desk.decide([b, a] if verdict == "second" else [a, b], said[verdict], page)
        if place is None or verdict in ("first", "second"):
            self._redirect(page)
        else:
            self._next(place + 1)

    # ---- answers

    def _address(self) -> tuple[str, Query]:
        address = urlsplit(self.path)
        return address.path, _first_values(address.query)

    def _page(self, text: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(text.encode(errors="replace"), _HTML, status)

    def _redirect(self, to: str, headers: Mapping[str, str] | None = None) -> None:
        self._send(b"", _HTML, HTTPStatus.SEE_OTHER, {"Location": to, **(headers or {})})

    def _send(
        self,
        content: bytes,
        kind: str,
        status: HTTPStatus = HTTPStatus.OK,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        own = {"Content-Type": kind, "Content-Length": str(len(content))}
        for name, value in {**_SAFE, **own, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def _first_values(text: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True, max_num_fields=20).items()}


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise LookupError(text)
    return number


def _own_file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


_FILES: Mapping[str, Callable[[], tuple[str, str]]] = {
    "/desk.css": lambda: ("text/css; charset=utf-8", style() + _own_file("desk.css")),
    "/desk.js": lambda: ("text/javascript; charset=utf-8", _own_file("desk.js")),
}

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


def groups_page(desk: Desk, wanted: GroupFilter) -> str:
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


def _filters(wanted: GroupFilter) -> Html:
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


def _text(shown: ShownDocument) -> Html:
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
