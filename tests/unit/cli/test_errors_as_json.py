"""Under ``--json`` an error is an object, too: the last line of standard error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from es_simhash.cli.show import output
from tests.support.commands import run


def error(folder: Path, *given: str, code: int) -> dict[str, Any]:
    done = run(*given, cwd=folder, code=code)
    assert done.out == ""
    found: dict[str, Any] = json.loads(done.err.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (["grup", "news", "--json"], output.USAGE, "No such verb: grup. Did you mean group?"),
        (["--json", "find"], output.USAGE, "Missing argument 'INDEX'."),
        (["find", "news", "--json"], output.USAGE, "Give one of --text, --id and --file."),
        (["find", "news", "--json", "--size", "x"], output.USAGE, "Invalid value for '--size'"),
        (["find", "news", "--json", "--nothing"], output.USAGE, "No such option"),
        (["dedup", "nowhere.jsonl", "--json"], output.USAGE, "'nowhere.jsonl' cannot be read"),
        (["info", "news", "--json"], output.REFUSED, "The index 'news' does not exist"),
        (["info", "news", "--json", "--url", "http://127.0.0.1:9"], output.LATER, "Nothing answers at"),
    ],
)
def test_every_kind_of_error_is_an_object_with_its_code(given: list[str], code: int, said: str, tmp_path: Path) -> None:
    found = error(tmp_path, *given, code=code)
    assert found == {"error": found["error"], "code": code}
    assert said in found["error"]


def test_an_interruption_is_one_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("es_simhash.cli.show.presets.show_presets", interrupt)
    assert error(tmp_path, "info", "--json", code=output.INTERRUPTED) == {
        "error": "Interrupted. Nothing was changed.",
        "code": output.INTERRUPTED,
    }


def test_a_traceback_is_a_part_of_it(tmp_path: Path) -> None:
    found = error(tmp_path, "--debug", "info", "news", "--json", code=output.REFUSED)
    assert found["traceback"].startswith("Traceback")


def test_a_log_for_programs_has_its_own_form(tmp_path: Path) -> None:
    found = error(tmp_path, "info", "news", "--json", "--log-format", "json", code=output.REFUSED)
    assert (found["event"], found["exit_code"]) == ("finished", output.REFUSED)


def test_without_the_option_an_error_is_a_sentence(tmp_path: Path) -> None:
    assert run("info", "news", cwd=tmp_path, code=output.REFUSED).err.splitlines()[-1].startswith("Error: The index")
