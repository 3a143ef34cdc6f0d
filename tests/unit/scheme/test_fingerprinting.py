"""Fingerprints as a table of Arrow have what they have one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import polars
import pytest

from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import SimHash

pa = pytest.importorskip("pyarrow")

TEXTS = ["A storm hit the coast last night, and trains stood still.", "", "Two words", "中文的新闻报道"]


@pytest.mark.parametrize(
    "scheme", [Scheme(), Scheme.preset("strict"), Scheme(simhash=None), Scheme(simhash=SimHash(bits=128, blocks=8))]
)
def test_the_table_has_a_row_for_each_fingerprint(scheme: Scheme) -> None:
    expected = []
    for made in scheme.fingerprints(TEXTS):
        row: dict[str, Any] = {"status": made.status}
        if scheme.simhash:
            is_wide = scheme.simhash.bits > 64
            row["simhash"] = made.simhash.to_bytes(16, "big") if is_wide and made.simhash is not None else made.simhash
        if scheme.minhash:
            row["minhash"] = made.signature.tolist() or None
        expected.append(row)
    table = scheme.fingerprint_batches(TEXTS).to_arrow()
    assert table.to_pylist() == expected
    assert polars.DataFrame(scheme.fingerprint_batches(TEXTS)).rows(named=True)[0] == expected[0]
    batches = scheme.fingerprint_batches(polars.Series(TEXTS))
    assert duckdb.from_arrow(batches.to_arrow()).aggregate("count(*)").fetchall() == [(4,)]


def test_batches_are_taken_once() -> None:
    made = Scheme().fingerprint_batches(TEXTS)
    assert len(next(made)) == 4
    assert made.to_arrow().num_rows == 0


def test_a_stream_of_texts_becomes_a_stream_of_fingerprints() -> None:
    """Neither the texts nor the fingerprints are in memory at once."""
    schema, read = pa.schema({"body": pa.string()}), list[int]()

    def batches() -> Iterator[Any]:
        for number in range(200):
            read.append(number)
            yield pa.record_batch({"body": [TEXTS[0]] * 1000}, schema=schema)

    texts = pa.RecordBatchReader.from_batches(schema, batches())
    reader = pa.RecordBatchReader.from_stream(Scheme().fingerprint_batches(texts))
    assert reader.read_next_batch().num_rows
    assert len(read) < 20
    assert sum(batch.num_rows for batch in reader) > 190_000
