"""Where a node can come from, tried in order."""

from __future__ import annotations

import os
import secrets
import sys
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from .container import start_container
from .node import Node, NodeError, NodeSpec, NodeUnavailable, Setting
from .releases import RELEASES, SECURED_OPENSEARCH, Release
from .web import Credentials, Reply, send

if TYPE_CHECKING:
    from collections.abc import Mapping


def start_node(
    name: str,
    *,
    settings: Mapping[str, Setting] | None = None,
    security: bool = False,
    heap: str = "512m",
    port: int | None = None,
    is_measured: bool = False,
) -> Node:
    """Start a node of the named release from the first source that has one.

    With `security` one must log in with `node.credentials`: on Elasticsearch over plain http, on OpenSearch, in the
    version whose plugin can be had, over TLS with a certificate of the authority `node.ca_certs`.
    Raises NodeUnavailable where this machine has no source, and NodeError where a source fails.
    """
    if name not in RELEASES:
        raise ValueError(f"There is no release {name!r}. Choose one of: {', '.join(RELEASES)}.")
    release = RELEASES[name]
    if security and release.engine == "opensearch":
        release = SECURED_OPENSEARCH
    password = secrets.token_urlsafe(16) if security else None
    spec = NodeSpec(release, settings or {}, password, heap, port, is_measured)
    reasons = []
    for source in (find_in_environment, start_container, _start_local):
        try:
            return source(spec)
        except NodeUnavailable as unavailable:
            reasons.append(unavailable.reason)
    raise NodeUnavailable(f"there is no {release} here: {'; '.join(reasons)}")


def _start_local(spec: NodeSpec) -> Node:
    if sys.platform == "win32":
        raise NodeUnavailable("servers from Maven Central are run on Linux and macOS only")
    from .download import fetch
    from .guarded import GuardedNode
    from .java import find_java
    from .local import LocalNode

    kind = GuardedNode if spec.release.plugins else LocalNode
    node = kind(spec, find_java(spec.release), fetch(spec.release))
    node.start()
    return node


class ExternalNode(Node):
    """A node that somebody else runs: it can be used, but neither stopped nor restarted."""

    source = "environment"

    def is_running(self) -> bool:
        try:
            return self.request("GET", "/").status < 500
        except OSError:
            return False

    def stop(self) -> None:
        pass

    def restart(self) -> None:
        raise NodeError(
            f"{self} cannot be restarted from here. Unset {self.release.url_variable} to have one that can."
        )


def find_in_environment(spec: NodeSpec) -> Node:
    """Return the node that the release's environment variable names, if it runs what it should."""
    release = spec.release
    address = os.environ.get(release.url_variable)
    if not address:
        raise NodeUnavailable(f"{release.url_variable} is not set")
    if not spec.is_plain:
        raise NodeUnavailable(f"the node at {release.url_variable} cannot be given settings of our own")
    url, credentials = split_credentials(address)
    _check_identity(release, url, credentials)
    return ExternalNode(release, url, credentials)


def split_credentials(address: str) -> tuple[str, Credentials | None]:
    """Split a URL into one without credentials, and the credentials."""
    parts = urlsplit(address)
    location = parts.netloc.rpartition("@")[2]
    url = parts._replace(netloc=location).geturl().rstrip("/")
    if parts.username is None:
        return url, None
    return url, (unquote(parts.username), unquote(parts.password or ""))


def _check_identity(release: Release, url: str, credentials: Credentials | None) -> None:
    """Raise unless a server of the release's engine and major version answers."""
    try:
        reply = send(url, credentials=credentials)
    except OSError as error:
        raise NodeError(f"Nothing answers at {url} ({error}). Correct or unset {release.url_variable}.") from error
    wanted = f"{release.engine} {release.major}"
    found = _identity(reply)
    if found != wanted:
        raise NodeError(f"{url} is {found}, not {wanted}. Correct or unset {release.url_variable}.")


def _identity(reply: Reply) -> str:
    """Return the engine and its major version, as in `opensearch 3`."""
    match reply.body:
        case {"version": {"number": str(number), **rest}}:
            return f"{rest.get('distribution', 'elasticsearch')} {number.partition('.')[0]}"
        case _:
            return f"no search engine that says its version (status {reply.status})"
