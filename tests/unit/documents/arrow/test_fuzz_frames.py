"""A frame of whatever columns gives documents, or an error of ours that names what is wrong."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrow import each_text
from es_simhash.documents.arrow.frame import Frame
from es_simhash.errors import InputError
from tests.support.texts import any_text

pa = pytest.importorskip("pyarrow")

PLAIN: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (pa.null(), st.none()),
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-128, 127)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.decimal128(7, 2), st.decimals(-9999, 9999, places=2)),
    (pa.decimal256(40, 0), st.integers(-(10**30), 10**30).map(decimal.Decimal)),
    (pa.string(), any_text()),
    (pa.large_string(), any_text()),
    (pa.string_view(), any_text()),
    (pa.binary(), st.binary(max_size=9)),
    (pa.large_binary(), st.binary(max_size=9)),
    (pa.binary(3), st.binary(min_size=3, max_size=3)),
    (pa.dictionary(pa.int8(), pa.string()), any_text()),
    (pa.dictionary(pa.int32(), pa.int64()), st.integers(0, 9)),
    (pa.date32(), st.dates()),
    (pa.date64(), st.dates()),
    (pa.time32("ms"), st.just(datetime.time(1, 2, 3, 4000))),
    (pa.time64("us"), st.times()),
    (pa.time64("ns"), st.integers(0, 10**13)),
    (pa.timestamp("s"), st.integers(-(2**63), 2**63 - 1)),
    (pa.timestamp("us", "UTC"), st.integers(-(2**63), 2**63 - 1)),
    (pa.timestamp("ns"), st.integers(-(2**63), 2**63 - 1)),
    (pa.duration("ms"), st.integers(0, 10**9)),
    (pa.month_day_nano_interval(), st.just((1, 2, 3))),
]


def nested(kind: tuple[Any, st.SearchStrategy[Any]]) -> st.SearchStrategy[tuple[Any, st.SearchStrategy[Any]]]:
    type, values = kind
    lists = st.lists(st.none() | values, max_size=3)
    return st.sampled_from(
        [
            (type, values),
            (pa.list_(type), lists),
            (pa.large_list(type), lists),
            (pa.list_(type, 2), st.lists(st.none() | values, min_size=2, max_size=2)),
            (pa.struct({"name": type}), st.fixed_dictionaries({"name": st.none() | values})),
            (pa.map_(pa.string(), type), st.lists(st.tuples(any_text(3), st.none() | values), max_size=2)),
        ]
    )


types = st.sampled_from(PLAIN).flatmap(nested)


@st.composite
def columns(draw: st.DrawFn) -> Any:
    """Return an array of some type."""
    type, values = draw(types)
    return pa.array(draw(st.lists(st.none() | values, min_size=2, max_size=2)), type)


def outcome(read: Callable[[], list[Any]]) -> list[Any] | str:
    """The documents, or the message of an error of ours."""
    try:
        return read()
    except InputError as error:
        return str(error)


@given(st.lists(columns(), min_size=1, max_size=3), st.sampled_from(["id", "_id", "a"]), st.data())
def test_fuzz_frames_are_read_or_refused(arrays: list[Any], name: str, data: st.DataObject) -> None:
    names = [name, "body", "more.name"][: len(arrays)]
    table = pa.Table.from_arrays(arrays, names=names)
    fields = data.draw(st.lists(st.sampled_from([*names, "body.name", "no"]), max_size=2))
    id_field = data.draw(st.none() | st.sampled_from([*names, "id.name"]))
    frame = Frame(table, fields=fields, id_field=id_field)
    found = outcome(lambda: list(frame.pairs_with(data.draw(st.sampled_from([(), ("body",), ("more.name",)])))))
    if isinstance(found, list):
        assert len(found) == 2
        assert all(isinstance(id, str) and id and isinstance(text, str) for id, text, _ in found)


@given(st.lists(columns(), min_size=1, max_size=2))
def test_fuzz_documents_hold_values_of_json_or_are_left_to_be_rejected(arrays: list[Any]) -> None:
    table = pa.Table.from_arrays(arrays, names=["body", "more"][: len(arrays)])
    found = outcome(lambda: list(Frame(table).documents()))
    if isinstance(found, str):
        assert " column '" in found
        return
    for row in found:
        json.dumps(row, default=lambda value: None)
        assert None not in row.values()


@given(columns())
def test_fuzz_a_column_is_texts_or_refused(column: Any) -> None:
    found = outcome(lambda: list(each_text(column)))
    if isinstance(found, str):
        assert "The column 'text' has the type" in found
    else:
        assert all(isinstance(text, str) for text in found)
