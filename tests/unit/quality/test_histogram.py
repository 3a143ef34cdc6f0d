"""Histograms of similarities: those that texts are verified by, with examples of each level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from es_simhash import Scheme
from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.candidates import positions
from es_simhash.plans.text_differences import marked
from es_simhash.quality.ceiling import similar_pairs
from es_simhash.quality.labels import Flags, first_positions
from es_simhash.quality.similarity_histogram import histogram
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.verification import Measure, Verification
from es_simhash.scheme.verifier import Similarities, Verifier
from tests.support.labelled import documents

TEXTS = [text for _, text in documents()]


def measured(settings: Scheme, measure: Measure) -> tuple[Integers, Similarities]:
    """Return the similar pairs, in two rows, and how similar they are by the default rule."""
    pairs = np.stack(positions(similar_pairs(settings, TEXTS, first_positions(TEXTS)).predicted.pairs))
    return pairs, Verifier(settings, Verification(measure=measure), builtin()).similarities(TEXTS, pairs)


def test_nothing_is_similar_among_no_texts() -> None:
    assert sum(level.pairs for level in histogram(Scheme(), []).levels) == 0


def test_a_histogram_counts_each_pair_once_and_shows_some_of_each_level() -> None:
    scheme = Scheme(verification=Verification.of_fingerprints(0.55, weights="rarity"))
    found = histogram(scheme, documents(), examples=3)
    pairs = np.stack(positions(similar_pairs(Scheme(), TEXTS, first_positions(TEXTS)).predicted.pairs))
    assert scheme.verification
    all_pairs = Verifier(scheme, scheme.verification, builtin()).similarities(TEXTS, pairs)
    assert sum(level.pairs for level in found.levels) == (all_pairs >= 0.2).sum()
    assert [level.least for level in found.levels] == pytest.approx([1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
    for level in found.levels:
        assert len(level.examples) == min(3, level.pairs)
        assert all(level.least <= example.similarity + 1e-9 for example in level.examples)
        assert all(level.below is None or example.similarity < level.below for example in level.examples)
    assert (found.threshold, found.near) == (0.55, (all_pairs >= 0.55).sum())
    assert found.levels[0].examples[0].difference == ()


def test_a_histogram_in_a_scope_counts_the_pairs_in_it() -> None:
    def in_scope(first: Integers, second: Integers) -> Flags:
        are_neighbours: Flags = abs(second - first) == 1
        return are_neighbours

    pairs, whole = measured(Scheme(), "balanced")
    some = whole[in_scope(*pairs)]
    found = histogram(Scheme(), documents(), 1000, in_scope)
    assert 0 < sum(level.pairs for level in found.levels) == (some >= 0.2).sum() < len(whole)
    assert found.near == (some >= 0.65).sum()
    places = {id_: place for place, (id_, _) in enumerate(documents())}
    shown = [(places[each.first], places[each.second]) for level in found.levels for each in level.examples]
    assert shown
    assert all(abs(a - b) == 1 for a, b in shown)


def test_examples_have_their_differences_marked() -> None:
    text = "The quick brown fox jumps over the lazy dog and runs away, for it was late in the evening"
    [example] = [
        example
        for level in histogram(Scheme(), [("a", text), ("b", text.replace("lazy", "sleepy"))]).levels
        for example in level.examples
    ]
    assert (example.first, example.second) == ("a", "b")
    assert "[-lazy-]{+sleepy+}" in marked(example.difference)


def test_a_threshold_that_means_something_else_has_no_place() -> None:
    scheme = Scheme()
    for verification in (None, Verification.of_fingerprints(0.6)):
        found = histogram(replace(scheme, verification=verification), documents()[:8])
        assert (found.threshold, found.near) == (None, None)
    by_jaccard = histogram(replace(scheme, verification=Verification(0.9, measure="jaccard")), documents())
    _, jaccards = measured(scheme, "jaccard")
    assert (by_jaccard.threshold, by_jaccard.near) == (0.9, (jaccards >= 0.9).sum())
