"""A server lets through every way in which JSON may write a tenant's number, and few other tenants."""

from __future__ import annotations

import math
import re
from decimal import Context, Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from es_simhash import Scope
from es_simhash._core.json_codec import Json
from es_simhash.plans.scope_filters import ScopeFilters
from es_simhash.scheme.scope import number_in

# Servers refuse longer ones, by default.
LONGEST_PATTERN = 1000
SCOPE = Scope(("f",))
MAPPING: Json = {"properties": {"f": {"type": "keyword"}}}
_EXACT = Context(prec=1100)

values = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6) | st.integers()


@st.composite
def written(draw: st.DrawFn) -> str:
    """Write a number, or one so near that it is read as the same, with its point anywhere."""
    value = draw(values)
    exact = Decimal(value)
    if draw(st.booleans()):
        exact = Decimal(repr(value))
    if isinstance(value, float) and draw(st.booleans()):
        # Nearly half way to its neighbour.
        other = math.nextafter(value, draw(st.sampled_from([math.inf, -math.inf, 0.0])))
        if math.isfinite(other):
            share = draw(st.sampled_from([Decimal("0.499999999"), Decimal("0.5"), Decimal("0.25"), Decimal("0.6")]))
            exact = _EXACT.add(exact, _EXACT.multiply(share, _EXACT.subtract(Decimal(other), exact)))
    sign, numbers, exponent = exact.as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, numbers)).lstrip("0") or "0"
    digits += "0" * draw(st.integers(0, 3))
    cut = draw(st.integers(0, len(digits)))
    zeros = "0" * draw(st.integers(0, 3)) if digits != "0" else ""
    text = f"0.{zeros}{digits}" if cut == 0 else digits[:cut] + (f".{digits[cut:]}" if cut < len(digits) else "")
    shift = exponent + len(digits) - cut + (len(zeros) if cut == 0 else 0)
    # The zeros that were added count for nothing.
    shift -= len(digits) - len("".join(map(str, numbers)).lstrip("0") or "0")
    if shift or draw(st.booleans()):
        text += draw(st.sampled_from("eE")) + ("+" if shift >= 0 and draw(st.booleans()) else "") + str(shift)
    return "-" * sign + text


def clauses(text: str) -> tuple[list[str], str]:
    values = SCOPE.values_of({"f": text})
    assert values
    [query] = ScopeFilters({"i": MAPPING}, SCOPE).of(values)
    terms, pattern = query["bool"]["should"]
    return terms["terms"]["f"], pattern["regexp"]["f"]


def lets_through(number: str, other: str) -> bool:
    terms, pattern = clauses(number)
    assert len(pattern) <= LONGEST_PATTERN
    return other in terms or re.fullmatch(pattern, other) is not None


@given(text=written() | st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True))
@example("6.99999999999999999999")
@example("0.99999999999999999999e1")
@example("99999999999999999.9e-16")
@example("1e-400")
@example("1e23")
@example("4.9e-324")
@example("1.7976931348623157e308")
@example("-0.0")
@example("-0")
def test_every_way_to_write_a_number_is_let_through(text: str) -> None:
    text = text.replace("\n", "")
    number = number_in(text)
    if number is not None and number_in(number) == number:
        assert lets_through(number, text)


@given(number=st.integers(-(10**9), 10**9), other=st.integers(-(10**9), 10**9))
def test_other_whole_numbers_are_left_out(number: int, other: int) -> None:
    assert lets_through(str(number), str(other)) == (number == other)


@pytest.mark.parametrize(
    "other", ["8.0", "1010007.0", "1.010007e6", "-1000007.0", "110001.0", "6.5", "998.99", "0.5", "x"]
)
def test_tenants_with_fractions_are_left_out_as_well(other: str) -> None:
    assert lets_through("1000007", "1000007.0")
    assert lets_through("1000007", "1.000007e6")
    assert not lets_through("1000007", other)


def test_a_context_of_decimals_of_the_callers_changes_nothing() -> None:
    import decimal

    def there() -> Any:
        return clauses("1000007")

    expected = there()
    with decimal.localcontext() as context:
        context.prec = 2
        context.traps[decimal.Inexact] = True
        assert there() == expected
