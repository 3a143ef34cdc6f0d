"""Frames of real packages are documents, with the ids and the texts that the same rows as objects have.

A frame of whatever columns gives documents, or an error of ours that names what is wrong.
"""

from __future__ import annotations

import datetime
import decimal
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import duckdb
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrow import each_text
from es_simhash.documents.frame import Frame, documents_of
from es_simhash.documents.sources import text_of
from es_simhash.errors import DocumentError, InputError, MissingExtraError
from tests.support.fuzzing import examples
from tests.support.texts import any_text

pa = pytest.importorskip("pyarrow")

ROWS: list[dict[str, Any]] = [
    {"id": 1, "title": "A storm", "body": "It hit the coast.", "tags": ["wind", "sea"], "by": {"name": "Ada"}},
    {"id": 2, "title": None, "body": "Trains stood still.", "tags": [], "by": {"name": None}},
    {"id": 3, "title": "", "body": None, "tags": None, "by": None},
]
TABLE = pa.Table.from_pylist(ROWS)

FRAMES: dict[str, Callable[[Any], Any]] = {
    "pyarrow table": lambda table: table,
    "pyarrow reader": lambda table: table.to_reader(max_chunksize=2),
    "pyarrow batch": lambda table: table.combine_chunks().to_batches()[0],
    "polars": polars.DataFrame,
    "pandas": lambda table: table.to_pandas(types_mapper=pandas.ArrowDtype),
    "duckdb": lambda table: duckdb.connect().from_arrow(table),
}
of_each_package = pytest.mark.parametrize("made", FRAMES.values(), ids=FRAMES)


def pairs(frame: Frame) -> list[tuple[str, str]]:
    return [(id, text) for id, text, _ in frame.pairs_with()]


@of_each_package
def test_a_frame_has_the_ids_and_texts_of_its_rows(made: Callable[[Any], Any]) -> None:
    fields = ["title", "body", "tags", "by.name"]
    expected = [(str(row["id"]), text_of(row, fields)) for row in ROWS]
    assert pairs(Frame(made(TABLE), fields=fields)) == expected
    assert list(Frame(made(TABLE), fields=fields).texts()) == [text for _, text in expected]


@of_each_package
def test_by_default_the_only_column_of_texts_is_the_text(made: Callable[[Any], Any]) -> None:
    expected = [(str(row["id"]), text_of(row, ["body"])) for row in ROWS]
    assert pairs(Frame(made(TABLE.drop_columns(["title"])))) == expected
    with pytest.raises(InputError, match=r"as in fields=\['title', 'body'\]"):
        pairs(Frame(made(TABLE)))


@of_each_package
def test_the_rows_are_documents_without_what_is_missing(made: Callable[[Any], Any]) -> None:
    plain = TABLE.select(["id", "title", "body"])
    assert list(documents_of(made(plain))) == [
        {"_id": "1", "id": 1, "title": "A storm", "body": "It hit the coast."},
        {"_id": "2", "id": 2, "body": "Trains stood still."},
        {"_id": "3", "id": 3, "title": ""},
    ]


@examples(50)
@given(st.lists(st.tuples(st.none() | any_text(), st.none() | any_text(), st.integers()), max_size=12))
def test_columns_are_read_as_rows_are(rows: list[tuple[str | None, str | None, int]]) -> None:
    """Both ways, by columns and row by row, give the text of the object that a row is."""
    objects = [{"title": title, "body": body} for title, body, _ in rows]
    schema = pa.schema({"title": pa.string_view(), "body": pa.large_string()})
    table = pa.Table.from_pylist(objects, schema)
    expected = [(str(place), text_of(row, ["title", "body"])) for place, row in enumerate(objects)]
    assert pairs(Frame(table, fields=["title", "body"])) == expected
    by_rows = [(id, text) for id, text, _ in Frame(table, fields=["title", "body"]).pairs_with(["body"])]
    assert by_rows == expected


TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_texts_are_of_any_type_that_arrow_has_for_them(type: Any) -> None:
    table = pa.table({"id": pa.array(["a", "b", "c"], type), "body": pa.array(["x", None, "中"], type)})
    assert pairs(Frame(table)) == [("a", "x"), ("b", ""), ("c", "中")]


def test_enumerations_of_other_packages_are_texts() -> None:
    frame = polars.DataFrame({"body": ["x", None, "x"]}, schema={"body": polars.Enum(["x", "y"])})
    assert pairs(Frame(frame)) == [("0", "x"), ("1", ""), ("2", "x")]
    assert pairs(Frame(pandas.DataFrame({"body": pandas.Categorical(["x", None])}))) == [("0", "x"), ("1", "")]


def test_numbers_dates_and_flags_count_in_texts_as_in_documents() -> None:
    import datetime

    table = pa.table(
        {"n": [7], "on": [datetime.date(2020, 2, 29)], "is": [True], "at": [datetime.datetime(2020, 1, 1)]}
    )
    assert pairs(Frame(table, fields=["n", "on", "is", "at"])) == [("0", "7\n2020-02-29\ntrue\n2020-01-01T00:00:00")]


def test_a_column_alone_has_numbers_for_ids() -> None:
    for column in (pa.array(["x", None]), pa.chunked_array([["x"], [None]]), polars.Series(["x", None])):
        assert pairs(Frame(column)) == [("0", "x"), ("1", "")]


def test_ids_are_in_the_column_that_is_named_or_usual() -> None:
    table = pa.table({"_id": ["a"], "id": ["b"], "sku": [7], "by": [{"key": "k"}], "body": ["x"]})
    found = [pairs(Frame(table, fields=["body"], id_field=field))[0][0] for field in (None, "id", "sku", "by.key")]
    assert found == ["a", "b", "7", "k"]
    assert pairs(Frame(table.drop_columns(["_id"]), fields=["body"]))[0][0] == "b"
    assert pairs(Frame(table.select(["body"])))[0][0] == "0"
    assert [each["_id"] for each in Frame(table, id_field="sku").documents()] == ["7"]
    assert "_id" not in next(Frame(table.select(["body"])).documents())


@pytest.mark.parametrize("fields", [["body"], ["by.name"]])
def test_a_row_without_an_id_is_named(fields: list[str]) -> None:
    table = pa.table({"id": ["a", None], "body": ["x", "y"], "by": [{"name": "n"}] * 2})
    with pytest.raises(DocumentError, match=r"^Text 1 has no id in the column 'id'.* Name another"):
        pairs(Frame(table, fields=fields))


def test_a_column_that_is_not_there_or_of_no_use_is_named() -> None:
    table = pa.table({"id": [1], "by": [{"name": "n"}], "wait": pa.array([1], pa.duration("s")), "n": [float("nan")]})
    for fields, message in (
        (["bdoy"], "no column 'bdoy', only 'id' \\(int64\\), 'by'"),
        (["by.nmae"], "no column 'by.nmae'"),
        (["id.name"], "no column 'id.name'"),
        (["wait"], "The column 'wait' has the type duration\\[s\\]"),
        (["by"], "Text 0 has a value of type dict in the source field 'by'"),
        (["n"], "Text 0 has the number nan in the column 'n'"),
    ):
        with pytest.raises(InputError, match=message):
            pairs(Frame(table, fields=fields))
    with pytest.raises(InputError, match="no column of texts, only 'id' \\(int64\\)"):
        pairs(Frame(table.select(["id"])))
    with pytest.raises(InputError, match="no column 'sku'"):
        pairs(Frame(table, fields=["by.name"], id_field="sku"))


def test_columns_that_are_not_asked_for_may_have_any_type() -> None:
    table = pa.table({"id": [1], "body": ["x"], "wait": pa.array([1], pa.duration("s"))})
    assert pairs(Frame(table)) == pairs(Frame(table, fields=["body"])) == [("1", "x")]
    with pytest.raises(InputError, match="'wait'"):
        list(Frame(table).documents())


def test_values_that_json_does_not_know_are_left_for_the_writer_to_reject() -> None:
    table = pa.table({"_id": ["a", "b"], "price": [float("nan"), 1.5]})
    first, second = Frame(table).documents()
    assert first["price"] != first["price"]
    assert second == {"_id": "b", "price": 1.5}


def test_a_frame_without_rows_has_no_documents() -> None:
    empty = TABLE.slice(0, 0)
    for frame in (empty, polars.DataFrame(empty), empty.to_pandas(types_mapper=pandas.ArrowDtype), empty.to_reader()):
        assert pairs(Frame(frame)) == []
    assert list(Frame(empty, fields=["by.name"]).texts()) == []
    assert list(Frame(empty).documents()) == []


def test_fields_of_a_scope_come_next_to_the_text() -> None:
    table = pa.table({"id": ["a"], "body": ["x"], "meta": [{"tenant": 7, "more": "y"}]})
    [(id, text, values)] = Frame(table, fields=["body"]).pairs_with(["meta.tenant", "not there"])
    assert (id, text, values["meta"]) == ("a", "x", {"tenant": 7, "more": "y"})


@pytest.mark.parametrize("fields", [["body"], ["by.name"]])
def test_a_stream_is_read_batch_by_batch(fields: list[str]) -> None:
    schema = pa.schema({"body": pa.string(), "by": pa.struct({"name": pa.string()})})
    read: list[int] = []

    def batches() -> Iterator[Any]:
        for number in range(1000):
            read.append(number)
            yield pa.RecordBatch.from_pylist([{"body": f"{number}", "by": {"name": f"{number}"}}] * 3, schema)

    found = Frame(pa.RecordBatchReader.from_batches(schema, batches()), fields=fields).pairs_with()
    assert [next(found)[1] for _ in range(6)] == ["0"] * 3 + ["1"] * 3
    assert len(read) <= 3


def test_large_batches_are_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    from es_simhash._core import arrow

    monkeypatch.setattr(arrow, "BATCH_BYTES", 1000)
    table = pa.table({"body": [f"{number}" * 50 for number in range(200)]}).combine_chunks()
    sizes = [batch.num_rows for batch in arrow.small_batches(table.to_reader())]
    assert sum(sizes) == 200
    assert max(sizes) < 50
    assert list(Frame(table).texts()) == table["body"].to_pylist()


def test_what_another_package_raises_becomes_an_error_of_ours() -> None:
    def batches() -> Iterator[Any]:
        yield pa.RecordBatch.from_pydict({"body": ["x"]})
        raise ValueError("a broken pipe")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"body": pa.string()}), batches())
    with pytest.raises(InputError, match=r"breaks off after row 1 \(.*a broken pipe"):
        pairs(Frame(reader))
    with pytest.raises(InputError, match="column body with type object"):
        pairs(Frame(pandas.DataFrame({"body": ["x", 3]}, dtype=object)))
    with pytest.raises(InputError, match=r"(?i)duplicate column names"):
        pairs(Frame(pandas.DataFrame([["x", "y"]], columns=["a", "a"])))


def test_a_text_that_is_not_unicode_is_refused() -> None:
    table = pa.table({"id": ["a", "b"], "body": pa.array([b"x", b"\xff"]).view(pa.string())})
    with pytest.raises(InputError, match="not valid UTF-8"):
        pairs(Frame(table))
    with pytest.raises(DocumentError, match=r"^Text 1 has a text that is not valid UTF-8"):
        list(Frame(table, fields=["body"]).pairs_with(["id"]))


@pytest.mark.parametrize("given", [[], "text", polars.LazyFrame({"body": ["x"]}), None])
def test_what_is_not_a_frame_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="no __arrow_c_stream__"):
        Frame(given)


def test_other_documents_stay_what_they_are() -> None:
    given: list[Mapping[str, Any]] = [{"_id": "a"}]
    assert documents_of(given) is given


def test_without_pyarrow_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install '[^']+\[parquet\]'"):
        pairs(Frame(TABLE))


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
