"""A text that is searched for, and what is in scope with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from es_simhash._core.json_codec import Json, json_length
from es_simhash.plans.find_options import QueryDocument
from es_simhash.plans.search_terms import SearchTerms
from es_simhash.scheme.scope import ScopeValues


@dataclass(frozen=True)
class ScopedText:
    """The text of a document that is searched for."""

    terms: SearchTerms
    wanted: QueryDocument

    @cached_property
    def own_length(self) -> int:
        """The bytes of the text."""
        return json_length(self.wanted.text)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The fields of the scope in which the document has no value."""
        return self.terms.scope.missing(self.wanted.document) if self.terms.scope else ()

    @cached_property
    def _values(self) -> ScopeValues | None:
        """The values of the document in the fields of the scope."""
        return self.terms.values_of(self.wanted.document)

    @cached_property
    def scope_filters(self) -> list[Json]:
        """Queries that all documents in scope match."""
        filters = self.terms.scope_filters
        return [] if filters is None or self._values is None else filters.of(self._values)

    def in_scope(self, hits: Sequence[Json]) -> tuple[list[Json], int]:
        """Return the hits in scope, without the document itself, and how many were left out for want of a value."""
        others = [hit for hit in hits if not self.wanted.is_self(hit)]
        places, unscoped = self.terms.in_scope(self._values, others)
        return [others[place] for place in places], unscoped
