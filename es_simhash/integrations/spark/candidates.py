"""Candidates: pairs of documents that share a key, linked as `es_simhash.groups.pairs.candidates.Linker` links them.

The keys of each table are divided into pieces by their upper bits, and each piece is sorted in one process. They pass
through Spark as words in bytes, thousands in a row, since rows of their own would take many times as long. A key that
a million documents share makes two million pairs, so no piece gets too many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from es_simhash._core.arrays import Codes
from es_simhash.groups.pairs import document_links, fingerprint_store
from es_simhash.groups.pairs.candidates import (
    POSITION_BITS,
    POSITION_MASK,
    Linker,
    entries,
    pair_codes,
    positions,
)
from es_simhash.groups.pairs.stored_rows import Rows
from es_simhash.integrations.spark.condensing import CondensedColumns
from es_simhash.integrations.spark.frames import PAIRS, SCHEMA, packed, packed_counts, rows_of, whole
from es_simhash.integrations.spark.scoping import SCOPE, hashes_in, linked
from es_simhash.scheme.query import Criteria

_TABLE_BITS = 32
# A piece has about 2 ** 22 keys: 32 MB.
_PIECE_BITS = 22

# The keys of a batch, as rows of numbers, for each table.
RowsOfTables: TypeAlias = Callable[[Any], Iterator[Rows]]


def candidates(documents: DataFrame, count: int, kept: CondensedColumns, criteria: Criteria, total: int) -> DataFrame:
    """Return the pairs of these, about ``count``, documents in `blocks`, those of the second documents.

    A pair comes once for each key that is shared. Left-out pairs are counted.
    """
    minhash, distance = kept.settings.minhash, criteria.distance
    places = fingerprint_store.value_tables(minhash, criteria) if minhash and criteria.similarity is not None else []
    tables = partial(_rows_of_tables, kept, places, _masks(kept, distance, total))
    if kept.scope and kept.scope.is_by_pairs:
        return _linked_in_scope(documents, kept, tables).mapInArrow(_packed, SCHEMA)
    own = [SCOPE] if kept.scope else []
    words = documents.select("position", *kept.columns, *own).mapInArrow(
        partial(_words, bool(kept.scope), tables, _pieces(count)), "piece long, words binary"
    )
    together = words.repartition("piece").sortWithinPartitions("piece")
    return together.mapInArrow(_linked, SCHEMA)


def equal_texts(documents: DataFrame, kept: CondensedColumns) -> DataFrame:
    """Return the pairs of documents that may have equal texts, where these are linked in a scope of pairs."""
    return _linked_in_scope(documents, kept, _rows_of_contents).filter("first >= 0").drop("left_out")


def _linked_in_scope(documents: DataFrame, kept: CondensedColumns, tables: RowsOfTables) -> DataFrame:
    assert kept.scope
    columns = documents.select("position", "content", *kept.columns, SCOPE)
    keyed = columns.mapInArrow(partial(_keys, tables), "key long, position long, set long, date long")
    return linked(keyed, kept.scope, document_links.ALL, document_links.FEW)


def _masks(kept: CondensedColumns, distance: int | None, documents: int) -> list[Codes]:
    """Return the bits of a SimHash that form the key of each table."""
    if distance is None or kept.settings.simhash is None:
        return []
    return fingerprint_store.prefix_tables(kept.settings.simhash.bits, distance, documents).masks


def _keys(tables: RowsOfTables, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield a row for each key of each document: the table number in the upper bits, the hash in the lower."""
    for batch in batches:
        columns = {"position": batch.column("position")}
        columns |= {name: batch.column(SCOPE).field(name) for name in ("set", "date")}
        for table, rows in enumerate(tables(batch)):
            hashes = entries(rows, 0) >> np.uint64(POSITION_BITS)
            hashes ^= hashes_in(batch)
            keys = hashes.astype(np.int64) | table << _TABLE_BITS
            yield pa.RecordBatch.from_pydict({"key": pa.array(keys), **columns})


def _pieces(documents: int) -> int:
    """Return how many pieces the keys of a table are divided into, a power of two."""
    return 1 << max(0, documents - 1).bit_length() - _PIECE_BITS if documents > 1 << _PIECE_BITS else 1


def _words(has_scope: bool, tables: RowsOfTables, pieces: int, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the entries of a batch's documents, thousands in a row: those of a table whose keys are in one piece."""
    bounds = np.arange(pieces, dtype=np.uint64) << np.uint64(64 - pieces.bit_length() + 1) if pieces > 1 else None
    for batch in batches:
        positions = batch.column("position").to_numpy().astype(np.uint64)
        mixed = hashes_in(batch) << np.uint64(POSITION_BITS) if has_scope else np.uint64(0)
        numbers, parts = list[int](), list[bytes]()
        for table, rows in enumerate(tables(batch)):
            words = (entries(rows, 0) & ~POSITION_MASK ^ mixed) | positions
            starts = [0]
            if bounds is not None:
                words.sort()
                starts = np.searchsorted(words, bounds).tolist()
            for piece, (start, stop) in enumerate(pairwise([*starts, len(words)])):
                if stop > start:
                    numbers.append(table * pieces + piece)
                    parts.append(words[start:stop].tobytes())
        yield pa.RecordBatch.from_pydict(
            {"piece": pa.array(numbers, pa.int64()), "words": pa.array(parts, pa.binary())}
        )


def _rows_of_contents(batch: Any) -> Iterator[Rows]:
    yield rows_of(batch.column("content"), np.uint64, 2)[:, :1]


def _rows_of_tables(
    kept: CondensedColumns, places: list[Sequence[int]], masks: list[Codes], batch: Any
) -> Iterator[Rows]:
    if places:
        values = kept.values(batch.column("values"))
        for some in places:
            yield values[:, list(some)]
    if masks:
        simhashes = kept.simhashes(batch.column("simhash"))
        for mask in masks:
            yield simhashes & mask


def _linked(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the pairs of documents with the same key, once for each shared key, as one machine makes them."""
    linker = Linker(document_links.ALL, document_links.FEW)
    for table in whole(batches, "piece"):
        numbers, parts = table["piece"].to_numpy(), table["words"].to_pylist()
        for start, stop in pairwise([*np.flatnonzero(np.diff(numbers, prepend=-1)).tolist(), len(parts)]):
            words = np.sort(np.frombuffer(b"".join(parts[start:stop]), dtype=np.uint64))
            for codes in linker.pairs([words]):
                yield packed(PAIRS, positions(codes)[1], codes)
    yield packed_counts(linker.left_out)


def _packed(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield pairs that are linked in a scope in blocks."""
    for batch in batches:
        first, second, left_out = (column.to_numpy() for column in batch.columns)
        are_pairs = first >= 0
        yield packed(PAIRS, second[are_pairs], pair_codes(first[are_pairs], second[are_pairs]))
        yield packed_counts(int(left_out.sum()))
