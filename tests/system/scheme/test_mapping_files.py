from __future__ import annotations

import json
import uuid

import pytest

from es_simhash.index import Index
from es_simhash.scheme.scheme import Scheme
from tests.support.corpus import corpus
from tools import mapping_files
from tools.nodes import Node

pytestmark = pytest.mark.each_server

FILES = mapping_files.templates()


def test_the_files_are_what_the_code_makes() -> None:
    for folder, files in (("", FILES), ("index-templates", mapping_files.index_templates())):
        kept = {
            path.name: path.read_text(encoding="utf-8") for path in (mapping_files.DIRECTORY / folder).glob("*.json")
        }
        assert kept == files


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


@pytest.mark.parametrize("engine", ["elasticsearch_node", "opensearch_node"])
def test_a_new_index_of_the_index_template_takes_documents(engine: str, request: pytest.FixtureRequest) -> None:
    """Without init: the index knows its scheme and its fields from both templates."""
    node: Node = request.getfixturevalue(engine)
    template = json.loads(mapping_files.index_templates()["articles.json"])
    [component] = template["composed_of"]
    # Other tests put the same files.
    index = f"articles-{uuid.uuid4().hex[:10]}"
    own = template | {"composed_of": [index], "index_patterns": [index]}
    puts = {
        f"/_component_template/{index}": json.loads(FILES[f"{component}.json"]),
        f"/_index_template/{index}": own,
        f"/{index}": None,
    }
    try:
        for path, body in puts.items():
            assert node.request("PUT", path, body).status == 200
        stories = [{"_id": str(number), **story} for number, story in enumerate(corpus(3))]
        with Index(index, node.url) as opened:
            assert (opened.scheme.id, opened.documents.fields) == (Scheme.preset("default").id, ("title", "body"))
            assert opened.add([*stories, {**stories[1], "_id": "copy"}], refresh=True).rejected == []
            assert [match.id for match in opened.find(id="1")] == ["copy"]
    finally:
        for path in reversed(puts):
            node.request("DELETE", path)
