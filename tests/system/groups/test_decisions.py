"""What people have decided about documents of an index holds on every engine, whatever happens to the documents."""

from __future__ import annotations

import html
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from es_simhash import Decision, GroupOptions, Index, connect
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine, run
from es_simhash.errors import AccessError, IndexStateError, InputError
from es_simhash.plans.decided import decisions_in
from es_simhash.plans.operations import (
    CreateIndex,
    DeleteIndex,
    GetMappings,
    OpenReader,
    Operation,
    Search,
    index_of,
)
from tests.support.commands import run as run_command
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler

KEYWORD: Json = {"type": "keyword"}
MAPPING: Json = {"properties": {"body": {"type": "text"}, "source": KEYWORD}}
POOL = [edited(text, count, seed=seed)["body"] for seed, text in enumerate(corpus(3)) for count in (1, 2, 4, 7)]


def made(engine: Engine, name: str, prefix: str = "dedup") -> Index:
    engine.perform(CreateIndex(name, {"mappings": MAPPING}))
    index = Index(name, engine, fields=["body"], prefix=prefix)
    index.init()
    return index


@pytest.fixture
def index(engine: Engine, names: Callable[[], str]) -> Index:
    """An index with twelve documents of three stories, as `POOL` has them."""
    index = made(engine, names())
    index.add([{"_id": str(place), "body": text} for place, text in enumerate(POOL)], refresh=True)
    return index


def groups_of(index: Index, options: GroupOptions | None = None) -> set[frozenset[tuple[str, str]]]:
    """The members of each group and their canonical documents."""
    with index.group(**vars(options or GroupOptions())) as found:
        return {frozenset((each.id, each.canonical) for each in group.members) for group in found}


def written(index: Index, *, incremental: bool = True) -> None:
    with index.group(incremental=incremental) as found:
        index.write_groups(found)


def ids_of(index: Index) -> set[frozenset[str]]:
    return {frozenset(id_ for id_, _ in group) for group in groups_of(index)}


def test_decisions_are_kept_with_the_index_and_obeyed(index: Index) -> None:
    assert frozenset("0123") in ids_of(index)
    decisions = [
        Decision.between("0", "1", same=False, who="Mia", when="2026-03-01T10:00:00Z", why="Two quarters."),
        Decision.between("5", "9", same=True, who="Ben"),
        Decision.about("10", "alone"),
        Decision.about("6", "canonical"),
    ]
    assert index.decide(decisions) == 4
    with Index(index.name, index.engine).group() as found:
        groups = list(found)
        notes = found.counts.notes
    assert "4 decisions of people followed." in notes
    ids = [{each.id for each in group.members} for group in groups]
    assert not any({"0", "1"} <= each or "10" in each for each in ids)
    [whole] = [group for group in groups if {"5", "9"} <= {each.id for each in group.members}]
    assert whole.canonical.id == "6"
    assert sorted(each.who for each in index.decisions()) == ["", "", "Ben", "Mia"]


def test_the_last_word_of_each_person_counts_and_contradictions_are_named(index: Index) -> None:
    for same in (False, True):
        index.decide([Decision.between("0", "1", same=same, who="Mia")])
    assert frozenset("0123") in ids_of(index)
    index.decide([Decision.between("0", "1", same=False, who="Ben")])
    with index.group() as found:
        assert not any({"0", "1"} <= set(ids) for ids in found.ids())
        assert "'0' and '1' are the same (Mia), and different (Ben)." in str(found.counts.notes)


def test_two_people_at_once_lose_nothing(index: Index) -> None:
    every = [Decision.between(str(a), str(b), same=False) for a in range(12) for b in range(a)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: index.decide([each]), every))
    assert {each.documents for each in index.decisions()} == {
        tuple(sorted((index.name, id_) for _, id_ in each.documents)) for each in every
    }


def test_searches_checks_and_explanations_obey(index: Index) -> None:
    assert [match.id for match in index.find(id="0")] == ["1", "2", "3"]
    index.decide([Decision.between("0", "1", same=False, who="Mia", why="Two quarters.")])
    index.add([{"_id": "z", "body": "Snow covered the tracks, so trains stood still for hours."}], refresh=True)
    index.decide([Decision.between("0", "z", same=True), Decision.about("2", "alone")])
    found = index.find(id="0")
    assert [(match.id, match.clause) for match in found] == [("3", "similar"), ("z", "people")]
    assert not index.find(id="2")
    assert "Mia decided that '0' and '1' are different: Two quarters." in index.explain("0", "1").shown().notes
    shown = index.search({"query": {"match_all": {}}, "size": 50}, distinct=True, with_texts=True)
    folded = {each.hit["_id"]: {match.id for match in each.similar} for each in shown}
    assert folded["2"] == set()
    assert not any({"0", "1"} <= {id_, *similar} for id_, similar in folded.items())
    assert any({"0", "z"} <= {id_, *similar} for id_, similar in folded.items())
    [checked] = index.check([{"_id": "1", "body": POOL[0]}])
    assert "0" not in {match.id for match in checked.in_index}
    first, second = index.check([{"_id": "new", "body": POOL[0]}, {"_id": "2", "body": POOL[0]}])
    assert not first.is_new
    assert second.is_new


def test_decisions_survive_new_documents_and_a_reindex(index: Index, names: Callable[[], str]) -> None:
    index.decide([Decision.between("0", "1", same=False, who="Mia")])
    written(index)
    index.add([{"_id": str(place), "body": text} for place, text in enumerate(POOL)], refresh=True)
    written(index)
    assert not any({"0", "1"} <= group for group in ids_of(index))
    copy = names()
    index.reindex(copy)
    moved = Index(copy, index.engine)
    assert not any({"0", "1"} <= group for group in ids_of(moved))
    [decision] = moved.decisions()
    assert (decision.documents, decision.who) == (((copy, "0"), (copy, "1")), "Mia")
    moved.decide([decision.withdrawn()])
    assert frozenset("0123") in ids_of(moved)


@pytest.mark.parametrize("seed", range(4))
def test_incremental_and_full_runs_agree(
    engine: Engine, names: Callable[[], str], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Or all would be read, as most of so few documents are new.
    monkeypatch.setattr("es_simhash.groups.of_index.reading_new.MOST_NEW", 9)
    chosen = random.Random(seed)
    index = made(engine, names())
    ids = list(map(str, range(14)))
    there: dict[str, str] = {}
    for _ in range(6):
        changed = chosen.sample(ids, 4)
        there |= {id_: chosen.choice(POOL) for id_ in changed}
        index.add([{"_id": id_, "body": there[id_]} for id_ in changed], refresh=True)
        if chosen.random() < 0.4 and len(there) > 4:
            gone = chosen.choice(sorted(there))
            del there[gone]
            index.delete([gone], refresh=True)
        drawn = drawn_decisions(chosen, ids)
        before = index.decisions()
        if before and chosen.random() < 0.3:
            drawn.append(chosen.choice(before).withdrawn())
        index.decide(drawn)
        written(index)
        stored = stored_groups(index)
        written(index, incremental=False)
        assert stored == stored_groups(index)


def drawn_decisions(chosen: random.Random, ids: list[str]) -> list[Decision]:
    pairs = [Decision.between(*chosen.sample(ids, 2), same=chosen.random() < 0.3) for _ in range(2)]
    ones = [Decision.about(chosen.choice(ids), chosen.choice(["canonical", "alone"]))]
    return chosen.sample(pairs + ones, chosen.randrange(4))


def stored_groups(index: Index) -> dict[str, Json]:
    with index.group() as found:
        present = found.corpus.present
        keys = found.corpus.keys(list(present))
    return {id_: own for (_, id_), own in zip(keys, present.values(), strict=True) if own}


def test_a_decision_on_one_of_several_indices_says_which(engine: Engine, names: Callable[[], str]) -> None:
    one, other = made(engine, names()), made(engine, names())
    for each in (one, other):
        each.add([{"_id": id_, "body": POOL[0]} for id_ in "ab"], refresh=True)
    both = Index(f"{one.name},{other.name}", engine)
    with pytest.raises(InputError, match="names no index"):
        both.decide([Decision.about("a", "alone")])
    with pytest.raises(InputError, match="is not behind"):
        one.decide([Decision.about((other.name, "a"), "alone")])
    both.decide([Decision.between((one.name, "a"), (other.name, "a"), same=False)])
    with both.group() as found:
        assert not any({f"{one.name}/a", f"{other.name}/a"} <= set(ids) for ids in found.ids())
    # Each index says that there are decisions, and none of them is about its own documents alone.
    assert all("_decided_dedup" in str(engine.perform(GetMappings(each.name))) for each in (one, other))
    assert ids_of(one) == {frozenset("ab")}


def test_lost_decisions_stop_a_grouping_and_are_missed_by_a_search(engine: Engine, names: Callable[[], str]) -> None:
    index = made(engine, names(), prefix=f"lost{uuid4().hex[:8]}")
    index.add([{"_id": id_, "body": POOL[0]} for id_ in "ab"], refresh=True)
    index.decide([Decision.between("a", "b", same=False)])
    store = f"{index.documents.prefix}-decisions"
    engine.perform(DeleteIndex(store))
    with pytest.raises(IndexStateError, match=rf"{store}' is gone.*Restore it"):
        index.group()
    found = index.find(id="a")
    assert [match.id for match in found] == ["b"]
    assert f"Let the login read the index '{store}'." in str(found.shown().notes)
    assert_searched_without_decisions(index, store)


def assert_searched_without_decisions(index: Index, store: str) -> None:
    page = index.search({"query": {"ids": {"values": ["a", "b"]}}}, distinct=True)
    assert (len(page), page.lacks_decisions) == (1, store)
    assert f"Let the login read the index '{store}'." in str(page.shown().notes)


def test_the_command_that_explains_says_who_decided(tmp_path: Path) -> None:
    with Index("news", tmp_path, fields=["body"]) as index:
        index.init()
        index.add([{"_id": id_, "body": POOL[0]} for id_ in "ab"], refresh=True)
        index.decide([Decision.between("a", "b", same=False, who="Mia", why="Two quarters.")])
    page = tmp_path / "page.html"
    done = run_command("explain", "news", "a", "b", "--url", str(tmp_path), "--report", str(page))
    for said in (done.out, html.unescape(page.read_text(encoding="utf-8"))):
        assert "Mia decided that 'a' and 'b' are different: Two quarters." in said


def test_searches_that_may_not_read_decisions_say_so(tmp_path: Path) -> None:
    meddler = Meddler(connect(tmp_path))
    index = Index("news", meddler, fields=["body"])
    index.init()
    index.add([{"_id": id_, "body": POOL[0]} for id_ in "ab"], refresh=True)
    index.decide([Decision.between("a", "b", same=False)])
    page = index.search({"query": {"ids": {"values": ["a", "b"]}}}, distinct=True)
    assert (len(page), page.lacks_decisions) == (2, None)

    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, (Search, OpenReader)) and index_of(operation) == "dedup-decisions":
            raise AccessError("403")

    meddler.before = refuse
    assert index.find(id="a").lacks_decisions == "dedup-decisions"
    assert_searched_without_decisions(index, "dedup-decisions")
    explained = index.explain("a", "b")
    assert (explained.decisions, explained.lacks_decisions) == ((), "dedup-decisions")
    assert "Let the login read the index 'dedup-decisions'." in str(explained.shown().notes)


def test_thousands_of_decisions_on_one_document_are_all_read(index: Index) -> None:
    others = [str(number) for number in range(1, 2500)]
    index.decide([Decision.between("0", other, same=False) for other in others])
    decided = run(decisions_in(index.name, "dedup", [(index.name, "0")]), index.engine)
    assert decided.others("different", (index.name, "0")) == {(index.name, other) for other in others}
    assert [match.id for match in index.find(id="0")] == []


def test_thousands_of_documents_that_people_linked_to_one_are_all_found(index: Index) -> None:
    others = [f"far {number}" for number in range(1200)]
    index.add([{"_id": each, "body": f"{each} {number}"} for number, each in enumerate(others)], refresh=True)
    index.decide([Decision.between("0", other, same=True) for other in others])
    assert set(others) <= {match.id for match in index.find(id="0", size=2000)}


@pytest.mark.parametrize("refused", [GetMappings, CreateIndex])
def test_an_error_names_the_privileges_that_decisions_need(tmp_path: Path, refused: type[Operation[Any]]) -> None:
    meddler = Meddler(connect(tmp_path))
    index = Index("news", meddler, fields=["body"])
    index.init()
    index.add([{"_id": id_, "body": POOL[0]} for id_ in "ab"])

    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, refused) and index_of(operation) == "dedup-decisions":
            raise AccessError("403")

    meddler.before = refuse
    with pytest.raises(AccessError, match=r"kept in the index 'dedup-decisions'.*create_index, read, write"):
        index.decide([Decision.between("a", "b", same=False)])


def test_what_people_said_of_an_erased_document_is_erased(index: Index) -> None:
    index.decide([Decision.between("0", "9", same=False, why="Anna's"), Decision.about("6", "alone")])
    erased = index.erase(index.copies(["0"]))
    assert erased.decisions == 1
    assert "1 decision on these documents deleted" in erased.to_text()
    assert [each.documents[0][1] for each in index.decisions()] == ["6"]


def test_an_empty_file_of_decisions_changes_nothing(index: Index) -> None:
    before = groups_of(index)
    assert index.decide([]) == 0
    assert groups_of(index) == before
    assert index.decisions() == []
