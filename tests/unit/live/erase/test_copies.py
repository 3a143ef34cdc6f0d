"""The list of copies, as it is written, edited and read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.rows import as_json
from es_simhash.errors import FormatError, InputError
from es_simhash.live.erase.copies import Copies, Copy, EraseOptions, Source

COPY = Copy("i", "1", None, 3, 1, "near", "0", 0.75, 0.5, 1, "current", "abc", "The beginning")
OTHER = Copy("i", "2", "r", 4, 1, "equal", "0", 1.0, 1.0, 1.0, "none", "abd", "")
PLACES = frozenset({COPY.place, OTHER.place})
COPIES = Copies("i", (Source("0", "a text", {}),), EraseOptions(), (), (COPY, OTHER), PLACES, "now")
SOURCES = json.dumps(as_json(COPIES.sources))


def test_the_list_is_read_as_it_was_written() -> None:
    assert COPIES.confirmed_by(COPIES.to_lines()) == COPIES


def test_copies_whose_lines_are_removed_are_known_as_dropped() -> None:
    header, first, _ = COPIES.to_lines()
    confirmed = COPIES.confirmed_by([header, "", first])
    assert (confirmed.found, confirmed.reviewed) == ((COPY,), PLACES)
    assert COPIES.only(lambda copy: copy.id == "1") == confirmed


def test_the_list_has_no_text_but_beginnings() -> None:
    assert "a text" not in "".join(COPIES.to_lines())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "Line 2 of the list is not a JSON object"),
        ("[]", "Line 2 of the list is not a JSON object"),
        ('{"id": "1"}', "Line 2 of the list has no index"),
        (json.dumps({**COPY.reviewed, "seq_no": "3"}), "has no seq_no"),
        (json.dumps({**COPY.reviewed, "seq_no": True}), "has no seq_no"),
        ('{"copies_of": 3}', "does not say what was searched for"),
        ('{"copies_of": {"sources": [{"sha256": []}], "found": []}}', "made for another text"),
        (f'{{"copies_of": {{"sources": {SOURCES}, "found": [["i", []]]}}}}', "something else than documents"),
    ],
)
def test_what_is_not_a_list_is_refused(line: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        COPIES.confirmed_by([next(COPIES.to_lines()), line])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*COPY.reviewed, "copies_of", "x"]), values, max_size=14))
def test_any_line_is_read_or_refused(form: dict[str, Any]) -> None:
    try:
        COPIES.confirmed_by([json.dumps({**COPY.reviewed, **form})])
    except FormatError:
        return


@pytest.mark.parametrize("given", [{"similarity": 0}, {"containment": 1.1}, {"similarity": True}, {"containment": "1"}])
def test_bars_are_shares(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"Choose a share|Give a number"):
        EraseOptions(**given)
