"""What keeps documents apart for good: a copy in another class of the index's scope is somebody else's document.

Of the scope only ``within`` counts. Documents of one source, or long apart, are no near-duplicates for an index whose
scope is ``across`` or has a ``window``; but a text that must go must go from there, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.errors import InputError
from es_simhash.live.erase.copies import Source
from es_simhash.live.erase.options import EraseOptions
from es_simhash.plans.open_index import IndicesBehind
from es_simhash.plans.operation_retry import attempt
from es_simhash.plans.operations import Count, Plan
from es_simhash.plans.scope_fields import check_scope
from es_simhash.plans.scope_filters import ScopeFilters
from es_simhash.scheme.scope import Scope


@dataclass(frozen=True)
class Tenants:
    """Documents that differ in the fields of a ``scope`` are apart; None if nothing is."""

    scope: Scope | None
    mappings: Mapping[str, Json]

    @classmethod
    def of(cls, behind: IndicesBehind) -> Tenants:
        """Return what the policy of indices keeps apart."""
        paths = behind.policy.scope.within if behind.policy.scope else ()
        scope = Scope(within=paths) if paths else None
        if scope:
            check_scope(behind.mappings, scope)
        return cls(scope, behind.mappings)

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields to read of documents."""
        return self.scope.paths if self.scope else ()

    def check_given(self, options: EraseOptions, texts: Sequence[str]) -> None:
        """Refuse texts without a value in these fields, and values that nothing reads."""
        given = options.scope_values or {}
        if unread := sorted(set(given) - set(self.paths if texts else ())):
            raise InputError(f"No text needs a value in {', '.join(unread)}. Leave it out of the scope values.")
        if texts and self.scope and (missing := self.scope.missing(given)):
            raise InputError(
                f"A text has no value in {', '.join(missing)}, which keeps texts apart. Give it in the scope values."
            )

    def are_together(self, source: Source, document: Json) -> bool:
        """Return whether a document may be a copy of a source."""
        if self.scope is None:
            return True
        return self.scope.in_scope(self.scope.values_of(source.document), self.scope.values_of(document))

    def filters(self, index: str, sources: Sequence[Source]) -> Plan[list[list[Json] | None]]:
        """Return for each source queries that all documents match that may be its copies; None if there are none."""
        if self.scope is None:
            return [[] for _ in sources]
        filters = yield from ScopeFilters.tried(index, self.mappings, self.scope)
        known = [self.scope.values_of(source.document) for source in sources]
        return [None if values is None else filters.of(values) for values in known]

    def unknown(self, index: str) -> Plan[list[str]]:
        """Say how many documents have no value in one of the fields: they are copies of nothing."""
        found = []
        for path in self.paths:
            count = yield from attempt(Count(index, {"bool": {"must_not": [{"exists": {"field": path}}]}}))
            if count:
                found.append(f"{count:,} documents have no value in {path}, so they count as copies of nothing")
        return found
