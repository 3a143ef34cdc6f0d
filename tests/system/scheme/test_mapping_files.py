from __future__ import annotations

import json

import pytest

from tools import mapping_files
from tools.nodes import Node

FILES = mapping_files.templates()


def test_the_files_are_what_the_code_makes() -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in mapping_files.DIRECTORY.glob("*.json")}
    assert kept == FILES


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("engine", ["elasticsearch_node", "opensearch_node"])
def test_a_server_takes_each_file_and_gives_its_fields_to_new_indices(
    engine: str, name: str, request: pytest.FixtureRequest
) -> None:
    node: Node = request.getfixturevalue(engine)
    template = json.loads(FILES[name])
    component, index = name.removesuffix(".json"), name.removesuffix(".json") + "-index"
    used = {"index_patterns": [index], "composed_of": [component], "priority": 500}
    for method, path, body in [
        ("PUT", f"/_component_template/{component}", template),
        ("PUT", f"/_index_template/{component}", used),
        ("PUT", f"/{index}", None),
    ]:
        assert node.request(method, path, body).status == 200
    mapping = node.request("GET", f"/{index}/_mapping").body[index]["mappings"]
    wanted = template["template"]["mappings"]
    assert mapping["_meta"] == wanted["_meta"]
    assert mapping["properties"]["dedup"]["properties"] == wanted["properties"]["dedup"]["properties"]
    for path in (f"/{index}", f"/_index_template/{component}", f"/_component_template/{component}"):
        assert node.request("DELETE", path).status == 200
