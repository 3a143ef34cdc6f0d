"""The repository has none of the phrases of `tools.calques`, in its files or in the subjects of its commits."""

from __future__ import annotations

import pytest

from tools.calques import calques, phrases, problem


def test_nothing_is_written_in_calques() -> None:
    assert not list(calques()), "tools/calques.py says what to write instead"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A frame that is no table.", "is no table"),
        ("# Deleted, if it is no\n# longer used.", None),
        ("There is no server here.", None),
        ("/// The mark stays beside\n/// its starter.", "beside"),
        ("They wait in vain.", "in vain"),
        ("What is unknown is null.", "What is "),
        ("What is a near-duplicate?", None),
        ("## What is written", None),
        ("/// Where nobody has\n/// written since, groups are whole.", "Where nobody has /// written since, "),
        ("Where the proxies listen.", None),
        ("compared by their\ntexts", "by their texts"),
    ],
)
def test_phrases_are_found_across_the_lines_of_comments(text: str, found: str | None) -> None:
    assert [each[0].replace("\n", " ") for each in phrases(text)] == ([found] if found else [])


@pytest.mark.parametrize("subject", ["Add the verb try", "Address the second node", "Pass texts on", "Read texts once"])
def test_a_command_is_a_subject(subject: str) -> None:
    assert problem(subject) is None


@pytest.mark.parametrize(
    "subject", ["add the verb", "Added the verb", "Adds it", "Adding it", "Add it.", "Add " + "x" * 70]
)
def test_other_subjects_are_not(subject: str) -> None:
    assert problem(subject)
