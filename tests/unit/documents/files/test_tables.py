""""""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from es_simhash._core.rows import harmless, write_csv
from es_simhash.documents.files import read_documents
from es_simhash.errors import InputError, MissingExtraError
from tests.support.fuzzing import examples
from tests.support.reading import COMPRESS, never, read, read_bytes
from tests.support.texts import any_text

# A carriage return outside quotes ends no row here, and csv writes it without quotes.
cells = any_text(12).map(lambda text: text.replace("\0", "").replace("\r", ""))
names = cells.filter(lambda name: name not in {"", "_id", "_source", "id"} and not set(name) & set(";|\t,\ufeff"))


@settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.sampled_from(["csv", "tsv"]), st.sampled_from(sorted(COMPRESS)), st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_as_a_table_is_read_back(
    tmp_path: Path, data: st.DataObject, format: str, suffix: str, end: str
) -> None:
    header = data.draw(st.lists(names, min_size=1, max_size=4, unique=True))
    rows = data.draw(st.lists(st.lists(cells, min_size=len(header), max_size=len(header)), max_size=4))
    rows = [row for row in rows if any(row)]
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter="," if format == "csv" else "\t", lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([header, *rows])
    read, rejected = read_bytes(tmp_path, f"a.{format}{suffix}", COMPRESS[suffix](written.getvalue().encode()))
    assert not rejected
    assert [found.document for found in read] == [
        {name: cell for name, cell in zip(header, row, strict=True) if cell} for row in rows
    ]


@pytest.mark.parametrize(
    "cell", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1", "''@a", "-id", "--1"]
)
def test_what_a_spreadsheet_would_calculate_is_written_as_text(cell: str) -> None:
    assert harmless(cell) == f"'{cell}"


@pytest.mark.parametrize(
    "cell", ["", "-", "=", "a=b", "'a", "''", "-1", "+4.5", "-.5e-3", "1e9", "_x", " -1", "\u200b1", "a\u200b=1"]
)
def test_numbers_and_all_other_cells_are_written_as_they_are(cell: str) -> None:
    assert harmless(cell) == cell


@pytest.mark.parametrize("sign", "=+-@＝＋－＠﹢﹣﹦﹫−")
@pytest.mark.parametrize(
    "unseen",
    [
        "\u200b",
        "\ufeff",
        "\u2060",
        "\u00ad",
        "\u200e",
        "\u202e",
        " ",
        "\u00a0",
        "\u3000",
        "\x00",
        "\ufe0f",
        "\U000e0001",
    ],
)
def test_a_formula_after_what_nothing_shows_is_one(unseen: str, sign: str) -> None:
    for cell in (f"{unseen}{sign}HYPERLINK(1)", f"{unseen}{unseen} {sign}1+1", f"'{unseen}{sign}x"):
        assert harmless(cell) == f"'{cell}"


@given(st.text(st.characters(categories=["Cf", "Cc", "Zs", "Zl", "Zp"]), max_size=5))
def test_no_character_of_a_category_that_shows_nothing_hides_a_formula(unseen: str) -> None:
    assert harmless(f"{unseen}=1+1") == f"'{unseen}=1+1"


@given(any_text(6) | st.text("'=+-@1\t\r\n", max_size=6))
def test_a_cell_is_what_it_was_without_the_apostrophe_of_a_formula(cell: str) -> None:
    written = harmless(cell)
    assert (written[1:] if harmless(written) != written else written) == cell


@given(st.lists(st.lists(any_text(6) | st.text('",\r\n=', max_size=4), min_size=2, max_size=2), max_size=4))
def test_rows_of_any_text_are_read_as_they_were_written(rows: list[list[str]]) -> None:
    written = io.StringIO(newline="")
    write_csv(rows[0] if rows else [], rows[1:], written)
    read = list(csv.reader(io.StringIO(written.getvalue(), newline=""), strict=True))
    assert read == ([[harmless(cell) for cell in row] for row in rows] or [[]])


def test_values_that_are_not_text_are_written_as_such() -> None:
    written = io.StringIO()
    write_csv([], [(None, 1, -0.5, True)], written)
    assert written.getvalue() == "\n,1,-0.5,1\n"


def test_each_row_has_the_line_that_it_begins_on(tmp_path: Path) -> None:
    read, rejected = read_bytes(tmp_path, "a.csv", b'\xef\xbb\xbfid,text\r\n1,"a\r\nb\r\n"\r\n\r\n2,c')
    assert [(found.id, found.document["text"], found.line) for found in read] == [("1", "a\r\nb\r\n", 2), ("2", "c", 6)]
    assert not rejected


def test_an_empty_cell_is_a_missing_value(tmp_path: Path) -> None:
    read, _ = read_bytes(tmp_path, "a.csv", b'a,b\n,""\nx,\n')
    assert [found.document for found in read] == [{}, {"a": "x"}]


def test_a_cell_may_be_longer_than_csv_allows_at_first(tmp_path: Path) -> None:
    long = "x" * (csv.field_size_limit() + 1 if csv.field_size_limit() < 1 << 20 else 200_000)
    read, _ = read_bytes(tmp_path, "a.csv", f"id,text\n1,{long}\n".encode())
    assert read[0].document["text"] == long


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"2", "The row has 1 cells, but the header 2."),
        (b"2,b,c", "The row has 3 cells"),
        (b"2,\xff", "not valid utf-8"),
        (b"2,a\0b", "NUL"),
        (b"2," + b"x" * 2000, "more than 1,000 bytes"),
    ],
)
def test_a_row_that_cannot_be_read_is_rejected_and_the_others_are_read(tmp_path: Path, row: bytes, reason: str) -> None:
    read, rejected = read_bytes(tmp_path, "a.csv", b"id,b\n1,a\n" + row + b"\n3,c\n", max_line=1000)
    assert [(found.id, found.line) for found in read] == [("1", 2), ("3", 4)]
    assert [bad.line for bad in rejected] == [3]
    assert reason in rejected[0].reason
    assert rejected[0].excerpt.startswith("2")


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (b'2,"a" b\n3,c\n', "',' expected after '\"'"),
        (b'2,"say \\"hi\\" now"\n3,c\n', "',' expected after '\"'"),
        (b"2,a\rb\n3,c\n", "new-line character"),
        (b'2,"open\n3,c\n', "a quote is still open at the end of the file"),
        (b'2,"open\n' + b"3,c\n" * 1000, "a quote is still open after 1,000 bytes"),
        (b'2,"open\n3,c\n4,"open too"\n', "',' expected after '\"'"),
        (b'2,"a\n' + b"x" * 2000 + b'\nb"\n', "a line inside its quotes is too long"),
    ],
)
def test_a_table_whose_quotes_are_broken_is_an_error_that_names_the_row(
    tmp_path: Path, rows: bytes, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_bytes(tmp_path, "a.csv", b"id,b\n1,a\n" + rows, max_line=1000)
    said = str(caught.value)
    assert said.startswith(f"'{tmp_path}/a.csv' is broken at line 3. The row that begins there is broken (")
    assert problem in said
    assert said.endswith("). Put a cell with quotes or line ends in quotes, and double the quotes in it.")


def test_an_invalid_line_inside_quotes_costs_its_row(tmp_path: Path) -> None:
    read, rejected = read_bytes(tmp_path, "a.csv", b'id,b\n2,"a\n\xff\nb"\n3,c\n')
    assert [found.id for found in read] == ["3"]
    assert [bad.line for bad in rejected] == [2]


class TestHeader:
    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    def test_cells_are_separated_by_what_the_header_has_most_of(self, tmp_path: Path, separator: str) -> None:
        rows = separator.join(["id", '"a,b;c|d"', "text"]) + "\n" + separator.join(["1", "x", '"one, two"']) + "\n"
        [document], rejected = read_bytes(tmp_path, "a.csv", rows.encode())
        assert document.document == {"id": "1", "a,b;c|d": "x", "text": "one, two"}
        assert not rejected

    def test_a_first_column_without_a_name_is_read_as_pandas_writes_it(self, tmp_path: Path) -> None:
        [document], _ = read_bytes(tmp_path, "a.csv", b",text\n0,one\n")
        assert document.document == {"column 1": "0", "text": "one"}

    def test_a_table_of_tabs_is_not_read_by_other_separators(self, tmp_path: Path) -> None:
        read, [rejected] = read_bytes(tmp_path, "a.tsv", b"a;b;c\n1;2;3\n")
        assert not read
        assert "separated by ';'" in rejected.reason

    @pytest.mark.parametrize(
        ("header", "reason"),
        [
            (b"a,b,a", "Several columns have the name 'a'."),
            (b"a,,b", "Column 2 has no name."),
            (b"a,\xff", "The header cannot be read"),
            (b"x" * 2000, "The header cannot be read"),
            (b"\n", "The header cannot be read"),
        ],
    )
    def test_a_file_whose_header_cannot_be_used_is_not_read(self, tmp_path: Path, header: bytes, reason: str) -> None:
        read, rejected = read_bytes(tmp_path, "a.csv", header + b"\n1,2\n3,4\n" * (header != b"\n"), max_line=1000)
        assert not read
        assert {bad.line for bad in rejected} == {1}
        assert reason in rejected[-1].reason
        assert rejected[-1].reason.endswith("the file is not read.")

    def test_a_table_without_rows_has_no_documents(self, tmp_path: Path) -> None:
        assert read_bytes(tmp_path, "a.csv", b"a,b\n") == ([], [])


def test_a_table_is_read_in_the_encoding_that_is_named(tmp_path: Path) -> None:
    for encoding in ["utf-16", "gb18030", "shift_jis"]:
        read, rejected = read_bytes(tmp_path, "a.tsv", "id\t文\n1\t表\n".encode(encoding), encoding=encoding)
        assert [found.document for found in read] == [{"id": "1", "文": "表"}]
        assert not rejected


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
