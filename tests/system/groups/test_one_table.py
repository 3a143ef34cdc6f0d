"""The similarity of two documents depends on them, the settings and one named table: no other document matters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Scheme, dedup
from es_simhash.engines.base import Engine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.groups.of_texts import learn_from
from es_simhash.index import Index
from es_simhash.plans.open_index import note_rarity
from es_simhash.plans.operations import GetMappings, PutMapping
from es_simhash.scheme.learnt_rarity import LearntRarity
from es_simhash.scheme.rarity import NAME, Rarity
from tests.support.commands import lines, run
from tests.support.corpus import corpus, edited
from tests.support.fuzzing import examples

SCHEME = Scheme()
STORY = corpus()[7]
PAIR = {"a": STORY["body"], "b": edited(STORY, 4, seed=3)["body"]}
OTHERS = [edited(corpus()[i % 12], i % 5, seed=i)["body"] for i in range(36)]
# What happens to another document: it gets one of the texts, or is deleted.
Changes = list[tuple[int, int | None]]
CHANGES = st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, len(OTHERS) - 1)), max_size=25)


def opened(directory: str) -> Index:
    index = Index("news", EmbeddedEngine(Path(directory)), scheme=SCHEME, fields=["body"])
    index.init()
    index.add([{"_id": name, "body": text} for name, text in PAIR.items()], refresh=True)
    return index


def by_find(index: Index) -> float:
    [match] = [each for each in index.find(id="a", size=100) if each.id == "b"]
    assert match.similarity is not None
    return match.similarity


def by_group(index: Index) -> float:
    with index.group() as grouped:
        assert grouped.rarity is not None
        assert grouped.rarity.id == NAME
        pairs = [pair for some in grouped.pairs() for pair in some]
        ends = [{key[1] for key in grouped.corpus.keys([int(pair["first"]), int(pair["second"])])} for pair in pairs]
    [similarity] = [float(pair["similarity"]) for pair, ids in zip(pairs, ends, strict=True) if ids == {"a", "b"}]
    return similarity


def by_dedup(texts: dict[str, str]) -> float:
    with dedup(texts.items(), scheme=SCHEME, threads=1) as found:
        assert found.rarity is not None
        assert found.rarity.id == NAME
        pairs = [pair for some in found.pairs() for pair in some]
        ends = [set(found.corpus.named([int(pair["first"]), int(pair["second"])])) for pair in pairs]
    [similarity] = [float(pair["similarity"]) for pair, ids in zip(pairs, ends, strict=True) if ids == {"a", "b"}]
    return similarity


@given(CHANGES)
@examples(12)
def test_whatever_happens_to_other_documents_two_are_as_similar_as_before(changes: Changes) -> None:
    texts = dict(PAIR)
    with TemporaryDirectory() as directory:
        index = opened(directory)
        before = by_find(index)
        assert by_group(index) == by_dedup(texts) == before
        for number, place in changes:
            name = f"other {number}"
            if place is None:
                index.delete([name])
                texts.pop(name, None)
            else:
                texts[name] = OTHERS[place]
                index.add([{"_id": name, "body": texts[name]}])
        index.refresh()
        assert by_find(index) == before
        assert by_find(Index("news", index.engine)) == before
        assert by_group(index) == before
        assert by_dedup(texts) == before


def learnt_of(texts: list[str]) -> Rarity:
    return learn_from(((str(place), text) for place, text in enumerate(texts)), SCHEME)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with opened(str(tmp_path / "indices")) as index:
        yield index


def test_an_explanation_says_how_a_pair_stood_by_the_table_before(index: Index, tmp_path: Path) -> None:
    assert index.explain("a", "b").evidence.table == NAME
    index.learn()
    first = index.explain("a", "b")
    assert (first.evidence.table, first.before) == (learnt_of([*PAIR.values()]).id, None)
    index.add([{"_id": f"{place}", "body": text} for place, text in enumerate(OTHERS)], refresh=True)
    learnt = index.learn()
    now = index.explain("a", "b")
    assert now.evidence.table == learnt.rarity.id != first.evidence.table
    assert now.before is not None
    assert now.before.table == first.evidence.table
    assert now.before.similarity == first.evidence.similarity.verified != now.evidence.similarity.verified
    assert now.before.are_duplicates == first.verdict.are_duplicates == now.verdict.are_duplicates
    [shown] = lines(run("explain", "news", "a", "b", "--json", "--url", str(tmp_path / "indices"), cwd=tmp_path))
    assert (shown["evidence"]["table"], shown["before"]["table"]) == (now.evidence.table, first.evidence.table)
    assert now.rarity is not None
    assert now.rarity.endswith("and the verdict the same.")


def test_an_explanation_says_whether_the_verdict_was_another(index: Index) -> None:
    index.learn()
    similar = index.explain("a", "b").evidence.similarity.verified
    assert similar is not None
    between = index.explain("a", "b", similarity=round(similar + 0.0005, 3))
    assert not between.verdict.are_duplicates
    index.add([{"_id": f"{place}", "body": text} for place, text in enumerate(OTHERS)], refresh=True)
    index.learn()
    now = index.explain("a", "b").evidence.similarity.verified
    assert now is not None
    for minimum in (similar, now):
        explained = index.explain("a", "b", similarity=minimum)
        assert explained.before is not None
        changed = (similar >= minimum) != (now >= minimum)
        assert (explained.before.are_duplicates != explained.verdict.are_duplicates) == changed
        assert explained.rarity is not None
        assert explained.rarity.endswith("verdict another." if changed else "verdict the same.")


def test_only_the_last_table_before_is_kept(index: Index) -> None:
    ids = [index.learn().rarity.id]
    for place in range(3):
        index.add([{"_id": f"{place}", "body": OTHERS[place]}], refresh=True)
        learnt = index.learn()
        assert learnt.previous is not None
        assert (learnt.previous.rarity.id, learnt.previous.previous) == (ids[-1], None)
        ids.append(learnt.rarity.id)
    again = index.learn()
    assert again.rarity.id == ids[-1]
    assert again.previous is not None
    assert again.previous.rarity.id == ids[-2]
    assert index.info().rarity == again


def test_a_table_of_features_that_are_no_longer_compared_is_found_and_not_used(index: Index) -> None:
    learnt = LearntRarity(learnt_of(OTHERS), "2030-01-01")
    form = {**learnt.to_json(index.scheme), "features": "what was compared before"}
    noted_as(index.engine, form, index)
    again = Index("news", index.engine)
    assert by_find(again) == by_find(index)
    assert again.explain("a", "b").evidence.table == again.info().table == NAME
    [finding] = [each for each in again.doctor() if each.code == "rarity"]
    assert (finding.level, finding.index) == ("warning", "news")
    assert "was for other settings, and is not used" in finding.message
    assert "es-simhash learn news" in str(finding.remedy)
    again.learn()
    assert [each.level for each in again.doctor() if each.code == "rarity"] == ["ok"]
    assert again.info().rarity is not None


def noted_as(engine: Engine, form: Any, index: Index) -> None:
    """Note what was learnt in a form of its own."""
    plan = note_rarity("news", index.documents, LearntRarity(learnt_of(OTHERS), "2030-01-01"))
    operation = next(plan)
    assert isinstance(operation, GetMappings)
    change = plan.send(engine.perform(operation))
    assert isinstance(change, PutMapping)
    notes = change.body["_meta"]["es_simhash"]
    [name] = [name for name in notes if name.startswith("_rarity")]
    engine.perform(PutMapping("news", {"_meta": {**change.body["_meta"], "es_simhash": {**notes, name: form}}}))
