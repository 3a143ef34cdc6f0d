"""Compares pairs of texts as `es_simhash.scheme.verdict.verifier` does; a text travels only where one is compared.

Pairs are brought together by their first document: its text comes once, before those of all that are compared with it.
A document is in some dozens of pairs at most, so no place gets too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from es_simhash.documents.documents import Documents
from es_simhash.errors import InputError
from es_simhash.groups.of_texts import LowestTexts
from es_simhash.integrations.spark.compare import near_by_distance, types
from es_simhash.integrations.spark.frames import (
    CHANGED,
    TEXT,
    few,
    observed,
    place_columns,
    text_column,
    texts_of,
)
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verifier import Verifier, table_for


@dataclass(frozen=True)
class Texts:
    """The texts of a DataFrame, which are read again for those documents whose texts are compared.

    Features weigh by ``rarity``, or else as the built-in table says.
    """

    frame: DataFrame
    documents: Documents
    rarity: Rarity | None

    def verifier(self, criteria: Criteria) -> Verifier:
        """Return what compares texts."""
        assert criteria.verification
        scheme, verification = self.documents.scheme, criteria.verification
        return Verifier(scheme, verification, table_for(scheme, verification, self.rarity))

    def compared(
        self, by: Verifier, pairs: DataFrame, count: int, originals: DataFrame, criteria: Criteria
    ) -> DataFrame:
        """Put the similarity of their texts, and whether they share enough numbers, in place of what pairs have."""
        distance = ["distance"] if criteria.distance is not None else []
        least = sf.when(near_by_distance(criteria), 0.0).otherwise(criteria.least).alias("least")
        seconds = pairs.select(sf.col("second").alias("position"), "first", "second", *distance, least)
        firsts = pairs.select(sf.col("first").alias("position"), "first").distinct()
        uses = few(seconds.unionByName(firsts, True), 2 * count)
        named = originals.select("position", *place_columns(self.frame), "content").join(uses, "position")
        together = self.of(few(named, 2 * count))
        ordered = together.repartition("first").sortWithinPartitions("first", sf.asc_nulls_first("second"))
        names = ("first", "second", *distance, "least", TEXT)
        schema = f"first long, second long{types(criteria)}, meets boolean"
        exact = ordered.select(*names).mapInArrow(partial(_compare, by, distance), schema)
        found, seen = observed(exact, pairs=sf.count("*"))
        if seen["pairs"] != count:
            raise InputError(CHANGED)
        return found

    def of(self, wanted: DataFrame) -> DataFrame:
        """Add the texts to rows of documents, several times where rows have one id and one text."""
        places = place_columns(self.frame)
        named = self.frame.select(*places, text_column(self.frame, self.documents.fields).alias(TEXT))
        # As a condition next to the join, the hash is computed only of the texts that are wanted.
        is_same = sf.startswith(sf.unhex(sf.sha2(sf.col(TEXT), 256)), sf.col("content"))
        return named.join(wanted, places).filter(is_same)


def lowest_texts(frame: DataFrame, documents: Documents) -> LowestTexts:
    """Return the texts of a DataFrame with the lowest content hashes: those of each part, and of these the lowest."""
    texts = frame.select(text_column(frame, documents.fields).alias(TEXT))
    lowest = LowestTexts()
    lowest.add([row[TEXT] for row in texts.mapInArrow(_lowest_of_part, f"`{TEXT}` string").collect()])
    return lowest


def _lowest_of_part(batches: Iterator[Any]) -> Iterator[Any]:
    lowest = LowestTexts()
    for batch in batches:
        lowest.add(texts_of(batch.column(TEXT)))
    yield pa.RecordBatch.from_pydict({TEXT: pa.array(lowest.found().values(), pa.string())})


def _compare(by: Verifier, kept: list[str], batches: Iterator[Any]) -> Iterator[Any]:
    """Compare texts with the last one before them that has no ``second`` document.

    Rows that come twice count once, and those without their first text not at all.
    """
    text, head, last = "", -1, -1
    for batch in batches:
        if not len(batch):
            continue
        texts = [text, *texts_of(batch.column(TEXT))]
        firsts, seconds = (
            np.concatenate([[before], batch.column(name).fill_null(-1).to_numpy()])
            for before, name in ((head, "first"), (last, "second"))
        )
        is_second = np.concatenate([[False], seconds[1:] >= 0])
        heads = np.maximum.accumulate(np.where(is_second, 0, np.arange(len(texts))))
        is_new = np.diff(firsts, prepend=-1).astype(bool) | np.diff(seconds, prepend=-1).astype(bool)
        own = np.flatnonzero(is_second & is_new & (firsts == firsts[heads]))
        text, head, last = texts[heads[-1]], int(firsts[heads[-1]]), int(seconds[-1])
        pairs = batch.take(pa.array(own - 1))
        found = by.measures(texts, np.stack([heads[own], own]), pairs.column("least").to_numpy())
        columns = {name: pairs.column(name) for name in ("first", "second", *kept)}
        columns |= {"similarity": pa.array(found.similarities), "meets": pa.array(found.meets)}
        yield pa.RecordBatch.from_pydict(columns)
