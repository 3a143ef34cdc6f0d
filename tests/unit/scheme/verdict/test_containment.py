from __future__ import annotations

import pytest
from hypothesis import given, settings

from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import MinHash
from es_simhash.scheme.verdict.containment import Common, in_common
from es_simhash.scheme.verdict.verifier import plain, similarities_to
from es_simhash.text.tokens.kinds import Custom, Words
from tests.support.texts import any_text

WORDS = Scheme(tokens=Words(1), simhash=None, minhash=MinHash())
QUOTE = "one two three four"


def common(a: str, b: str, scheme: Scheme = WORDS) -> Common:
    [[found]] = in_common(scheme, [a], [b])
    return found


def test_a_quotation_is_contained_in_what_quotes_it() -> None:
    found = common(QUOTE, f"{QUOTE} five six seven eight")
    assert (found.of_first, found.of_second, found.jaccard) == (1.0, 0.5, 0.5)


def test_a_feature_counts_once_however_often_it_occurs_and_whatever_it_weighs() -> None:
    weighted = Scheme(tokens=Words(1), weights="tf", minhash=MinHash())
    assert common("a a a b", "a c", weighted) == common("a a a b", "a c") == Common(1, 2, 2)


def test_shares_meet_a_bound_exactly() -> None:
    assert common(" ".join("abcdefghij"), " ".join("abcdefghi")).of_first >= 0.9


def test_each_of_the_others_is_compared_with_each_text() -> None:
    found = list(in_common(WORDS, ["a b", "c"], ["a", "c b", ""]))
    assert [[each.shared for each in row] for row in found] == [[1, 0], [1, 1], [0, 0]]


@pytest.mark.parametrize(("a", "b", "expected"), [("", "", (1, 1, 1)), ("a", "", (0, 0, 0)), ("", "a", (0, 0, 0))])
def test_texts_without_features_have_all_in_common_with_each_other_and_nothing_with_others(
    a: str, b: str, expected: tuple[int, int, int]
) -> None:
    found = common(a, b)
    assert (found.jaccard, found.of_first, found.of_second) == expected


def test_tokens_of_a_caller_are_compared_themselves() -> None:
    scheme = Scheme(tokens=Custom("commas", lambda text: text.split(",")), minhash=MinHash())
    assert common("x,y", "y,z", scheme) == Common(1, 2, 2)


@given(any_text(), any_text())
@settings(max_examples=50)
def test_it_is_what_the_measures_of_the_scheme_compute(a: str, b: str) -> None:
    for scheme in (Scheme(), Scheme.preset("short")):
        found, settings_ = common(a, b, scheme), plain(scheme)
        assert [found.jaccard] == pytest.approx(similarities_to(settings_, a, [b]))
        assert [found.of_first] == pytest.approx(similarities_to(settings_, a, [b], "containment"))
        assert [found.of_second] == pytest.approx(similarities_to(settings_, b, [a], "containment"))
