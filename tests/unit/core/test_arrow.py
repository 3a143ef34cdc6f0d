"""Texts from columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas
import polars
import pytest

from es_simhash._core.arrow import each_text
from es_simhash.errors import InputError, TextError

pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    "column",
    [
        polars.Series(["x", None, "中"]),
        polars.DataFrame({"body": ["x", None, "中"]}),
        polars.Series(["x", None, "中"], dtype=polars.Categorical),
        pandas.DataFrame({"body": ["x", None, "中"]}),
        pa.array(["x", None, "中"], pa.large_string()),
        pa.chunked_array([["x"], [None, "中"]], pa.string_view()),
        pa.table({"body": ["x", None, "中"]}),
    ],
    ids=lambda column: type(column).__module__ + type(column).__name__,
)
def test_null_is_an_empty_text(column: Any) -> None:
    assert list(each_text(column)) == ["x", "", "中"]


def test_texts_that_are_not_column_stay_what_they_are() -> None:
    texts = ["x"]
    assert each_text(texts) is texts


def test_texts_are_one_column_of_texts() -> None:
    with pytest.raises(InputError, match=r"has 2: 'id', 'body'\. Select one, or name those"):
        each_text(pa.table({"id": [1], "body": ["x"]}))
    with pytest.raises(InputError, match="The column 'n' has the type int64, which is not text"):
        each_text(pa.table({"n": [1]}))
    with pytest.raises(TextError, match="not valid UTF-8"):
        list(each_text(pa.array([b"\xff"]).view(pa.string())))


def test_a_stream_is_read_as_texts_are_taken() -> None:
    schema, read = pa.schema({"body": pa.string()}), list[int]()

    def batches() -> Iterator[Any]:
        for number in range(100):
            read.append(number)
            yield pa.record_batch({"body": ["x"] * 10}, schema=schema)

    texts = iter(each_text(pa.RecordBatchReader.from_batches(schema, batches())))
    assert [next(texts) for _ in range(15)] == ["x"] * 15
    assert len(read) <= 3
