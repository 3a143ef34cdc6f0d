"""HTTP with the standard library alone, so that the nodes need no client to be tested with."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import ssl

Credentials = tuple[str, str]
_TIMEOUT_SECONDS = 30.0
# The nodes are on loopback, where a proxy from the environment would only be in the way.
_NO_PROXY = urllib.request.ProxyHandler({})


class Reply(NamedTuple):
    """A status and the decoded JSON body (the bare text where it is not JSON)."""

    status: int
    body: Any


def send(
    url: str,
    method: str = "GET",
    body: object = None,
    credentials: Credentials | None = None,
    tls: ssl.SSLContext | None = None,
) -> Reply:
    """Send one request; an error status is a reply, and only a failed connection raises (OSError).

    A tuple is sent as lines of JSON, which ``_bulk`` and ``_msearch`` take.
    """
    request = urllib.request.Request(url, method=method)
    if body is not None:
        lines = body if isinstance(body, tuple) else (body,)
        request.data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        request.add_header("Content-Type", "application/json")
    if credentials is not None:
        token = base64.b64encode(":".join(credentials).encode()).decode()
        request.add_header("Authorization", f"Basic {token}")
    try:
        opener = urllib.request.build_opener(_NO_PROXY, urllib.request.HTTPSHandler(context=tls))
        with opener.open(request, timeout=_TIMEOUT_SECONDS) as response:
            return Reply(response.status, _decode(response.read()))
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, _decode(error.read()))


def _decode(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode(errors="replace")
