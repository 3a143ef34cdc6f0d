"""Pairs are put where their texts belong: by length, by script, by equality."""

from __future__ import annotations

import numpy as np
import pytest

from es_simhash.groups.pairs.candidates import pair_codes
from es_simhash.quality.predictions import first_positions
from es_simhash.quality.scores import by_identity, by_length, by_script, script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("The quick brown fox", "Latin"),
        ("Ｆｕｌｌｗｉｄｔｈ", "Latin"),
        ("近似重复检测：两篇文章", "Han"),
        ("集群由多个 TiCDC 节点组成，是一种分布式的架构", "Han"),
        ("ひらがなとカタカナ", "Kana"),
        ("ﾊﾝｶｸ", "Kana"),
        ("중복 문서 찾기", "Hangul"),
        ("почти одинаковые тексты", "other"),
        ("漢 words слово", "mixed"),
        ("12:30 …", "none"),
        ("", "none"),
    ],
)
def test_the_script_is_that_of_most_of_a_text(text: str, script: str) -> None:
    assert script_of(text) == script


def test_pairs_are_put_by_the_shorter_text_and_by_both_scripts() -> None:
    texts = ["a" * 99, "a" * 100, "a" * 3000, "字" * 300]
    pairs = pair_codes(np.array([0, 1, 2, 2]), np.array([2, 2, 2, 3]))
    lengths, names = by_length(texts, pairs)
    assert [names[each] for each in lengths] == ["0–100", "100–300", "3k+", "300–1k"]
    scripts, names = by_script(texts, pairs)
    assert [names[each] for each in scripts] == ["Latin", "Latin", "Latin", "mixed"]


def test_texts_are_equal_byte_by_byte() -> None:
    buckets, names = by_identity(first_positions(["a", "A", "a"]), pair_codes(np.array([0, 0]), np.array([1, 2])))
    assert [names[each] for each in buckets] == ["unequal texts", "equal texts"]
