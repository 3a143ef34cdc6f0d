"""Finding near-duplicates: fetch all candidates from the engine, then compare them exactly here.

Documents that are far apart share keys, too. If many do, a script that filters them out costs the server less time
than sending them here to be dropped. Every candidate that passes the script is still compared here, so the matches are
the same.

Texts are compared as well, where the scheme or the caller asks for it. What contains a text, or what it contains, is
found by keys of passages, and verified in the texts. These keys score as terms of a text do, the more the rarer they
are (BM25). So documents that share only boilerplate come last, and are left out first where there are more candidates
than are compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, cached_property
from itertools import chain, islice
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.batches import chunks
from es_simhash._core.json_codec import Json, json_length
from es_simhash.documents.decisions import Decided, Key
from es_simhash.documents.documents import Documents, fingerprinted, prepared, readable_text
from es_simhash.documents.stored_scripts import may_be_within, readable_simhash
from es_simhash.errors import EngineError, ScriptError, UnreachableError
from es_simhash.plans.decided import readable_decisions_on
from es_simhash.plans.find_options import FindOptions, QueryDocument, ScopedText, SearchTerms
from es_simhash.plans.operations import MultiSearch, Plan, Search
from es_simhash.plans.reply_size import DocumentPart, ReplySize, documents_by_id, in_slices, with_source
from es_simhash.scheme import passages, query, rerank
from es_simhash.scheme.fingerprinting import Fingerprint, Status
from es_simhash.scheme.own_fields import object_in
from es_simhash.scheme.passages import WordsOfText, words_of_texts
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rerank import NOTHING, Compared, Match, Matches, Measured
from es_simhash.scheme.settings import MAX_KEYS, Settings
from es_simhash.scheme.verifier import Similarities, Verifier, lowest_estimate
from es_simhash.sketches import keys as tradeoffs
from es_simhash.sketches.minhash.common import estimates

# The first list holds all candidates of nearly every query; otherwise the query is repeated for more.
FIRST_LIST = 100
GROWTH = 10
# A script costs a server as much time as fetching some twelve candidates. A query is assumed to meet as many as random
# SimHashes do in an index of this size; real ones are more alike, and meet more.
_FETCHED = 12
# Searches that are sent at once: each has up to a thousand keys, or else its text.
_SEARCHES, _TEXTS = 50, 4
_DOCUMENTS = 1_000_000
# The texts of hits, by index and id.
Texts: TypeAlias = dict[tuple[str, str], str]
# Documents that people have linked to those of one request; an id may be in several indices.
_LINKED_AT_ONCE, _MOST_LINKED = 1000, 10_000
# The share of its keys that a contained text has in common with the other, at least: with 5% of its words changed, half
# of them in the median, and a fifth where chance is against it.
_SHARED = 0.1


class ServerFilter(Enum):
    """When the server filters out candidates that are too far away."""

    NEVER = "never"
    LATER = "from the second list on"
    ALWAYS = "from the first list on"


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
    part: DocumentPart = DocumentPart.FINGERPRINTS


def all_candidates(
    terms: SearchTerms, searches: Sequence[TextSearch | PassageSearch], *, with_texts: bool
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
            parts = [
                part if size == wanted else DocumentPart.FINGERPRINTS for part, size in zip(parts, sizes, strict=True)
            ]
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


# Compares a document with others but for those of some ids.
Compares: TypeAlias = Callable[[Set[str]], Measured]


class FetchCandidates(Protocol):
    """A plan that fetches the candidates of searches."""

    def __call__(
        self, terms: SearchTerms, searches: Sequence[TextSearch], *, with_texts: bool
    ) -> Plan[list[Candidates]]:
        """Return the candidates of each search, ``with_texts`` where these come at little cost."""
        ...


def find_many(terms: SearchTerms, wanted: Sequence[QueryDocument]) -> Plan[list[Matches]]:
    """Return the matches of each document; empty texts have none."""
    made = list(fingerprinted(terms.documents, [each.text for each in wanted]))
    results = yield from find_fingerprinted(terms, wanted, made, terms.verifier())
    return (yield from with_asked(terms, [result.matches() for result in results]))


def find_fingerprinted(
    terms: SearchTerms,
    wanted: Sequence[QueryDocument],
    made: Sequence[tuple[Fingerprint, Json]],
    verifier: Verifier | None,
    candidates: FetchCandidates = all_candidates,
) -> Plan[list[SearchResult]]:
    """Compare the candidates of documents, which a plan fetches; a ``verifier`` also compares their texts.

    The fingerprint and the fields of each are ``made`` already.
    """
    searches = [TextSearch(terms, each, *own) for each, own in zip(wanted, made, strict=True)]
    sent = [place for place, search in enumerate(searches) if not search.is_needless]
    if sent:
        yield from terms.experience.read(terms.index, terms.documents)
    by_words = terms.options.candidates == "more_like_this"
    asked = [searches[place] for place in sent]
    replies = yield from candidates(terms, asked, with_texts=by_words or verifier is not None)
    results: dict[int, SearchResult] = {}
    for place, reply in zip(sent, replies, strict=True):
        search, hits, part = searches[place], reply.hits, reply.part
        if by_words and part is DocumentPart.FINGERPRINTS:
            # These are compared with nothing but their texts.
            hits, part = (
                (yield from with_source(terms.index, hits, search.source(DocumentPart.TEXTS))),
                DocumentPart.TEXTS,
            )
        # To compare nothing takes time as well.
        measured = Measured(search.compared(hits)) if hits else NOTHING
        results[place] = SearchResult(search, measured, reply.complete, part)
    found = {place: result for place, result in results.items() if result.measured is not NOTHING}
    if verifier is not None and found:
        exact = yield from _verified(verifier, list(found.values()))
        results |= zip(found, exact, strict=True)
    every = [results.get(place) or SearchResult(search) for place, search in enumerate(searches)]
    return (yield from _as_decided(terms, every)) if terms.decisions else every


def _as_decided(terms: SearchTerms, results: Sequence[SearchResult]) -> Plan[list[SearchResult]]:
    """Let results obey what people have decided about the documents that are searched for and found."""
    there = terms.decisions
    assert there
    keys = [there.keys_of(each.search.wanted.id, each.search.wanted.index) for each in results]
    if not any(keys):
        return list(results)
    found = {(match.index, match.id) for each in results for match in each.matches()}
    decided = yield from readable_decisions_on(there, {*chain.from_iterable(keys), *found})
    if decided is None:
        return [replace(each, lacks_decisions=there.index) for each in results]
    linked = [set[Key]().union(*(decided.others("same", key) for key in own)) for own in keys]
    present = yield from _present(terms, set().union(*linked))
    return [
        replace(each, decided=DecidedMatches(decided, own, linked_to & present)) if own else each
        for each, own, linked_to in zip(results, keys, linked, strict=True)
    ]


def _present(terms: SearchTerms, keys: Collection[Key]) -> Plan[set[Key]]:
    """Return which documents are there, and match the caller's filter."""
    found: set[Key] = set()
    for _, some in chunks(sorted({id_ for _, id_ in keys}), _LINKED_AT_ONCE):
        ids = query.restricted({"ids": {"values": list(some)}}, terms.options.filter or (), ())
        reply = yield Search(terms.index, {"query": ids, "size": _MOST_LINKED, "_source": False})
        found |= {(hit["_index"], hit["_id"]) for hit in reply["hits"]["hits"]} & set(keys)
    return found


@dataclass(frozen=True)
class DecidedMatches:
    """What people have decided about a document, under these ``keys``, and what it is ``linked`` to."""

    decided: Decided
    keys: Sequence[Key]
    linked: Set[Key]

    @property
    def is_alone(self) -> bool:
        """Whether it has no near-duplicates."""
        return not self.decided.alone.isdisjoint(self.keys)

    @property
    def apart(self) -> set[str]:
        """The ids of the documents that it is different from, or that are alone."""
        others = chain(*(self.decided.others("different", key) for key in self.keys), self.decided.alone)
        return {id_ for _, id_ in others} - {id_ for _, id_ in self.keys}

    def _are_apart(self, index: str, id: str) -> bool:
        return any(self.decided.are_apart(key, (index, id)) for key in self.keys)

    def of(self, matches: Iterable[Match], criteria: Criteria) -> tuple[Match, ...]:
        """Return the matches without those that cannot be, and with those that people have linked."""
        stay = [match for match in matches if not self._are_apart(match.index, match.id)]
        more = self.linked - {(match.index, match.id) for match in stay}
        stay += [Match(*key, None, None, clause="people") for key in more if not self._are_apart(*key)]
        return tuple(sorted(stay, key=rerank.nearest_first(criteria)))


def _verified(verifier: Verifier, results: Sequence[SearchResult]) -> Plan[list[SearchResult]]:
    """Measure the texts of the candidates that may be similar enough."""
    here: list[Json] = []
    elsewhere: list[Json] = []
    terms = results[0].search.terms
    for result in results:
        compared = result.measured.compared
        plausible = plausible_hits(verifier.settings, terms.criteria, result.search.fingerprint, compared)
        unread = elsewhere if result.part is DocumentPart.FINGERPRINTS else here
        unread.extend(compared.hits[i] for i in plausible.nonzero()[0].tolist())
    size = terms.experience.size_of_texts(max(result.search.own_length for result in results))
    texts = texts_in_hits(terms.documents, here) | (yield from texts_of_hits(terms.documents, elsewhere, size))
    wanting = []
    for result in results:
        compared = result.measured.compared
        others = [texts.get((hit["_index"], hit["_id"])) for hit in compared.hits]
        wanting.append((result.search.wanted.text, others, minimum_similarities(terms.criteria, compared)))
    exact = verifier.each_to_others(wanting)
    return [
        SearchResult(result.search, Measured(result.measured.compared, each), result.complete, result.part)
        for result, each in zip(results, exact, strict=True)
    ]


@dataclass(frozen=True)
class TextSearch(ScopedText):
    """The search for the near-duplicates of one text."""

    fingerprint: Fingerprint
    fields: Json

    @property
    def length(self) -> int:
        """The bytes of the text, which those of near-duplicates are about as long as; not of what has its words."""
        return 0 if self.is_by_words else self.own_length

    @property
    def is_by_words(self) -> bool:
        """Whether candidates have no fingerprints, so that these are made of their texts."""
        return self.terms.options.candidates == "more_like_this"

    @property
    def is_empty(self) -> bool:
        """Whether the text is empty, so that nothing can be found by it."""
        return self.fingerprint.status == "empty"

    @property
    def is_needless(self) -> bool:
        """Whether nothing can be found by the text: it is empty, or in no scope."""
        return self.is_empty or bool(self.missing)

    def body(self, size: int, part: DocumentPart, *, scored: bool, filtered: bool) -> Json:
        """Return the search request for candidates; with ``filtered``, a script drops those too far away."""
        candidates = query.restricted(self._candidates(scored), self.scope_filters, ())
        if filtered:
            candidates = query.restricted(candidates, self._may_be_near(), ())
        return query.body(candidates, size=size, source=self.source(part), filter=self.terms.options.filter)

    def cannot_be_outdone(self, hits: Sequence[Json]) -> bool:
        """Return whether enough hits have the identical text: no other hit can be nearer."""
        content, prefix = self.fields["content"], self.terms.documents.prefix
        copies = [hit for hit in hits if object_in(hit.get("_source"), prefix).get("content") == content]
        wanted = self.terms.options.size
        return len(copies) >= wanted and sum(self.compared(copies).same_texts) >= wanted

    def compared(self, hits: Sequence[Json]) -> Compared:
        """Compare the fingerprints of candidates; what was found by words has none, so they are made."""
        own, content = self.terms.documents, self.fields["content"]
        others, unscoped = self.in_scope(hits)
        held, by_words = others, self.is_by_words
        if by_words:
            made = prepared(own, ({"_source": hit["_source"]} for hit in others), None)
            held = [{**hit, **each} for hit, each in zip(others, made, strict=True)]
        found = rerank.compare(own.scheme, own.scheme.id, self.fingerprint, held, prefix=own.prefix, content=content)
        if by_words:
            read = {(hit["_index"], hit["_id"]): hit for hit in others}
            found = replace(found, hits=[read[hit["_index"], hit["_id"]] for hit in found.hits])
        return replace(found, unscoped=unscoped)

    def _candidates(self, scored: bool) -> Json:
        if self.is_by_words:
            return query.more_like_this(self.wanted.texts(self.terms.documents))
        own = self.terms.documents
        return query.clause(
            own.scheme,
            self.fingerprint,
            self.terms.criteria,
            own.prefix,
            shared=self.terms.shared_bands,
            scored=scored,
            fields=self.fields,
        )

    def _may_be_near(self) -> Json:
        own, distance, simhash = self.terms.documents, self.terms.criteria.distance, self.fingerprint.simhash
        assert own.scheme.simhash
        assert distance is not None
        assert simhash is not None
        return may_be_within(own.prefix, own.scheme.simhash, own.scheme.id, simhash, distance)

    def source(self, part: DocumentPart) -> list[str] | bool:
        """Return what to fetch of documents: the part that is compared."""
        own = self.terms.documents
        return self.terms.source(part, [] if self.is_by_words else query.compared_fields(own.scheme, own.prefix))


@dataclass(frozen=True)
class SearchResult:
    """The candidates that a search has found and compared; unless it is ``complete``, there are more."""

    search: TextSearch
    measured: Measured = NOTHING
    complete: bool = True
    part: DocumentPart = DocumentPart.FINGERPRINTS
    decided: DecidedMatches | None = None
    lacks_decisions: str | None = None

    def earlier(self, seen: Compares, without: Set[str] = frozenset()) -> Measured:
        """Compare it with documents that are not in the index, but for those ``without``, as people have decided."""
        decided = self.decided
        if decided and decided.is_alone:
            return NOTHING
        return seen(without | decided.apart if decided else without)

    def matches(self) -> Matches:
        """Return the nearest matches."""
        search, terms = self.search, self.search.terms
        if search.is_empty:
            return Matches((), status="empty")
        if search.missing:
            return Matches((), status=search.fingerprint.status, missing=search.missing)
        found = rerank.matches_of(
            self.measured,
            terms.criteria,
            status=search.fingerprint.status,
            complete=self.complete,
            with_source=terms.brings_asked(self.part),
            size=None if self.decided else terms.options.size,
        )
        if self.decided:
            found = replace(found, matches=self.decided.of(found.matches, terms.criteria)[: terms.options.size])
        if self.lacks_decisions:
            found = replace(found, lacks_decisions=self.lacks_decisions)
        if terms.options.source is True or not terms.brings_asked(self.part):
            return found
        asked = terms.asked_source.part_of
        return replace(found, matches=tuple(replace(each, source=asked(each.source or {})) for each in found))


def with_asked(terms: SearchTerms, found: Sequence[Matches]) -> Plan[list[Matches]]:
    """Read what the caller asks for of the matches that lack it."""
    asked = terms.options.source
    lacking = {(each.index, each.id): each for matches in found for each in matches if each.source is None}
    if not asked or not lacking:
        return list(found)
    hits: list[Json] = [{"_index": index, "_id": id_} for index, id_ in lacking]
    names = True if asked is True else terms.options.named_source
    there = {
        (hit["_index"], hit["_id"]): hit.get("_source") or {}
        for hit in (yield from with_source(terms.index, hits, names))
    }

    def filled(each: Match) -> Match:
        return replace(each, source=there.get((each.index, each.id), {})) if each.source is None else each

    return [replace(matches, matches=tuple(map(filled, matches))) for matches in found]


def plausible_hits(
    settings: Settings, criteria: Criteria, fingerprint: Fingerprint, compared: Compared
) -> npt.NDArray[np.bool_]:
    """Return which hits may be similar enough to the text of a fingerprint by their estimates."""
    minhash, estimated = settings.minhash, compared.similarities
    if minhash is None or criteria.verification is None or compared.keyed is None or fingerprint.minhash is None:
        return np.ones(len(compared.hits), dtype=np.bool_)
    size, bits = minhash.layout.size, minhash.layout.value_bits
    if estimated is None or compared.estimated_by != (size, bits):
        estimated = estimates(fingerprint.signature[:size], compared.keyed, bits)
    return estimated >= lowest_estimate(criteria, minhash, bits)


def texts_in_hits(documents: Documents, hits: Iterable[Json]) -> Texts:
    """Return the texts that hits contain, by index and id; unreadable ones are left out."""
    read = ((hit["_index"], hit["_id"], _text(documents, hit)) for hit in hits)
    return {(index, id_): text for index, id_, text in read if text is not None}


def texts_of_hits(documents: Documents, hits: Iterable[Json], size: ReplySize | None = None) -> Plan[Texts]:
    """Read the current texts of hits, by index and id; unreadable ones are left out."""
    by_index: dict[str, dict[str, str | None]] = defaultdict(dict)
    for hit in hits:
        by_index[hit["_index"]][hit["_id"]] = hit.get("_routing")
    texts: Texts = {}
    for index, routings in by_index.items():
        ids, given = list(routings), list(routings.values())
        replies = yield from documents_by_id(index, ids, documents.fields, given, size=size)
        read = ((id_, _text(documents, reply)) for id_, reply in zip(routings, replies, strict=True))
        texts.update({(index, id_): text for id_, text in read if text is not None})
    return texts


def minimum_similarities(criteria: Criteria, compared: Compared) -> Similarities:
    """Return the similarity from which each hit counts: 0 for those that are near enough in bits anyway."""
    least = np.empty(len(compared.hits))
    least.fill(0.0 if criteria.similarity is None else criteria.least)
    if criteria.distance is not None and compared.distances is not None:
        least[compared.distances <= criteria.distance] = 0.0
    return least


def _text(documents: Documents, hit: Json) -> str | None:
    """Return the text of a hit; None if it has no readable one, or an empty one."""
    return readable_text(documents, hit.get("_source") or {}) or None


def find_passages(terms: SearchTerms, wanted: Sequence[QueryDocument]) -> Plan[list[Matches]]:
    """Return what contains each document, or what it contains; what is too short to have passages has none."""
    passages.passages_of(terms.documents.scheme)
    texts = [PassageText(terms, each) for each in wanted]
    searches = [search for text in texts for search in text.searches]
    if searches:
        yield from terms.experience.read(terms.index, terms.documents)
    replies = dict(zip(searches, (yield from all_candidates(terms, searches, with_texts=True)), strict=True))
    here: list[Json] = []
    elsewhere: list[Json] = []
    for search, reply in replies.items():
        (elsewhere if reply.part is DocumentPart.FINGERPRINTS else here).extend(search.text.plausible(reply.hits))
    read = texts_in_hits(terms.documents, here) | (yield from texts_of_hits(terms.documents, elsewhere))
    found = [text.matches([replies[search] for search in text.searches], read) for text in texts]
    return (yield from with_asked(terms, found))


@dataclass(frozen=True, eq=False)
class PassageText(ScopedText):
    """A text whose passages are searched for; what was compared with it is kept."""

    _shares: dict[str, float] = field(default_factory=dict, repr=False)

    @cached_property
    def words(self) -> WordsOfText:
        """The words of the text."""
        [words] = words_of_texts(self.terms.documents.scheme, [self.wanted.text])
        return words

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys that documents are found by."""
        return frozenset(key for search in self.searches for key in search.keys)

    @cached_property
    def searches(self) -> list[PassageSearch]:
        """The searches for candidates: one, or for what a long text contains as many as its keys need."""
        if self.missing:
            return []
        keys, are_chosen = passages.query_keys(
            self.terms.documents.scheme, self.words.hashes, most=passages.MOST_RUNS if self.is_inner else MAX_KEYS
        )
        if not self.is_inner:
            return [PassageSearch(self, keys[at : at + MAX_KEYS], 1) for at in range(0, len(keys), MAX_KEYS)]
        # Keys are hashes, so the lowest are as good a sample as any.
        keys = keys[:MAX_KEYS]
        needed = max(1, int(_SHARED * len(keys))) if are_chosen else 1
        return [PassageSearch(self, keys, needed)] if keys else []

    @property
    def is_inner(self) -> bool:
        """Whether the text is the contained one."""
        return self.terms.options.relation == "containing"

    def plausible(self, hits: Sequence[Json]) -> list[Json]:
        """Return the hits in scope and of this scheme that may contain the text, or be contained, by their keys."""
        return [hit for hit in self.in_scope(hits)[0] if self._is_ours(hit) and self._shares_enough(hit)]

    def _is_ours(self, hit: Json) -> bool:
        return bool(self._stored(hit).get("scheme") == self.terms.documents.scheme.id)

    def _stored(self, hit: Json) -> Json:
        return object_in(hit.get("_source"), self.terms.documents.prefix)

    def _shares_enough(self, hit: Json) -> bool:
        if self.is_inner:
            return True  # the engine has counted
        own = passages.keys_in(self._stored(hit))
        return len(own & self.keys) >= _SHARED * len(own)

    def containment(self, text: str) -> float:
        """Return the share of the contained one of both texts that stands in the other."""
        if text not in self._shares:
            scheme = self.terms.documents.scheme
            [other] = words_of_texts(scheme, [text])
            first, second = (self.words, other) if self.is_inner else (other, self.words)
            self._shares[text] = first.share_in(second, passages.passages_of(scheme).words)
        return self._shares[text]

    def matches(self, replies: Sequence[Candidates], texts: Texts) -> Matches:
        """Return the candidates that contain enough of the text, or that it contains enough of, the most first."""
        options, least = self.terms.options, self.terms.criteria.similarity
        assert least is not None
        distinct = {(hit["_index"], hit["_id"]): (hit, reply.part) for reply in replies for hit in reply.hits}
        hits, unscoped = self.in_scope([hit for hit, _ in distinct.values()])
        found = []
        for hit in self.plausible(hits):
            text = texts.get((hit["_index"], hit["_id"]))
            if text is None or (share := self.containment(text)) < least:
                continue
            match = Match(
                hit["_index"],
                hit["_id"],
                None,
                None,
                is_exact=True,
                same_text=text == self.wanted.text,
                source=self._asked_of(*distinct[hit["_index"], hit["_id"]]),
                clause=None,
                containment=share,
            )
            found.append(match)
        found.sort(key=lambda match: (-(match.containment or 0.0), match.index, match.id))
        status: Status = "empty"
        if len(self.words.hashes):
            status = "ok" if self.searches or self.missing else "short"
        return Matches(
            tuple(found[: options.size]),
            len(hits),
            all(reply.complete for reply in replies),
            sum(not self._is_ours(hit) for hit in hits),
            status,
            unscoped=unscoped,
            missing=self.missing,
        )

    def _asked_of(self, hit: Json, part: DocumentPart) -> Json | None:
        """Return what the caller asked for of a hit, if it came with it."""
        return self.terms.asked_source.part_of(hit["_source"]) if self.terms.brings_asked(part) else None


@dataclass(frozen=True, eq=False)
class PassageSearch:
    """The search for documents that have some of the keys of a text, ``needed`` of them or more."""

    text: PassageText
    keys: Sequence[str]
    needed: int

    @property
    def length(self) -> int:
        """The bytes of the text, which what it contains is shorter than."""
        return 0 if self.text.is_inner else self.text.own_length

    def body(self, size: int, part: DocumentPart, *, scored: bool, filtered: bool) -> Json:
        """Return the search request for the candidates that share the most, or the rarest, keys."""
        terms = self.text.terms
        field = f"{terms.documents.prefix}.{passages.FIELD}"
        should = [{"term": {field: key}} for key in self.keys]
        clause = {"bool": {"should": should, "minimum_should_match": self.needed}}
        clause = query.restricted(clause, self.text.scope_filters, ())
        return query.body(clause, size=size, source=self._source(part), filter=terms.options.filter)

    def cannot_be_outdone(self, hits: Sequence[Json]) -> bool:
        """Return whether as many hits as wanted are contained, or contain, wholly: nothing is nearer."""
        text = self.text
        known = texts_in_hits(text.terms.documents, text.plausible(hits)).values()
        whole = (each for each in known if text.containment(each) == 1.0)
        return len(list(islice(whole, text.terms.options.size))) == text.terms.options.size

    def _source(self, part: DocumentPart) -> list[str] | bool:
        """Return what to fetch of documents."""
        terms, own = self.text.terms, ("scheme",) if self.text.is_inner else ("scheme", passages.FIELD)
        return terms.source(part, [f"{terms.documents.prefix}.{name}" for name in own])
