"""Predictions and evaluations in a scope agree with a reference that compares all documents with all others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import DocumentError, GroupOptions, Scheme, Scope, dedup
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality import Labels
from es_simhash.quality.evaluation import EvaluationOptions, evaluation_of
from es_simhash.quality.labels import first_positions, predict_pairs, stored
from es_simhash.quality.scores import Bootstrap
from tests.support.fuzzing import examples
from tests.support.scoped import SCOPES, documents, in_scope
from tests.unit.groups.pairs.test_fingerprint_store import BY_DISTANCE, PLAIN, near_in_scope

OPTIONS = EvaluationOptions(Bootstrap(2))


def listed(pairs: Numbers) -> set[tuple[int, int]]:
    first, second = positions(pairs)
    assert len(set(pairs.tolist())) == len(pairs)
    return set(zip(first.tolist(), second.tolist(), strict=True))


@given(st.integers(0, 10_000), st.sampled_from(SCOPES))
@examples(80)
def test_predicted_are_all_near_pairs_in_scope(seed: int, scope: Scope) -> None:
    known = documents(seed)
    with dedup(known, scheme=PLAIN, scope=scope, threads=1, **BY_DISTANCE) as duplicates:
        predicted = predict_pairs(duplicates, first_positions([text for _, text, _ in known]))
    assert listed(predicted.pairs) == near_in_scope(scope, known, 5)


@pytest.mark.parametrize("scope", SCOPES)
def test_duplicates_out_of_scope_are_missed_and_counted(scope: Scope) -> None:
    known = documents(8)
    labels = Labels.of_clusters([[id_ for id_, _, _ in known]])
    found = evaluation_of(known, labels, Scheme(), GroupOptions(scope=scope, threads=1), OPTIONS)
    allowed = in_scope(scope, known)
    all_ = len(known) * (len(known) - 1) // 2
    assert found.out_of_scope == all_ - len(allowed) > 0
    assert listed(found.found.pairs) <= allowed
    assert found.pairs.missed >= found.out_of_scope
    # The ceiling and the curves have pairs in scope only, too.
    least = [found.ceiling.curve.points[0], *(curve.points[0] for curve in found.curves)]
    assert all((point.recall or 0) <= len(allowed) / all_ for point in least)
    form = found.to_json()
    assert (form["out_of_scope"], form["counts"]["unscoped"]) == (found.out_of_scope, found.counts.unscoped)


def test_documents_of_a_scope_are_stored_with_their_values() -> None:
    known = documents(2)
    scope = SCOPES[-1]
    with stored(known, options=GroupOptions(scope=scope)) as kept:
        again: list[Any] = list(kept)
        assert [each[:2] for each in again] == [each[:2] for each in known]
        assert [scope.values_of(each[2]) for each in again] == [scope.values_of(each[2]) for each in known]
        assert set(again[0][2]) == set(scope.paths)
        scopes = kept.scopes()
        assert scopes is not None
        assert scopes.known.tolist() == [scope.values_of(own) is not None for _, _, own in known]
    options = GroupOptions(scope=scope)
    with pytest.raises(DocumentError, match="values of the scope"), stored([("a", "text")], options=options):
        pass
