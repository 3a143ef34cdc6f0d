from __future__ import annotations

from itertools import count

import pytest

from es_simhash._core.stages import counting, counts_shown
from es_simhash.cli.show import output as module
from es_simhash.cli.show.output import Output


def test_without_a_terminal_a_stage_says_every_ten_seconds_how_much_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = count(0, 5)
    monkeypatch.setattr(module, "monotonic", lambda: next(seconds))
    with counts_shown(Output().progress), counting("Sorting keys", 400, "keys") as advance:
        for done in (100, 200, 300):
            advance(done)
    assert capsys.readouterr().err.splitlines() == [
        "Sorting keys: 50% 200 keys, 20/s",
        "Sorting keys: 100% 400 keys, 20/s",
    ]


def test_a_quiet_run_shows_no_stage(capsys: pytest.CaptureFixture[str]) -> None:
    with counts_shown(Output(quiet=True).progress), counting("Sorting keys", 2, "keys") as advance:
        advance(1)
    assert capsys.readouterr() == ("", "")
