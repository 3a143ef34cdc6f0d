"""Who deletes: the login as the server names it, or else the user of the operating system."""

from __future__ import annotations

from collections.abc import Iterator
from getpass import getuser

from es_simhash._core.json_codec import Json
from es_simhash.plans.operation_retry import attempt
from es_simhash.plans.operations import GetInfo, GetResource, Plan

# The APIs in which Elasticsearch and OpenSearch's security plugin name the user.
_ASKED = {
    "elasticsearch": ("/_security/_authenticate", "username"),
    "opensearch": ("/_plugins/_security/authinfo", "user_name"),
}


def login() -> Plan[str]:
    """Return the name of the login, or of the operating system's user where the server knows none."""
    info = yield from attempt(GetInfo())
    if info is not None and info.distribution in _ASKED:
        path, name = _ASKED[info.distribution]
        reply: Json = (yield from attempt(GetResource(path))) or {}
        if isinstance(user := reply.get(name), str) and user:
            return " ".join([user, *_key(reply)])
    try:
        return f"{getuser()} (operating system)"
    except (OSError, KeyError):  # a user without a name
        return "unknown"


def _key(reply: Json) -> Iterator[str]:
    match reply:
        case {"api_key": {"name": str(name)}}:
            yield f"(API key {name})"
