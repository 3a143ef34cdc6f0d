"""What ``es-simhash doctor`` prints, and what ``es-simhash backfill`` makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from es_simhash.cli.process import run
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.plans.operations import Action, Bulk, CreateIndex, GetMappings
from es_simhash.scheme.mapping import HOME

FIELDS = ("--field", "body")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with an index that knows of no fingerprints, and with one that has a conflict."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in ("ES_SIMHASH_URL", "ELASTICSEARCH_URL", "OPENSEARCH_URL", "ES_SIMHASH_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    engine = EmbeddedEngine(".es-simhash")
    for name, more in (("good", {}), ("bad", {"dedup": {"type": "keyword"}})):
        engine.perform(CreateIndex(name, {"mappings": {"properties": {"body": {"type": "text"}, **more}}}))
        engine.perform(Bulk(name, [Action("index", "1", {"body": "a text of some length"})], refresh=True))
    engine.close()


def doctor(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = run(["doctor", *arguments])
    return code, capsys.readouterr().out


def test_findings_are_a_table_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = doctor(capsys, "bad", *FIELDS)
    assert code == 1
    header, *rows = [line.split("\t") for line in out.splitlines() if "\t" in line]
    assert header == ["level", "code", "what was found", "what to do"]
    assert ["stop", "mapping-conflict"] in [row[:2] for row in rows]
    assert {row[0] for row in rows} == {"stop"}


def test_without_a_stop_the_exit_code_is_0(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = doctor(capsys, "good", *FIELDS)
    assert code == 0
    assert "stop" not in out


def test_quiet_shows_only_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(capsys, "good", *FIELDS, "--quiet") == (0, "")
    code, out = doctor(capsys, "bad", *FIELDS, "--quiet", "--json")
    assert code == 1
    [found] = [json.loads(line) for line in out.splitlines()]
    assert found == {
        "code": "mapping-conflict",
        "level": "stop",
        "message": "The index 'bad' has a field 'dedup' of type keyword, where an object is needed.",
        "remedy": "Choose another prefix (--prefix).",
        "index": "bad",
    }


def test_an_index_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(capsys, "nowhere", *FIELDS) == (4, "")


def backfill(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[Any], str]:
    code = run(["backfill", *arguments, "--json"])
    printed = capsys.readouterr()
    return code, [json.loads(line) for line in printed.out.splitlines()], printed.err


def mapping() -> list[str]:
    engine = EmbeddedEngine(".es-simhash")
    fields = list(engine.perform(GetMappings("good"))["good"]["properties"])
    engine.close()
    return fields


def test_nothing_is_written_where_something_stops(capsys: pytest.CaptureFixture[str]) -> None:
    code, [plan], err = backfill(capsys, "bad", *FIELDS)
    assert (code, plan["parts"], plan["left_out"]) == (4, [], ["bad"])
    assert "Stop (mapping-conflict): The index 'bad' has" in err
    assert json.loads(err.splitlines()[-1])["error"].startswith("'bad' cannot be updated. mapping-conflict: ")


def test_a_dry_run_shows_the_stops_and_adds_no_fields(capsys: pytest.CaptureFixture[str]) -> None:
    code, [plan], _ = backfill(capsys, "bad,good", *FIELDS, "--dry-run")
    assert code == 1
    assert [each["code"] for each in plan["findings"] if each["level"] != "ok"] == ["indices", "mapping-conflict"]
    assert mapping() == ["body"]


def test_the_others_are_done_and_the_exit_code_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, [*_, done], err = backfill(capsys, "bad,good", *FIELDS)
    assert (code, done["written"], done["left_out"]) == (1, 1, ["bad"])
    assert err.endswith("Indices left out: bad. See the reasons above.\n")
    assert mapping() == ["body", "dedup", HOME]
    code, [*_, done], _ = backfill(capsys, "good")
    assert (code, done["written"], done["left_out"]) == (0, 0, [])


def test_what_cannot_be_accepted_is_a_mistake_in_usage(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = backfill(capsys, "good", "--accept", "closed")
    assert (code, out) == (2, [])
    assert "'closed' cannot be accepted" in err
    assert backfill(capsys, "good", *FIELDS, "--accept", "disk")[0] == 0
