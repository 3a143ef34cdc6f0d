"""The files of ``mappings/``, pasted into real servers as a user of Dev Tools does who has nothing else."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.index import Index
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS
from tests import ROOT
from tests.support.corpus import corpus, edited
from tests.support.dev_tools import requests
from tools import mapping_files
from tools.nodes import Node

pytestmark = pytest.mark.each_server

FILES = mapping_files.requests()
GOLDEN = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))["presets"]
WITH_PIPELINE = [preset for preset in PRESETS if f"{preset}/2-pipeline.txt" in FILES]
NAMES = ("1-component-template", "2-pipeline", "3-new-index", "5-search-scripts", "6-search-templates")
ORIGINAL = corpus(20)[3]
STORIES: dict[str, Json] = {
    **{str(number): each for number, each in enumerate(corpus(20))},
    "copy": ORIGINAL,
    "edited": edited(ORIGINAL, 2),
}


class Pasting:
    """A user with an index, under names that no other test has."""

    def __init__(self, node: Node, preset: str) -> None:
        self.node, self.preset = node, preset
        self.index = f"pasted-{uuid.uuid4().hex[:10]}"
        self.put: list[str] = []

    def paste(self, name: str, *, wrong: bool = False) -> list[Any]:
        """Send the requests of a file, with ``wrong`` names of fields, and return the answers."""
        text = FILES[f"{self.preset}/{name}.txt"].replace("articles", self.index)
        if wrong:
            text = text.replace('"title"', '"headline"').replace('"body"', '"text"')
        text = text.replace(f"dedup-{self.preset}", f"{self.index}-fields")
        text = re.sub(rf"es-simhash-(?!{self.index})", f"{self.index}-", text)
        answers = []
        for each in requests(text):
            answer = self.send(each.method, each.path, each.body)
            if each.method == "PUT" and each.path.startswith("/_"):
                self.put.append(each.path)
            answers.append(answer)
        return answers

    def send(self, method: str, path: str, body: object = None) -> Any:
        answer = self.node.request(method, path, body)
        # The Elasticsearch of the tests has no Mustache.
        assert answer.status < 300 or "mustache" in str(answer.body), (path, answer)
        return answer.body

    def write(self, documents: dict[str, Json]) -> None:
        for id_, document in documents.items():
            self.send("PUT", f"/{self.index}/_doc/{id_}", document)
        self.send("POST", f"/{self.index}/_refresh")

    def fields(self) -> dict[str, Json]:
        """The fingerprint of each document."""
        found = self.send("GET", f"/{self.index}/_search?size=100")["hits"]["hits"]
        return {hit["_id"]: hit["_source"]["dedup"] for hit in found}

    def clean(self) -> None:
        for path in (f"/{self.index}", *reversed(self.put)):
            self.node.request("DELETE", path)


@pytest.fixture(params=["elasticsearch", "opensearch"])
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node


@pytest.fixture
def user(node: Node, preset: str) -> Iterator[Pasting]:
    user = Pasting(node, preset)
    yield user
    user.clean()


def expected(preset: str, documents: dict[str, Json]) -> dict[str, Json]:
    ours = Documents(Scheme.preset(preset), ["title", "body"])
    return {id_: ours.add_fields(document)["dedup"] for id_, document in documents.items()}


@pytest.mark.parametrize("preset", WITH_PIPELINE)
def test_a_new_index_makes_the_golden_fingerprints(user: Pasting, preset: str) -> None:
    for name in ("1-component-template", "2-pipeline", "3-new-index"):
        assert all(answer == {"acknowledged": True} for answer in user.paste(name))
    golden = GOLDEN[f"{preset}, second"]
    texts = {str(number): each for number, each in enumerate(golden["texts"].values())}
    user.write({id_: {"body": each["text"]} for id_, each in texts.items()})
    made = user.fields()
    assert made.keys() == texts.keys()
    for id_, each in texts.items():
        fields = made[id_]
        assert (fields["scheme"], fields["status"]) == (golden["id"], each["status"])
        assert fields.get("blocks", "").split() == each["blocks"]
        assert fields.get("bands", "").split() == each["bands"]
        assert fields.get("simhash", each["simhash"]) == each["simhash"]


@pytest.mark.parametrize("preset", WITH_PIPELINE)
def test_an_index_with_documents_gets_their_fingerprints_and_those_of_new_ones(user: Pasting, preset: str) -> None:
    there = {id_: STORIES[id_] for id_ in ("1", "2", "3")}
    user.write(there)
    user.paste("2-pipeline")
    user.paste("3-existing-index")
    assert "task" in user.paste("4-update-by-query")[0]
    user.send("GET", "/_tasks?actions=*byquery&wait_for_completion=true")
    assert user.fields() == expected(preset, there)
    user.write(STORIES)
    assert user.fields() == expected(preset, STORIES)
    assert user.paste("4-update-by-query")[-1]["count"] == 0


@pytest.mark.parametrize("preset", ["default"])
def test_wrong_field_names_show_as_empty_and_all_fingerprints_can_be_made_over(user: Pasting, preset: str) -> None:
    user.write(STORIES)
    user.paste("2-pipeline", wrong=True)
    user.paste("3-existing-index", wrong=True)
    first = user.paste("4-update-by-query")
    assert "task" in first[0]
    user.send("GET", "/_tasks?actions=*byquery&wait_for_completion=true")
    by_status = {"size": 0, "aggs": {"status": {"terms": {"field": "dedup.status"}}}}
    buckets = user.send("POST", f"/{user.index}/_search", by_status)["aggregations"]["status"]["buckets"]
    assert [(each["key"], each["doc_count"]) for each in buckets] == [("empty", len(STORIES))]
    user.paste("2-pipeline")
    user.paste("3-existing-index")
    path = f"/{user.index}/_update_by_query?pipeline=es-simhash-{user.index}&conflicts=proceed&refresh=true"
    user.send("POST", path)
    assert user.fields() == expected(preset, STORIES)


@pytest.mark.parametrize("preset", ["default"])
def test_a_wrong_id_is_answered_like_a_document_without_near_duplicates(user: Pasting) -> None:
    user.write(STORIES)
    user.paste("2-pipeline")
    user.paste("3-existing-index")
    user.send("POST", f"/{user.index}/_update_by_query?pipeline=es-simhash-{user.index}&refresh=true")
    found = {}
    for id_ in ("3", "5", "no-such"):
        like = {"fields": ["dedup.bands"], "like": [{"_id": id_}], "min_term_freq": 1, "min_doc_freq": 1}
        query = {"more_like_this": {**like, "max_query_terms": 36, "minimum_should_match": 3}}
        found[id_] = user.send("POST", f"/{user.index}/_search", {"query": query})["hits"]["total"]["value"]
    assert found == {"3": 2, "5": 0, "no-such": 0}


@pytest.mark.parametrize("preset", PRESETS)
def test_near_duplicates_are_found_by_the_pasted_template_where_a_server_has_templates(
    user: Pasting, preset: str
) -> None:
    pasted = {name: user.paste(name) for name in NAMES if f"{preset}/{name}.txt" in FILES}
    has_templates = all(answer == {"acknowledged": True} for answer in pasted["6-search-templates"])
    assert has_templates or user.node.release.engine == "elasticsearch"
    user.send("PUT", f"/{user.index}")
    with Index(user.index, user.node.url) as index:
        # A preset without a pipeline is fingerprinted by the command line.
        index.add([{"_id": id_, **each} for id_, each in STORIES.items()], refresh=True)
        assert (index.scheme.id, index.documents.fields) == (Scheme.preset(preset).id, ("title", "body"))
        assert "copy" in {match.id for match in index.find(id="3")}
    if has_templates:
        asked = {"id": f"{user.index}-find", "params": {"id": "3"}}
        found = user.send("POST", f"/{user.index}/_search/template", asked)["hits"]["hits"]
        assert "copy" in {hit["_id"] for hit in found}
        assert ("edited" in {hit["_id"] for hit in found}) >= (preset in ("default", "short", "passages"))


@pytest.mark.parametrize("preset", ["default"])
def test_the_command_line_takes_what_was_pasted_for_its_own(user: Pasting) -> None:
    user.write({"1": STORIES["1"]})
    for name in ("2-pipeline", "3-existing-index", "5-search-scripts", "6-search-templates"):
        user.paste(name)
    with Index(user.index, user.node.url) as index:
        assert index.documents.fields == ("title", "body")
        done = index.install_scripts(user.index)
        assert {each.name for each in index.scripts(user.index)} == {*done.names, *done.left_out}
        assert index.pipeline(install=True, default=True).default_of == [user.index]
        assert index.backfill().written == 1
