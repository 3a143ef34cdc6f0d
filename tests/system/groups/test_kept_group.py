"""What ``state`` keeps of a grouping until all is written, on every engine: a run that failed goes on with it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.cli.commands import group as command
from es_simhash.engines.base import Engine
from es_simhash.errors import InUseError
from es_simhash.groups.canonical import Canonical
from es_simhash.groups.groups import Groups
from es_simhash.groups.pairs import compare
from es_simhash.index import Index
from es_simhash.plans.operations import Action, Bulk, OpenReader
from es_simhash.scheme.mapping import stored_in
from tests.support.commands import run
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler, StopsEarly
from tests.support.whole_indices import FIELDS, contents, fingerprinted

ORIGINALS = corpus(12)
DOCUMENTS: dict[str, Json] = {
    **{f"{i} original": {**document, "number": i} for i, document in enumerate(ORIGINALS)},
    **{
        f"{i} copy {k}": {**edited(ORIGINALS[i], 2, seed=10 * i + k), "number": 100 + k}
        for i in range(6)
        for k in (0, 1)
    },
}
RESUMED = "Resumed: kept has comparisons of an interrupted run, which are not repeated."


@pytest.fixture
def index(engine: Engine, meddler: Meddler, names: Callable[[], str]) -> Index:
    """An index whose documents have fingerprints, and are in no group yet."""
    return fingerprinted(engine, meddler, names(), DOCUMENTS)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("es_simhash.groups.of_index.writing._AT_ONCE", 4)
    monkeypatch.setattr("es_simhash.groups.of_index.writing._NOTED_AT_ONCE", 8)


def write(index: Index, **options: Any) -> None:
    with index.group(**options) as found:
        index.write_groups(found)
    index.refresh()


def killed(index: Index, engine: Engine, **options: Any) -> None:
    """Write groups in a run that ends after some of them, as if it had been killed."""
    with pytest.raises(RuntimeError, match="stopped"):
        write(Index(index.name, StopsEarly(engine)), **options)
    index.refresh()


def stored(engine: Engine, index: Index) -> dict[str, Json]:
    return {id_: stored_in(each["dedup"]) for id_, each in contents(engine, index.name, list(DOCUMENTS)).items()}


def change(engine: Engine, index: Index, id_: str, part: Json) -> None:
    [result] = engine.perform(Bulk(index.name, [Action("update", id_, {"doc": part})], refresh=True))
    assert result.error is None


def test_a_run_that_failed_while_it_wrote_is_gone_on_with_and_neither_reads_nor_compares(
    engine: Engine, index: Index, meddler: Meddler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(index, engine, state=tmp_path)
    assert 0 < sum(map(bool, stored(engine, index).values())) < 18
    assert any(tmp_path.iterdir())

    def refuse(*_: Any) -> None:
        raise AssertionError("compared again")

    with monkeypatch.context() as patched:
        patched.setattr(compare.Comparison, "measured", refuse)
        meddler.seen.clear()
        write(index, state=tmp_path)
    assert OpenReader not in meddler.kinds()
    assert list(tmp_path.iterdir()) == []
    whole = stored(engine, index)
    assert sum(map(bool, whole.values())) == 18
    write(index)
    assert stored(engine, index) == whole


@pytest.mark.parametrize("before", [None, "oldest:number", "newest:number"])
@pytest.mark.parametrize("at_first", ["oldest:number", "newest:number"])
@pytest.mark.parametrize("then", [{"canonical": "oldest:number"}, {"canonical": "oldest:number", "max_bucket": 50}])
def test_what_a_killed_run_wrote_with_other_options_is_written_over(
    engine: Engine, index: Index, tmp_path: Path, before: str | None, at_first: str, then: Json
) -> None:
    if before:
        write(index, canonical=before)
    if before != at_first:
        killed(index, engine, canonical=at_first, state=tmp_path)
    write(index, state=tmp_path, **then)
    assert list(tmp_path.iterdir()) == []
    found = stored(engine, index)
    write(index, **then)
    assert stored(engine, index) == found


def test_a_text_that_changed_while_a_killed_run_wrote_is_in_no_group(
    engine: Engine, index: Index, tmp_path: Path
) -> None:
    killed(index, engine, state=tmp_path)
    change(engine, index, "2 copy 0", {"body": "Something else altogether."})
    write(index, state=tmp_path)
    found = stored(engine, index)
    assert found["2 copy 0"] == {}
    assert found["2 copy 1"]["group_size"] == 2


def test_groups_that_another_program_wrote_since_end_the_run_and_the_next_one_starts_over(
    engine: Engine, index: Index, tmp_path: Path
) -> None:
    killed(index, engine, state=tmp_path)
    write(Index(index.name, engine), canonical=Canonical.newest("number"), similarity=0.6)
    with pytest.raises(InUseError, match="at the same time"):
        write(index, state=tmp_path)
    assert list(tmp_path.iterdir()) == []
    write(index, state=tmp_path)
    found = stored(engine, index)
    write(index)
    assert stored(engine, index) == found


def test_a_block_that_fails_keeps_the_state_and_one_that_ends_or_a_closed_result_does_not(
    index: Index, tmp_path: Path
) -> None:
    with pytest.raises(ZeroDivisionError), index.group(state=tmp_path) as found:
        _ = len(found) // 0
    assert any(tmp_path.iterdir())
    index.group(state=tmp_path).close()
    assert list(tmp_path.iterdir()) == []


def test_a_result_that_is_closed_twice_leaves_the_state_of_the_next_job_alone(index: Index, tmp_path: Path) -> None:
    first = index.group(state=tmp_path)
    first.close()
    second = index.group(state=tmp_path)
    there = {path.name for path in tmp_path.iterdir()}
    first.close()
    assert there
    assert {path.name for path in tmp_path.iterdir()} == there
    second.close()


def test_a_command_that_fails_while_it_writes_its_files_is_gone_on_with_and_says_so_before_it_compares(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"kept-{uuid.uuid4().hex[:10]}"
    with Index(name, place, fields=FIELDS) as index:
        index.init()
        index.add([{"_id": id_, **each} for id_, each in DOCUMENTS.items()], refresh=True)
    job = ("group", name, "--report", "page.html", "--json")

    def do(*options: str, code: int = 0) -> tuple[str, str]:
        done = run(*job, *options, cwd=tmp_path, code=code, ES_SIMHASH_URL=place)
        return done.out, done.err

    alone, _ = do()
    _, said = do("--state", "kept", "--max-loss", "1%", code=1)
    assert "more than --max-loss" in said
    # The next night must see what has changed.
    assert not any((tmp_path / "kept").iterdir())

    def fail(*_: Any, **given: Any) -> None:
        raise OSError(28, "No space left on device", "page.html")

    with monkeypatch.context() as patched:
        patched.setattr(command, "_write_files", fail)
        _, said = do("--state", "kept", code=2)
    assert "No space left on device" in said
    assert any((tmp_path / "kept").iterdir())

    def interrupt(*_: Any, **given: Any) -> Groups[Any]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("es_simhash.groups.of_index.corpus.linked", interrupt)
        _, said = do("--state", "kept", code=130)
    assert RESUMED in said
    with monkeypatch.context() as patched:
        patched.setattr(command, "_write_files", interrupt)
        _, said = do("--state", "kept", code=130)
    assert "No output files were written. Run the same command again to resume." in said
    found, said = do("--state", "kept")
    assert RESUMED in said
    assert found == alone
    assert not any((tmp_path / "kept").iterdir())
    assert RESUMED not in do("--state", "kept")[1]
