"""The desk over HTTP, on this machine alone, for who has the address with its token.

Every request needs the token, once in the address and then as a cookie that other sites cannot send. The name that a
request calls the server by must be that of this machine, so that no other site can pretend to be it. What changes
something comes from these pages only. Pages load and run nothing but the two files of the desk.
"""

from __future__ import annotations

import hmac
import secrets
import sys
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

from es_simhash.cli.desk import pages
from es_simhash.cli.desk.desk import Desk, Wanted
from es_simhash.cli.reports.html.page import style
from es_simhash.documents.decisions import Verdict
from es_simhash.errors import EsSimhashError

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
            self._page(pages.message_page(title, str(error)), error.status)
        except EsSimhashError as error:
            self._page(pages.message_page("That failed", str(error)), HTTPStatus.BAD_GATEWAY)
        except (ValueError, LookupError):
            self._page(pages.message_page("Not found", "There is nothing at this address."), HTTPStatus.NOT_FOUND)

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
        wanted = Wanted(
            size=int(query.get("size") or 2),
            low=float(query.get("low") or 0),
            high=float(query.get("high") or 1),
            value=query.get("value", ""),
            page=max(0, int(query.get("page") or 0)),
        )
        return pages.groups_page(self.server.desk, wanted)

    def _group(self, query: Query) -> str:
        return pages.group_page(self.server.desk, _natural(query["n"]), _natural(query.get("page", "0")))

    def _pair(self, query: Query) -> str:
        desk = self.server.desk
        return pages.pair_page(desk, desk.pair(_natural(query["a"]), _natural(query["b"])))

    def _review(self, query: Query) -> str:
        return pages.queue_page(self.server.desk, _natural(query["at"]))

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
            self._page(pages.finished_page(desk))
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
