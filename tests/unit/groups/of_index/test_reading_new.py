"""An incremental run reads what is new and what that may change, and writes what a run that reads everything does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from es_simhash import Policy
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import InputError
from es_simhash.groups.of_index import reading_new
from es_simhash.index import Index
from es_simhash.plans.operations import GetDocuments, HitPage, Operation, ReadPage
from es_simhash.scheme import mapping
from tests.support.corpus import corpus, edited
from tests.support.fuzzing import examples
from tests.support.meddling import Meddler

EVERYTHING, ONLY_NEW = -1.0, 1.0
HOW: list[Json] = [
    {},
    {"similarity": 0.85},
    {"numbers": 1.0},
    {"by": "simhash"},
    {"by": "both"},
    {"by": "both", "estimate": True},
    {"estimate": True},
]


def form(number: int, filled: int) -> Json:
    """A form that many documents share: they are a crowd."""
    rng = random.Random(number)
    words = [f"template{i}" for i in range(40)]
    own = [f"{rng.choice('abcdef')}{rng.randint(0, 999)}" for _ in range(filled)]
    return {"title": "form", "body": " ".join(words + own)}


POOL: list[Json] = [
    *(version for i, text in enumerate(corpus(4)) for version in (text, *(edited(text, k, seed=k) for k in (1, 4, 9)))),
    *(form(number, filled) for number in range(6) for filled in (6, 14)),
]
IDS = [f"{i:02}" for i in range(40)]
CHANGES = st.lists(st.tuples(st.sampled_from(IDS), st.none() | st.integers(0, len(POOL) - 1)), max_size=6)


@given(
    first=st.lists(st.integers(0, len(POOL) - 1), min_size=8, max_size=30),
    later=st.lists(CHANGES, min_size=1, max_size=4),
    how=st.sampled_from(HOW),
    online=st.booleans(),
)
@settings(examples(15), phases=[Phase.explicit, Phase.generate])  # it shrinks for minutes
def test_it_writes_what_a_run_that_reads_everything_does(
    first: list[int], later: list[list[tuple[str, int | None]]], how: Json, online: bool
) -> None:
    with TemporaryDirectory() as directory, ExitStack() as stack:
        part, whole = (stack.enter_context(made(Path(directory, name), online)) for name in ("part", "whole"))
        for index in (part, whole):
            add(index, [(IDS[i], place) for i, place in enumerate(first)])
            index.refresh()
            index.learn()
            group(index, EVERYTHING, **how)
        for changes in later:
            add(part, changes)
            add(whole, changes)
            group(part, ONLY_NEW, incremental=True, **how)
            group(whole, EVERYTHING, **how)
            assert fields(part) == fields(whole)


def made(engine: Any, online: bool = True) -> Index:
    index = Index("news", engine, fields=["title", "body"])
    index.init(policy=Policy(groups="online" if online else "batch"))
    return index


def add(index: Index, changes: list[tuple[str, int | None]]) -> None:
    index.add(
        [
            {"_op_type": "delete", "_id": id_} if place is None else {"_id": id_, "_source": POOL[place]}
            for id_, place in changes
        ]
    )


@contextmanager
def reading(most: float) -> Iterator[None]:
    with patch.object(reading_new, "MOST_NEW", most):
        yield


def group(index: Index, most: float, **how: Any) -> None:
    with reading(most), index.group(**how) as grouped:
        assert (grouped.corpus.part is not None) == (most == ONLY_NEW)
        index.write_groups(grouped, singles=True)


def fields(index: Index) -> dict[str, Json]:
    """The stored fields of each document's group."""
    found = index.engine.perform(GetDocuments("news", IDS, [f"dedup.{name}" for name in mapping.NAMES]))
    return {each["_id"]: each["_source"]["dedup"] for each in found if each["found"]}


# --- how much is read


class Counting(Meddler):
    """An engine that counts the documents that are read, and the requests for texts."""

    read = texts = 0

    def perform(self, operation: Operation[Any]) -> Any:
        result = super().perform(operation)
        self.texts += isinstance(operation, GetDocuments)
        if isinstance(operation, ReadPage) and isinstance(result, HitPage):
            self.read += len(result.hits)
        return result


@pytest.mark.parametrize("size", [100, 400])
def test_what_is_read_grows_with_what_is_new(tmp_path: Path, size: int) -> None:
    engine, texts = Counting(EmbeddedEngine(tmp_path)), corpus(size)
    index = filled(engine, texts)
    index.add([{"_id": f"new {i}", "_source": edited(texts[i], 1, seed=i)} for i in range(3)])
    engine.read = 0
    assert new_and_groups(index) == (3, 3)
    assert engine.read <= 3 * 10
    index.refresh()
    engine.read = 0
    assert new_and_groups(index) == (0, 0)
    assert engine.read == 0


def filled(engine: Engine, texts: list[Json]) -> Index:
    index = made(engine)
    index.add([{"_id": f"{i}", "_source": text} for i, text in enumerate(texts)], refresh=True)
    index.learn()
    group(index, EVERYTHING)
    return index


def new_and_groups(index: Index) -> tuple[int | None, int]:
    with index.group(incremental=True) as grouped:
        assert grouped.corpus.part is not None
        index.write_groups(grouped)
        return grouped.counts.new, len(grouped)


def test_the_texts_of_old_groups_are_read_together(tmp_path: Path) -> None:
    engine, texts = Counting(EmbeddedEngine(tmp_path)), corpus(60)
    index = filled(engine, [*texts, *(edited(text, 1, seed=i) for i, text in enumerate(texts[:40]))])
    index.add([{"_id": "new", "_source": edited(texts[0], 2, seed=7)}], refresh=True)
    engine.texts = 0
    with reading(EVERYTHING), index.group(incremental=True) as grouped:
        assert len(list(grouped)) == 40
        assert engine.texts <= 5


def test_of_an_index_that_lost_a_member_of_a_group_only_that_group_is_read(tmp_path: Path) -> None:
    engine, texts = Counting(EmbeddedEngine(tmp_path)), corpus(50)
    index = filled(engine, [*texts, *(edited(text, 1, seed=i) for i, text in enumerate(texts[:10]))])
    index.delete(["50", "7"])
    engine.read = 0
    assert new_and_groups(index) == (2, 0)
    # The names of 18 documents' groups, and then the two that are left alone.
    assert engine.read == 18 + 2
    found = {each["_id"]: each["_source"]["dedup"] for each in index.engine.perform(GetDocuments("news", ["0", "57"]))}
    assert {own["group_size"] for own in found.values()} == {1}
    engine.read = 0
    assert new_and_groups(index) == (0, 0)
    assert engine.read == 0


@pytest.mark.parametrize("how", [{"max_bucket": 50}, {"similarity": 0.5}, {"singles": False}])
def test_what_needs_all_documents_reads_them(tmp_path: Path, how: Json) -> None:
    with made(str(tmp_path), online=False) as index:
        index.add([{"_id": f"{i}", "_source": text} for i, text in enumerate(corpus(20))], refresh=True)
        index.learn()
        for _ in range(2):
            with index.group(**{**how, "singles": None}, incremental=True) as grouped:
                index.write_groups(grouped, singles=True)
        with index.group(**how, incremental=True) as grouped:
            assert (grouped.counts.new, grouped.corpus.part) == (0, None)


def test_groups_of_one_are_written_as_they_were_or_all_is_read(tmp_path: Path) -> None:
    with made(str(tmp_path), online=False) as index:
        index.add([{"_id": f"{i}", "_source": text} for i, text in enumerate(corpus(20))], refresh=True)
        index.learn()
        group(index, EVERYTHING)
        with index.group(incremental=True) as grouped:
            assert grouped.corpus.part is not None
            with pytest.raises(InputError, match="singles=False"):
                index.write_groups(grouped)
        with index.group(incremental=True, singles=False) as grouped:
            assert index.write_groups(grouped).written == 20
