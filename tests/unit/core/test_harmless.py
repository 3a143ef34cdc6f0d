"""Texts of others in forms that command no terminal."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from es_simhash._core.harmless import json_text, printable

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
