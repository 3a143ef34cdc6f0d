"""Logins of an OpenSearch with the security plugin, and what they may do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from es_simhash.engines.base import Engine
from tests.support.rest_engines import engine_over
from tools.nodes import Node

_API = "/_plugins/_security/api"
PASSWORD = "a-l0ng-word-of-tests"


def add_user(node: Node, name: str) -> None:
    """Make a user with the role of the same name, which `grant` fills."""
    grant(node, name)
    for path, body in (
        (f"internalusers/{name}", {"password": PASSWORD}),
        (f"rolesmapping/{name}", {"users": [name]}),
    ):
        assert node.request("PUT", f"{_API}/{path}", body).status in {200, 201}


def grant(node: Node, role: str, *indices: dict[str, Any], cluster: Sequence[str] = ()) -> None:
    """Let the role do this, and nothing else: with the cluster, and with each of the patterns of indices."""
    body = {"cluster_permissions": cluster, "index_permissions": indices}
    reply = node.request("PUT", f"{_API}/roles/{role}", body)
    assert reply.status in {200, 201}, reply


def options(node: Node, client: str, name: str = "admin", password: str | None = None) -> dict[str, Any]:
    """The options for a client of this kind whose user logs in."""
    known = node.password if name == "admin" else PASSWORD
    login = (name, known if password is None else password)
    return {"basic_auth" if "elasticsearch" in client else "http_auth": login, "ca_certs": str(node.ca_certs)}


@contextmanager
def engine_of(node: Node, name: str = "admin", client: str = "opensearch") -> Iterator[Engine]:
    """Yield an engine as this user has it."""
    with engine_over(client, node.url, **options(node, client, name)) as engine:
        yield engine
