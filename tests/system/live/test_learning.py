"""How rare features are is learnt once, by the command that fills an index, and then kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Scheme
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import AccessError
from es_simhash.index import Index
from es_simhash.live import learning
from es_simhash.live.backfill import BackfillOptions
from es_simhash.live.doctor import examine
from es_simhash.plans.open_index import noted_rarity
from es_simhash.plans.operations import (
    Action,
    Bulk,
    CreateIndex,
    GetMappings,
    Operation,
    PutMapping,
    ReadPage,
    Refresh,
)
from es_simhash.scheme.learnt_rarity import LearntRarity
from tests.support.commands import lines, run
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler

DOCUMENTS = Documents(Scheme(), ["title", "body"])
KNOWN: Any = {"scheme": DOCUMENTS.scheme, "fields": DOCUMENTS.fields}


@pytest.fixture(autouse=True)
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "SAMPLE", 20)


def noted(engine: Engine, name: str) -> LearntRarity | None:
    return noted_rarity(engine.perform(GetMappings(name)), DOCUMENTS)


def filled(engine: Engine, name: str, count: int = 30, first: int = 0) -> Index:
    """An index that has the fields, with documents without fingerprints."""
    index = Index(name, engine, **KNOWN)
    index.init()
    put(engine, name, count, first)
    return index


def put(engine: Engine, name: str, count: int, first: int = 0) -> None:
    documents = [edited(corpus()[i % 30], 5, seed=i) for i in range(first, first + count)]
    actions = [Action("index", str(first + i), document) for i, document in enumerate(documents)]
    engine.perform(Bulk(name, actions, refresh=True))


def test_a_backfill_learns_unless_that_was_done_before(engine: Engine, names: Callable[[], str]) -> None:
    index = filled(engine, names())
    learnt = index.backfill().learnt
    assert isinstance(learnt, LearntRarity)
    assert (learnt.rarity.documents, learnt.among) == (20, 30)
    assert noted(engine, index.name) == learnt
    put(engine, index.name, 30, first=100)
    assert index.backfill().learnt is None
    assert noted(engine, index.name) == learnt
    again = index.learn()
    assert again.among == 60
    assert again.rarity != learnt.rarity
    assert again.previous == learnt


def test_what_a_backfill_has_written_is_not_read_again_to_learn(engine: Engine, names: Callable[[], str]) -> None:
    index, meddler = filled(engine, names(), count=50), Meddler(engine)
    learnt = Index(index.name, meddler).backfill(parallel=2).learnt
    assert isinstance(learnt, LearntRarity)
    assert [f"{DOCUMENTS.prefix}.content"] not in [each.source for each in meddler.seen if isinstance(each, ReadPage)]
    again = index.learn()
    assert (again.rarity, again.among) == (learnt.rarity, learnt.among)


def test_few_documents_and_parts_of_an_index_are_not_learnt_from(engine: Engine, names: Callable[[], str]) -> None:
    index = filled(engine, names(), count=19)
    assert index.backfill().learnt is None
    put(engine, index.name, 10, first=100)
    assert index.backfill(shard=(0, 2)).learnt is None
    assert index.backfill(filter={"match_all": {}}).learnt is None
    assert noted(engine, index.name) is None
    assert isinstance(index.backfill().learnt, LearntRarity)


def test_all_indices_behind_a_name_are_learnt_from_and_new_ones_go_by_the_same(
    engine: Engine, names: Callable[[], str]
) -> None:
    first, second, third = (filled(engine, names(), count=15, first=100 * i) for i in range(3))
    learnt = Index(f"{first.name},{second.name}", engine).backfill().learnt
    assert isinstance(learnt, LearntRarity)
    assert learnt.among == 30
    assert noted(engine, first.name) == noted(engine, second.name) == learnt
    assert Index(f"{second.name},{third.name}", engine).backfill().learnt is None
    assert noted(engine, third.name) == learnt


def test_a_login_that_may_not_change_the_mapping_reads_no_document_to_learn(
    engine: Engine, names: Callable[[], str]
) -> None:
    index = filled(engine, names())
    index.backfill(filter={"match_all": {}})
    meddler = Meddler(engine)

    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, PutMapping):
            raise AccessError("refused")

    meddler.before = refuse
    progress = Index(index.name, meddler).backfill()
    assert str(progress.learnt) == "refused"
    assert not any("Read" in kind.__name__ for kind in meddler.kinds())


def test_a_copy_goes_by_what_was_learnt_in_the_source_or_learns_itself(
    engine: Engine, names: Callable[[], str]
) -> None:
    index, copy, other = filled(engine, names()), names(), names()
    Index(index.name, engine).reindex(other)
    own = noted(engine, other)
    assert own
    learnt = index.backfill().learnt
    assert isinstance(learnt, LearntRarity)
    put(engine, index.name, 10, first=100)
    Index(index.name, engine).reindex(copy)
    assert noted(engine, copy) == learnt


def test_a_removal_forgets_what_was_learnt(engine: Engine, names: Callable[[], str]) -> None:
    index = filled(engine, names())
    index.backfill()
    index.remove_fields()
    assert noted(engine, index.name) is None


def test_the_first_search_reads_the_mapping_once(engine: Engine, names: Callable[[], str]) -> None:
    index = filled(engine, names())
    index.backfill()
    meddler = Meddler(engine)
    opened = Index(index.name, meddler)
    for _ in range(2):
        opened.find(corpus()[3]["body"])
    list(opened.check([corpus()[3]]))
    assert [type(each) for each in meddler.seen].count(GetMappings) == 1


def test_commands_say_what_they_learnt(tmp_path: Path) -> None:
    def call(*arguments: str) -> tuple[list[Any], str]:
        done = run(*arguments, "--json", cwd=tmp_path, XDG_STATE_HOME=str(tmp_path))
        return lines(done), done.err

    documents = tmp_path / "documents.jsonl"
    rows = [json.dumps({"number": i, **edited(corpus()[i % 30], 5, seed=i)}) for i in range(60)]
    documents.write_text("\n".join(rows[:15]))
    load = ("load", "articles", str(documents), "--id-field", "number", "--field", "body")
    [done], _ = call(*load)
    assert done["learnt"] is None
    documents.write_text("\n".join(rows))
    [done], _ = call(*load, "--dry-run")
    assert done["learnt"] is None
    [done], _ = call(*load)
    assert done["learnt"]["sample"] == 20
    [done], _ = call(*load)
    assert done["learnt"] is None
    done, _ = call("backfill", "articles")
    assert done[-1]["learnt"] is None
    [done], _ = call("learn", "articles")
    assert done["sample"] == 20
    shown = run("learn", "articles", "--verbose", cwd=tmp_path, XDG_STATE_HOME=str(tmp_path))
    assert "Learnt from 20 of 60 documents which phrases are common" in shown.err
    assert f"The rarity table {done['table']} is in the mapping." in shown.err


def test_what_a_load_has_written_is_not_read_again_to_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from es_simhash.cli.options.target import Target

    meddler = Meddler(EmbeddedEngine(tmp_path / "indices"))
    monkeypatch.setattr(Target, "connect", lambda *_: meddler)
    documents = tmp_path / "documents.jsonl"
    documents.write_text("\n".join(json.dumps({"id": i, **edited(corpus()[i], 5, seed=i)}) for i in range(30)))
    done = run("load", "articles", str(documents), "--field", "body", cwd=tmp_path, XDG_STATE_HOME=str(tmp_path))
    assert "Learnt from 20 of 30 documents which phrases are common" in done.err
    assert not [each for each in meddler.seen if isinstance(each, ReadPage)]


def test_a_table_that_cannot_be_kept_is_not_a_failure(
    engine: Engine, names: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from es_simhash.cli.options.target import Target

    name, meddler = names(), Meddler(engine)
    engine.perform(CreateIndex(name, {}))
    filled(engine, name)
    engine.perform(Refresh(name))

    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, PutMapping):
            raise AccessError("Not allowed.")

    meddler.before = refuse
    monkeypatch.setattr(Target, "connect", lambda *_: meddler)
    done = run("backfill", name, cwd=tmp_path, XDG_STATE_HOME=str(tmp_path))
    assert "The common phrases of these texts could not be stored, so built-in ones are used: Not allowed." in done.err


def rarity_findings(index: Index) -> list[tuple[str, str]]:
    return [(each.level, each.message) for each in index.doctor() if each.code == "rarity"]


def test_the_doctor_and_info_show_the_age_of_what_was_learnt(
    engine: Engine, names: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examine, "SAMPLE", 20)
    index = filled(engine, names())
    everything = BackfillOptions(filter={"match_all": {}})  # which does not learn
    assert rarity_findings(index) == []
    index.backfill(**vars(everything))
    [(level, message)] = rarity_findings(index)
    assert (level, index.info().rarity) == ("note", None)
    assert "built-in values are used" in message

    learnt = index.backfill().learnt
    assert isinstance(learnt, LearntRarity)
    assert index.info().rarity == learnt
    expected = f"Common phrases were learnt on {learnt.day} from 20 of 30 documents"
    assert rarity_findings(index) == [("ok", f"{expected}.")]
    put(engine, index.name, 271, first=100)
    index.backfill()
    assert rarity_findings(index) == [("note", f"{expected}; the index now has 301.")]
