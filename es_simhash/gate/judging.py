"""Judging documents: by the index, and by what was accepted before them and is not in it yet."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.gate.pending import OWN, Pending
from es_simhash.gate.verdict import Kind
from es_simhash.plans.check import Made
from es_simhash.plans.find import FetchCandidates, SearchResult, find_fingerprinted
from es_simhash.plans.operations import Plan
from es_simhash.plans.query_documents import QueryDocument
from es_simhash.scheme.own_fields import object_in
from es_simhash.scheme.rerank import NOTHING, Match, matches_of, nearest_first
from es_simhash.scheme.verdict.verifier import Verifier

# Seconds for which a sample of the index says how rare features are.
_FRESH = 10.0


@dataclass(frozen=True)
class Judged:
    """A document, what is like it (nearest first), and the fields of the scope in which it has no value."""

    position: int
    wanted: QueryDocument
    made: Made
    duplicates: tuple[Match, ...]
    complete: bool
    missing: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        """What the document is by that."""
        if self.made[0].status == "empty":
            return "no text"
        if self.missing:
            return "out of scope"
        if not self.duplicates:
            return "new"
        return "equal" if any(match.same_text for match in self.duplicates) else "near-duplicate"


class Judge:
    """Judges documents by an index, and by what was accepted before them.

    Where it is not noted in the index how rare features are, that is looked up now and then, as the index grows.
    """

    def __init__(self, pending: Pending, candidates: FetchCandidates) -> None:
        self._pending = pending
        self._candidates = candidates
        self._verifier: Verifier | None = None
        self._looks_again = 0.0

    def judge(self, wanted: Mapping[int, QueryDocument], made: Mapping[int, Made]) -> Plan[Iterator[Judged]]:
        """Judge documents by position, each as it is taken from the iterator.

        So the caller can remember a document before the next one is judged.
        """
        if time.monotonic() >= self._looks_again:
            self._verifier = self._pending.seen.terms.verifier()
            self._looks_again = time.monotonic() + _FRESH
        terms, verifier = self._pending.seen.terms, self._verifier
        self._pending.seen.expect(made.values())
        found = yield from find_fingerprinted(
            terms, list(wanted.values()), list(made.values()), verifier, self._candidates
        )
        return _each_judged(self._pending, zip(wanted.items(), made.values(), found, strict=True), verifier)


def _each_judged(
    pending: Pending,
    found: Iterator[tuple[tuple[int, QueryDocument], Made, SearchResult]],
    verifier: Verifier | None,
) -> Iterator[Judged]:
    criteria, prefix = pending.seen.terms.criteria, pending.seen.terms.documents.prefix
    for (position, wanted), made, result in found:
        own = {} if wanted.id is None else {wanted.id}
        in_both = {hit["_id"] for hit in result.measured.compared.hits if _is_shown(pending, hit, prefix)}
        earlier = pending.seen.measured(wanted, *made, verifier, without=in_both.union(own))
        there = result.matches()
        accepted = () if earlier is NOTHING else matches_of(earlier, criteria, status=made[0].status)
        # Of a document that was accepted with another text since, the index shows what it was.
        current = [match for match in there if match.id in in_both or pending.get((OWN, match.id)) is None]
        matches = sorted([*current, *accepted], key=nearest_first(criteria))
        size = result.search.terms.options.size
        yield Judged(position, wanted, made, tuple(matches[:size]), there.complete, there.missing)


def _is_shown(pending: Pending, hit: Json, prefix: str) -> bool:
    return pending.shown(hit["_id"], object_in(hit.get("_source"), prefix).get("content"))
