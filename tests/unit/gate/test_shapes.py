"""What JSON holds, found before it is parsed, is what parsing finds."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.gate import limits, requests
from es_simhash.gate.requests import NoDocument, Shape, memory_of, parsed, shape_of

TEXTS = st.text(st.characters(), max_size=20) | st.text('[]{},:"\\\n', max_size=20)
FORMS = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=30,
)


def shape_by_parsing(form: Any, level: int = 0) -> Shape:
    """Count what has been parsed: items and containers, where a container with items has one comma less than items."""
    if not isinstance(form, list | dict):
        return Shape(depth=level)
    inner = form if isinstance(form, list) else list(form.values())
    found = [shape_by_parsing(each, level + 1) for each in inner]
    return Shape(
        1 + max(0, len(inner) - 1) + sum(each.values for each in found),
        max(1, len(form)) if level == 0 and isinstance(form, list) else 1,
        1 + sum(each.containers for each in found),
        max([level + 1, *(each.depth for each in found)]),
    )


@given(FORMS, st.booleans(), st.sampled_from([None, 1]), st.integers(1, 40))
def test_the_shape_is_that_of_what_is_parsed(form: Any, escaped: bool, indent: int | None, chunk: int) -> None:
    text = json.dumps(form, ensure_ascii=escaped, indent=indent)
    raw = text.encode("utf-8", "replace")
    # Nothing is so small that it is not counted, or so large that it is counted no further.
    counted = patch.multiple(limits, DEPTH=0, DOCUMENTS=0)
    with patch.object(requests, "_CHUNK", chunk), counted, patch.object(Shape, "problem", None):
        found = shape_of(raw)
    assert found == shape_by_parsing(json.loads(raw))
    bound = shape_of(raw)
    assert (bound.values, bound.documents, bound.depth) >= (found.values, found.documents, found.depth)
    assert bound.problem is None


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[" + b"1," * 3_700_000 + b"1]", r"A list has at most 1,000 documents.*/bulk"),
        (b"[" + b'{"":0},' * 1000 + b"{}]", r"A list has at most 1,000 documents"),
        (b'{"a":[' + b"1," * 250_000 + b"1]}", r"more than 250,000 values"),
        (b'{"a":[' + b"[]," * 125_000 + b"1]}", r"more than 250,000 values"),
        (b"{" + b",".join(b'"k%d":0' % place for place in range(250_100)) + b"}", r"more than 250,000 values"),
        (b"[" * 101 + b"]" * 101, r"nested deeper than 100 levels"),
        (b'{"a":' * 1_000_000, r"nested deeper than 100 levels"),
        (b"[" * 8_000_000, r"nested deeper than 100 levels"),
    ],
)
def test_what_would_take_long_or_much_is_not_parsed(raw: bytes, reason: str) -> None:
    found = parsed(raw)
    assert isinstance(found, NoDocument)
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(found.reason)


@pytest.mark.parametrize(
    "form",
    [
        [{"a": "x"}] * 1000,
        {"vector": [0.125] * 249_000},
        {"text": '[{,"' * 200_000},
        {"text": "\\" * 200_001, "more": '"' * 200_001},
        [[[[1]]]] * 100,
        json.loads("[" * 100 + "]" * 100),
        int("9" * 1000),
        "\ud800",
        [],
        {},
    ],
)
def test_what_is_within_the_limits_is_parsed(form: Any) -> None:
    assert parsed(json.dumps(form).encode()) == form
    assert parsed(b"\xef\xbb\xbf" + json.dumps(form).encode()) == form


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"9" * 1001, "an integer of 1,001 digits"),
        (b"[-" + b"9" * 5_000_000 + b"]", "an integer of 5,000,001 digits"),
        (b"NaN", "NaN is not in it"),
        (b"[-Infinity]", "-Infinity is not in it"),
        (b'"\xed\xa0\x80"', "utf-8"),
        ('{"a": 1}'.encode("utf-16"), "utf-8"),
        (b"", "Expecting value"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(raw: bytes, reason: str) -> None:
    found = parsed(raw)
    assert isinstance(found, NoDocument)
    assert found.reason.startswith("It is not JSON: ")
    assert reason in found.reason


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "é" * 100_000, "北" * 50_000, "a" * 100_000 + "😀", "\ud83d" + "a" * 10**5]
)
@pytest.mark.parametrize("escaped", [True, False])
def test_the_memory_is_enough_for_the_widest_text(text: str, escaped: bool) -> None:
    raw = json.dumps(text, ensure_ascii=escaped).encode("utf-8", "replace")
    assert memory_of(raw, shape_of(raw)) + 1000 > json.loads(raw).__sizeof__()
