"""The way in: which near-duplicates to find among the documents of a DataFrame, as one value."""

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
    """Finds the near-duplicates among documents that lie in a DataFrame, with an ``id`` and maybe an ``index``.

    ``documents`` say how texts become fingerprints; ``by``, ``distance`` and ``similarity`` what counts as near, as in
    a search. Distances are exact, and similarities estimated from signatures.
    """

    documents: Documents
    _: KW_ONLY
    by: By | None = None
    distance: int | None = None
    similarity: float | None = None

    def __post_init__(self) -> None:
        self.criteria  # noqa: B018 - checks what is asked for

    @cached_property
    def criteria(self) -> Criteria:
        """What counts as near."""
        return Criteria.of(self.documents.scheme, self.by, self.distance, self.similarity)

    def of_texts(self, frame: DataFrame) -> SparkDuplicates:
        """The near-duplicates among the texts in the source fields.

        They are those that `Deduplicator` finds, with ``verify="estimate"``, among the
        same documents in the order of their ids.
        """
        kept = CondensedColumns.of_texts(self.documents.scheme, self.criteria)
        return find(condensing.of_texts(frame, self.documents, kept), frame.count(), kept, self.criteria)

    def of_fields(self, frame: DataFrame) -> SparkDuplicates:
        """The near-duplicates among documents whose fields lie in a column named by the prefix.

        The groups are those of `es_simhash.index.Index.group` with the linkage "single".
        """
        kept = CondensedColumns.of_fields(self.documents.scheme, self.criteria)
        return find(condensing.of_fields(frame, self.documents, kept), frame.count(), kept, self.criteria)
