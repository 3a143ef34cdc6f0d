"""Finding near-duplicates: candidates from the engine, all of them, then the exact comparison here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from es_simhash import query, rerank
from es_simhash.documents import Documents
from es_simhash.fields import Json
from es_simhash.fingerprint import Fingerprint
from es_simhash.operations import MultiSearch, Plan, Search
from es_simhash.plans.options import Options
from es_simhash.plans.wanted import Wanted
from es_simhash.query import Criteria
from es_simhash.rerank import Compared, Match, Matches
from es_simhash.verification import exact_similarities

# The first page holds all candidates of nearly every query; where it does not, the query is asked again for more.
_FIRST_PAGE = 100
_GROWTH = 10


def find_many(index: str, documents: Documents, wanted: Sequence[Wanted], options: Options) -> Plan[list[Matches]]:
    """The matches of each; empty texts have none."""
    prints = list(documents.scheme.fingerprints([each.text for each in wanted]))
    return (yield from find_fingerprinted(index, documents, wanted, prints, options))


def find_fingerprinted(
    index: str, documents: Documents, wanted: Sequence[Wanted], prints: Sequence[Fingerprint], options: Options
) -> Plan[list[Matches]]:
    """The same where the texts are fingerprinted already."""
    criteria = options.criteria(documents.scheme)
    quests = [
        Quest(documents, options, criteria, each, fingerprint) for each, fingerprint in zip(wanted, prints, strict=True)
    ]
    replies = yield from _all_candidates(index, [quest for quest in quests if not quest.is_empty])
    hits = iter(replies)
    return [Matches((), status="empty") if quest.is_empty else quest.matches(*next(hits)) for quest in quests]


@dataclass(frozen=True)
class Quest:
    """The search for the near-duplicates of one text."""

    documents: Documents
    options: Options
    criteria: Criteria
    wanted: Wanted
    fingerprint: Fingerprint

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to be found by."""
        return self.fingerprint.status == "empty"

    def body(self, size: int, scored: bool) -> Json:
        """The search request for candidates."""
        return query.body(self._candidates(scored), size=size, source=self._source, filter=self.options.filter)

    def matches(self, hits: Sequence[Json], complete: bool) -> Matches:
        """The nearest matches among the candidates found."""
        options = self.options
        compared = self._compared([hit for hit in hits if not self.wanted.is_self(hit)])
        found = rerank.matches_of(
            compared,
            self.criteria,
            exact=self._exact(compared) if options.is_exact else None,
            status=self.fingerprint.status,
            complete=complete,
            with_source=bool(options.source),
        )
        nearest = found[: options.size]
        if options.source and options.source is not True:
            nearest = tuple(self._without_fields(match) for match in nearest)
        return replace(found, matches=nearest)

    def _candidates(self, scored: bool) -> Json:
        if self.options.candidates == "more_like_this":
            return query.more_like_this(self.wanted.texts)
        own = self.documents
        return query.clause(own.scheme, self.fingerprint, self.criteria, own.prefix, scored=scored)

    @property
    def _source(self) -> list[str] | bool:
        """The parts of documents that are compared, and those that the caller wants."""
        if self.options.source is True:
            return True
        source = query.names(self.options.source or ())
        if self.options.candidates == "keys":
            source += query.compared_fields(self.documents.scheme, self.documents.prefix)
        return source + list(self.documents.fields) if self.options.is_exact else source

    def _compared(self, hits: Sequence[Json]) -> Compared:
        own = self.documents
        if self.options.candidates == "more_like_this":
            # These hits have no fingerprints yet.
            sources = own.add_fields_to_all(hit["_source"] for hit in hits)
            hits = [{**hit, "_source": source} for hit, source in zip(hits, sources, strict=True)]
        return rerank.compare(
            own.scheme, own.scheme.id, self.fingerprint, hits, prefix=own.prefix, text=self.wanted.text
        )

    def _exact(self, compared: Compared) -> list[float]:
        texts = [self.documents.text_of(hit["_source"]) for hit in compared.hits]
        return exact_similarities(
            self.documents.scheme, self.wanted.text, texts, self.options.measure, self.options.idf
        )

    def _without_fields(self, match: Match) -> Match:
        source = match.source or {}
        return replace(match, source={name: source[name] for name in source if name != self.documents.prefix})


def _all_candidates(index: str, quests: Sequence[Quest]) -> Plan[list[tuple[list[Json], bool]]]:
    """The candidates of each quest, and whether these are all of them.

    A list that is as long as was asked for may have been cut off: the query is asked again for a longer one. So each
    list comes from one moment of the index, and none is pieced together.
    """
    replies: list[tuple[list[Json], bool]] = [([], True)] * len(quests)
    unfinished, page = list(range(len(quests))), _FIRST_PAGE
    while unfinished:
        most = quests[0].options.max_candidates
        size = min(page, most)
        bodies = [quests[i].body(size, scored=page > _FIRST_PAGE or size == most) for i in unfinished]
        for i, reply in zip(unfinished, (yield from _search(index, bodies)), strict=True):
            hits = reply["hits"]["hits"]
            replies[i] = hits, len(hits) < size
        unfinished = [i for i in unfinished if not replies[i][1]] if size < most else []
        page *= _GROWTH
    return replies


def _search(index: str, bodies: Sequence[Json]) -> Plan[list[Json]]:
    if len(bodies) == 1:
        return [(yield Search(index, bodies[0]))]
    replies: list[Json] = yield MultiSearch(index, bodies)
    return replies
