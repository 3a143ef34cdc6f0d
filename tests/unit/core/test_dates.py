""""""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.dates import milliseconds_in
from es_simhash.scheme.scope import milliseconds_of

MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(timezone.utc))


def written(moment: datetime, form: str) -> str:
    text = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"day": text[:10], "second": f"{text[:19]}Z", "millisecond": text}[form]


@pytest.mark.parametrize("form", ["day", "second", "millisecond"])
@given(found=st.lists(MOMENTS, min_size=1, max_size=5))
def test_dates_of_one_form_are_read_at_once_as_each_is(form: str, found: list[datetime]) -> None:
    texts = [written(moment, form) for moment in found]
    at_once = milliseconds_in(texts)
    assert at_once is not None
    assert at_once.tolist() == list(map(milliseconds_of, texts))


@given(st.lists(st.integers(-(1 << 62), 1 << 62) | st.integers(-(1 << 53), 1 << 53), min_size=1, max_size=4))
def test_numbers_are_read_at_once_as_each_is_or_not_at_all(numbers: list[int]) -> None:
    at_once = milliseconds_in(numbers)
    if at_once is None:
        assert max(map(abs, numbers)) > 1 << 50
    else:
        assert at_once.tolist() == list(map(milliseconds_of, numbers))


ODD = st.text("0123456789-:.TZ ٣x", min_size=10, max_size=24)
CHANGED = st.builds(
    lambda text, place, other: text[:place] + other + text[place + 1 :],
    st.sampled_from(["2026-02-28", "2026-02-28T23:59:59Z", "2026-02-28T23:59:59.999Z"]),
    st.integers(0, 9),
    st.sampled_from("0123456789-:TZz٣"),
)


@given(ODD | CHANGED)
def test_no_other_text_is_read_as_a_date(text: str) -> None:
    at_once = milliseconds_in([text])
    assert at_once is None or at_once.tolist() == [milliseconds_of(text)]


@pytest.mark.parametrize(
    "values",
    [
        *([], [None], [True], [1.5], [1, None], [10**400]),
        *(["2026-01-01", None], ["2026-01-01", "2026-01-01T00:00:00Z"]),
        *(["0000-01-01"], ["2026-02-30"], ["2026-01-01T24:00:00Z"], ["2026-01-01T00:00:60Z"]),
    ],
)
def test_what_is_not_alike_or_no_date_is_left_to_others(values: list[Any]) -> None:
    assert milliseconds_in(values) is None
