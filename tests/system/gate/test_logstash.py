"""The configurations of the page about Logstash, against a gate's own process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Index
from es_simhash.plans.operations import Search
from tests import ROOT
from tests.support.commands import run
from tests.support.corpus import corpus, edited
from tests.support.documentation import read
from tests.support.gate_process import GateProcess
from tests.support.logstash import Configuration, Event, Plugin, Send, filtered, sending_to, written

PAGE = read(ROOT / "docs" / "how-to" / "logstash.md")
TITLED = {str(block.title): block.text for block in PAGE.blocks if block.title}
DROP, TAG = TITLED["drop-duplicates.conf"], TITLED["tag-duplicates.conf"]
FIRST, OTHER, *_ = corpus(2)
NEAR = edited(FIRST, 2)


def event(id_: str, text: Mapping[str, str]) -> Event:
    return {"@timestamp": "2026-11-27T21:30:00.000Z", "@version": "1", "id": id_, **text}


def filters(text: str) -> Any:
    return Configuration(text).steps


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[GateProcess]:
    run("init", "articles", "--field", "title", "--field", "body", cwd=tmp_path)
    gate = GateProcess("articles", cwd=tmp_path)
    gate.start()
    yield gate
    if gate.is_running:
        gate.kill()


def test_the_filter_drops_duplicates_and_passes_what_is_new_or_sent_again(gate: GateProcess) -> None:
    send = sending_to(gate.address)
    sent = [event("1", FIRST), event("2", NEAR), event("3", OTHER), event("4", OTHER), event("1", FIRST)]
    kept = [filtered(filters(DROP), each, send) for each in sent]
    assert [each and each["id"] for each in kept] == ["1", None, "3", None, "1"]
    assert all(each is None or "tags" not in each for each in kept)


def test_the_filter_sends_the_fields_as_json_and_asks_nothing_about_an_event_without_one_of_them() -> None:
    asked = []

    def send(method: str, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str, bytes]:
        asked.append((method, url, headers, json.loads(body)))
        return 200, "application/json", b'{"verdict": "new"}'

    for each in (event("1", FIRST), event("2", {"body": FIRST["body"]})):
        assert filtered(filters(DROP), each, send)
    json_type = {"content-type": "application/json"}
    assert asked == [("POST", "http://127.0.0.1:9280/check", json_type, {"id": "1", **FIRST})]


def test_the_other_filter_tags_duplicates_with_the_id_of_the_first(gate: GateProcess) -> None:
    send = sending_to(gate.address)
    tag = DROP.replace("drop {}", TAG)
    assert tag != DROP
    first, near = (filtered(filters(tag), each, send) for each in (event("1", FIRST), event("2", NEAR)))
    assert first
    assert "tags" not in first
    assert near
    assert (near["tags"], near["duplicate_of"]) == (["duplicate"], "1")


def test_an_event_passes_with_a_tag_while_the_gate_is_away(gate: GateProcess) -> None:
    send = sending_to(gate.address)
    gate.stop()
    passed = filtered(filters(DROP), event("1", FIRST), send)
    assert passed
    assert passed["tags"] == ["_httprequestfailure"]
    assert "`_httprequestfailure`" in PAGE.text


@pytest.mark.parametrize("status", [429, 503])
def test_an_event_passes_with_a_tag_if_the_gate_has_too_much_to_do(status: int) -> None:
    passed = filtered(filters(DROP), event("1", FIRST), lambda *_: (status, "application/json", b"{}"))
    assert passed
    assert passed["tags"] == ["_httprequestfailure"]


def test_the_output_writes_each_text_once_also_if_a_batch_is_repeated(gate: GateProcess, tmp_path: Path) -> None:
    configuration = Configuration(TITLED["write.conf"])
    [output] = configuration.steps
    assert (configuration.section, isinstance(output, Plugin)) == ("output", True)
    assert isinstance(output, Plugin)
    send = sending_to(gate.address)
    batch = [event("1", FIRST), event("2", NEAR), event("3", OTHER)]
    assert [written(output, batch, send) for _ in range(2)] == ["success", "success"]
    gate.stop()
    with Index("articles", str(tmp_path / ".es-simhash")) as index:
        body = {"query": {"match_all": {}}, "_source": False}
        assert {hit["_id"] for hit in index.engine.perform(Search("articles", body))["hits"]["hits"]} == {"1", "3"}


@pytest.mark.parametrize(("status", "becomes"), [(429, "retry"), (503, "retry"), (401, "failure")])
def test_the_output_repeats_what_may_pass(status: int, becomes: str) -> None:
    [output] = Configuration(TITLED["write.conf"]).steps
    assert isinstance(output, Plugin)
    send: Send = lambda *_: (status, "application/json", b"{}")  # noqa: E731
    assert written(output, [event("1", FIRST)], send) == becomes


def test_the_token_of_the_page_is_the_one_that_a_gate_asks_for(tmp_path: Path) -> None:
    [headers] = [line for line in PAGE.text.split("`") if line.startswith("headers =>")]
    [plugin] = Configuration(f"http {{ {headers} }}", section="filter").steps
    assert isinstance(plugin, Plugin)
    sent = {name: value.replace("${ES_SIMHASH_GATE_TOKEN}", "abc") for name, value in plugin.options["headers"].items()}
    run("init", "articles", "--field", "body", cwd=tmp_path)
    gate = GateProcess("articles", cwd=tmp_path, variables={"ES_SIMHASH_GATE_TOKEN": "abc"})
    gate.start()
    try:
        send = sending_to(gate.address)
        body = json.dumps({"id": "1", **FIRST}).encode()
        typed = {"content-type": "application/json"}
        statuses = [send("POST", "http://gate/check", {**typed, **more}, body)[0] for more in (sent, {})]
    finally:
        gate.kill()
    assert statuses == [200, 401]
