"""What contains a text, and what it contains, is what a comparison of all texts finds, on every engine."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from es_simhash import Index
from es_simhash.engines.base import Engine
from es_simhash.scheme.passages import containment
from tests.support.corpus import corpus

LEAST = 0.75


def texts() -> dict[str, str]:
    """Stories in three languages; passages of them alone, inside others, and with some words changed; chunks."""
    rng, stories = random.Random(7), [f"{each['title']}\n{each['body']}" for each in corpus(60)]
    made = {f"story {number}": story for number, story in enumerate(stories)}
    for number in range(0, 45):
        story, others = stories[number], rng.sample(stories, 3)
        start = rng.randrange(len(story) // 3)
        passage = story[start : start + len(story) // 2]
        made[f"passage {number}"] = passage
        made[f"quoting {number}"] = f"{others[0]}\n{passage}\n{others[1]}"
        made[f"enlarged {number}"] = f"{story}\n{others[2]}"
        changed = list(passage)
        for place in rng.sample(range(len(changed)), len(changed) // 60):
            changed[place] = "x"
        made[f"changed {number}"] = "".join(changed)
    return made


TEXTS = texts()


@pytest.fixture(scope="module")
def index(engine: Engine, names: Callable[[], str]) -> Index:
    made = Index(names(), engine, scheme="passages", fields=["body"])
    made.init(create={"settings": {"number_of_shards": 1, "number_of_replicas": 0}})
    assert not made.add(({"_id": id_, "body": text} for id_, text in TEXTS.items()), refresh=True).refused
    return made


def by_hand(index: Index, id_: str, relation: str) -> dict[str, float]:
    """Compare one text with each of the others."""
    shares = {}
    for other, text in TEXTS.items():
        found = containment(index.scheme, TEXTS[id_], text, 6)
        shares[other] = found.of_first if relation == "containing" else found.of_second
    return {other: share for other, share in shares.items() if share >= LEAST and other != id_}


@pytest.mark.parametrize("relation", ["containing", pytest.param("contained", marks=pytest.mark.nightly)])
def test_all_that_a_comparison_of_all_texts_finds_is_found_and_nothing_else(index: Index, relation: Any) -> None:
    asked = [id_ for id_ in TEXTS if int(id_.split()[1]) % 4 == 0]
    found = index.find_many(ids=asked, relation=relation, size=1000)
    for id_, matches in zip(asked, found, strict=True):
        assert {match.id: match.containment for match in matches} == by_hand(index, id_, relation), id_
        assert matches.complete


def test_planted_passages_are_among_them(index: Index) -> None:
    for number in range(0, 45, 4):
        within = {match.id for match in index.find(id=f"passage {number}", relation="containing", size=100)}
        assert {f"story {number}", f"quoting {number}", f"enlarged {number}"} <= within
        contained = {match.id for match in index.find(id=f"enlarged {number}", relation="contained", size=100)}
        assert {f"story {number}", f"passage {number}"} <= contained


def test_where_candidates_are_cut_off_those_with_rare_passages_are_compared(
    engine: Engine, names: Callable[[], str]
) -> None:
    made = Index(names(), engine, scheme="passages", fields=["body"])
    made.init(create={"settings": {"number_of_shards": 1, "number_of_replicas": 0}})
    legal, passage = (" ".join(f"{start}{number}" for number in range(40)) for start in ("legal", "word"))
    own = (" ".join(f"own{i}x{number}" for number in range(40)) for i in range(203))
    texts = [f"{next(own)} {legal}" for _ in range(200)] + [f"{next(own)} {passage} {legal}" for _ in range(3)]
    made.add(({"_id": str(place), "body": text} for place, text in enumerate(texts)), refresh=True)
    matches = made.find(f"{passage} {legal}", relation="containing", max_candidates=10)
    assert ([match.id for match in matches], matches.complete) == (["200", "201", "202"], False)
