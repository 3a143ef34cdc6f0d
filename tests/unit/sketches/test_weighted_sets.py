"""The weight of the features that texts share, and texts whose features are held; against sets and sums of Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import Integers, offsets_from_counts
from es_simhash.sketches import weighted_sets as module
from es_simhash.sketches.weighted_sets import SetCache, WeightedSet, shared_weights, weighted_sets
from es_simhash.text.features import FeatureBatch

# Hashes that differ in few bits, and are of several texts, meet in a table as often as can be.
features = st.lists(st.dictionaries(st.integers(0, 40), st.integers(0, 1 << 20), max_size=30), min_size=1, max_size=5)


def all_sets(texts: list[dict[int, int]], heavy: int = 0) -> list[WeightedSet]:
    weights = np.array([weight for text in texts for weight in text.values()], dtype=np.int64)
    hashes = np.array([feature for text in texts for feature in text], dtype=np.uint64)
    batch = FeatureBatch(hashes, offsets_from_counts(np.array([len(text) for text in texts])))
    return list(weighted_sets(batch, weights, weights >= heavy))


def every_pair(count: int) -> Integers:
    first, second = np.divmod(np.arange(count * count), count)
    return np.stack([first, second])


@given(features)
def test_what_texts_share_weighs_what_the_second_text_says(texts: list[dict[int, int]]) -> None:
    first, second = every_pair(len(texts))
    expected = [
        sum(weight for feature, weight in texts[b].items() if feature in texts[a])
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    assert shared_weights(all_sets(texts), first, second).tolist() == expected


@pytest.mark.parametrize("at_once", [1, 1_000])
def test_it_is_the_same_however_many_features_are_looked_up_at_a_time(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    texts = [dict.fromkeys(rng.integers(0, 900, 300).tolist(), 7) for _ in range(20)]
    first, second = rng.permutation(every_pair(20), axis=1)
    expected = shared_weights(all_sets(texts), first, second)
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    assert shared_weights(all_sets(texts), first, second).tolist() == expected.tolist()


@given(features, st.integers(0, 1 << 20))
def test_an_outline_has_the_heavy_features_and_says_what_the_rest_weighs(
    texts: list[dict[int, int]], heavy: int
) -> None:
    for text, whole in zip(texts, all_sets(texts, heavy), strict=True):
        outline = whole.outline
        kept = {feature: weight for feature, weight in text.items() if weight >= heavy}
        assert whole.total == outline.total == sum(text.values())
        if 2 * len(kept) > len(text):
            assert outline is whole
        else:
            assert dict(zip(outline.hashes.tolist(), outline.weights.tolist(), strict=True)) == kept
            assert outline.rest == sum(text.values()) - sum(kept.values())


# ---- texts that are held

TEXTS = ["a", "bb", "a longer text", "x" * 60, "y" * 60, "z" * 200]


class Preparing:
    """Makes one feature of each text, and notes the texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Iterable[str]) -> Iterator[WeightedSet]:
        for text in texts:
            self.texts.append(text)
            yield from all_sets([{hash(text) & 0xFFFF: 1}])


def held(preparing: Preparing, limit: int) -> SetCache:
    sizes = np.array(list(map(len, TEXTS)))
    return SetCache(preparing, lambda rows: [TEXTS[row] for row in rows.tolist()], sizes.__getitem__, limit)


@pytest.mark.parametrize("limit", [1, 500, 2_000, 1 << 20])
def test_parts_have_each_pair_once_and_no_more_text_than_there_is_room_for(limit: int) -> None:
    pairs = np.array(list(combinations(range(len(TEXTS)), 2))).T
    parts = list(held(Preparing(), limit).parts(pairs))
    assert sorted(np.concatenate(parts).tolist()) == list(range(pairs.shape[1]))
    for part in parts:
        texts = np.unique(pairs[:, part]).tolist()
        assert len(texts) <= 2 or sum(len(TEXTS[text]) for text in texts) * 12 <= limit + 2 * 12 * max(map(len, TEXTS))
    assert list(held(Preparing(), limit).parts(np.empty((2, 0), dtype=np.int64))) == []


def test_features_are_made_once_while_there_is_room() -> None:
    preparing = Preparing()
    texts = held(preparing, 1 << 20)
    for rows in ([0, 1, 2], [1, 2, 3], [0, 3]):
        assert [outline.total for outline in texts.outlines(np.array(rows))] == [1] * len(rows)
    assert preparing.texts == TEXTS[:4]


def test_features_that_came_first_make_room_for_others() -> None:
    preparing = Preparing()
    texts = held(preparing, 1_000)  # three of these
    texts.outlines(np.array([0, 1, 2]))
    texts.outlines(np.array([2, 3, 4]))
    texts.outlines(np.array([2, 3, 4]))
    texts.outlines(np.array([0]))
    assert preparing.texts == [*TEXTS[:5], TEXTS[0]]
