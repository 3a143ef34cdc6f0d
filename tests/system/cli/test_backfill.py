"""What ``es-simhash backfill`` reports of others who write in the meantime, on real servers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from es_simhash.cli.options.target import Target
from es_simhash.engines.base import Engine
from es_simhash.errors import AccessError, UnreachableError
from es_simhash.live.sweep.writing import are_changed
from es_simhash.plans.operations import (
    Action,
    Bulk,
    GetMappings,
    GetResource,
    Operation,
)
from tests.support.commands import lines, run
from tests.support.meddling import Meddler
from tests.support.whole_indices import DOCUMENTS, create, fill, servers


@servers
def test_texts_that_others_go_on_changing_are_reported_and_done_by_the_next_run(
    engine: Engine, meddler: Meddler, names: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = names()
    create(engine, name)
    fill(engine, name, DOCUMENTS)
    numbers = count()

    def change_a_text(operation: Operation[Any]) -> None:
        if isinstance(operation, GetResource) and "_stats" in operation.path and Bulk in meddler.kinds():
            part = {"title": f"Another title, the {next(numbers)}th"}
            engine.perform(Bulk(name, [Action("update", next(iter(DOCUMENTS)), {"doc": part})]))

    monkeypatch.setattr(Target, "connect", lambda *_: meddler)

    def backfill(code: int) -> tuple[Any, str]:
        done = run(
            "backfill", name, "--field", "title", "--json", cwd=tmp_path, code=code, XDG_STATE_HOME=str(tmp_path)
        )
        return lines(done)[-1], done.err

    meddler.before = change_a_text
    done, err = backfill(1)
    assert done["unsettled"] == 1
    assert "Texts keep changing: 1 change came after the last pass. Run the command again when the writers have" in err
    meddler.before = lambda operation: None
    done, err = backfill(0)
    assert (done["written"], done["unsettled"]) == (1, 0)
    assert "Others" not in err


@servers
def test_settings_that_could_not_be_set_back_are_named_and_set_back_by_the_next_run(
    engine: Engine, meddler: Meddler, names: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = names()
    create(engine, name)
    fill(engine, name, DOCUMENTS)

    def fail(operation: Operation[Any]) -> None:
        if Bulk in meddler.kinds():
            raise AccessError("refused") if isinstance(operation, Bulk) else UnreachableError("away")

    def backfill(*options: str, code: int = 0) -> str:
        fields = ("--field", "title", *options)
        return run("backfill", name, *fields, cwd=tmp_path, code=code, XDG_STATE_HOME=str(tmp_path)).err

    monkeypatch.setattr(Target, "connect", lambda *_: meddler)
    meddler.before = fail
    err = backfill("--no-refresh", code=4)
    assert f"The settings of {name} may not be restored. Run the command again: it restores them first." in err
    meddler.before = lambda operation: None
    assert "Settings" not in backfill()
    mapping = engine.perform(GetMappings(name))[name]
    assert not are_changed(mapping)
