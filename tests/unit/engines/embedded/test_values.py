"""Terms of values keep their order and their identity; dates are read as ISO 8601 has them."""

from __future__ import annotations

import re
import struct
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.dates import looks_like_a_date, milliseconds
from es_simhash.engines.embedded import mapping, queries

LONGS = st.integers(-(2**63), 2**63 - 1)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
DIGITS = st.text("0123456789abcdef", min_size=4, max_size=4)


@given(LONGS, LONGS)
def test_whole_numbers_keep_their_order(a: int, b: int) -> None:
    assert (mapping.ordered("long", a) < mapping.ordered("long", b)) == (a < b)
    assert (mapping.ordered("long", a) == mapping.ordered("long", b)) == (a == b)


@given(DOUBLES, DOUBLES)
def test_fractions_keep_their_order(a: float, b: float) -> None:
    assert (mapping.ordered("double", a) < mapping.ordered("double", b)) == (a < b)
    assert (mapping.ordered("double", a) == mapping.ordered("double", b)) == (a == b)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_is_what_32_bits_hold(value: float) -> None:
    (rounded,) = struct.unpack("f", struct.pack("f", value * (1 + 1e-12)))
    assert mapping.ordered("float", value * (1 + 1e-12)) == mapping.ordered("double", rounded)


@pytest.mark.parametrize(
    ("kind", "value"), [("long", 7.9), ("long", "7.5"), ("short", " 7 "), ("byte", 7), ("long", "7e0")]
)
def test_whole_numbers_lose_their_fraction(kind: str, value: object) -> None:
    assert mapping.ordered(kind, value) == mapping.ordered("long", 7)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("long", 2**63), ("long", "1e400"), ("long", "9" * 5000), ("integer", 2**31), ("short", -(2**15) - 1),
        ("byte", 128), ("long", True), ("long", ""), ("long", "x"), ("long", [1]), ("double", "inf"), ("double", "nan"),
        ("float", 1e39), ("double", 10**309), ("date", True), ("date", "2024-13-01"), ("date", "soon"), ("date", {}),
        ("date", 2**63), ("boolean", 1), ("boolean", "yes"), ("keyword", {"a": 1}),
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_what_does_not_fit_a_type_is_refused(kind: str, value: object) -> None:
    with pytest.raises((ValueError, OverflowError)):
        mapping.WRITERS[kind](value)


def test_keywords_are_written_as_in_json() -> None:
    assert [mapping.keyword(value) for value in ("a", 5, 1.5, True)] == ["a", "5", "1.5", "true"]


@given(DIGITS, DIGITS, DIGITS)
def test_a_pattern_of_a_range_matches_what_lies_in_it(a: str, b: str, digits: str) -> None:
    low, high = sorted((a, b))
    assert bool(re.fullmatch(queries.range_pattern(low, high), digits)) == (low <= digits <= high)


@given(DIGITS, st.integers(-2, 2))
def test_a_pattern_of_a_range_is_exact_at_its_ends(digits: str, step: int) -> None:
    near = f"{min(max(int(digits, 16) + step, 0), 0xFFFF):04x}"
    assert bool(re.fullmatch(queries.range_pattern(digits, "ffff"), near)) == (near >= digits)
    assert bool(re.fullmatch(queries.range_pattern("0000", digits), near)) == (near <= digits)


@given(st.text())
def test_a_literal_matches_itself(text: str) -> None:
    assert re.fullmatch(queries.literal_pattern(text), text)
    assert re.fullmatch(queries.prefix_pattern(text), text + "x\n")


def test_a_wildcard_can_be_escaped() -> None:
    assert re.fullmatch(queries.wildcard_pattern(r"a\*b?c*"), "a*b\ncde")
    assert not re.fullmatch(queries.wildcard_pattern(r"a\*b?c*"), "axbxc")


@given(st.datetimes(timezones=st.sampled_from([timezone.utc, timezone(timedelta(hours=-5, minutes=-30))])))
def test_a_date_is_its_milliseconds_since_1970(moment: datetime) -> None:
    expected = (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)
    assert milliseconds(moment.isoformat(timespec="milliseconds")) == expected
    assert milliseconds(expected) == expected


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024", "2024-01-01T00:00:00.000Z", "2024-01-01T23:59:59.999Z"),
        ("2024-02", "2024-02-01T00:00:00.000Z", "2024-02-01T23:59:59.999Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000Z", "2024-02-29T23:59:59.999Z"),
        ("2024-02-29T12", "2024-02-29T12:00:00.000Z", "2024-02-29T12:59:59.999Z"),
        ("2024-02-29T12:30", "2024-02-29T12:30:00.000Z", "2024-02-29T12:30:59.999Z"),
        ("2024-02-29T12:30:15.5+02:00", "2024-02-29T10:30:15.500Z", "2024-02-29T10:30:15.500Z"),
        ("2024-02-29T12:30:15.123456789", "2024-02-29T12:30:15.123Z", "2024-02-29T12:30:15.123Z"),
    ],
)
def test_parts_of_a_date_that_are_left_out_are_filled_in(text: str, first: str, last: str) -> None:
    assert milliseconds(text) == milliseconds(first)
    assert milliseconds(text, round_up=True) == milliseconds(last)


@pytest.mark.parametrize("text", ["2024-05-01", "2024-05-01T10:00:00Z", "1969-12-31T23:59:59.5+09:00"])
def test_a_string_may_look_like_a_date(text: str) -> None:
    assert looks_like_a_date(text)


@pytest.mark.parametrize("text", ["2024", "20240501", "1714521600000", "2024-5-1", "2024-13-01", "abcd-01-01", "", "a"])
def test_a_number_or_another_text_does_not_look_like_a_date(text: str) -> None:
    assert not looks_like_a_date(text)
