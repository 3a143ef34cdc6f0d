"""Finds near-duplicates among the documents of a DataFrame."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property

from pyspark.sql import DataFrame

from es_simhash.documents.documents import Documents
from es_simhash.scheme.query import By, Criteria
from es_simhash.spark import condensing
from es_simhash.spark.condensing import CondensedColumns
from es_simhash.spark.job import SparkDuplicates, find


@dataclass(frozen=True)
class SparkDeduplicator:
    """Finds near-duplicates among the documents of a DataFrame with a column ``id`` and optionally ``index``.

    ``documents`` define how texts become fingerprints; ``by``, ``distance`` and ``similarity`` define near, as in a
    search. Distances are exact, similarities are estimated from signatures.
    """

    documents: Documents
    _: KW_ONLY
    by: By | None = None
    distance: int | None = None
    similarity: float | None = None

    def __post_init__(self) -> None:
        self.criteria  # noqa: B018 - validates the arguments

    @cached_property
    def criteria(self) -> Criteria:
        """The criteria of near pairs."""
        return Criteria.of(self.documents.scheme, self.by, self.distance, self.similarity)

    def of_texts(self, frame: DataFrame) -> SparkDuplicates:
        """Find the near-duplicates among the texts in the source fields.

        They are those that `Deduplicator` finds with ``verify="estimate"`` among the same documents, ordered by id.
        """
        kept = CondensedColumns.of_texts(self.documents.scheme, self.criteria)
        return find(condensing.of_texts(frame, self.documents, kept), frame.count(), kept, self.criteria)

    def of_fields(self, frame: DataFrame) -> SparkDuplicates:
        """Find the near-duplicates among documents whose fields are in a column named by the prefix.

        The groups are those of `Index.group` with the linkage "single".
        """
        kept = CondensedColumns.of_fields(self.documents.scheme, self.criteria)
        return find(condensing.of_fields(frame, self.documents, kept), frame.count(), kept, self.criteria)
