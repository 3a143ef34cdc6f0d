"""Closed indices: servers still return their mappings, but leave them out of patterns silently."""

from __future__ import annotations

from urllib.parse import quote

from es_simhash._core.json_paths import is_true
from es_simhash.errors import IndexStateError
from es_simhash.plans.operation_retry import attempt
from es_simhash.plans.operations import GetResource, GetSettings, Plan

# A setting of closed indices.
CLOSED = "index.verified_before_close"


def closed_index(index: str) -> IndexStateError:
    """Return the error for a closed index."""
    return IndexStateError(f"The index {index!r} is closed. Open it with POST {index}/_open, or name another.")


def check_open(index: str) -> Plan[None]:
    """Raise if an index behind the name is closed, as far as the login may see that."""
    settings = yield from attempt(GetSettings(index))
    for name, found in (settings or {}).items():
        if is_true(found.get(CLOSED)):
            raise closed_index(name)


def closed_ones(index: str) -> Plan[list[str]]:
    """Return the closed indices that match a pattern."""
    if "*" not in index and index != "_all":
        return []
    path = f"/_resolve/index/{quote(index, safe='*,')}?expand_wildcards=closed"
    reply = yield from attempt(GetResource(path, index))  # the embedded engine closes none
    return [found["name"] for found in reply["indices"]] if reply else []
