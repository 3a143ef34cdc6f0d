"""The candidates of many searches at once: what shares a key with any of them, divided among them here.

A server finds the keys of hundreds of texts in one query in a fifth of the time of a query for each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import Protocol

from es_simhash._core.batched import chunks
from es_simhash._core.json_paths import Json
from es_simhash.errors import EngineError, UnavailableError, UnreachableError
from es_simhash.plans.candidates import Candidates, CandidateSearch, all_candidates
from es_simhash.plans.operations import MultiSearch, Plan
from es_simhash.plans.search_experience import Part
from es_simhash.plans.search_terms import SearchTerms
from es_simhash.scheme import own_fields, query

# How many texts share a query, and how many candidates each of them may have on average.
_TEXTS, _CANDIDATES = 200, 10


class KeyedSearch(CandidateSearch, Protocol):
    """A search by the keys in the fields of a document."""

    @property
    def fields(self) -> Json:
        """Our fields of the document."""
        ...

    def source(self, part: Part) -> list[str] | bool:
        """Return what to fetch of candidates."""
        ...


def shared_candidates(
    terms: SearchTerms, searches: Sequence[KeyedSearch], *, with_texts: bool
) -> Plan[list[Candidates]]:
    """Return the candidates of each search; those of several are asked for in one query, unless they are too many."""
    options, criteria = terms.options, terms.criteria
    # Of blocks, a candidate must share several with the same text.
    if len(searches) < 2 or criteria.distance is not None or options.candidates != "keys" or options.filter:
        return (yield from all_candidates(terms, searches, with_texts=with_texts))
    together = [some for _, some in chunks(searches, _TEXTS)]
    sizes = [_CANDIDATES * len(some) for some in together]
    own = max(search.length for search in searches)
    part = terms.experience.part(terms.experience.candidates, with_texts=with_texts, own=own)
    if terms.experience.fitting(part, sizes[0], own) < sizes[0]:
        part = Part.FINGERPRINTS
    bodies = [_body(terms, some, part, size) for some, size in zip(together, sizes, strict=True)]
    try:
        replies: list[Json] = yield MultiSearch(terms.index, bodies)
    except (UnreachableError, UnavailableError):
        raise
    except EngineError:
        # An index may allow fewer terms or hits.
        return (yield from all_candidates(terms, searches, with_texts=with_texts))
    found: list[Candidates] = []
    for some, size, reply in zip(together, sizes, replies, strict=True):
        hits = reply["hits"]["hits"]
        if len(hits) < size:
            found += [Candidates(each, True, part) for each in divided(terms.documents.prefix, some, hits)]
            for each in found[-len(some) :]:
                terms.experience.note(terms.documents, each.hits, part)
        else:
            found += yield from all_candidates(terms, some, with_texts=with_texts)
    return found


def _body(terms: SearchTerms, searches: Sequence[KeyedSearch], part: Part, size: int) -> Json:
    """Return the request for what shares a key with one of the searches."""
    keys = _keys_of(searches)
    should = [{"terms": {f"{terms.documents.prefix}.{name}": sorted(each)}} for name, each in keys.items()]
    source = searches[0].source(part)
    if not isinstance(source, bool):
        source = [*source, *(f"{terms.documents.prefix}.{name}" for name in keys)]
    clause = {"constant_score": {"filter": {"bool": {"should": should, "minimum_should_match": 1}}}}
    return query.body(clause, size=size, source=source)


def _keys_of(searches: Sequence[KeyedSearch]) -> dict[str, set[str]]:
    """Return the keys of all searches, by field."""
    found: dict[str, set[str]] = defaultdict(set)
    for search in searches:
        for name, keys in own_fields.keys_in(search.fields, "band").items():
            found[name].update(keys)
    return found


def divided(prefix: str, searches: Sequence[KeyedSearch], hits: Sequence[Json]) -> list[list[Json]]:
    """Return for each search the hits that share a key with it."""
    wanted = _keys_of(searches)
    by_key: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, hit in enumerate(hits):
        for name, keys in own_fields.keys_in(own_fields.object_in(hit.get("_source"), prefix), "band").items():
            for key in wanted[name].intersection(keys):
                by_key[name, key].append(place)
    sharing = (own_fields.terms_in(search.fields, "band") for search in searches)
    places = (sorted(set(chain.from_iterable(by_key.get(term, ()) for term in each))) for each in sharing)
    return [[hits[place] for place in each] for each in places]
