"""Distinct search: pages of hits without near-duplicates, and the searches that bring them."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, cast, overload

from es_simhash._core.arguments import check_types
from es_simhash._core.humanize import counted, listed
from es_simhash._core.json_codec import Json, json_length
from es_simhash._core.rows import Result, Shown
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.documents.sources import SourceFilter
from es_simhash.errors import (
    EngineError,
    FormatError,
    InputError,
    ReaderLostError,
    TooLargeError,
)
from es_simhash.plans.decided import readable_decisions_on
from es_simhash.plans.find_options import MOST_CANDIDATES, FindOptions, MatchOptions, SearchTerms
from es_simhash.plans.open_index import documents_behind
from es_simhash.plans.operations import OpenReader, Plan, Reader, Search, close
from es_simhash.plans.reply_size import ReplySize
from es_simhash.scheme.folding import Apart, Folding, FoldingRule, GroupRule, Name
from es_simhash.scheme.mapping import CANONICAL, GROUP
from es_simhash.scheme.query import compared_fields, name_list
from es_simhash.scheme.rerank import LACKING, Match, source_columns

# How many hits of the engine's list are read at once.
WINDOW = 100
# How many hits of earlier pages are read at once where fingerprints decide.
_PRINTS_AT_ONCE = 1_000
_SEED_BITS = 31


@dataclass(frozen=True)
class SearchOptions(MatchOptions):
    """How hits are folded, in addition to `MatchOptions`: the keywords of `Index.search`.

    - ``distinct``: fold each hit under the first one shown that is its near-duplicate; with a ``scope``, only under
      others in scope with it. Texts decide where ``_source`` brings them with the hits.
    - ``by_groups``: fold it under the first one that the same document stands for, as `Index.write_groups` wrote it.
    - ``with_texts``: ask for the texts as well if ``_source`` does not bring them.
    - ``window``: how many hits are read at once; also the ``k`` and ``rank_window_size`` of a request without them.
    - ``paged``: make a ``cursor`` for the next page; the engine then keeps this moment of the index for five minutes
      after each page. Without it, a page that one request does not fill is read from an index that may change.
    - ``cursor``: the one that the page before came with.

    >>> len(index.search({"query": {"match": {"body": "storm"}}}, distinct=True, window=50))
    1
    """

    distinct: bool = False
    by_groups: bool = False
    with_texts: bool = False
    window: int = WINDOW
    paged: bool = False
    cursor: str | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if not 1 <= self.window <= MOST_CANDIDATES:
            raise InputError(
                f"{self.window} hits cannot be read at once. Choose a window from 1 to {MOST_CANDIDATES:,}."
            )

    @property
    def decides(self) -> list[object]:
        """What of it decides which hits are shown, and in which order."""
        near = [self.by, self.distance, self.similarity, self.numbers, self.estimate]
        return [self.distinct, self.by_groups, *near, self.with_texts]

    @property
    def near(self) -> FindOptions:
        """What near-duplicates are."""
        return FindOptions(**{each.name: getattr(self, each.name) for each in fields(MatchOptions)})


@dataclass(frozen=True)
class DistinctHit:
    """A hit as the engine returned it, and the near-duplicates after it in the engine's list for which it stands.

    >>> [shown] = index.search({"query": {"match": {"body": "storm"}}}, distinct=True)
    >>> shown.hit["_id"], [match.id for match in shown.similar]
    ('1', ['2'])
    """

    hit: Json
    similar: tuple[Match, ...] = ()


@dataclass(frozen=True, repr=False)
class DistinctPage(Sequence[DistinctHit], Result):
    """The distinct hits of a page, in the order of the engine.

    ``read`` counts the hits of the engine's list that it covers. Unless that is ``at_end`` there are more, and a hit
    may stand for more documents than were read. ``limit`` names what keeps the list from being read on, if anything
    does: the ``k`` of a vector search, the ``rank_window_size`` of a retriever, 10,000 hits. ``apart`` counts the hits
    that could not be compared with others, by the reason; they are shown. ``reply`` is that of the engine, without the
    hits. ``cursor`` leads to the next page. ``lacks_decisions`` names the index of the decisions of people, if it could
    not be read.

    >>> page = index.search({"query": {"match": {"body": "storm"}}}, distinct=True)
    >>> len(page), page.read, page.at_end
    (1, 2, True)
    """

    hits: tuple[DistinctHit, ...]
    read: int
    at_end: bool
    apart: Mapping[Apart, int]
    reply: Json
    cursor: str | None = None
    limit: str | None = None
    lacks_decisions: str | None = None

    @overload
    def __getitem__(self, place: int) -> DistinctHit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[DistinctHit, ...]: ...
    def __getitem__(self, place: int | slice) -> DistinctHit | tuple[DistinctHit, ...]:
        """Return the hit at a position, or the hits of a slice."""
        return self.hits[place]

    def __len__(self) -> int:
        """Return the number of distinct hits."""
        return len(self.hits)

    def __iter__(self) -> Iterator[DistinctHit]:
        """Yield each hit."""
        return iter(self.hits)

    def shown(self) -> Shown:
        """Return the hits, how many others each stands for, and what keeps them from being all, for people."""
        heading = f"{counted(len(self), 'hit')} without near-duplicates, of {self.read:,} read"
        fields, sources = source_columns(shown.hit.get("_source") for shown in self)
        rows = ([*_shown_row(shown), *source] for shown, source in zip(self, sources, strict=True))
        columns = ["index", "id", "score", "similar", *fields]
        return Shown(heading, columns, rows, len(self), tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        if self.lacks_decisions:
            yield LACKING.format(self.lacks_decisions)
        if self.limit is not None:
            yield f"The list ends here: {self.limit}."
        elif not self.at_end:
            yield "There are more hits, and a hit may stand for more documents."
        if self.apart:
            yield f"Not compared: {', '.join(f'{count:,} ({reason})' for reason, count in self.apart.items())}."


def _shown_row(shown: DistinctHit) -> list[str | float | None]:
    hit, others = shown.hit, shown.similar
    similar = f"+{len(others)}: {listed([match.id for match in others])}" if others else ""
    return [hit["_index"], hit["_id"], hit.get("_score"), similar]


def search_page(terms: SearchTerms, asked: SearchBody, request: SearchOptions) -> Plan[DistinctPage]:
    """Return a page of a search's hits."""
    try:
        return (yield from _page(terms, asked, request))
    except ReaderLostError as error:
        raise ReaderLostError(
            f"The engine no longer keeps {terms.index!r} as it was at the first page. "
            "Begin again there: search without the cursor."
        ) from error


def _page(terms: SearchTerms, asked: SearchBody, request: SearchOptions) -> Plan[DistinctPage]:
    rule = _rule(terms, asked, request)
    folding = Folding(rule, terms.scope if rule else None)
    search = [terms.index, terms.documents.scheme.id, terms.documents.prefix, asked.list_body, *request.decides]
    if terms.scope:
        search.append(terms.scope.to_json())
    if rule or request.paged or request.cursor is not None:
        check_scripts(asked.body)
    reader: Reader | None = None
    if request.cursor is not None:
        cursor = Cursor.from_text(request.cursor, search, terms.index)
        asked = replace(asked, seed=cursor.seed, within=(yield from documents_behind(terms.index)))
        reader = yield from _go_on(terms, asked, folding, cursor)
    else:
        asked = replace(asked, seed=random.getrandbits(_SEED_BITS))
        if request.paged:
            _check_pages(asked)
            reader = yield OpenReader(terms.index, searched=True)
    first_rank, first = folding.read, len(folding.shown) + (0 if request.cursor else asked.skipped)
    last = first + asked.size
    try:
        done = yield from _read_on(terms, asked, folding, last, reader)
    except (EngineError, InputError):
        if reader and request.cursor is None:
            yield from close(reader)
        raise
    rest = folding.shown[last:]
    end = rest[0].rank if rest else folding.read
    is_last = not rest and (done.at_end or done.limit is not None)
    next_page = None
    if done.reader and is_last:
        yield from close(done.reader)
    elif done.reader:
        next_page = Cursor(done.reader, end, short_hash(folding.names[:end]), asked.seed or 0).to_text(search)
    return DistinctPage(
        tuple(DistinctHit(asked.as_asked(each.hit), tuple(each.similar)) for each in folding.shown[first:last]),
        end - first_rank,
        is_last and done.at_end,
        Counter(reason for rank, reason in folding.apart if rank < end),
        {**done.reply, "hits": {name: value for name, value in done.reply["hits"].items() if name != "hits"}},
        next_page,
        done.limit if is_last else None,
        folding.lacks_decisions,
    )


def _check_pages(asked: SearchBody) -> None:
    """Raise where a page cannot lead to another."""
    if asked.end.at_once:
        raise InputError(f"The results of {asked.end.reason} have a single page. Ask for one page.")
    if not asked.size:
        raise InputError("A page of 0 hits leads to no other. Choose a size from 1, or leave out the cursor.")


def _rule(terms: SearchTerms, asked: SearchBody, request: SearchOptions) -> FoldingRule | GroupRule | None:
    """Return when a hit is folded: by comparing texts, if they decide and come with the hits."""
    if request.by_groups:
        return GroupRule(terms.documents.prefix)
    if not request.distinct:
        return None
    documents = terms.documents
    given = documents.scheme, documents.scheme.id, documents.prefix, terms.criteria_of_fingerprints
    verifier = terms.verifier() if asked.has_texts else None
    if verifier is None:
        if request.numbers:
            raise InputError(
                "Numbers are in texts, which do not come with these hits. Name the text fields in _source (--source), "
                "or use with_texts."
            )
        return FoldingRule(*given)
    return FoldingRule(*given, terms.criteria, verifier, partial(readable_text, documents))


def _go_on(terms: SearchTerms, asked: SearchBody, folding: Folding, cursor: Cursor) -> Plan[Reader]:
    """Read again what is on earlier pages, since what duplicates that is not shown again; return the reader."""
    reader, lengths = cursor.reader, terms.experience.hits
    while folding.read < cursor.rank:
        at_once = lengths.at_once() if asked.has_texts else max(asked.window, _PRINTS_AT_ONCE)
        size = min(cursor.rank - folding.read, at_once)
        try:
            reply = yield Search(terms.index, asked.part_again(folding.read, size), reader)
        except EngineError as error:
            if type(error) is EngineError and not folding.read:
                # It read the same before, so it cannot read this reader's id.
                raise invalid() from error
            raise
        reader = _of_reply(reader, reply) or reader
        hits = reply["hits"]["hits"]
        if asked.has_texts:
            _note(lengths, hits)
        yield from _take_in_decisions(terms, folding, hits)
        folding.add(hits)
        if len(hits) < size:
            break
    if short_hash(folding.names) != cursor.order:
        raise _changing()
    folding.begin_at(cursor.rank)
    return reader


def _take_in_decisions(terms: SearchTerms, folding: Folding, hits: Sequence[Json]) -> Plan[None]:
    """Let hits be folded as people have decided, as far as the login may read that."""
    if terms.decisions is None or not isinstance(folding.rule, FoldingRule):
        return
    keys = [(hit["_index"], hit["_id"]) for hit in hits]
    decided, before = (yield from readable_decisions_on(terms.decisions, keys)), folding.decided
    if decided is None:
        folding.lacks_decisions = terms.decisions.index
        return

    def say(one: Name, other: Name) -> bool | None:
        a, b = one[:2], other[:2]
        if decided.are_apart(a, b):
            return False
        return True if b in decided.others("same", a) else before(one, other) if before else None

    folding.decided = say


def _changing() -> InputError:
    return InputError(
        "The hits of this search changed since the page before, so that its pages would lose some: they depend on the "
        "time (now) or on chance, or the name stands for other indices. Round the time (now/d), give chance a seed, or "
        "begin again with one page."
    )


@dataclass(frozen=True)
class _ReadOn:
    """The first reply, the reader as the last one names it, and why no more can be read: the end, or a limit."""

    reply: Json
    reader: Reader | None
    at_end: bool
    limit: str | None


def _read_on(
    terms: SearchTerms, asked: SearchBody, folding: Folding, enough: int, reader: Reader | None
) -> Plan[_ReadOn]:
    """Read hits until enough are shown, or no more can be read: a window of them, in parts if they are long."""
    lengths = terms.experience.hits
    first: Json | None = None
    most, due = MOST_CANDIDATES, 0
    # Copies of a shard may rank hits differently; a reader has one of each.
    copies = None if reader else f"{random.getrandbits(_SEED_BITS)}"
    while True:
        if due <= 0:
            due = max(asked.window, enough - len(folding.shown)) if enough else 0
        size = min(due, asked.end.hits - folding.read, most)
        if not asked.end.at_once:
            size = min(size, lengths.at_once())
        try:
            body = asked.part(folding.read, size)
            reply: Json = yield Search(terms.index, body, reader, preference=copies)
        except TooLargeError:
            # The index's owner may have set a smaller window than the engine's.
            most = size // 2
            if most:
                continue
            if not folding.read:
                raise
            return _ReadOn(first or {"hits": {}}, reader, False, "index.max_result_window")
        hits = reply["hits"]["hits"]
        _note(lengths, hits)
        due -= size
        yield from _take_in_decisions(terms, folding, hits)
        folding.add(hits, None if due > 0 or len(folding.shown) > enough else enough)
        if reader and folding.has_repeats:
            raise _changing()
        reader, first = _of_reply(reader, reply), first or reply
        at_end = len(hits) < size and not asked.end.at_once
        is_over = not at_end and (asked.end.at_once or folding.read >= asked.end.hits)
        limit = asked.end.reason if is_over else None
        if at_end or limit or (due <= 0 and len(folding.shown) >= enough):
            return _ReadOn(first, reader, at_end, limit)


def _of_reply(reader: Reader | None, reply: Json) -> Reader | None:
    """Return the reader as the last reply names it."""
    return replace(reader, id=reply.get("pit_id") or reader.id) if reader else None


def _note(lengths: ReplySize, hits: Sequence[Json]) -> None:
    """Take in the longer one of the first and the last hit, since measuring all takes time."""
    if len(hits):
        lengths.note([max(json_length(hits[place].get("_source")) for place in (0, -1))] * len(hits))


# A reader's id has about 130 characters for each shard.
MOST_CHARACTERS = 1 << 20
_MARK_LENGTH = 16
_FORM = re.compile(
    rf"2\.([0-9a-f]{{{_MARK_LENGTH}}})\.([1-9][0-9]{{0,4}})\.([0-9a-f]{{{_MARK_LENGTH}}})\.([0-9]{{1,10}})"
    r"\.(elasticsearch|opensearch|embedded)\.([!-~]+)"
)


@dataclass(frozen=True)
class Cursor:
    """The ``reader``, the ``rank`` of the first hit to read, the ``order`` of those before it, and the ``seed``."""

    reader: Reader
    rank: int
    order: str
    seed: int

    def to_text(self, search: Any) -> str:
        """Write the cursor of a search, given by all that decides its hits."""
        rest = f"{self.rank}.{self.order}.{self.seed}.{self.reader.kind}.{self.reader.id}"
        text = f"2.{short_hash([search, rest])}.{rest}"
        if len(text) > MOST_CHARACTERS:
            raise InputError(
                f"A cursor for these shards would have {len(text):,} characters, and the most is "
                f"{MOST_CHARACTERS:,}. Search fewer indices at once, or ask for one page."
            )
        return text

    @classmethod
    def from_text(cls, text: str, search: Any, index: str) -> Cursor:
        """Read a cursor of a search of an index; raise unless it is one of this search."""
        is_short = isinstance(text, str) and len(text) <= MOST_CHARACTERS
        if not is_short or not (found := _FORM.fullmatch(text)):
            raise invalid()
        mark, rank, order, seed, kind, id_ = found.groups()
        if mark != short_hash([search, text.split(".", 2)[2]]):
            raise invalid()
        return cls(Reader(cast("Any", kind), index, id_), int(rank), order, int(seed))


def invalid() -> FormatError:
    """Return the error for a cursor that cannot be used."""
    return FormatError(
        "Invalid cursor. Pass the cursor of the previous page to the same search: the same index, body and options."
    )


def short_hash(value: Any) -> str:
    """Return a short hash of a value, as of the names of hits in their order."""
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:_MARK_LENGTH]


# Parts of a request other than hits: the first reply has them.
_ONCE = ("aggs", "aggregations", "suggest", "track_total_hits", "profile")
# What it asks of each hit: hits that are read again are only compared.
_OF_HITS = ("highlight", "explain", "fields", "docvalue_fields", "stored_fields", "script_fields", "version")
# What says where in the list of hits a reply begins: the plan does.
_PLACES = ("search_after", "pit", "slice")
_DEFAULT_SIZE = 10
# What stored_fields says where a hit is to have no source.
_NO_SOURCE = "_none_"


@dataclass(frozen=True)
class SearchBody:
    """A search request; hits come as it asks, with our fields added, and the texts if they are ``with_texts``.

    For hits that are folded ``by_groups``, our fields are their group and canonical document. A ``window`` is how many
    hits are read at once. ``scope_paths`` are the fields that a scope reads. What the request asks of chance goes by
    the ``seed``. On a later page, the reader may show other documents than those ``within`` the name of the index.
    """

    body: Json
    documents: Documents
    window: int
    with_texts: bool = False
    by_groups: bool = False
    scope_paths: Sequence[str] = ()
    seed: int | None = None
    within: Json | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.body, dict):
            raise InputError(f"A search cannot be {self.body!r}. Give the body of a search request, as an object.")
        for name in _PLACES:
            if name in self.body:
                raise InputError(f"A search for distinct hits reads its own pages. Leave {name!r} out; use the cursor.")
        if "collapse" in self.body:
            raise InputError("A search for distinct hits cannot collapse them as well. Leave 'collapse' out.")
        stored = self.body.get("stored_fields")
        if stored == _NO_SOURCE or (isinstance(stored, list) and _NO_SOURCE in stored):
            raise InputError(
                f"Hits without their source cannot be compared. Give '_source': false, not {_NO_SOURCE!r}."
            )
        # Raise for what is not a source filter.
        _ = self.asked_source

    @property
    def size(self) -> int:
        """How many distinct hits are asked for."""
        return _whole(self.body, "size", _DEFAULT_SIZE)

    @property
    def skipped(self) -> int:
        """How many distinct hits are passed over."""
        return _whole(self.body, "from", 0)

    @cached_property
    def _bounded(self) -> tuple[Json, ListEnd]:
        body = self.body if self.seed is None else with_seeds(self.body, self.seed)
        if self.within is not None:
            # No other part of a request narrows hits of vector searches and retrievers as it does all others.
            given = [body["post_filter"]] if "post_filter" in body else []
            body = {**body, "post_filter": {"bool": {"filter": [*given, self.within]}}}
        return with_end(body, max(self.window, self.skipped + self.size))

    @property
    def list_body(self) -> Json:
        """The request with all that decides its list of hits."""
        return self._bounded[0]

    @property
    def end(self) -> ListEnd:
        """The last possible end of its list of hits."""
        return self._bounded[1]

    @property
    def _asked(self) -> Any:
        if "_source" in self.body:
            # Servers take an empty list for the whole.
            return self.body["_source"] if self.body["_source"] != [] else True
        stored = self.body.get("stored_fields")
        if stored is None:
            return not self.body.get("script_fields")
        return stored == "_source" or (isinstance(stored, list) and "_source" in stored)

    @cached_property
    def asked_source(self) -> SourceFilter:
        """What the caller asks for of documents."""
        return SourceFilter.of(self._asked)

    def part(self, start: int, size: int) -> Json:
        """Return the request for hits from a rank on."""
        rest = {name: value for name, value in self.list_body.items() if start == 0 or name not in _ONCE}
        again: Json = {"from": start, "size": size, "_source": self._source}
        return rest | again | ({"track_total_hits": False} if start else {})

    def part_again(self, start: int, size: int) -> Json:
        """Return the request for hits that stand on earlier pages: for what of them is compared."""
        rest = {name: value for name, value in self.list_body.items() if name not in (*_ONCE, *_OF_HITS)}
        source = [*self._compared, *(self.documents.fields if self.has_texts else ())]
        return rest | {"from": start, "size": size, "_source": source, "track_total_hits": False}

    @property
    def _source(self) -> list[str] | bool:
        asked = self._asked
        if isinstance(asked, dict):
            # What the caller excludes may be ours; it is taken out of the hits.
            asked = asked.get("includes") or True
        if asked is True:
            return True
        names = [] if asked is False else name_list(asked)
        return [*names, *self._compared, *(self.documents.fields if self.with_texts else ())]

    @property
    def _compared(self) -> list[str]:
        prefix = self.documents.prefix
        groups = [f"{prefix}.{name}" for name in (GROUP, CANONICAL)]
        own = groups if self.by_groups else compared_fields(self.documents.scheme, prefix)
        return [*own, *self.scope_paths]

    @cached_property
    def _sort_keys(self) -> int:
        retriever = self.body.get("retriever")
        standard = retriever.get("standard") if isinstance(retriever, dict) else None
        sort = self.body.get("sort") or (standard.get("sort") if isinstance(standard, dict) else None) or []
        return sum(len(key) if isinstance(key, dict) else 1 for key in (sort if isinstance(sort, list) else [sort]))

    @cached_property
    def has_texts(self) -> bool:
        """Whether hits come with their texts."""
        source = self._source
        return source is True or set(self.documents.fields) <= set(source or ())

    def as_asked(self, hit: Json) -> Json:
        """Return a hit with what the caller asks for: of its source, and of what it was sorted by."""
        if self._sort_keys and len(hit.get("sort", ())) > self._sort_keys:
            # At a point in time, Elasticsearch sorts equal ones by their place.
            hit = {**hit, "sort": hit["sort"][: self._sort_keys]}
        if self._asked is True or "_source" not in hit:
            return hit
        if not self.asked_source.wanted:
            return {name: value for name, value in hit.items() if name != "_source"}
        return {**hit, "_source": self.asked_source.part_of(hit["_source"])}


def _whole(body: Json, name: str, default: int) -> int:
    value: Any = body.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"{name!r} of a search cannot be {value!r}. Choose a whole number from 0.")
    return value


# Retrievers that rank what others found, as many hits as their rank_window_size.
_RANKING = ("rrf", "linear", "text_similarity_reranker", "random_reranker", "rule", "pinned")
# What a retriever may have that a list cannot.
_OWN_PLACES = ("search_after", "collapse")
_DIVERSE = 10


@dataclass(frozen=True)
class ListEnd:
    """No more ``hits`` of a list can be read, because of what the ``reason`` names.

    A list that is read ``at_once`` has no parts, and a short reply does not show that it is at its end.
    """

    hits: int
    reason: str
    at_once: bool = False


_ENGINES = ListEnd(MOST_CANDIDATES, f"{MOST_CANDIDATES:,} hits")


def with_end(body: Json, window: int) -> tuple[Json, ListEnd]:
    """Return a search request whose list does not depend on the part that is asked for, and where the list ends."""
    set_, ends = dict(body), [_ENGINES]
    if isinstance(query := body.get("query"), dict):
        set_["query"] = _with_k(query, window)
        if "hybrid" in query:
            ends.append(ListEnd(window, "the hybrid query", at_once=True))
    if "knn" in body:
        several = body["knn"] if isinstance(body["knn"], list) else [body["knn"]]
        nearest = [_nearest(each, window) for each in several]
        set_["knn"] = nearest if isinstance(body["knn"], list) else nearest[0]
        if nearest and "query" not in body:
            ends.append(ListEnd(sum(_number(each, "k", window) for each in nearest), "k"))
    for name in ("retriever", "rank"):
        if name in body:
            set_[name], end = _retriever(body[name], window)
            ends.append(end)
    if "search_pipeline" in body:
        # It may leave hits out of each reply.
        ends.append(ListEnd(window, "the search pipeline", at_once=True))
    return set_, min(ends, key=lambda end: (not end.at_once, end.hits))


def _retriever(given: Any, window: int) -> tuple[Any, ListEnd]:
    """Return a retriever and where its list ends; an engine says best what is wrong with one."""
    if not isinstance(given, dict) or not all(isinstance(spec, dict) for spec in given.values()) or len(given) != 1:
        return given, _ENGINES
    [(kind, spec)] = given.items()
    for name in _OWN_PLACES:
        if name in spec:
            raise InputError(f"A search for distinct hits reads its own pages. Leave {name!r} of {kind!r} out.")
    if kind == "standard":
        return {kind: _with_k(spec, window)}, _ENGINES
    if kind == "rescorer":
        return _rescorer(spec, window)
    if kind in _RANKING:
        size = _number(spec, "rank_window_size", window)
        return {kind: {**spec, "rank_window_size": size}}, ListEnd(size, "rank_window_size")
    if kind == "knn":
        end = ListEnd(_number(spec, "k", window), "k")
    else:
        end = ListEnd(_number(spec, "size", _DIVERSE), f"the retriever {kind}")
    return given, end


def _rescorer(spec: Json, window: int) -> tuple[Json, ListEnd]:
    inner, end = _retriever(spec.get("retriever"), window)
    given = spec.get("rescore")
    steps = [
        {**each, "window_size": _number(each, "window_size", window)} if isinstance(each, dict) else each
        for each in (given if isinstance(given, list) else [given])
    ]
    ends = [end, *(ListEnd(_number(each, "window_size", window), "window_size") for each in steps)]
    rescorer = {**spec, "retriever": inner, "rescore": steps if isinstance(given, list) else steps[0]}
    return {"rescorer": rescorer}, min(ends, key=lambda each: each.hits)


def _with_k(query: Any, window: int) -> Any:
    """Return a query with ``k`` in each vector query of Elasticsearch in it; OpenSearch's have one of their own."""
    if isinstance(query, list):
        return [_with_k(each, window) for each in query]
    if not isinstance(query, dict):
        return query
    return {
        name: _nearest(each, window) if name == "knn" and _is_vector_query(each) else _with_k(each, window)
        for name, each in query.items()
    }


def _is_vector_query(given: Any) -> bool:
    return isinstance(given, dict) and isinstance(given.get("field"), str)


def _nearest(given: Any, window: int) -> Any:
    if not isinstance(given, dict) or "k" in given:
        return given
    return {**given, "k": min(window, _number(given, "num_candidates", window))}


def _number(given: Any, name: str, default: int) -> int:
    """Return a number of a request; the default where there is none, or what an engine refuses."""
    value = given.get(name) if isinstance(given, Mapping) else None
    return value if isinstance(value, int) and value > 0 else default


# Parts of a request that decide neither which hits there are, nor in which order.
_BESIDE = ("aggs", "aggregations", "highlight", "script_fields", "suggest")
# What Painless has of chance; a Random with a seed is always the same.
_CHANCE = re.compile(r"\bMath\s*\.\s*random\b|\bnew\s+Random\s*\(\s*\)|\brandomUUID\b|\bCollections\s*\.\s*shuffle\b")


def with_seeds(request: Any, seed: int) -> Any:
    """Return a search request with a seed wherever it asks for chance without one."""
    if isinstance(request, list):
        return [with_seeds(each, seed) for each in request]
    if not isinstance(request, dict):
        return request
    seeded = {name: with_seeds(each, seed) for name, each in request.items()}
    for spec in (seeded.get("function_score"), *_functions(seeded.get("function_score"))):
        if isinstance(spec, dict) and isinstance(given := spec.get("random_score"), dict) and "seed" not in given:
            # Places of documents in files differ between copies of a shard.
            spec["random_score"] = {"field": "_seq_no", **given, "seed": seed}
    if isinstance(given := seeded.get("random_reranker"), dict) and "retriever" in given:
        seeded["random_reranker"] = {"seed": seed, **given}
    return seeded


def _functions(spec: Any) -> list[Any]:
    functions = spec.get("functions") if isinstance(spec, dict) else None
    return functions if isinstance(functions, list) else []


def check_scripts(body: Json) -> None:
    """Raise if a script puts the hits in another order at each request."""
    for source in _scripts({name: each for name, each in body.items() if name not in _BESIDE}):
        if found := _CHANCE.search(source):
            raise InputError(
                f"A search for distinct hits needs one order, and {found[0]!r} in a script gives another one at each "
                "request. Use random_score, or a number from params instead."
            )


def _scripts(part: Any) -> list[str]:
    """Return the source of each script in a part of a request."""
    if isinstance(part, list):
        return [source for each in part for source in _scripts(each)]
    if not isinstance(part, dict):
        return []
    found = [source for each in part.values() for source in _scripts(each)]
    script = part.get("script")
    source = script.get("source") if isinstance(script, dict) else script
    return [*found, source] if isinstance(source, str) else found
