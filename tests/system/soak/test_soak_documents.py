"""Documents and mappings that are out of the ordinary."""

from __future__ import annotations

from tests.system.soak.conftest import Begin, Fill
from tools.nodes import Node


def test_a_mapping_in_conflict(node: Node, fill: Fill, begin: Begin) -> None:
    index = fill(node, 10)
    conflict = {"properties": {"dedup": {"properties": {"simhash": {"type": "long"}}}}}
    assert node.request("PUT", f"/{index.name}/_mapping", conflict).status == 200
    command = begin(index)
    command.ended(4)
    assert "has a field 'dedup.simhash' with type: long, where type: keyword is needed" in command.said
    assert index.written == 0
