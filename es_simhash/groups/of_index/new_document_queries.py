"""What an index is asked for new documents, and for what these may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.groups.of_index import stored_fingerprints
from es_simhash.live.sweep.survey import changed_after
from es_simhash.scheme import own_fields
from es_simhash.scheme.fingerprint import Fingerprint
from es_simhash.scheme.group_fields import GROUP, SIZE, is_settled
from es_simhash.scheme.query import Criteria, clause, shared_bands
from es_simhash.scheme.scope import Scope

# How many documents' keys one query has, where one key is enough; and how many clauses, which a server limits, where
# several of the same document must be met.
_BY_ONE, _CLAUSES = 200, 900


@dataclass(frozen=True)
class Aim:
    """What is grouped: documents that a query finds in some indices, each with its changes when groups were written."""

    documents: Documents
    criteria: Criteria
    scope: Scope | None
    query: Json
    since: Mapping[str, Sequence[int]]
    patience: float

    def field(self, name: str) -> str:
        """Return the path of one of our fields."""
        return f"{self.documents.prefix}.{name}"

    @property
    def settled(self) -> Json:
        """The query for documents that a run has put into a group."""
        return all_of({"exists": {"field": self.field(GROUP)}}, {"exists": {"field": self.field(SIZE)}})

    @property
    def several(self) -> Json:
        """The query for those in a group of several."""
        return {"bool": {"filter": [self.query, self.settled], "must_not": [{"term": {self.field(SIZE): 1}}]}}

    def new(self, index: str) -> Json:
        """Return the query for new documents of an index."""
        found, changes = [self.query], self.since[index]
        if changes:
            # A group that a run could not settle is still to be settled.
            provisional: Json = {"exists": {"field": self.field(GROUP)}}
            found.append({"bool": {"should": [changed_after(changes), provisional], "minimum_should_match": 1}})
        return {"bool": {"filter": found, "must_not": [self.settled]}}

    def changed(self, index: str) -> Json:
        """Return the query for documents of an index in groups of several that were changed since, by whomever."""
        return all_of(self.several, changed_after(self.since[index]))

    def are_apart(self, members: Sequence[Json]) -> bool:
        """Return whether members of a group no longer have the same values, or lack one."""
        assert self.scope
        values = [self.scope.values_of(hit.get("_source") or {}) for hit in members]
        return None in values or len({each.within for each in values if each}) > 1

    def is_new(self, hit: Json) -> bool:
        """Return whether a hit is what `new` finds."""
        own, changes = self.own(hit), self.since[hit["_index"]]
        is_old = bool(changes) and hit["_seq_no"] <= min(changes) and own.get(GROUP) is None
        return not is_settled(own) and not is_old

    def own(self, hit: Json) -> Json:
        """Return our fields of a hit."""
        own = (hit.get("_source") or {}).get(self.documents.prefix)
        return own if isinstance(own, dict) else {}

    def sharing(self, some: Sequence[Json]) -> Json:
        """Return the query for documents that share enough keys with one of some, given by their fields."""
        should: list[Json] = []
        if self._is_by_one:
            by_field: dict[str, set[str]] = {}
            for own in some:
                for name, key in own_fields.terms_in(own, "band"):
                    by_field.setdefault(name, set()).add(key)
            should += [{"terms": {self.field(name): sorted(keys)}} for name, keys in by_field.items()]
        else:
            settings, prefix, known = self.documents.scheme, self.documents.prefix, Fingerprint("ok", None, None)
            with_keys = (own for own in some if own_fields.terms_in(own, "band") or own_fields.terms_in(own, "block"))
            should += [clause(settings, known, self.criteria, prefix, scored=False, fields=own) for own in with_keys]
        return all_of(self.query, {"bool": {"should": should, "minimum_should_match": 1}})

    @property
    def at_once(self) -> int:
        """How many documents' keys a query has."""
        scheme = self.documents.scheme
        keys = (scheme.minhash.bands if scheme.minhash else 0) + (scheme.simhash.blocks if scheme.simhash else 0)
        return _BY_ONE if self._is_by_one else max(1, _CLAUSES // keys)

    @property
    def _is_by_one(self) -> bool:
        """Whether documents are candidates that share one key."""
        minhash = self.documents.scheme.minhash
        if minhash is None or self.criteria.similarity is None or self.criteria.distance is not None:
            return False
        return shared_bands(minhash, self.criteria) == 1

    @property
    def source(self) -> list[str]:
        """The fields to read."""
        blocks = [self.field(name) for name in own_fields.names(self.documents.scheme) if name.startswith("block")]
        return list(dict.fromkeys([*stored_fingerprints.paths(self.documents, self.scope), *blocks]))


def all_of(*queries: Any) -> Json:
    return {"bool": {"filter": list(queries)}}
