"""Imports saved objects into Kibana or OpenSearch Dashboards."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import URLError
from urllib.request import HTTPErrorProcessor, HTTPSHandler, Request, build_opener
from uuid import uuid4

from es_simhash._core.json_codec import Json, parse_json
from es_simhash.cli.reports.dashboards.kibana import Kibana
from es_simhash.cli.reports.dashboards.saved_objects import ndjson
from es_simhash.cli.reports.dashboards.subject import UI
from es_simhash.errors import (
    AccessError,
    EngineError,
    MissingError,
    TooLargeError,
    UnavailableError,
    UnreachableError,
    UntrustedError,
)

_PATH = "/api/saved_objects/_import?overwrite=true"
# Each product requires its own header against forged requests, and ignores the other.
_HEADERS = {"kbn-xsrf": "es-simhash", "osd-xsrf": "es-simhash"}
# The header by which each names itself in every reply.
_NAMED: Mapping[str, UI] = {"kbn-name": "kibana", "osd-name": "opensearch"}
_TIMEOUT = 120.0
_LONGEST_REASON = 300
# Bytes of an answer. One about each of a thousand objects has less.
_MOST = 8 << 20
_MOST_FAILURES = 3

_PROXY = (UnavailableError, "It may be starting. Check its log, and the proxy in front of it.")
_ERRORS: dict[int, tuple[type[EngineError], str]] = {
    400: (EngineError, "Correct what it names, or import the file by hand."),
    401: (AccessError, "Check user and password, or the API key."),
    403: (
        AccessError,
        "Have the privilege granted: in Kibana, Saved Objects Management in this space; in OpenSearch Dashboards, "
        "writing to this tenant.",
    ),
    404: (MissingError, "Check the address, with its base path, and the space."),
    409: (EngineError, "Delete the conflicting objects under Saved Objects, or import the file by hand."),
    413: (TooLargeError, "Raise savedObjects.maxImportPayloadBytes, or the limit of the proxy in front of it."),
    422: (EngineError, "It may be older than 7.10, which does not support these objects; use a newer one."),
    429: (UnavailableError, "Try again later."),
    502: _PROXY,
    503: (UnavailableError, "It may be starting, or its engine may be down: try again later."),
    504: _PROXY,
}


@dataclass(frozen=True)
class Importer:
    """Kibana or OpenSearch Dashboards, with the ``headers`` of a login, and what is asked of its certificate.

    ``ca_certs`` is a file with certificates of authorities; ``insecure`` accepts any certificate.
    """

    kibana: Kibana
    headers: Mapping[str, str] = field(default_factory=dict)
    ca_certs: str | None = None
    insecure: bool = False

    def ui(self) -> UI | None:
        """Return which UI answers, which it says without a login, too; None if it does not, as behind a proxy."""
        with self._opened(Request(f"{self.kibana.address}/api/status", headers=self.headers)) as reply:
            return next((name for header, name in _NAMED.items() if header in reply.headers), None)

    def run(self, objects: Sequence[Json]) -> str:
        """Import saved objects in the place of those with the same ids; return the address of the dashboard.

        Raise an error unless all are imported.
        """
        self._check_space()
        body = self._import(ndjson(objects))
        if not isinstance(body, dict) or not isinstance(body.get("success"), bool):
            raise EngineError(
                f"What answers at {self.kibana.address} is neither Kibana nor OpenSearch Dashboards. Check the "
                "address, with its base path, and the proxy in front of it."
            )
        if not body["success"]:
            failures = _failures(body)
            raise EngineError(
                f"{self.kibana.address} did not import everything: {failures}. Correct that, and try again."
            )
        own = next(each["id"] for each in objects if each["type"] == "dashboard")
        return self.kibana.dashboard(_new_id(body, own) or own)

    def _check_space(self) -> None:
        """Refuse a space that is not there: an import into one succeeds, and nobody finds the objects again."""
        address, space = self.kibana.address, self.kibana.space
        if space is None:
            return
        headers = {**_HEADERS, **self.headers}
        with self._opened(Request(f"{address}/api/spaces/space/{space}", headers=headers)) as reply:
            # The import meets all else that is wrong, and says what to do.
            if reply.status == HTTPStatus.NOT_FOUND:
                raise MissingError(f"{address} has no space {space!r}. Check its identifier, or create it.")

    def _import(self, text: str) -> Any:
        """Send a form with one file of saved objects; return the answer."""
        boundary = uuid4().hex
        head = (
            f"--{boundary}\r\n"
            'Content-Disposition: form-data; name="file"; filename="dashboard.ndjson"\r\n'
            "Content-Type: application/ndjson\r\n\r\n"
        )
        form = f"{head}{text}\r\n--{boundary}--\r\n".encode()
        tenant = {"securitytenant": self.kibana.tenant} if self.kibana.tenant else {}
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        headers = {**_HEADERS, **tenant, **self.headers, **kind}
        with self._opened(Request(self.kibana.path(_PATH), form, headers)) as reply:
            if not 200 <= reply.status < 300:
                raise self._refused(reply)
            return _parsed(reply.read(_MOST))

    def _refused(self, reply: HTTPResponse) -> EngineError:
        if 300 <= reply.status < 400:
            # The query and fragment may hold secrets of a login.
            place = str(reply.headers.get("Location")).partition("?")[0].partition("#")[0]
            return EngineError(
                f"{self.kibana.address} sends to another address: {place}. Give that address, as far as Kibana's pages "
                "have it in common; or log in, if it leads to a login."
            )
        kind, advice = _ERRORS.get(reply.status, (EngineError, "Look at its log, or that of the proxy in front of it."))
        body = _parsed(reply.read(_MOST))
        said = body.get("message") or body.get("error") if isinstance(body, dict) else None
        reason = _shortened(str(said or "without a reason that can be read"))
        return kind(f"{self.kibana.path('')} refused the import: {reply.status} {reason}. {advice}")

    @contextmanager
    def _opened(self, request: Request) -> Iterator[HTTPResponse]:
        """Yield the reply to a request, also one that refuses it."""
        tls = ssl.create_default_context(cafile=self.ca_certs)
        if self.insecure:
            tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        try:
            with build_opener(_AnyReply, HTTPSHandler(context=tls)).open(request, timeout=_TIMEOUT) as reply:
                yield reply
        except (URLError, HTTPException, OSError) as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> UnreachableError:
        address, cause = self.kibana.address, error.reason if isinstance(error, URLError) else error
        if isinstance(cause, ssl.SSLError):
            return UntrustedError(
                f"The TLS connection to {address} failed: {cause}. Name the certificate of the authority that signed "
                "its own (ca_certs), or correct the address (also http or https)."
            )
        return UnreachableError(
            f"Nothing answers at {address}: {cause}. Start Kibana, or correct the address (also http or https)."
        )


class _AnyReply(HTTPErrorProcessor):
    """Hands over errors and redirects as they are: a redirect would lose the form, and send a login to any host."""

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:
        return response

    https_response = http_response


def _parsed(body: bytes) -> Any:
    try:
        return parse_json(body)
    except ValueError:
        return None


def _objects(body: Json, name: str) -> list[Json]:
    """Return the objects in a list of the answer."""
    listed = body.get(name)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _new_id(body: Json, own: str) -> str | None:
    """Return the new id of the dashboard, if its own is taken in another space."""
    for each in _objects(body, "successResults"):
        match each:
            case {"type": "dashboard", "id": str(id_), "destinationId": str(other)} if id_ == own:
                return other
    return None


def _failures(body: Json) -> str:
    failures = _objects(body, "errors")
    shown = [_failure(each) for each in failures[:_MOST_FAILURES]]
    more = len(failures) - len(shown)
    return "; ".join([*shown, *([f"and {more} more"] if more else [])]) or "no reason given"


def _failure(failure: Json) -> str:
    error, meta = (found if isinstance(found := failure.get(name), dict) else {} for name in ("error", "meta"))
    title = failure.get("title") or meta.get("title") or failure.get("id")
    why = ": ".join(str(each) for each in (error.get("type"), error.get("message") or error.get("reason")) if each)
    return _shortened(f"the {failure.get('type')} {title!r} ({why or 'no reason given'})")


def _shortened(text: str) -> str:
    said = re.sub(r"\s+", " ", text).strip().rstrip(".")
    return said if len(said) <= _LONGEST_REASON else f"{said[:_LONGEST_REASON]}…"
