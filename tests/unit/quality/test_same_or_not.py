"""Pairs of texts made by hand, with what a person says of them: the same text, or different ones that are alike."""

from __future__ import annotations

import json
from collections import Counter

from tests import ROOT

PAIRS = [json.loads(line) for line in (ROOT / "tests/data/same_or_not.jsonl").read_text(encoding="utf-8").splitlines()]


def test_each_pair_has_two_texts_and_a_reason_in_one_of_three_languages() -> None:
    assert Counter(pair["same"] for pair in PAIRS) == {True: 40, False: 20}
    assert set(Counter(pair["language"] for pair in PAIRS)) == {"en", "zh", "ja"}
    assert all(pair["a"] != pair["b"] and pair["why"] for pair in PAIRS)
    assert len({pair["a"] for pair in PAIRS}) == len(PAIRS)
