"""The keys of schemes by the size of an index."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from es_simhash.errors import SchemeError
from es_simhash.scheme.field_bytes import bytes_a_document, json_bytes
from es_simhash.scheme.presets import PRESETS
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import MinHash, SimHash
from es_simhash.scheme.sized_keys import key_load, keys_in_words, unrelated_similarities, with_keys_for
from es_simhash.sketches.key_plans import TYPICAL, Goal
from es_simhash.testing.corpus import corpus

TEXTS = [each["body"] for each in corpus(60)]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("documents", [1_000, 10**6, 10**8])
def test_each_preset_gets_keys_that_suffice(preset: str, documents: int) -> None:
    base = Scheme.preset(preset)
    if preset == "short" and documents == 10**8:
        return  # its pairs are too unlike for that, as the next test says
    scheme = with_keys_for(base, Goal(documents))
    load = key_load(scheme, documents)
    assert load.recall is None or load.recall >= 0.99
    assert load.false_candidates <= Goal(documents).candidates
    assert not load.is_outgrown
    assert (scheme.tokens, scheme.verification) == (base.tokens, base.verification)
    assert (scheme.simhash is None, scheme.minhash is None) == (base.simhash is None, base.minhash is None)
    assert f"for {documents:,}" in scheme.name


def test_what_no_keys_can_do_is_seen_by_the_load() -> None:
    low = Scheme(minhash=MinHash(similarity=0.5))
    assert key_load(with_keys_for(low, Goal(10**9)), 10**9).false_candidates > 100
    with pytest.raises(SchemeError, match="higher similarity"):
        with_keys_for(Scheme(minhash=MinHash(similarity=0.01)), Goal(10))


def test_default_keys_are_outgrown_by_twenty_million_typical_texts() -> None:
    assert not key_load(Scheme(), 10**6).is_outgrown
    assert key_load(Scheme(), 2 * 10**7).is_outgrown


def test_blocks_are_kept_while_they_suffice_and_become_more_then() -> None:
    near, far = (Scheme(simhash=SimHash(distance=distance)) for distance in (3, 5))
    assert with_keys_for(near, Goal(10**8)).simhash == near.simhash
    more = with_keys_for(far, Goal(10**6)).simhash
    assert more
    assert (more.blocks, more.distance) == (7, 5)
    hopeless = with_keys_for(Scheme(simhash=SimHash(64, 31, 30), minhash=None), Goal(10**9)).simhash
    assert hopeless
    assert hopeless.blocks == 36


def test_a_document_takes_more_bytes_with_more_keys() -> None:
    small, large = (with_keys_for(Scheme(), Goal(documents)) for documents in (10**5, 10**8))
    assert key_load(small, 1).bytes == bytes_a_document(small) < bytes_a_document(large)
    assert json_bytes(small) < bytes_a_document(small)


def test_texts_of_ones_own_say_how_often_strangers_meet() -> None:
    scheme, rng = Scheme(), random.Random(2)
    phrase = "The opinions in this letter are those of its author, and not of this paper or its editors. "
    alike = [phrase + text for text in TEXTS]
    assert unrelated_similarities(scheme, TEXTS[:19]) == TYPICAL
    own, shared = (unrelated_similarities(scheme, texts) for texts in (TEXTS, alike))
    assert sum(share for _, share in own) == pytest.approx(1, abs=0.05)
    assert key_load(scheme, 10**6, own).false_candidates < key_load(scheme, 10**6, shared).false_candidates
    copies = [*TEXTS, *rng.sample(TEXTS, 20), "", "\ud800"]
    # Copies are no strangers.
    assert max(similarity for similarity, _ in unrelated_similarities(scheme, copies)) < 0.3


def test_keys_are_described_in_words() -> None:
    assert keys_in_words(Scheme()) == "32 bands of 4 rows, keys of 30 bits; 6 blocks"
    assert keys_in_words(Scheme.preset("strict")) == "6 blocks"
    assert keys_in_words(replace(Scheme(), simhash=None)) == "32 bands of 4 rows, keys of 30 bits"
