"""What is around the hits of a search, where some of them are out of scope with others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from es_simhash import Scheme, Scope
from es_simhash.documents.documents import Documents
from es_simhash.plans.find_options import FindRequest
from es_simhash.plans.hit_surroundings import HitSurroundings
from es_simhash.plans.search_terms import SearchTerms
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.measures import PairMeasures
from es_simhash.scheme.verdict.verification import Crowding, Verification
from es_simhash.scheme.verdict.verifier import Verifier
from es_simhash.testing.corpus import corpus

TEXT = corpus(1)[0]["body"]
TEXTS = [TEXT, TEXT, f"{TEXT} And more.", corpus(2)[1]["body"]]


def crowds(in_scope: Callable[[int, int], bool] | None) -> tuple[list[int], list[float]]:
    verification = replace(Verification(), crowding=Crowding())
    scheme = Scheme(minhash=None, verification=verification)
    measured = PairMeasures.of_similarities(np.array([1.0, 1.0, 0.9, 0.0]))
    criteria = Criteria(None, 0.5, verification)
    around = HitSurroundings(Verifier(scheme, verification), criteria, TEXTS, measured, None, in_scope)()
    return around.crowd.tolist(), around.best.tolist()


def test_hits_that_are_all_in_scope_are_counted_as_without_one() -> None:
    assert crowds(lambda first, second: True) == crowds(None)
    assert crowds(None)[0] == [3, 3, 3, 0]


def test_hits_out_of_scope_are_not_around_each_other_even_with_equal_texts() -> None:
    apart = {(0, 1), (0, 2)}
    found, _ = crowds(lambda first, second: (first, second) not in apart and (second, first) not in apart)
    assert found == [1, 2, 2, 0]
    # The text itself is around each of them.
    assert crowds(lambda first, second: False) == ([1, 1, 1, 0], [1.0, 1.0, 0.9, 0.0])


def test_only_tenants_divide_all_hits_alike() -> None:
    def pairs(scope: Scope | None) -> list[bool] | None:
        terms = SearchTerms("i", Documents(Scheme(), ["body"]), FindRequest(scope=scope))
        hits = [{"_source": {"tenant": "a", "source": source}} for source in ("x", "y", "x", None)]
        found = terms.pairs_in_scope(hits)
        return found and [found(0, 1), found(0, 2), found(0, 3)]

    assert pairs(None) is None
    assert pairs(Scope(("tenant",))) is None
    assert pairs(Scope(("tenant",), ("source",))) == [True, False, False]
