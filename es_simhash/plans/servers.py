"""Whether a plan runs on a server."""

from __future__ import annotations

from es_simhash.errors import AccessError
from es_simhash.plans.operations import GetInfo, Plan


def is_server() -> Plan[bool]:
    """Whether this is a server, not the embedded engine."""
    try:
        return bool((yield GetInfo()).distribution != "embedded")
    except AccessError:  # only a server keeps this from anybody
        return True
