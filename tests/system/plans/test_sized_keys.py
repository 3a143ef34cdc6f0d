"""Keys for the number of documents that an index will hold are chosen once, and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from es_simhash import Goal, MinHash, Scheme
from es_simhash.engines.base import Engine
from es_simhash.errors import MissingError, SchemeMismatchError
from es_simhash.index import Index
from es_simhash.plans.operations import Action, Bulk, CreateIndex, DeleteIndex, Refresh
from es_simhash.scheme.sized_keys import with_keys_for
from es_simhash.testing.corpus import corpus, edited

GOAL = Goal(10_000_000)


@pytest.fixture
def name(engine: Engine, names: Callable[[], str]) -> Iterator[str]:
    name = names()
    yield name
    with suppress(MissingError):
        engine.perform(DeleteIndex(name))


def opened(engine: Engine, name: str, **known: Any) -> Index:
    return Index(name, engine, fields=["title", "body"], **known)


def test_a_new_index_gets_keys_for_typical_texts_by_which_near_duplicates_are_found(engine: Engine, name: str) -> None:
    index = opened(engine, name)
    done = index.init(goal=GOAL)
    assert done.created
    assert done.keys
    assert done.keys.texts == 0
    assert index.scheme.id == with_keys_for(Scheme(), GOAL).id == done.keys.scheme.id != Scheme().id
    documents = [{"_id": str(number), **each} for number, each in enumerate(corpus(40))]
    index.add(documents, refresh=True)
    copy = edited(list(corpus(40))[7], 4, seed=3)
    assert [match.id for match in Index(name, engine).find(doc=copy)] == ["7"]
    assert index.info().keys.documents == 40


def test_the_same_call_again_changes_nothing_even_if_there_are_texts_by_now(engine: Engine, name: str) -> None:
    opened(engine, name).init(goal=GOAL)
    opened(engine, name).add(({"_id": str(number), **each} for number, each in enumerate(corpus(40))), refresh=True)
    again = opened(engine, name).init(goal=GOAL)
    assert again.bodies == {}
    assert again.keys
    assert again.keys.texts == 40
    assert again.keys.scheme.id == with_keys_for(Scheme(), GOAL).id


def test_texts_that_are_there_decide_which_keys_suffice(engine: Engine, name: str) -> None:
    engine.perform(CreateIndex(name, {}))
    phrase = "The opinions in this letter are those of its author, and not those of this paper or its editors. " * 2
    engine.perform(
        Bulk(
            name,
            [
                Action("index", str(number), {**each, "body": phrase + each["body"]})
                for number, each in enumerate(corpus(60))
            ],
        )
    )
    engine.perform(Refresh(name))
    done = opened(engine, name).init(goal=Goal(1_000_000), dry_run=True)
    assert done.keys
    assert done.keys.texts == 60
    assert done.keys.scheme.minhash != with_keys_for(Scheme(), Goal(1_000_000)).minhash
    # Nothing was changed, nor remembered.
    index = opened(engine, name)
    index.init()
    assert index.scheme.id == Scheme().id


def test_keys_that_do_not_suffice_are_not_changed(engine: Engine, name: str) -> None:
    opened(engine, name).init()
    done = opened(engine, name).init(goal=Goal(1_000_000_000))
    assert done.bodies == {}
    assert done.keys
    assert (done.keys.is_there, done.keys.load.is_outgrown) == (True, True)
    beside = opened(engine, name, prefix="dedup2")
    assert beside.init(goal=Goal(1_000_000_000)).keys
    assert beside.scheme.minhash != opened(engine, name).scheme.minhash


def test_another_scheme_is_a_mismatch_as_without_a_size(engine: Engine, name: str) -> None:
    opened(engine, name).init(goal=GOAL)
    with pytest.raises(SchemeMismatchError):
        opened(engine, name, scheme="short").init(goal=GOAL)


def test_a_scheme_of_ones_own_keeps_all_but_its_keys(engine: Engine, name: str) -> None:
    base = replace(Scheme.preset("short"), minhash=MinHash(similarity=0.8))
    index = opened(engine, name, scheme=base)
    index.init(goal=GOAL)
    there = Index(name, engine).scheme
    assert (there.tokens, there.verification, there.floor) == (base.tokens, base.verification, base.floor)
    assert there.minhash
    assert (there.minhash.bands, there.minhash.rows) == (12, 5)
