"""Distinct hits, checked documents and explanations as notebooks show them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from es_simhash.plans.check import Checked
from es_simhash.plans.distinct import DistinctHit, DistinctPage
from es_simhash.scheme.rerank import Match, Matches
from tests.support.html_reader import Reader
from tests.unit.core.test_html import TAGS, any_texts
from tests.unit.plans.test_explanation import ALIKE, NEAR, A, document, explained

COPY = Match("news", "7", 3, 0.91, is_exact=True)
HIT = {"_index": "news", "_id": "5", "_score": 1.5, "_source": {"title": "A storm"}}


def page(*hits: DistinctHit, **more: Any) -> DistinctPage:
    return DistinctPage(hits, **{"read": 100, "at_end": True, "apart": {}, "reply": {}, **more})


def shown(result: Any) -> str:
    return Reader(result._repr_html_()).text


def test_a_page_shows_its_hits_and_what_they_stand_for() -> None:
    assert shown(page(DistinctHit(HIT, (COPY,)))) == (
        "1 hit without near-duplicates, of 100 read" + "indexidscoresimilarsource" + "news51.50+1: 7A storm"
    )
    bare = {"_index": "news", "_id": "5", "_score": None}
    assert shown(page(DistinctHit(bare))).endswith("indexidnews5")
    assert "… and 2 more" in shown(page(*[DistinctHit(HIT)] * 12))


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"at_end": False}, "There are more hits"),
        ({"at_end": False, "limit": "k"}, "The list ends here: k."),
        ({"apart": {"short": 2}}, "Not compared: 2 (short)."),
    ],
)
def test_a_page_notes_what_it_does_not_show(more: dict[str, Any], note: str) -> None:
    assert note in shown(page(**more))


def test_a_checked_document_shows_where_its_near_duplicates_are() -> None:
    assert shown(Checked(3, None, Matches(()), Matches(()))) == "Document 3 is new"
    found = shown(Checked(3, "a", Matches((COPY,)), Matches((COPY,))))
    row = "news70.91"
    assert found == "Document 3 (a) has 2 near-duplicates" + "in theindexidsimilarity" + f"index{row}list{row}"
    assert "in a field of the scope: tenant" in shown(Checked(3, "a", Matches((), missing=("tenant",)), Matches(())))


def test_an_explanation_shows_the_verdict_and_what_differs() -> None:
    explanation = explained(document("one", A), document("other", ALIKE))
    found = shown(explanation)
    assert found.startswith(explanation.verdict.sentence)
    assert "oneother" in found
    assert f"{explanation.evidence.similarity.exact:.2f}" in found
    assert "jumpsjumped" in found
    # Only what each document has stands below its name.
    assert "similarity" not in explanation._repr_html_().partition("<tbody>")[2].partition("</tbody>")[0].lower()
    assert "brown" not in found


@given(any_texts, any_texts)
def test_fuzz_any_text_of_a_result_is_shown_as_text(one: str, other: str) -> None:
    match = Match(one, other, None, None, source={other: one})
    hit = {"_index": one, "_id": other, "_source": {one: other}}
    # No fingerprint is made of half of a surrogate pair.
    texts = [f"{text} {more}".replace("\ud800", "") for text, more in ((A, one), (NEAR, other))]
    results: list[Any] = [
        page(DistinctHit(hit, (match,)), limit=one),
        Checked(0, one, Matches((match,), missing=(other,)), Matches((match,))),
        explained(document(one, texts[0]), document(other, texts[1])),
    ]
    for result in results:
        read = Reader(result._repr_html_())
        assert {tag for tag, _ in read.elements} <= TAGS
        assert {name for _, attributes in read.elements for name in attributes} <= {"class", "style"}
