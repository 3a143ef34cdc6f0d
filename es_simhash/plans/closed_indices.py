"""Closed indices: servers still return their mappings, but leave them out of patterns silently."""

from __future__ import annotations

from urllib.parse import quote

from es_simhash.errors import EngineError, IndexStateError, UnavailableError, UnreachableError
from es_simhash.plans.operations import GetResource, GetSettings, Plan

# A setting of closed indices.
CLOSED = "index.verified_before_close"


def closed_index(index: str) -> IndexStateError:
    """Return the error for a closed index."""
    return IndexStateError(f"The index {index!r} is closed. Open it with POST {index}/_open, or name another.")


def check_open(index: str) -> Plan[None]:
    """Raise if an index behind the name is closed, as far as the login may see that."""
    try:
        settings = yield GetSettings(index)
    except (UnreachableError, UnavailableError):
        raise
    except EngineError:
        return
    for name, found in settings.items():
        if str(found.get(CLOSED)).lower() == "true":
            raise closed_index(name)


def closed_ones(index: str) -> Plan[list[str]]:
    """Return the closed indices that match a pattern."""
    if "*" not in index and index != "_all":
        return []
    try:
        reply = yield GetResource(f"/_resolve/index/{quote(index, safe='*,')}?expand_wildcards=closed", index)
    except (UnreachableError, UnavailableError):
        raise
    except EngineError:  # the embedded engine closes none
        return []
    return [found["name"] for found in reply["indices"]]
