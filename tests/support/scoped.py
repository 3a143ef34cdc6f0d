"""Random documents of tenants and sources, with and without dates, and what pairs and groups of them there are."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import timedelta
from itertools import combinations
from typing import Any

from es_simhash import Scope
from es_simhash._core.json_codec import Json
from tests.support.random_corpus import corpus

SCOPES = [
    Scope(("tenant",)),
    Scope((), ("source",)),
    Scope((), (), timedelta(days=3), "at"),
    Scope(("tenant",), ("source",)),
    Scope(("tenant",), (), timedelta(days=3), "at"),
    Scope((), ("source", "author"), timedelta(days=3), "at"),
    Scope(("tenant", "team.name"), ("source",), timedelta(days=3), "at"),
]

Near = Callable[[int, int], bool]


def values(chosen: random.Random) -> Json:
    """Return the values of a document: some lack one, others have several."""
    found: Json = {
        "tenant": chosen.choice(["a", "a", "b", ["b", "a"], ["a", "b", "a"], 7, "7"]),
        "team": [{"name": name} for name in chosen.choice([["x"], ["x"], ["y"], ["x", "y"]])],
        "source": chosen.choice(["s1", "s2", "s3", ["s1", "s2"], ["s3", "s4"], True]),
        "author": chosen.choice(["s1", "p", "q", "r"]),
        "at": chosen.choice(
            [f"2026-03-{day:02}" for day in (1, 2, 5, 9)] + [1772366400000, ["2026-03-08", "2026-03-04"]]
        ),
    }
    for name in list(found):
        if chosen.random() < 0.04:
            found[name] = chosen.choice([None, []]) if name != "at" else "never"
    return found


def documents(seed: int, copies: int = 3) -> list[tuple[str, str, Json]]:
    """Return documents; some have equal texts."""
    chosen = random.Random(seed)
    texts = [text for text in corpus(seed) for _ in range(chosen.randrange(1, 1 + copies))]
    chosen.shuffle(texts)
    return [(f"{place:03}", text, values(chosen)) for place, text in enumerate(texts)]


def in_scope(scope: Scope, found: list[tuple[str, str, Json]]) -> set[tuple[int, int]]:
    """Compare all documents with all others."""
    known = [scope.values_of(own) for _, _, own in found]
    return {pair for pair in combinations(range(len(found)), 2) if scope.in_scope(*(known[side] for side in pair))}


def connected(pairs: Iterable[tuple[Any, Any]]) -> set[frozenset[Any]]:
    """Return what pairs connect."""
    groups: dict[Any, set[Any]] = {}
    for first, second in pairs:
        merged = groups.get(first, {first}) | groups.get(second, {second})
        groups |= dict.fromkeys(merged, merged)
    return {frozenset(group) for group in groups.values()}


def stars(count: int, near: Near) -> set[frozenset[int]]:
    """Return the documents that stand for others, each with those that are near it and no earlier one."""
    found, rest = set(), list(range(count))
    while rest:
        first, *others = rest
        group = [first, *(each for each in others if near(first, each))]
        found.add(frozenset(group))
        rest = [each for each in others if each not in group]
    return {group for group in found if len(group) > 1}
