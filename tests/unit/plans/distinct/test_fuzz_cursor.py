"""Cursors come back from outside: whatever comes is the cursor of this search, or refused at little cost."""

from __future__ import annotations

import json
import tracemalloc
import zlib
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import FormatError, InputError
from es_simhash.plans.distinct.pages import MOST_CHARACTERS, Cursor, short_hash
from es_simhash.plans.operations import Reader

SEARCH = ["articles", "abc", "dedup", {"query": {"match_all": {}}}, True, None]
ORDER = short_hash([("articles", "1", None)])
CURSOR = Cursor(Reader("opensearch", "articles", "o_-7QQ=="), 7, ORDER, 99)
TEXT = CURSOR.to_text(SEARCH)
ANY = st.text(st.characters())  # with lone surrogates


def packed(text: str) -> str:
    return urlsafe_b64encode(zlib.compress(text.encode())).decode()


HOSTILE = {
    "a text that unpacks to 50 MB": urlsafe_b64encode(zlib.compress(b"[" * 50_000_000)).decode(),
    "brackets": packed("[" * 200_000),
    "bare brackets": "[" * 200_000,
    "no number": packed('[1, "a", {}, Infinity, []]'),
    "a rank of many digits": f"2.{ORDER}.{'9' * 100_000}.{ORDER}.1.opensearch.a",
    "a seed of many digits": f"2.{ORDER}.1.{ORDER}.{'9' * 100_000}.opensearch.a",
    "other digits": TEXT.replace(".7.", ".٧.", 1),
    "a rank of zero": TEXT.replace(".7.", ".0.", 1),
    "too long": TEXT + "A" * MOST_CHARACTERS,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_refused_without_unpacking_it(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=r"Invalid cursor\. Pass the cursor of the previous page"):
            Cursor.from_text(text, SEARCH, "articles")
        assert tracemalloc.get_traced_memory()[1] < 4 * MOST_CHARACTERS
    finally:
        tracemalloc.stop()


@given(ANY | st.none() | st.integers() | st.binary() | st.lists(st.text()))
def test_any_value_is_refused(value: Any) -> None:
    with pytest.raises(FormatError):
        Cursor.from_text(value, SEARCH, "articles")


@given(st.integers(0, len(TEXT) - 1), st.integers(0, 9), ANY)
def test_a_cursor_with_another_part_is_refused(place: int, length: int, put: str) -> None:
    changed = TEXT[:place] + put + TEXT[place + length :]
    if changed == TEXT:
        return
    with pytest.raises(FormatError):
        Cursor.from_text(changed, SEARCH, "articles")


@given(
    st.sampled_from(["elasticsearch", "opensearch", "embedded"]),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1),
    st.integers(1, 10_000),
    st.integers(0, 2**31 - 1),
    st.recursive(ANY | st.floats() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(ANY, inner)),
)
def test_a_cursor_comes_back_as_it_was_made(kind: Any, id_: str, rank: int, seed: int, body: Any) -> None:
    made = Cursor(Reader(kind, "articles", id_), rank, ORDER, seed)
    assert Cursor.from_text(made.to_text([body]), [body], "articles") == made
    with pytest.raises(FormatError):
        Cursor.from_text(made.to_text([body]), [body, 1], "articles")


@given(st.lists(st.tuples(ANY, ANY, st.none() | ANY), min_size=2, max_size=4, unique=True))
def test_another_order_is_another_mark(names: list[tuple[str, str, str | None]]) -> None:
    assert short_hash(names) == short_hash([*names])
    assert short_hash(names) != short_hash(names[::-1])
    assert json.dumps(short_hash(names)).isascii()


def test_a_cursor_that_would_be_refused_is_not_made() -> None:
    with pytest.raises(InputError, match="Search fewer indices at once"):
        Cursor(Reader("opensearch", "i", "A" * MOST_CHARACTERS), 1, ORDER, 0).to_text(SEARCH)
