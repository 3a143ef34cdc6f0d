"""How candidates are fetched: all of them, or where that pays, without those that the server finds too far away.

Keys are shared by documents that are far apart, too. Where these are many, a script that leaves them out takes a server
less time than fetching them, only for them to be dropped here. What the script lets pass is
compared here as ever, so that the matches are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import Protocol

from es_simhash._core.json_paths import Json
from es_simhash.documents.painless.stored_scripts import readable
from es_simhash.errors import EngineError, UnreachableError
from es_simhash.plans.find_options import FindRequest
from es_simhash.plans.operations import MultiSearch, Plan, Search
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import Settings
from es_simhash.sketches import tradeoffs

# The first list holds all candidates of nearly every query; where it does not, the query is asked again for more.
_FIRST_LIST = 100
_GROWTH = 10
# A script takes a server as long as fetching some twelve candidates. A query is taken to meet what random SimHashes do
# in an index of this many documents; real ones are more alike, and meet more.
_FETCHED = 12
_DOCUMENTS = 1_000_000


class ServerFilter(Enum):
    """From when on the server leaves out what is too far away."""

    NEVER = "never"
    LATER = "from the second list on"
    ALWAYS = "from the first list on"


class CandidateSearch(Protocol):
    """What has candidates."""

    def body(self, size: int, *, scored: bool, sifted: bool) -> Json:
        """The search request for the first of them; ``sifted``: without those too far away, by a script."""
        ...

    def cannot_be_outdone(self, hits: Sequence[Json]) -> bool:
        """Whether these are as near as can be, and as many as are wanted."""
        ...


def sifting(options: FindRequest, settings: Settings, criteria: Criteria) -> ServerFilter:
    """Choose what compares bits first, the server or this process."""
    # Scripts can read neither signatures in a search, nor a SimHash without doc values.
    is_by_bits = options.candidates == "keys" and criteria.distance is not None and criteria.similarity is None
    if not is_by_bits or readable(settings) is None:
        return ServerFilter.NEVER
    assert settings.simhash
    assert criteria.distance is not None
    layout = settings.simhash.layout
    is_many = _meets_many(layout.bits, layout.count, layout.min_shared(criteria.distance))
    return ServerFilter.ALWAYS if is_many else ServerFilter.LATER


@cache
def _meets_many(bits: int, blocks: int, shared: int) -> bool:
    """Whether a query meets so many documents by chance that a script is quicker than fetching them."""
    return tradeoffs.block_candidates(bits, blocks, shared, _DOCUMENTS) > _FETCHED


def all_candidates(
    index: str, asking: Sequence[CandidateSearch], most: int, sifting: ServerFilter
) -> Plan[list[tuple[list[Json], bool]]]:
    """The candidates of each, ``most`` of them, and whether these are all.

    A list that is as long as was asked for may have been cut off: the query is asked again for a longer one, unless
    that cannot make any difference. So each list comes from one moment of the index, and none is pieced together.
    """
    replies: list[tuple[list[Json], bool]] = [([], True)] * len(asking)
    unfinished, length = list(range(len(asking))), _FIRST_LIST
    while unfinished:
        size, is_first = min(length, most), length == _FIRST_LIST
        sifted = sifting is ServerFilter.ALWAYS or (sifting is ServerFilter.LATER and not is_first)
        scored = not is_first or size == most
        bodies = [asking[i].body(size, scored=scored, sifted=sifted) for i in unfinished]
        try:
            found = yield from _search(index, bodies)
        except EngineError as error:
            if not sifted or isinstance(error, UnreachableError):
                raise
            sifting = ServerFilter.NEVER
            continue
        for i, reply in zip(unfinished, found, strict=True):
            hits = reply["hits"]["hits"]
            replies[i] = hits, len(hits) < size
        cut_off = [i for i in unfinished if not replies[i][1]] if size < most else []
        unfinished = [i for i in cut_off if not asking[i].cannot_be_outdone(replies[i][0])]
        length *= _GROWTH
    return replies


def _search(index: str, bodies: Sequence[Json]) -> Plan[list[Json]]:
    if len(bodies) == 1:
        return [(yield Search(index, bodies[0]))]
    replies: list[Json] = yield MultiSearch(index, bodies)
    return replies
