"""What searches of one index go by, as one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import InputError
from es_simhash.plans.find_options import FindOptions
from es_simhash.plans.open_index import IndexRarity
from es_simhash.plans.scope_filters import ScopeFilters
from es_simhash.plans.search_experience import SearchExperience
from es_simhash.scheme.query import Criteria, shared_bands
from es_simhash.scheme.scope import Scope, ScopeValues, combined
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier


@dataclass(frozen=True)
class SearchTerms:
    """An ``index`` and its documents, how near-duplicates are found, and what is known from earlier searches.

    ``scope_filters`` are those of the scope, as far as the server can filter by it.
    """

    index: str
    documents: Documents
    options: FindOptions
    rarity: IndexRarity = field(default_factory=IndexRarity)
    experience: SearchExperience = field(default_factory=SearchExperience)
    scope_filters: ScopeFilters | None = None

    @cached_property
    def scope(self) -> Scope | None:
        """Which pairs of documents count: by the policy of the index, and by the options."""
        return combined(self.documents.policy.scope, self.options.scope)

    @property
    def scope_paths(self) -> tuple[str, ...]:
        """The fields that a scope reads."""
        return self.scope.paths if self.scope else ()

    @cached_property
    def verification(self) -> Verification | None:
        """How texts are compared; None where fingerprints decide and the caller asks for no more."""
        verification = self.options.verification(self.documents.scheme)
        if verification is None or (self.criteria.similarity is None and not self.options.needs_texts):
            return None
        return verification

    @cached_property
    def criteria(self) -> Criteria:
        """What a match is."""
        return self.options.criteria(self.documents.scheme)

    @property
    def shared_bands(self) -> int | None:
        """How many bands a candidate shares at least; None where similarities do not count."""
        minhash, criteria = self.documents.scheme.minhash, self.criteria
        if minhash is None or criteria.similarity is None:
            return None
        return shared_bands(minhash, criteria, self.experience.documents)

    @cached_property
    def criteria_of_fingerprints(self) -> Criteria:
        """What a match is where no texts are compared."""
        return replace(self.options, estimate=True, numbers=None).criteria(self.documents.scheme)

    def verifier(self) -> Verifier | None:
        """Return what compares texts; None where none are compared."""
        if self.verification is None:
            return None
        return self.rarity.verifier(self.documents.scheme, self.verification, self.options.idf)

    def check_scope_values(self, is_text: bool) -> None:
        """Refuse values of a text that has none in a field of the scope, and values that nothing reads."""
        given, scope = self.options.scope_values or {}, self.scope
        if given and not is_text:
            raise InputError("Documents have values of their own in the fields of a scope. Leave scope_values out.")
        if unread := sorted(set(given) - set(self.scope_paths)):
            raise InputError(f"No scope has the field {', '.join(unread)}. Leave it out of scope_values.")
        if is_text and scope and (missing := scope.missing(given)):
            raise InputError(
                f"A text has no value in {', '.join(missing)}, which the scope needs: {scope}. "
                f"Give it by scope_values (--scope-value {missing[0]}=…)."
            )

    def values_of(self, document: Mapping[str, Any]) -> ScopeValues | None:
        """Return the values of a document in the fields of the scope."""
        return self.scope.values_of(document) if self.scope else None

    def in_scope(self, values: ScopeValues | None, hits: Sequence[Json]) -> tuple[Sequence[int], int]:
        """Return the places of hits in scope with a document, given by its values, and how many lack a value."""
        if self.scope is None:
            return range(len(hits)), 0
        others = [self.values_of(hit.get("_source") or {}) for hit in hits]
        places = [place for place, other in enumerate(others) if self.scope.in_scope(values, other)]
        return places, others.count(None)
