"""Pairs of texts made by hand, with what a person says of them: the same text, or different ones that are alike."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from es_simhash import Scheme, Verification
from es_simhash.scheme.verdict.levels import LEVELS, Level
from es_simhash.scheme.verdict.rarity import builtin
from es_simhash.scheme.verdict.verifier import Verifier
from tests import ROOT

PAIRS = [json.loads(line) for line in (ROOT / "tests/data/same_or_not.jsonl").read_text(encoding="utf-8").splitlines()]


def test_each_pair_has_two_texts_and_a_reason_in_one_of_three_languages() -> None:
    assert Counter(pair["same"] for pair in PAIRS) == {True: 40, False: 20}
    assert set(Counter(pair["language"] for pair in PAIRS)) == {"en", "zh", "ja"}
    assert all(pair["a"] != pair["b"] and pair["why"] for pair in PAIRS)
    assert len({pair["a"] for pair in PAIRS}) == len(PAIRS)


def similarity(pair: Any, **conditions: Any) -> float:
    [found] = Verifier(Scheme(), Verification(**conditions), builtin()).to_others(pair["a"], [pair["b"]])
    return found


def test_what_a_person_calls_the_same_is_found_at_the_default() -> None:
    least = LEVELS["balanced"]["near"]
    assert sum(similarity(pair) >= least for pair in PAIRS if pair["same"]) >= 38


def test_some_of_what_a_person_calls_different_is_kept_apart_at_the_default() -> None:
    least = LEVELS["balanced"]["near"]
    assert sum(similarity(pair) < least for pair in PAIRS if not pair["same"]) >= 5


@pytest.mark.parametrize(("level", "conditions"), [("copies", {}), ("near", {"numbers": 0.5})])
def test_most_of_it_is_kept_apart_at_the_strict_level_or_by_numbers(level: Level, conditions: Any) -> None:
    least = LEVELS["balanced"][level]
    assert sum(similarity(pair, **conditions) < least for pair in PAIRS if not pair["same"]) >= 14
