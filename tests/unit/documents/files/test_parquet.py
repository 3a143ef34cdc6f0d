from __future__ import annotations

import datetime
import decimal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from es_simhash.documents.files import read_documents
from es_simhash.errors import InputError, MissingExtraError
from tests.support.fuzzing import examples
from tests.support.reading import never, read
from tests.support.texts import any_text

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

rows = st.lists(
    st.fixed_dictionaries(
        {
            "text": any_text(),
            "number": st.integers(-(2**63), 2**63 - 1),
            "share": st.floats(allow_nan=False, allow_infinity=False),
            "flag": st.booleans(),
            "tags": st.lists(any_text(5), max_size=3),
            "inner": st.fixed_dictionaries({"name": any_text(5), "vector": st.lists(st.just(0.5), max_size=2)}),
        }
    ),
    max_size=12,
)
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "number": pa.int64(),
        "share": pa.float64(),
        "flag": pa.bool_(),
        "tags": pa.list_(pa.string()),
        "inner": pa.struct({"name": pa.string(), "vector": pa.list_(pa.float32())}),
    }
)


@settings(examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows, st.integers(1, 5), st.sampled_from(["NONE", "snappy", "zstd"]))
def test_what_is_written_as_parquet_is_read_back(
    tmp_path: Path, written: list[dict[str, Any]], group: int, compression: str
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist(written, SCHEMA), path, row_group_size=group, compression=compression)
    found, rejected = read(path)
    assert [item.document for item in found] == written
    assert [item.line for item in found] == list(range(1, len(written) + 1))
    assert not rejected


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        (pa.timestamp("ns", "UTC"), 1_577_836_800_000_000_000, "2020-01-01T00:00:00+00:00"),
        (pa.timestamp("ns", "UTC"), 1_577_836_800_000_000_001, "2020-01-01T00:00:00.000000001+00:00"),
        (pa.timestamp("ns", "Asia/Tokyo"), 1_577_836_800_000_001_002, "2020-01-01T09:00:00.000001002+09:00"),
        (pa.timestamp("ns"), -1, "1969-12-31T23:59:59.999999999"),
        (pa.timestamp("ns"), -1_000, "1969-12-31T23:59:59.999999"),
        (pa.timestamp("us"), datetime.datetime(2020, 1, 1, 12, 0, 0, 5), "2020-01-01T12:00:00.000005"),
        (pa.list_(pa.timestamp("ms")), [datetime.datetime(2020, 1, 1), None], ["2020-01-01T00:00:00", None]),
        (pa.date32(), datetime.date(2020, 2, 29), "2020-02-29"),
        (pa.time64("us"), datetime.time(12, 30), "12:30:00"),
        (pa.decimal128(5, 2), decimal.Decimal("1.25"), 1.25),
        (pa.decimal128(38, 0), decimal.Decimal(12345678901234567890123), 12345678901234567890123),
        (pa.binary(), "中".encode(), "中"),
        (pa.large_string(), "x", "x"),
        (pa.dictionary(pa.int32(), pa.string()), "x", "x"),
        (pa.map_(pa.string(), pa.date32()), [("k", datetime.date(2020, 1, 1))], {"k": "2020-01-01"}),
        (pa.map_(pa.string(), pa.int8()), [("k", None)], {"k": None}),
        (pa.struct({"a": pa.int8(), "b": pa.date32()}), {"a": 1, "b": None}, {"a": 1}),
        (pa.null(), None, None),
    ],
)
def test_a_value_becomes_one_of_json(tmp_path: Path, type: Any, value: Any, expected: Any) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"value": pa.array([value, None], type)}), path)
    found, rejected = read(path)
    assert [item.document for item in found] == [{"value": expected} if expected is not None else {}, {}]
    assert not rejected


@settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3_000, 3_000) | st.none(), min_size=1, unique=True))
def test_times_that_differ_by_nanoseconds_are_different_texts(tmp_path: Path, times: list[int | None]) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"value": pa.array(times, pa.timestamp("ns"))}), path)
    found, rejected = read(path)
    assert not rejected
    texts = [item.document.get("value") for item in found]
    assert len(set(texts)) == len(times)
    ordered = sorted(time for time in times if time is not None)
    assert [times[texts.index(text)] for text in sorted(text for text in texts if text)] == ordered


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (pa.array([1.0, float("nan"), 2.0]), "nan"),
        (pa.array([[1.0], [float("inf")], []]), "inf"),
        (pa.array([b"a", b"\xff", b"c"]), "binary value that is not valid UTF-8"),
        (pa.array([b"a", b"\xff", b"c"]).view(pa.string()), "text that is not valid UTF-8"),
        (
            pa.array([0, 2**62, 1], pa.timestamp("us")),
            "value in the column 'value' that Python cannot represent",
        ),
    ],
)
def test_a_row_that_json_cannot_hold_is_rejected_and_the_others_are_read(
    tmp_path: Path, array: Any, reason: str
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a", "b", "c"], "value": array}), path)
    found, rejected = read(path)
    assert [(item.id, item.line) for item in found] == [("a", 1), ("c", 3)]
    assert [bad.line for bad in rejected] == [2]
    assert reason in rejected[0].reason


@pytest.mark.parametrize(
    "type", [pa.duration("s"), pa.map_(pa.int32(), pa.string()), pa.list_(pa.timestamp("ns")), pa.time64("ns")]
)
def test_a_file_with_a_column_that_json_cannot_hold_is_rejected(tmp_path: Path, type: Any) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a"], "value": pa.array([None], type)}), path)
    found, rejected = read(path)
    assert not found
    assert "The column 'value' has the type" in rejected[0].reason


def test_columns_of_the_same_name_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    found, rejected = read(path)
    assert not found
    assert "'a'" in rejected[0].reason


def test_an_id_is_named_or_made_of_the_row(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"meta": [{"sku": 1}, {"sku": 2}]}), path)
    assert [item.id for item in read(path)[0]] == [f"{path.as_posix()}:1", f"{path.as_posix()}:2"]
    assert [item.id for item in read(path, id_field="meta.sku")[0]] == ["1", "2"]


def test_a_damaged_row_group_is_rejected_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = [f"text {number}" * 20 for number in range(30)]
    table = pa.table({"text": texts})
    pq.write_table(table, path, row_group_size=10, use_dictionary=False, compression="gzip")
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 60] = b"\xff" * 60
    path.write_bytes(content)
    found, rejected = read(path)
    assert [item.document["text"] for item in found] == texts[:10] + texts[20:]
    assert [item.line for item in found] == [*range(1, 11), *range(21, 31)]
    assert [bad.line for bad in rejected] == [11]
    assert rejected[0].reason.startswith("The rows 11 to 20 are damaged (")


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_what_is_not_a_parquet_file_is_rejected(tmp_path: Path, keep: float) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": list(range(100))}), path)
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content)) if keep < 1 else int(keep)])
    found, rejected = read(path)
    assert not found
    assert [(bad.line, bad.reason[:30]) for bad in rejected] == [(1, "The file is not a Parquet file")]


def test_a_file_whose_columns_have_names_that_are_not_utf_8_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a storm"]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"text", b"te\xfft"))
    found, [rejected] = read(path)
    assert not found
    assert "damaged ('utf-8' codec can't decode byte 0xff" in rejected.reason


def test_a_file_without_rows_has_no_documents(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([], pa.string())}), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet") == ([], [])


def test_progress_follows_the_rows_to_the_end_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": list(range(10_000))}), path, row_group_size=1000)
    reported: list[int] = []
    found, _ = read(path, on_progress=reported.append)
    assert len(found) == 10_000
    assert len(reported) == 10
    assert reported == sorted(reported)
    assert reported[-1] == path.stat().st_size


def test_parquet_that_cannot_be_read_here_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["a.parquet", "a.parquet.gz"]:
        (tmp_path / name).write_bytes(b"PAR1")
    with pytest.raises(InputError, match="compressed as a whole"):
        read_documents([tmp_path / "a.parquet.gz"], on_reject=never)
    with pytest.raises(InputError, match="standard input"):
        read_documents("-", format="parquet", on_reject=never)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"pip install '[^']+\[parquet\]'"):
        read_documents([tmp_path / "a.parquet"], on_reject=never)
