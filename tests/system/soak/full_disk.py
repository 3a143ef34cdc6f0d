"""A server that takes its disk for full, and one that has room again."""

from __future__ import annotations

import time
from collections.abc import Callable

from tools.nodes import Node

WATERMARKS = "cluster.routing.allocation.disk"


def set_free_space(node: Node, needed: str) -> None:
    """Have the server take its disk for full if less than this is free on it."""
    marks = {f"{WATERMARKS}.watermark.{mark}": needed for mark in ("low", "high", "flood_stage")}
    settings = {f"{WATERMARKS}.threshold_enabled": True, **marks}
    reply = node.request("PUT", "/_cluster/settings", {"persistent": settings})
    assert reply.status == 200, reply


def is_blocked(node: Node, index: str) -> bool:
    """Return whether the server lets nobody write to an index."""
    return "read_only_allow_delete" in str(node.request("GET", f"/{index}/_settings").body)


def await_true(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.5)
