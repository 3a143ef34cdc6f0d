"""Fetching candidates: all of them or, where that is faster, only those near enough for a script on the server.

Documents that are far apart share keys, too. If many do, a script that filters them out costs the server less time
than sending them here to be dropped. Every candidate that passes the script is still compared here, so the matches are
the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Protocol

from es_simhash._core.json_codec import Json, json_length
from es_simhash.documents.painless.stored_scripts import readable_simhash
from es_simhash.errors import EngineError, ScriptError, UnreachableError
from es_simhash.plans.find_options import FindOptions
from es_simhash.plans.operations import MultiSearch, Plan, Search
from es_simhash.plans.reply_size import in_slices
from es_simhash.plans.search_experience import Part
from es_simhash.plans.search_terms import SearchTerms
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import Settings
from es_simhash.sketches import tradeoffs

# The first list holds all candidates of nearly every query; otherwise the query is repeated for more.
FIRST_LIST = 100
GROWTH = 10
# A script costs a server as much time as fetching some twelve candidates. A query is assumed to meet as many as random
# SimHashes do in an index of this size; real ones are more alike, and meet more.
_FETCHED = 12
# Searches that are sent at once: each has up to a thousand keys, or else its text.
_SEARCHES, _TEXTS = 50, 4
_DOCUMENTS = 1_000_000


class ServerFilter(Enum):
    """When the server filters out candidates that are too far away."""

    NEVER = "never"
    LATER = "from the second list on"
    ALWAYS = "from the first list on"


class CandidateSearch(Protocol):
    """A search that has candidates."""

    @property
    def length(self) -> int:
        """The bytes of the text, which those of candidates are about as long as; 0 where they may be far longer."""
        ...

    def body(self, size: int, part: Part, *, scored: bool, filtered: bool) -> Json:
        """Return the search request for the first candidates; with ``filtered``, a script drops those too far away."""
        ...

    def cannot_be_outdone(self, hits: Sequence[Json]) -> bool:
        """Return whether no further hit can be nearer than these, and these are as many as requested."""
        ...


def server_filter(options: FindOptions, settings: Settings, criteria: Criteria) -> ServerFilter:
    """Return when the server filters candidates before this process compares them."""
    # Scripts can read neither signatures in a search, nor a SimHash without doc values.
    is_by_bits = options.candidates == "keys" and criteria.distance is not None and criteria.similarity is None
    if not is_by_bits or readable_simhash(settings) is None:
        return ServerFilter.NEVER
    assert settings.simhash
    assert criteria.distance is not None
    layout = settings.simhash.layout
    is_many = _meets_many(layout.bits, layout.count, layout.min_shared(criteria.distance))
    return ServerFilter.ALWAYS if is_many else ServerFilter.LATER


@cache
def _meets_many(bits: int, blocks: int, shared: int) -> bool:
    """Return whether filtering by a script is faster than fetching the documents that a query meets by chance."""
    return tradeoffs.block_candidates(bits, blocks, shared, _DOCUMENTS) > _FETCHED


@dataclass(frozen=True)
class Candidates:
    """The candidates of a search; unless these are ``complete``, there are more. Each has this ``part``."""

    hits: list[Json] = field(default_factory=list)
    complete: bool = True
    part: Part = Part.FINGERPRINTS


def all_candidates(
    terms: SearchTerms, searches: Sequence[CandidateSearch], *, with_texts: bool
) -> Plan[list[Candidates]]:
    """Return the candidates of each search up to the caller's limit, ``with_texts`` where these come at little cost.

    A list as long as requested may have been cut off: the query is repeated for a longer one, unless that can make no
    difference. So each list comes from one moment of the index, and none is pieced together.
    """
    most, filters = terms.options.max_candidates, server_filter(terms.options, terms.documents.scheme, terms.criteria)
    experience = terms.experience
    if experience.refuses_scripts:
        filters = ServerFilter.NEVER
    found = [Candidates()] * len(searches)
    unfinished, length, is_first = list(range(len(searches))), FIRST_LIST, True
    while unfinished:
        expected, wanted = experience.candidates if is_first else length, min(length, most)
        owns = [searches[i].length for i in unfinished]
        parts = [experience.part(expected, with_texts=with_texts, own=own) for own in owns]
        sizes = [experience.fitting(part, wanted, own) for part, own in zip(parts, owns, strict=True)]
        if not is_first:
            # These lists are long enough for all.
            parts = [part if size == wanted else Part.FINGERPRINTS for part, size in zip(parts, sizes, strict=True)]
            sizes = [wanted] * len(parts)
        filtered = filters is ServerFilter.ALWAYS or (filters is ServerFilter.LATER and not is_first)
        asked = zip(unfinished, sizes, parts, strict=True)
        bodies = [
            searches[i].body(size, part, scored=not is_first or size == most, filtered=filtered)
            for i, size, part in asked
        ]
        try:
            replies = yield from _search(terms, bodies)
        except EngineError as error:
            if not filtered or isinstance(error, UnreachableError):
                raise
            experience.refuses_scripts |= isinstance(error, ScriptError)
            filters = ServerFilter.NEVER
            continue
        cut_off = []
        for i, size, part, reply in zip(unfinished, sizes, parts, replies, strict=True):
            hits = reply["hits"]["hits"]
            found[i] = Candidates(hits, len(hits) < size, part)
            if is_first:
                experience.note(terms.documents, hits, part)
            if len(hits) >= size and size < most:
                cut_off.append(i)
        unfinished = [i for i in cut_off if not searches[i].cannot_be_outdone(found[i].hits)]
        length, is_first = length * GROWTH, False
    return found


def _search(terms: SearchTerms, bodies: Sequence[Json]) -> Plan[list[Json]]:
    def ask(some: Sequence[Json]) -> Plan[list[Json]]:
        if len(some) == 1:
            return [(yield Search(terms.index, some[0]))]
        replies: list[Json] = yield MultiSearch(terms.index, some)
        return replies

    most = _TEXTS if terms.options.candidates == "more_like_this" else _SEARCHES
    return (yield from in_slices(bodies, ask, terms.experience.replies, _length, most))


def _length(reply: Json) -> int:
    """Return about how many bytes a reply has, by its first hit."""
    hits = reply["hits"]["hits"]
    return len(hits) * json_length(hits[0].get("_source")) if hits else 0
