"""Finds near-duplicates among the documents of a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

from pyspark.sql import DataFrame

from es_simhash.documents.documents import Documents
from es_simhash.errors import InputError
from es_simhash.groups.options import OF_INDEX, GroupOptions, check_without
from es_simhash.integrations.spark import condensing
from es_simhash.integrations.spark.condensing import CondensedColumns
from es_simhash.integrations.spark.frames import number_of, without_text
from es_simhash.integrations.spark.job import SparkDuplicates, find
from es_simhash.integrations.spark.texts import Texts, lowest_texts
from es_simhash.scheme.scope import Scope, combined
from es_simhash.scheme.verdict.rarity import Rarity

_OF_ONE_MACHINE = ("strip", "max_bucket", "directory", "threads", "state")


@dataclass(frozen=True)
class SparkDeduplicator:
    """Finds near-duplicates among the documents of a DataFrame with a column ``id`` and optionally ``index``.

    ``documents`` define how texts become fingerprints, and ``options`` what makes a group. The fields of a scope, and
    of an order of canonical documents, are columns, also inside structs. Only pairs in the scope of the index count.
    """

    documents: Documents
    options: GroupOptions = field(default_factory=GroupOptions)

    def __post_init__(self) -> None:
        check_without(self.options, (*OF_INDEX, *_OF_ONE_MACHINE), "documents of a DataFrame")
        self.options.criteria(self.documents.scheme), self._scope

    def learn(self, frame: DataFrame) -> Rarity:
        """Learn how rare features are among the texts in the source fields, as `learn_from` does."""
        return lowest_texts(frame, self.documents).learnt(self.documents.scheme)

    def of_texts(self, frame: DataFrame) -> SparkDuplicates:
        """Find the near-duplicates among the texts in the source fields.

        They are those that `dedup` finds among the same documents, ordered by id. If several have one id, or
        none has a text, a `DocumentError` says so.
        """
        scheme = self.documents.scheme
        criteria = self.options.criteria(scheme)
        kept = CondensedColumns.of_texts(scheme, criteria, self._scope, self.options.canonical)
        texts = None
        if criteria.similarity is not None and criteria.verification:
            texts = Texts(frame, self.documents, cast("Rarity | None", self.options.rarity))
        condensed = condensing.of_texts(frame, self.documents, kept)
        lacking = without_text(frame, self.documents.fields)
        return find(condensed, number_of(frame), kept, criteria, lacking, texts)

    def of_fields(self, frame: DataFrame) -> SparkDuplicates:
        """Find the near-duplicates among documents whose fields are in a column named by the prefix.

        Without texts, fingerprints decide. The groups are those of `Index.group` by estimates.
        """
        if self.options.numbers:
            raise InputError("Without texts, no numbers can be compared. Use of_texts, or no `numbers`.")
        criteria = replace(self.options, estimate=True).criteria(self.documents.scheme)
        kept = CondensedColumns.of_fields(self.documents.scheme, criteria, self._scope, self.options.canonical)
        condensed = condensing.of_fields(frame, self.documents, kept)
        lacking = f"no fingerprint of the scheme in {self.documents.prefix!r}. Give their texts to of_texts."
        return find(condensed, number_of(frame), kept, criteria, lacking)

    @cached_property
    def _scope(self) -> Scope | None:
        return combined(self.documents.policy.scope, self.options.scope)
