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
from es_simhash.groups.pairs.text_similarity import verifier
from es_simhash.integrations.spark.compare import near_by_distance, types
from es_simhash.integrations.spark.frames import CHANGED, TEXT, place_columns, text_column, texts_of
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.rarity import SAMPLE, Rarity
from es_simhash.scheme.verdict.verifier import Verifier

_HEX_DIGITS = 32  # those of a content hash (see `groups.pairs.condense.Condensed`)


@dataclass(frozen=True)
class Texts:
    """The texts of a DataFrame, which are read again for those documents whose texts are compared.

    Features weigh by ``rarity``; without it, it is learnt from the documents that any machine learns it from. Features
    that more than the share ``common`` of these have do not count.
    """

    frame: DataFrame
    documents: Documents
    rarity: Rarity | None
    common: float | None

    def verifier(self, originals: DataFrame, criteria: Criteria) -> Verifier:
        """Return what compares texts."""
        scheme = self.documents.scheme
        assert criteria.verification
        return verifier(scheme, criteria.verification, lambda: self._sample(originals), self.common, self.rarity)

    def compared(self, by: Verifier, pairs: DataFrame, originals: DataFrame, criteria: Criteria) -> DataFrame:
        """Replace the estimated ``similarity`` of pairs by that of their texts, and add how far these agree."""
        distance = ["distance"] if criteria.distance is not None else []
        least = sf.when(near_by_distance(criteria), 0.0).otherwise(criteria.least).alias("least")
        firsts = pairs.select("first").distinct()
        wanted = firsts.union(pairs.select("second")).distinct().toDF("position")
        texts = self.of(originals.join(wanted, "position", "left_semi"))
        seconds = pairs.select("first", "second", *distance, least).join(texts.toDF("second", TEXT), "second", "left")
        together = firsts.join(texts.toDF("first", TEXT), "first", "left").unionByName(seconds, True)
        ordered = together.repartition("first").sortWithinPartitions("first", sf.asc_nulls_first("second"))
        schema = f"first long, second long{types(criteria)}, agreement tinyint"
        return ordered.mapInArrow(partial(_compare, by, distance), schema)

    def of(self, originals: DataFrame) -> DataFrame:
        """Return the positions and texts of documents; rows of one id and one text count once."""
        places = place_columns(self.frame)
        named = self.frame.select(*places, text_column(self.frame, self.documents.fields).alias(TEXT))
        content = sf.unhex(sf.substring(sf.sha2(sf.col(TEXT), 256), 1, _HEX_DIGITS))
        found = named.withColumn("content", content).join(originals, [*places, "content"])
        return found.select("position", TEXT).dropDuplicates(["position"])

    def _sample(self, originals: DataFrame) -> list[str]:
        """Return the texts with the lowest content hashes (see `es_simhash.scheme.verdict.rarity`)."""
        lowest = originals.orderBy("content").limit(SAMPLE)
        return [row[TEXT] for row in self.of(sf.broadcast(lowest)).collect()]


def _compare(by: Verifier, kept: list[str], batches: Iterator[Any]) -> Iterator[Any]:
    """Compare texts with the last one before them that has no ``second`` document."""
    last = ""
    for batch in batches:
        if batch.column(TEXT).null_count:
            raise InputError(CHANGED)
        texts = [last, *texts_of(batch.column(TEXT))]
        is_second = np.concatenate([[False], batch.column("second").is_valid().to_numpy(False)])
        own = np.flatnonzero(is_second)
        firsts = np.maximum.accumulate(np.where(is_second, 0, np.arange(len(texts))))
        last = texts[firsts[-1]]
        pairs = batch.take(pa.array(own - 1))
        least = pairs.column("least").to_numpy()
        found = by.measures(texts, np.stack([firsts[own], own]), least)
        columns = {name: pairs.column(name) for name in ("first", "second", *kept)}
        columns |= {"similarity": pa.array(found.similarities), "agreement": pa.array(found.agreements.astype(np.int8))}
        yield pa.RecordBatch.from_pydict(columns)
