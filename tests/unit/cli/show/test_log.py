"""What programs read on standard error: an object of JSON a line."""

from __future__ import annotations

import json
import logging
import re
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from es_simhash.cli.show import output
from tests.support.commands import Run, run, run_alone

LINES = "".join(f'{{"id": "{i}", "body": "A storm hit the coast on day {i // 2}."}}\n' for i in range(20))
JSON = ("--log-format", "json")


@pytest.fixture(autouse=True)
def news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("news.jsonl").write_text(LINES, encoding="utf-8")


def events(done: Run) -> list[dict[str, Any]]:
    """What the log says; each line has what each must have, and those of a run its id."""
    found = [json.loads(line) for line in done.err.splitlines()]
    assert found
    for each in found:
        assert datetime.fromisoformat(each["timestamp"].replace("Z", "+00:00")).tzinfo
        assert each["level"] in ("info", "warning", "error")
    assert len({each.get("run_id") for each in found}) == 1
    return found


def named(found: list[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    return [each for each in found if each["event"] == event]


def test_a_run_logs_its_begin_its_stages_and_its_end() -> None:
    found = events(run("load", "news", "news.jsonl", "--field", "body", *JSON))
    assert [each["event"] for each in found] == ["started", "engine", "stage", "stage", "note", "finished"]
    assert re.fullmatch(r"es-simhash-[0-9a-f]{16}", found[0]["run_id"])
    assert (found[0]["verb"], found[1]["engine"]) == ("load", ".es-simhash")
    assert [each["stage"] for each in named(found, "stage")] == ["documents", "learn"]
    last = found[-1]
    assert (last["exit_code"], last["written"], last["rejected"], last["seconds"] > 0) == (0, 20, 0, True)


def test_the_option_stands_before_the_verb_too() -> None:
    assert events(run(*JSON, "info"))[0]["verb"] == "info"


def test_results_stay_on_standard_output() -> None:
    assert "20 documents written" in run("load", "news", "news.jsonl", "--field", "body", *JSON).out


def test_what_goes_wrong_is_an_object_too() -> None:
    found = events(run("info", "nowhere", *JSON, code=4))
    [error] = named(found, "error")
    assert (error["level"], error["error_type"]) == ("error", "MissingError")
    assert error["message"].startswith("The index 'nowhere' does not exist")
    assert found[-1]["exit_code"] == 4


def test_with_debug_it_has_the_traceback() -> None:
    [error] = named(events(run("--debug", "info", "nowhere", *JSON, code=4)), "error")
    assert error["traceback"].startswith("Traceback")


def test_a_mistake_in_the_command_line_is_an_object() -> None:
    [error] = events(run("find", "news", "--nonsense", *JSON, code=2))
    # How it is written depends on the version of click.
    assert re.match(r"No such option:? .?--nonsense", error["message"])
    [error] = events(run("--log-format=json", "nonsense", code=2))
    assert "nonsense" in error["message"]


def test_what_a_verb_refuses_is_an_object() -> None:
    [error] = named(events(run("group", "news", "--singles", *JSON, code=2)), "error")
    assert error["message"].startswith("--copy, --singles, --max-rate and --accept are for writing groups.")


def test_quiet_leaves_warnings_and_errors() -> None:
    assert run("load", "news", "news.jsonl", "--field", "body", "-q", *JSON).err == ""
    assert [each["event"] for each in events(run("info", "nowhere", "-q", *JSON, code=4))] == ["error"]


def test_what_libraries_warn_of_is_an_object() -> None:
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "print_stderr", said.append)
        with output.log_written_as("json", "run-1"):
            logging.getLogger("their.library").warning("Connection %s lost", 7)
            logging.getLogger("their.library").info("not this")
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.warn("That is old.", stacklevel=1)
            try:
                raise ZeroDivisionError("no")
            except ZeroDivisionError:
                logging.getLogger("their.library").exception("It failed")
    first, second, third = map(json.loads, said)
    assert (first["event"], first["logger"], first["message"]) == ("library", "their.library", "Connection 7 lost")
    assert (first["run_id"], second["logger"]) == ("run-1", "py.warnings")
    assert "That is old." in second["message"]
    assert (third["level"], third["message"]) == ("error", "It failed")
    assert third["traceback"].endswith("ZeroDivisionError: no")
    assert not output.is_json()


def test_a_text_log_has_no_events(capsys: pytest.CaptureFixture[str]) -> None:
    output.write("info", "started", verb="load")
    output.write("info", "note", "Ten were written.", written=10)
    assert capsys.readouterr().err == "Ten were written.\n"


def test_progress_is_an_object_with_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("es_simhash.cli.show.output._SECONDS_BETWEEN_LINES", 0)
    every = named(events(run("dedup", "news.jsonl", *JSON)), "progress")
    found = [each for each in every if each["message"].startswith("Reading:")]
    assert found[-1]["done"] == 20
    assert found[-1]["failed"] == 0
    assert found[-1]["message"].startswith("Reading: 100% 20 documents")


def test_an_interrupted_run_says_so() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("es_simhash.cli.show.output.Output.table", _interrupt)
        found = events(run("info", *JSON, code=130))
    assert [each["event"] for each in found] == ["started", "interrupted", "finished"]
    assert found[-1]["exit_code"] == 130


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_process_of_its_own_logs_the_same() -> None:
    found = events(run_alone("load", "news", "news.jsonl", "--field", "body", *JSON))
    assert [each["event"] for each in found] == ["started", "engine", "stage", "stage", "note", "finished"]
