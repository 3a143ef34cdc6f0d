"""Finds near-duplicates among the documents of a DataFrame."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property

from pyspark.sql import DataFrame

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import InputError
from es_simhash.groups.canonical import FIRST, Canonical
from es_simhash.integrations.spark import condensing
from es_simhash.integrations.spark.condensing import CondensedColumns
from es_simhash.integrations.spark.frames import number_of, without_text
from es_simhash.integrations.spark.job import SparkDuplicates, find
from es_simhash.integrations.spark.texts import Texts, lowest_texts
from es_simhash.scheme.query import By, Criteria
from es_simhash.scheme.scope import Scope, combined
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verification import Level
from es_simhash.scheme.verdict.verifier import verification_of


@dataclass(frozen=True)
class SparkDeduplicator:
    """Finds near-duplicates among the documents of a DataFrame with a column ``id`` and optionally ``index``.

    ``documents`` define how texts become fingerprints; ``by``, ``distance``, ``similarity`` and ``numbers`` define
    near, as in a search. Texts decide, as the scheme's verification says; with ``estimate``, or without a
    verification, fingerprints do. ``rarity`` is what was learnt by `learn` or in an index, or its JSON form; without
    it, the built-in table decides how rare features are. Only pairs in the ``scope`` count, and in that of the index:
    its fields are columns, also inside structs.

    ``canonical`` chooses the documents that stand for others, by columns (see `Canonical`).
    """

    documents: Documents
    _: KW_ONLY
    by: By | None = None
    distance: int | None = None
    similarity: float | Level | None = None
    numbers: float | None = None
    estimate: bool = False
    rarity: Rarity | Json | None = None
    scope: Scope | None = None
    canonical: Canonical = FIRST

    def __post_init__(self) -> None:
        self._criteria(self.estimate)  # validates the arguments
        self._rarity, self._scope  # noqa: B018 - and these

    def learn(self, frame: DataFrame) -> Rarity:
        """Learn how rare features are among the texts in the source fields, as `Deduplicator.learn` does."""
        return lowest_texts(frame, self.documents).learnt(self.documents.scheme)

    def of_texts(self, frame: DataFrame) -> SparkDuplicates:
        """Find the near-duplicates among the texts in the source fields.

        They are those that `Deduplicator` finds among the same documents, ordered by id. If several have one id, or
        none has a text, a `DocumentError` says so.
        """
        scheme = self.documents.scheme
        criteria = self._criteria(self.estimate)
        kept = CondensedColumns.of_texts(scheme, criteria, self._scope, self.canonical)
        texts = None
        if criteria.similarity is not None and criteria.verification:
            texts = Texts(frame, self.documents, self._rarity)
        condensed = condensing.of_texts(frame, self.documents, kept)
        lacking = without_text(frame, self.documents.fields)
        return find(condensed, number_of(frame), kept, criteria, lacking, texts)

    def of_fields(self, frame: DataFrame) -> SparkDuplicates:
        """Find the near-duplicates among documents whose fields are in a column named by the prefix.

        Without texts, fingerprints decide. The groups are those of `Index.group` by estimates.
        """
        if self.numbers:
            raise InputError("Without texts, no numbers can be compared. Use of_texts, or no `numbers`.")
        criteria = self._criteria(True)
        kept = CondensedColumns.of_fields(self.documents.scheme, criteria, self._scope, self.canonical)
        condensed = condensing.of_fields(frame, self.documents, kept)
        lacking = f"no fingerprint of the scheme in {self.documents.prefix!r}. Give their texts to of_texts."
        return find(condensed, number_of(frame), kept, criteria, lacking)

    def _criteria(self, estimate: bool) -> Criteria:
        scheme, numbers = self.documents.scheme, self.numbers
        verification = verification_of(scheme, estimate=estimate, numbers=numbers)
        return Criteria.of(scheme, self.by, self.distance, self.similarity, verification, numbers)

    @cached_property
    def _rarity(self) -> Rarity | None:
        return Rarity.given(self.rarity)

    @cached_property
    def _scope(self) -> Scope | None:
        return combined(self.documents.policy.scope, self.scope)
