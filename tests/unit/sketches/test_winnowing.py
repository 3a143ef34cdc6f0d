from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from es_simhash.sketches.winnowing import grams, minima
from es_simhash.text.hashing.registry import BASE, fmix64

TOKENS = st.integers(0, 5)
TEXTS = st.lists(st.lists(TOKENS, max_size=30), max_size=6)
SIZES = st.integers(1, 9)


def given_as_arrays(texts: list[list[int]]) -> tuple[Any, Any]:
    tokens = np.array([token for text in texts for token in text], dtype=np.uint64)
    return tokens, np.cumsum([0, *map(len, texts)])


def parts(hashes: Any, offsets: Any) -> list[list[int]]:
    return [hashes[start:end].tolist() for start, end in pairwise(offsets.tolist())]


def gram(tokens: list[int]) -> int:
    """The definition, token by token."""
    value = len(tokens)
    for token in tokens:
        value = (value * BASE + token) % 2**64
    return int(fmix64(np.array([value], dtype=np.uint64))[0])


@given(TEXTS, SIZES)
@example([[0] * 6], 8)
@example([[0] * 4], 6)
def test_grams_are_those_of_the_definition_and_lie_within_a_text(texts: list[list[int]], n: int) -> None:
    found = parts(*grams(*given_as_arrays(texts), n))
    assert found == [[gram(text[i : i + n]) for i in range(len(text) - n + 1)] for text in texts]


@given(TEXTS, SIZES, SIZES)
def test_each_window_has_its_smallest_hash_and_a_short_text_is_one_window(
    texts: list[list[int]], n: int, window: int
) -> None:
    hashes, offsets = grams(*given_as_arrays(texts), n)
    found = parts(*minima(hashes, offsets, window))
    for chosen, own in zip(found, parts(hashes, offsets), strict=True):
        windows = [own[i : i + window] for i in range(max(len(own) - window, 0) + 1)] if own else []
        smallest = [min(each) for each in windows]
        assert chosen == [each for i, each in enumerate(smallest) if not i or each != smallest[i - 1]]


@given(st.lists(TOKENS, max_size=20), st.lists(TOKENS, max_size=20), st.data(), SIZES, SIZES)
def test_texts_with_a_run_of_that_length_in_common_share_a_hash(
    before: list[int], after: list[int], data: st.DataObject, n: int, window: int
) -> None:
    run = data.draw(st.lists(TOKENS, min_size=n + window - 1, max_size=n + window - 1))
    texts = [[*before, *run, *after], [*after, *run, *before]]
    first, second = parts(*minima(*grams(*given_as_arrays(texts), n), window))
    assert set(first) & set(second)


def test_of_random_hashes_the_share_of_the_paper_is_chosen() -> None:
    hashes = np.random.default_rng(1).integers(0, 2**63, 100_000).astype(np.uint64)
    chosen, _ = minima(hashes, np.array([0, len(hashes)]), 16)
    assert abs(len(chosen) / len(hashes) - 2 / 17) < 0.003
