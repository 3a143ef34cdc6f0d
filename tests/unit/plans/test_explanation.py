""""""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.humanize import share
from es_simhash.errors import SchemeError, WeightError
from es_simhash.plans.explanation import (
    ComparedNumbers,
    ExaminedDocument,
    Explanation,
    compare_numbers,
    examine,
    explain,
)
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import SimHash
from es_simhash.scheme.verifier import share_numbers
from es_simhash.sketches.keys import Bands, sharing
from es_simhash.text.tokens import Custom

A = "The quick brown fox jumps over the lazy dog, and then it does so again and again."
NEAR = "The quick brown fox jumps over the lazy dog, and then it does so again and again!"
ALIKE = "The quick brown fox jumped over a lazy cat, and then it does so again and again."
FAR = "Something else entirely is written here, and nobody has heard a single word of it before."
SCHEME = Scheme()


def explained(
    a: str | ExaminedDocument,
    b: str | ExaminedDocument,
    scheme: Scheme = SCHEME,
    named: list[str] | None = None,
    **criteria: Any,
) -> Explanation:
    first, second = (
        each if isinstance(each, ExaminedDocument) else examine(scheme, f"text {i}", each)
        for i, each in enumerate((a, b))
    )
    return explain(scheme, Criteria.of(scheme, **criteria), (first, second), named)


def document(name: str, text: str, of: str | None = None, is_seen: bool = True, **changes: Any) -> ExaminedDocument:
    """A document with the fields of its text, or of another."""
    made = examine(SCHEME, "", text if of is None else of).made
    return examine(SCHEME, name, text, "i", {**made, **changes}, is_seen)


def test_duplicates_by_bands_are_reported_with_what_agrees_and_the_similarity() -> None:
    verdict = explained(A, NEAR).verdict
    assert (verdict.code, verdict.are_duplicates) == ("duplicates", True)
    found = explained(A, NEAR).evidence
    assert found.bands
    assert verdict.sentence == (
        f"Near-duplicates: {len(found.bands.agree)} of 36 bands agree, and the similarity "
        f"{found.similarity.estimate:.2f} ± {found.similarity.standard_error:.2f} "
        f"(exactly {found.similarity.exact:.2f}) reaches 0.6."
    )


def test_candidates_below_the_threshold_are_reported_as_such() -> None:
    verdict = explained(A, ALIKE, similarity=0.9).verdict
    assert (verdict.code, verdict.are_duplicates) == ("below-threshold", False)
    assert verdict.sentence.startswith("No near-duplicates: candidates, but ")
    assert verdict.sentence.endswith("is below 0.9.")


def test_texts_without_a_band_in_common_are_reported_with_the_probability_of_one() -> None:
    found = explained(A, FAR)
    assert (found.verdict.code, found.verdict.are_duplicates) == ("no-candidate", False)
    assert found.evidence.bands
    assert found.evidence.bands.probability == sharing(found.evidence.similarity.exact, Bands(36, 3, 24), 2)
    assert found.verdict.sentence == (
        f"No near-duplicates, not even candidates: none of 36 bands agrees, where at the exact similarity "
        f"{found.evidence.similarity.exact:.2f} 2 do, as it takes, with a probability of below 0.01."
    )


def test_by_simhash_blocks_and_bits_are_reported() -> None:
    near = explained(A, NEAR, distance=5)
    assert near.evidence.bits
    assert near.evidence.blocks
    within = near.evidence.bits.distance <= 5
    assert near.verdict.are_duplicates == within
    assert "(1 needed)" in near.verdict.sentence
    far = explained(A, FAR, by="simhash").verdict
    assert far.code == "no-candidate"
    assert "(3 needed), and the distance of" in far.sentence
    assert far.sentence.endswith("bits is beyond 3.")


def test_by_both_one_is_enough_and_both_are_reported() -> None:
    found = explained(A, ALIKE, distance=0, similarity=0.2).verdict
    assert found.are_duplicates
    assert "bands agree" in found.sentence
    assert "bits is beyond 0" in found.sentence


def test_without_minhash_the_distance_decides() -> None:
    scheme = Scheme.preset("strict")
    assert explained(A, A, scheme).verdict.are_duplicates
    found = explained(A, FAR, scheme)
    assert found.evidence.bands is None
    assert "bands" not in found.verdict.sentence
    with pytest.raises(SchemeError, match="no MinHash"):
        explained(A, FAR, scheme, by="minhash")


def test_empty_texts_are_reported_first() -> None:
    for a, b, names in (("", A, "'text 0'"), (A, " \n", "'text 1'"), ("", "", "'text 0' and 'text 1'")):
        found = explained(a, b)
        assert found.verdict.code == "empty"
        assert f"there is no text in {names}" in found.verdict.sentence
        assert found.evidence.similarity.estimate is None
    assert explained("", "").parts == ()


def test_equal_texts_and_short_ones_are_noted() -> None:
    found = explained("Hi!", "hi!").verdict
    assert found.are_duplicates
    short = "is short, with few features: compare the texts themselves."
    assert found.notes == (f"'text 0' {short}", f"'text 1' {short}")
    assert explained(A, A).verdict.notes == ("The texts are the same.",)


def test_a_note_says_when_the_exact_similarity_contradicts_the_estimate() -> None:
    similarity = explained(A, ALIKE).evidence.similarity
    assert similarity.estimate is not None
    low, high = sorted((similarity.estimate, similarity.exact))
    assert low < high
    threshold = (low + high) / 2
    [note] = explained(A, ALIKE, similarity=threshold).verdict.notes
    expected = "is below" if similarity.exact < similarity.estimate else "reaches"
    assert note.startswith(f"The exact similarity, {share(similarity.exact, threshold)}, {expected} the threshold")


@pytest.mark.parametrize(
    ("subject", "code", "expected"),
    [
        (examine(SCHEME, "b", NEAR, "i", None, True), "missing", "'b' has no fingerprint. Run: es-simhash backfill."),
        (document("b", NEAR, status="deferred"), "deferred", "since the text changed. Run: es-simhash backfill."),
        (document("b", NEAR, scheme="x"), "foreign", "of another scheme. Run: es-simhash backfill."),
        (document("b", NEAR, bands="x"), "damaged", "Write the document once more."),
        (document("b", NEAR, of=FAR), "stale", "Run: es-simhash backfill --refresh-stale."),
    ],
)
def test_unsound_fields_are_the_reason_and_a_note_gives_the_verdict_on_repaired_ones(
    subject: ExaminedDocument, code: str, expected: str
) -> None:
    for pair in ((document("a", A), subject), (subject, document("a", A))):
        verdict = explained(*pair).verdict
        assert (verdict.code, verdict.are_duplicates) == (code, False)
        assert verdict.sentence.startswith("No near-duplicates by what the index holds: 'b' ")
        assert verdict.sentence.endswith(expected)
        assert verdict.notes == (f"By the texts as they are now: {explained(A, NEAR).verdict.sentence}",)


def test_duplicates_by_the_fingerprint_of_an_older_text_are_still_found_and_reported_as_stale() -> None:
    verdict = explained(document("a", A), document("b", FAR, of=NEAR)).verdict
    assert (verdict.code, verdict.are_duplicates) == ("stale", True)
    assert verdict.sentence.startswith("Near-duplicates by what the index holds: 'b' has the fingerprint of an older")
    assert "No near-duplicates, not even candidates" in verdict.notes[0]


def test_the_worse_of_two_faults_is_reported() -> None:
    verdict = explained(document("a", A, of=FAR), examine(SCHEME, "b", NEAR, "i", None, True)).verdict
    assert verdict.code == "missing"
    both = explained(examine(SCHEME, "a", A, "i", None, True), examine(SCHEME, "b", NEAR, "i", None, True)).verdict
    assert "'a' and 'b' have no fingerprint" in both.sentence


def test_what_searches_do_not_see_yet_is_the_reason() -> None:
    verdict = explained(document("a", A), document("b", NEAR, is_seen=False)).verdict
    assert (verdict.code, verdict.are_duplicates) == ("unseen", False)
    assert verdict.sentence.endswith("searches do not see 'b' as written last. Refresh the index.")
    assert verdict.notes == (f"Then: {explained(A, NEAR).verdict.sentence}",)


def test_an_engine_that_contradicts_the_documents_decides_and_is_reported() -> None:
    verdict = explained(document("a", A), document("b", NEAR), named=[]).verdict
    assert (verdict.code, verdict.are_duplicates) == ("contradiction", False)
    assert "by the engine, which finds 0 keys in common where the documents have" in verdict.sentence
    named = [f"band {i}" for i in range(36)] + [f"block {i}" for i in range(6)]
    assert explained(document("a", A), document("b", A), named=named).verdict.code == "duplicates"


def test_weights_below_0_have_no_jaccard_similarity() -> None:
    own = Custom("signed", lambda text: [(word, -1.0 if word == "no" else 1.0) for word in text.split()])
    with pytest.raises(WeightError, match="weights of 0 or more"):
        explained("no way", "a way", Scheme(tokens=own, weights="own", minhash=None, simhash=SimHash()))


def numbers_of(a: str, b: str, least: float) -> ComparedNumbers | None:
    return compare_numbers(SCHEME, least, (a, b), ("a", "b"))


def test_numbers_are_counted_of_the_text_with_fewer() -> None:
    some, fewer = "No 7, 12, 100, 2,023 and 31.", "No 8 and 31."
    problem = "'a' has 1 of 2 numbers of 'b', a share of 0.50, below 0.75"
    assert numbers_of(some, fewer, 0.75) == ComparedNumbers(0.75, 0.5, problem)
    problem = "'b' has 0 of 1 number of 'a', a share of 0.00, below 1"
    assert numbers_of("No 9.", some, 1) == ComparedNumbers(1, 0.0, problem)


@given(st.text(), st.text(), st.floats(0.01, 1))
def test_there_is_a_problem_unless_enough_numbers_are_shared(a: str, b: str, least: float) -> None:
    found = numbers_of(a, b, least)
    assert found
    [is_enough] = share_numbers(SCHEME, least, [a, b], np.array([[0], [1]]))
    assert is_enough == (found.problem is None)
    assert numbers_of(a, b, 0) is None
