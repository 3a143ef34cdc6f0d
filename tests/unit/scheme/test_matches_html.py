"""Matches as notebooks show them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from es_simhash.scheme.rerank import Match, Matches
from tests.support.html_reader import Reader

NEAR = Match("news", "7", 3, 0.91, is_exact=True)


def shown(*matches: Match, **more: Any) -> str:
    return Reader(Matches(matches, **more)._repr_html_()).text


def test_each_match_is_a_row_and_columns_without_anything_are_left_out() -> None:
    assert shown(NEAR, candidates=4) == "1 near-duplicate" + "indexidsimilarity" + "news70.91"
    assert "text" in shown(replace(NEAR, same_text=True))
    assert "0.80 contained" in shown(replace(NEAR, similarity=None, containment=0.8))
    assert "0.91 ± 0.02" in shown(replace(NEAR, standard_error=0.02))
    assert "bits" not in shown(replace(NEAR, distance=None))


def test_what_was_asked_for_of_the_documents_is_shown() -> None:
    assert "sourcenews70.91A storm" in shown(replace(NEAR, source={"title": "A storm"}))
    assert "titlennews70.91中1" in shown(replace(NEAR, source={"title": "中", "n": 1}))


def test_many_matches_are_cut_with_a_count() -> None:
    assert "… and 90 more" in shown(*(replace(NEAR, id=str(place)) for place in range(100)))


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"complete": False}, "There may be more"),
        ({"status": "empty"}, "The text is empty"),
        ({"missing": ("tenant",)}, "no value in a field of the scope: tenant"),
        ({"foreign": 2}, "2 documents were not compared"),
        ({"unscoped": 2}, "Not compared: 2 documents of the index have no value in a field of the scope."),
    ],
)
def test_what_keeps_matches_from_being_all_is_noted(more: dict[str, Any], note: str) -> None:
    assert note in shown(**more)
    assert "No near-duplicates" in shown(**more)
