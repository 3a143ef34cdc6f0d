"""``es-simhash sync``: what it says, how it ends, and what operators see of it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from es_simhash._core.json_codec import Json
from es_simhash.cli.show import output
from es_simhash.engines.base import Engine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import InUseError
from es_simhash.groups.of_index import writing as running
from es_simhash.plans.operations import CreateIndex
from tests.support.commands import lines, run
from tests.support.corpus import corpus, edited
from tests.support.outputs import check_output
from tests.support.whole_indices import create, fill, servers

TEXTS = corpus(12)
DOCUMENTS: dict[str, Json] = {str(i): text for i, text in enumerate(TEXTS)} | {"copy": edited(TEXTS[4], 1)}
FIELDS = ("--field", "title", "--field", "body")
# A field that takes texts and objects.
ANY: Json = {"type": "object", "enabled": False}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest) -> str:
    """The address of the server."""
    address: str = request.getfixturevalue(f"{kind}_node").url
    return address


def filled(documents: dict[str, Json], **more: Any) -> None:
    """Make the index ``news``, without fingerprints, in the default directory."""
    engine = EmbeddedEngine(".es-simhash")
    engine.perform(CreateIndex("news", {"mappings": {"properties": more}} if more else {}))
    fill(engine, "news", documents)
    engine.close()


def added(documents: dict[str, Json]) -> None:
    engine = EmbeddedEngine(".es-simhash")
    fill(engine, "news", documents)
    engine.close()


def test_it_says_in_a_few_lines_what_was_done_and_what_to_do_next() -> None:
    filled(DOCUMENTS)
    done = run("sync", "news", *FIELDS)
    assert done.out.splitlines() == ["13 documents: 13 fingerprinted.", "1 group, 1 duplicate."]
    assert done.err.splitlines()[-1] == "Next: es-simhash group news --report duplicates.html"
    added({"new": edited(TEXTS[7], 1), "alone": {"title": "t", "body": "unlike all others, and rather short"}})
    assert run("sync", "news").out.splitlines() == [
        "15 documents: 2 fingerprinted, 13 up to date.",
        "2 groups, 2 duplicates; 1 new group and 1 new duplicate since the last run.",
    ]
    done = run("sync", "news")
    assert done.out.splitlines() == ["15 documents: all up to date.", "2 groups, 2 duplicates.", "Nothing to do."]
    assert "Next" not in done.err
    assert run("sync", "news", "--quiet").out == ""


def test_its_json_is_one_object_as_the_schema_says() -> None:
    filled(DOCUMENTS)
    [first] = lines(run("sync", "news", *FIELDS, "--json"))
    [second] = lines(run("sync", "news", "--json"))
    check_output({"sync": [first, second]})
    assert (first["fingerprinted"], first["new_groups"], first["duplicates"]) == (13, None, 1)
    assert (second["fingerprinted"], second["new_groups"], second["up_to_date"]) == (0, 0, 13)


def test_without_near_duplicates_it_says_so() -> None:
    filled({str(i): text for i, text in enumerate(TEXTS)})
    assert run("sync", "news", *FIELDS).out.splitlines() == ["12 documents: 12 fingerprinted.", "No near-duplicates."]


def test_rejected_documents_are_named_and_the_code_says_so() -> None:
    filled({"good": {"body": "a text that is valid"}, "bad": {"body": {"no": "text"}}}, body=ANY)
    done = run("sync", "news", "--field", "body", code=output.SOME_FAILED)
    assert "2 documents: 1 fingerprinted, 1 rejected." in done.out
    assert re.search(r"Rejected: Document 'bad' .*'body'", done.err)


def test_of_many_rejected_documents_the_first_are_named() -> None:
    filled(
        {f"bad {i}": {"body": {"no": "text"}} for i in range(13)} | {"good": {"body": "a text that is valid"}}, body=ANY
    )
    done = run("sync", "news", "--field", "body", code=output.SOME_FAILED)
    assert done.err.count("Rejected: Document") == 10
    assert "Rejected: 3 more documents." in done.err


def test_an_index_that_is_not_there_needs_a_person_and_one_without_fields_an_option() -> None:
    filled(DOCUMENTS, title={"type": "text"}, inner={"properties": {"body": {"type": "text"}}})
    assert "nowhere" in run("sync", "nowhere", code=output.REFUSED).err
    assert "Its text fields are: title, inner.body" in run("sync", "news", code=output.USAGE).err


@servers
def test_a_finding_that_stops_it_needs_a_person_and_can_be_accepted(
    engine: Engine, names: Callable[[], str], url: str
) -> None:
    name = names()
    engine.perform(CreateIndex(name, {"mappings": {"_source": {"excludes": ["secret"]}}}))
    fill(engine, name, DOCUMENTS)
    done = run("sync", name, *FIELDS, code=output.REFUSED, ES_SIMHASH_URL=url)
    assert "source-excludes" in done.err
    assert "--accept source-excludes" in done.err
    run("sync", name, *FIELDS, "--accept", "source-excludes", ES_SIMHASH_URL=url)


def test_wrong_options_are_wrong_usage() -> None:
    filled(DOCUMENTS)
    for given in (("--similarity", "7"), ("--canonical", "prettiest"), ("--window", "3d")):
        run("sync", "news", *FIELDS, *given, code=output.USAGE)


def test_what_another_program_keeps_busy_may_be_done_later(monkeypatch: pytest.MonkeyPatch) -> None:
    filled(DOCUMENTS)

    def busy(*_: Any) -> None:
        raise InUseError("Another program writes groups of the index 'news'. Run this again when that has ended.")

    monkeypatch.setattr(running, "write_groups", busy)
    run("sync", "news", *FIELDS, "--patience", "0", code=output.LATER)
    monkeypatch.undo()


def test_its_metrics_are_those_of_one_job() -> None:
    filled(DOCUMENTS)
    run("sync", "news", *FIELDS, "--metrics-file", "es.prom")
    found = {
        (each.name, each.labels.get("outcome") or each.labels.get("stage")): each.value
        for family in text_string_to_metric_families(Path("es.prom").read_text(encoding="utf-8"))
        for each in family.samples
        if (each.labels["verb"], each.labels["index"]) == ("sync", "news")
    }
    # The fingerprints of thirteen, and the groups of two.
    assert found["es_simhash_documents_total", "written"] == 15
    assert found["es_simhash_run_exit_code", None] == 0
    stages = {"survey", "documents", "prepare", "learn", "read", "compare", "write"}
    assert stages <= {stage for name, stage in found if name == "es_simhash_stage_seconds_total"}


@servers
def test_on_a_server_the_next_step_is_a_dashboard(engine: Engine, names: Callable[[], str], url: str) -> None:
    name = names()
    create(engine, name)
    fill(engine, name, DOCUMENTS)
    done = run("sync", name, *FIELDS, ES_SIMHASH_URL=url)
    assert done.err.splitlines()[-1] == f"Next: es-simhash dashboard {name}"


def test_a_server_that_is_away_may_come_back() -> None:
    run("sync", "news", "--patience", "0", "--url", "http://127.0.0.1:9", code=output.LATER)


@servers
def test_indices_that_cannot_be_processed_are_left_out_and_named(
    engine: Engine, kind: str, request: pytest.FixtureRequest
) -> None:
    node, base = request.getfixturevalue(f"{kind}_node"), f"sync-{uuid.uuid4().hex[:8]}"
    for part in ("a", "b"):
        create(engine, f"{base}-{part}")
        fill(engine, f"{base}-{part}", {f"{part}{id_}": each for id_, each in DOCUMENTS.items()})
    node.request("PUT", f"/{base}-b/_settings", {"index.blocks.read_only": True})
    try:
        done = run("sync", f"{base}-*", *FIELDS, "--json", code=output.SOME_FAILED, ES_SIMHASH_URL=node.url)
        [synced] = lines(done)
        assert (synced["left_out"], synced["fingerprinted"]) == ([f"{base}-b"], 13)
        assert f"Left out: {base}-b" in done.err
    finally:
        node.request("PUT", f"/{base}-b/_settings", {"index.blocks.read_only": False})
        for part in ("a", "b"):
            node.request("DELETE", f"/{base}-{part}")
