"""What the summary of groups suggests, and what it says of groups that look like forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from es_simhash import Scheme
from es_simhash.cli.show.groups import forms_sentences, natural_threshold
from es_simhash.groups.groups import Counts
from es_simhash.groups.options import GroupOptions

COUNTS = Counts(documents=9, empty=0, identical=0, near=3, groups=2, duplicates=3, compared=9, verified=9, left_out=0)
CRITERIA = GroupOptions().criteria(Scheme())
BELOW, ABOVE = CRITERIA.similarity - 0.1, CRITERIA.similarity + 0.1  # type: ignore[operator]


@pytest.mark.parametrize(
    ("valley", "options", "is_asked", "suggested"),
    [
        (ABOVE, {}, False, ABOVE),
        (BELOW, {}, False, None),
        (BELOW, {}, True, BELOW),
        (ABOVE, {"similarity": CRITERIA.similarity}, True, None),
        (None, {}, True, None),
    ],
)
def test_a_threshold_is_suggested_only_above_that_in_use_or_if_asked(
    valley: float | None, options: dict[str, Any], is_asked: bool, suggested: float | None
) -> None:
    counts = replace(COUNTS, valley=valley)
    assert natural_threshold(counts, GroupOptions(**options), CRITERIA, is_asked=is_asked) == suggested


def test_groups_that_look_like_forms_are_named_by_their_documents() -> None:
    one, two, many = (forms_sentences([str(each) for each in range(28062, 28062 + n)], CRITERIA) for n in (1, 2, 9))
    assert one.startswith("The group of document '28062' looks like a form: its documents differ")
    assert two.startswith("2 groups look like forms, those of documents '28062', '28063': their documents differ")
    assert many.startswith("9 groups look like forms, such as those of documents '28062', '28063', '28064': their")
    assert forms_sentences([], CRITERIA) == ""
