"""Families of copies, each with another date, time and counter, are found whole, however many copies there are."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.families import LANGUAGES, SHARES, SIZES, family
from es_simhash import Scheme, Verification, dedup
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.verifier import Verifier

# The share of pairs that are found, by whether the texts have 300 characters or more, and whether 2% of words changed.
LEAST = {(True, False): 0.99, (True, True): 0.97, (False, False): 0.95, (False, True): 0.85}


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("characters", [150, 200, 300, 900])
@pytest.mark.parametrize("code", LANGUAGES)
def test_nearly_all_pairs_of_families_are_near(code: str, characters: int, share: float) -> None:
    verification = Verification()
    verifier = Verifier(Scheme(), verification, builtin())
    pairs = np.stack(np.triu_indices(10, 1)).astype(np.int64)
    families = [family(code, characters, share, 10, seed) for seed in range(4)]
    found = np.concatenate([verifier.similarities(texts, pairs) for texts in families])
    assert np.mean(found >= verification.similarity) >= LEAST[characters >= 300, share > 0.01]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("code", LANGUAGES)
def test_a_family_among_other_texts_is_one_group(code: str, size: int) -> None:
    copies = family(code, 900, 0.02, size, 0)
    others = [family(code, 900, 0.0, 1, seed)[0] for seed in range(1, 40)]
    documents = [(str(number), text) for number, text in enumerate(copies + others)]
    with dedup(documents, threads=1) as found:
        groups = list(found.ids())
    assert [sorted(group, key=int) for group in groups] == [[str(number) for number in range(size)]]
