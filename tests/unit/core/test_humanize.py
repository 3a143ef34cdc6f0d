"""Numbers as people read them.

Texts of others in forms that command no terminal.
"""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from es_simhash._core.humanize import counted, json_text, lasting, printable, share, with_error, with_unit


def test_one_thing_is_not_many() -> None:
    assert [counted(count, "bit") for count in (0, 1, 2, 1_000)] == ["0 bits", "1 bit", "2 bits", "1,000 bits"]
    assert [counted(count, "copy was", "copies were") for count in (1, 2)] == ["1 copy was", "2 copies were"]


def test_what_is_exact_has_no_error() -> None:
    assert with_error(0.8125, None) == "0.81"


def test_only_what_is_all_of_it_is_shown_as_1() -> None:
    assert [share(value) for value in (0, 0.004, 0.985, 0.997, 1 - 2**-53, 1, 12.5)] == [
        *("0.00", "0.00", "0.98", "0.99", "0.99", "1.00", "12.50")
    ]


def test_a_similarity_has_more_digits_where_two_would_hide_that_it_is_not_the_threshold() -> None:
    values = (0.598, 0.60004, 0.6, 0.6 - 2**-53, 0.59, 0.997)
    assert [share(value, 0.6) for value in values[:5]] == ["0.5980", "0.60004000", "0.60", repr(0.6 - 2**-53), "0.59"]
    assert share(0.997, 1) == "0.9970"


def test_what_is_estimated_says_how_far_off_it_may_be() -> None:
    assert with_error(0.8125, 0.031) == "0.81 ± 0.03"


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 kB"), (3 << 20, "3.0 MB"), (5 << 40, "5,120.0 GB")],
)
def test_sizes_are_shown_with_a_unit(size: int, words: str) -> None:
    assert with_unit(size) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.042, "0.042 s"), (59, "59 s"), (60, "1 min"), (754, "13 min"), (11_000, "3.1 h")]
)
def test_times_are_shown_with_a_unit(seconds: float, words: str) -> None:
    assert lasting(seconds) == words


TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text(st.characters(categories=["Cc", "Cf", "Zl", "Zp"]))
ORDERING = set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def obeyed(text: str) -> list[str]:
    """Unicode's control characters, and those that order or end their neighbours."""
    return [
        each
        for each in text
        if (unicodedata.category(each) in {"Cc", "Zl", "Zp"} and each not in "\t\n") or each in ORDERING
    ]


@given(TEXTS)
@example("\x1b]0;title\x07 \x9b2J \r \u202egnp.exe")
def test_a_printable_text_has_nothing_that_terminals_obey_and_all_else(text: str) -> None:
    shown = printable(text)
    assert not obeyed(shown)
    assert len(shown) == len(text)
    assert all(a == b for a, b in zip(text, shown, strict=True) if not obeyed(a))


@given(st.recursive(TEXTS | st.integers() | st.none(), lambda some: st.lists(some) | st.dictionaries(TEXTS, some)))
def test_json_has_nothing_that_terminals_obey_and_gives_the_value_back(value: object) -> None:
    for text in (json_text(value), json_text(value, indent=2)):
        assert not obeyed(text)
        assert json.loads(text) == value
