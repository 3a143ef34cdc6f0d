"""Documents condensed to rows of keys and sketches, within their scopes, on Spark.

The columns name the document; ``content`` identifies equal texts, and ``simhash`` and ``values`` are
compared, if they count. Empty texts, and documents without a fingerprint of the scheme, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DoubleType,
    LongType,
    StructField,
    StructType,
)

from es_simhash._core import arrays
from es_simhash._core.arrays import Integers, words_per_code
from es_simhash.documents.documents import Documents
from es_simhash.errors import DocumentError, InputError
from es_simhash.groups.canonical import Canonical
from es_simhash.groups.of_index import stored_fingerprints
from es_simhash.groups.of_index.stored_fingerprints import CONTENT_DIGITS
from es_simhash.groups.pairs.candidates import PAIRS_AT_ONCE, POSITION_BITS, POSITION_MASK, links, runs
from es_simhash.groups.pairs.fingerprint_store import (
    Condensed,
    ScopeRows,
    condense,
    content_numbers,
    settings_needed,
    value_type,
)
from es_simhash.groups.pairs.stored_rows import Numbers, Rows
from es_simhash.integrations.spark.frames import (
    TEXT,
    binary,
    place_columns,
    plain_column,
    refused,
    rows_of,
    selected,
    text_column,
    texts_of,
    whole,
)
from es_simhash.scheme import fingerprinting, own_fields
from es_simhash.scheme.fingerprinting import STATUSES
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Settings
from es_simhash.sketches.minhash.common import VALUE_BITS

_CONTENT_WORDS = 2
_EMPTY = STATUSES.index("empty")


@dataclass(frozen=True)
class CondensedColumns:
    """The columns of condensed documents; ``value_bits`` bits of the signature's values are known.

    The first ``size`` values are compared: where texts decide, those that band keys hold, as in a search. With a
    ``scope``, that of each document is there, too, and so is its rank if ``canonical`` reads more than its id.
    """

    settings: Settings
    value_bits: int
    size: int
    scope: Scope | None
    canonical: Canonical
    has_texts: bool

    @classmethod
    def of(
        cls, settings: Settings, criteria: Criteria, scope: Scope | None, canonical: Canonical, has_texts: bool = True
    ) -> CondensedColumns:
        """Return the columns for documents with texts, or with fields only."""
        settings = settings_needed(settings if has_texts else stored_fingerprints.with_key_values(settings), criteria)
        minhash = settings.minhash
        if minhash is None:
            return cls(settings, VALUE_BITS, 0, scope, canonical, has_texts)
        by_keyed = not has_texts or criteria.verification is not None
        bits = min(minhash.layout.value_bits, 8 * value_type(minhash).itemsize)
        return cls(settings, bits, minhash.layout.size if by_keyed else minhash.size, scope, canonical, has_texts)

    @property
    def columns(self) -> list[str]:
        """The columns to compare."""
        names = {"simhash": self.settings.simhash, "values": self.settings.minhash}
        return [name for name, is_kept in names.items() if is_kept]

    def schema(self, frame: DataFrame) -> StructType:
        """Return the schema of the condensed documents of a DataFrame."""
        places = [frame.schema[name] for name in place_columns(frame)]
        own = [StructField(SCOPE, TYPE)] if self.scope else []
        own += [StructField(RANK, DoubleType())] if self.canonical.fields else []
        kept = [StructField(name, BinaryType()) for name in ("content", *self.columns)]
        return StructType([*places, *own, *kept])

    def read(self, frame: DataFrame) -> list[Column]:
        """Return the columns that name documents, and those of their values in the scope and for their rank."""
        values = [values_column(frame, self.scope)] if self.scope else []
        values += [ranked_column(frame, self.canonical)] if self.canonical.fields else []
        return [*map(sf.col, place_columns(frame)), *values]

    def places(self, batch: Any) -> Any:
        """Return a batch of these columns, in which values have become the scope and the rank."""
        names = [name for name in batch.schema.names if name not in {VALUES, RANKED}]
        places = batch.select(names)
        if any(column.null_count for column in places.columns):
            raise DocumentError("A document has no id, or no index. Give it one, or leave it out.")
        if self.scope:
            places = places.append_column(SCOPE, scope_array(self.scope, batch.column(VALUES)))
        if self.canonical.fields:
            places = places.append_column(RANK, ranks(self.canonical, batch.column(RANKED)))
        return places

    def batch(self, places: Any, condensed: Condensed) -> Any:
        """Append the condensed columns to a batch of places."""
        found: dict[str, Any] = {"simhash": condensed.simhashes, "values": condensed.values}
        found["content"] = condensed.contents
        for name in ("content", *self.columns):
            places = places.append_column(name, binary(found[name]))
        return places

    def condensed(self, batch: Any, statuses: npt.NDArray[np.uint8]) -> Condensed:
        """Read the condensed columns of a batch."""
        return Condensed(
            statuses,
            rows_of(batch.column("content"), np.uint64, _CONTENT_WORDS),
            self.simhashes(batch.column("simhash")) if self.settings.simhash else None,
            self.values(batch.column("values")) if self.settings.minhash else None,
        )

    def content_hashes(self, column: Any) -> list[str]:
        """Return the hashes of texts as our fields have them."""
        contents = rows_of(column, np.uint64, _CONTENT_WORDS)
        numbers = content_numbers(contents) if self.has_texts else contents[:, 0]
        found: list[str] = arrays.strings(arrays.code_points(numbers, CONTENT_DIGITS, arrays.BASE64URL)).tolist()
        return found

    def simhashes(self, column: Any) -> Rows:
        """Read the SimHashes of a column, as rows of words."""
        assert self.settings.simhash
        return rows_of(column, np.uint64, words_per_code(self.settings.simhash.bits))

    def values(self, column: Any) -> Rows:
        """Read the values of a column of signatures."""
        assert self.settings.minhash
        return rows_of(column, value_type(self.settings.minhash), self.settings.minhash.size)


def of_texts(frame: DataFrame, documents: Documents, kept: CondensedColumns) -> DataFrame:
    """Condense the texts of a DataFrame."""
    named = frame.select(*kept.read(frame), text_column(frame, documents.fields).alias(TEXT))
    return named.mapInArrow(partial(_of_texts, kept), kept.schema(frame))


def _of_texts(kept: CondensedColumns, batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        texts, places = texts_of(batch.column(TEXT)), kept.places(batch.drop_columns(TEXT))
        made, done = list[Any](), 0
        for condensed in fingerprinting.in_batches(texts, partial(_condense, kept.settings)):
            some = kept.batch(places.slice(done, len(condensed)), condensed)
            made.append(some.filter(pa.array(condensed.statuses != _EMPTY)))
            done += len(condensed)
        if made:  # each batch takes Spark a while
            yield from pa.Table.from_batches(made).combine_chunks().to_batches()


def _condense(settings: Settings, texts: list[str]) -> Condensed:
    try:
        return condense(settings, texts)
    except InputError as error:
        if error.position is None:
            raise
        raise refused(error, texts[error.position]) from None


def of_fields(frame: DataFrame, documents: Documents, kept: CondensedColumns) -> DataFrame:
    """Condense the documents of a DataFrame that has their fields in a struct named by the prefix."""
    names = own_fields.compared_names(documents.scheme)
    fields = sf.struct(*(f"{documents.prefix}.{name}" for name in names)).alias(documents.prefix)
    read = selected(frame, [*kept.read(frame), fields])
    return read.mapInArrow(partial(_of_fields, documents, kept), kept.schema(frame))


def _of_fields(documents: Documents, kept: CondensedColumns, batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        places = kept.places(batch.drop_columns(documents.prefix))
        # Row numbers stand for ids, to select the documents with a fingerprint.
        hits = [
            {"_index": "", "_id": str(row), "_source": {documents.prefix: own}}
            for row, own in enumerate(batch.column(documents.prefix).to_pylist())
        ]
        found = stored_fingerprints.rows(documents, kept.settings, hits)
        rows = pa.array([int(name.removeprefix("/")) for name in found.refs.names], type=pa.int64())
        yield kept.batch(places.take(rows), found.condensed)


# ---- ranks: the lowest of a group stands for it

# Names unlikely for columns of a user: what ranks are made of, and the ranks.
RANKED, RANK = "values to rank by", "rank of the document"


def ranked_column(frame: DataFrame, canonical: Canonical) -> Column:
    """Return the column with what the rule reads of documents, an object."""
    paths = frame.columns if isinstance(canonical.fields, bool) else canonical.fields
    return sf.struct(*(plain_column(frame, path) for path in paths)).alias(RANKED)


def ranks(canonical: Canonical, values: Any) -> Any:
    """Return the ranks of documents as an Arrow array, given the column of what the rule reads."""
    try:
        return pa.array([float(canonical.rank(each)) for each in values.to_pylist()], type=pa.float64())
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Documents cannot be ordered by {canonical.name!r}: {error}. On Spark, let it give a number for each."
        ) from error


# Names unlikely for columns of a user: what documents have, and what is compared of it.
VALUES, SCOPE = "values of the scope", "scope to compare in"
TYPE = StructType(
    [
        StructField("known", BooleanType()),
        StructField("within", BinaryType()),
        StructField("set", LongType()),
        StructField("across", ArrayType(BinaryType())),
        StructField("date", LongType()),
    ]
)
_HASH_WORDS = 2


def values_column(frame: DataFrame, scope: Scope) -> Column:
    """Return the column with the values of the scope, an object; times become milliseconds."""
    return sf.struct(*(plain_column(frame, path) for path in scope.paths)).alias(VALUES)


def scope_array(scope: Scope, values: Any) -> Any:
    """Return the scope of documents as an Arrow array, given the column of their values."""
    rows = ScopeRows.read(scope, values.to_pylist())
    ends = np.concatenate([[0], np.cumsum(rows.counts)]).astype(np.int32)
    columns = [
        pa.array(rows.known),
        binary(rows.within),
        pa.array(rows.sets.astype(np.int64)),
        pa.ListArray.from_arrays(pa.array(ends), binary(rows.values)),
        pa.array(rows.dates),
    ]
    return pa.StructArray.from_arrays(columns, names=TYPE.names)


def scope_rows(column: Any) -> ScopeRows:
    """Read the scope of documents from the column that `scope_array` made."""
    known, within, sets, across, dates = (column.field(name) for name in TYPE.names)
    counts = across.value_lengths().to_numpy(False).astype(np.int64)
    words = (rows_of(each, np.uint64, _HASH_WORDS) for each in (within, across.flatten()))
    return ScopeRows(
        known.to_numpy(False),
        next(words),
        sets.to_numpy(False).astype(np.uint32),
        counts,
        next(words),
        dates.to_numpy(False),
    )


def hashes_in(batch: Any) -> Numbers:
    """Return what is mixed into the keys of documents, so that only those that agree share them."""
    column = batch.column(SCOPE).field("within")
    return rows_of(column, np.uint64, _HASH_WORDS)[:, 0] >> np.uint64(POSITION_BITS)


def are_in_scope(scope: Scope) -> Column:
    """Return the condition that the values of a pair agree and differ where they must."""
    first, second = (f"`{side} {SCOPE}`" for side in ("first", "second"))
    found = sf.lit(True)
    if scope.within:
        found &= sf.col(f"{first}.within") == sf.col(f"{second}.within")
    if scope.across:
        found &= ~sf.arrays_overlap(f"{first}.across", f"{second}.across")
    return found


def linked(keyed: DataFrame, scope: Scope, all: int, few: int) -> DataFrame:
    """Return the pairs that `Linker` makes in a scope of documents with the same ``key``, once for each key.

    What it leaves out comes in rows of its own, whose documents have the number -1. The documents of one key are on one
    machine at a time.
    """
    window = scope.milliseconds if scope.window else None
    placed = keyed.repartition("key").sortWithinPartitions("key", "date", "position")
    return placed.mapInArrow(
        partial(_link, bool(scope.across), window, all, few), "first long, second long, left_out long"
    )


def _link(are_apart: bool, window: int | None, all: int, few: int, batches: Iterator[Any]) -> Iterator[Any]:
    left_out = 0
    for table in whole(batches, "key"):
        keys, documents, sets, dates = (table[name].to_numpy() for name in ("key", "position", "set", "date"))
        found = links(keys, _reach(keys, dates, window), sets if are_apart else None, all, few, None)
        left_out += found.left_out
        for one, other in found.pairs(PAIRS_AT_ONCE):
            first, second = documents[one], documents[other]
            yield pair_rows(np.minimum(first, second), np.maximum(first, second), 0)
    yield pair_rows(np.array([-1]), np.array([-1]), left_out)


def pair_rows(first: Integers, second: Integers, left_out: int) -> Any:
    """Return a batch of pairs, each with the number of comparisons left out."""
    columns = (first, second, np.full_like(first, left_out))
    return pa.RecordBatch.from_arrays([pa.array(each) for each in columns], names=["first", "second", "left_out"])


def _reach(keys: Integers, dates: Integers, window: int | None) -> Integers:
    """Return for each document the place of the first with its key, and in its window."""
    starts = runs(keys)
    if window is None:
        return starts
    ordered, ranks = np.unique(dates, return_inverse=True)
    numbers = starts.astype(np.uint64) << np.uint64(POSITION_BITS)
    lowest = np.searchsorted(ordered, ordered - window)[ranks]
    words = numbers | ranks.astype(np.uint64) & POSITION_MASK
    return np.searchsorted(words, numbers | lowest.astype(np.uint64))
