"""Checking documents before they are inserted: against the index, and against earlier documents of the same list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Literal, TypeAlias

from es_simhash._core.humanize import counted
from es_simhash._core.json_paths import Json
from es_simhash._core.rows import Result, Shown
from es_simhash.documents.actions import Document
from es_simhash.documents.documents import Documents
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.documents.source_filter import SourceFilter
from es_simhash.errors import InputError
from es_simhash.plans.candidates import all_candidates
from es_simhash.plans.find import FetchCandidates, SearchResult, find_fingerprinted, with_asked
from es_simhash.plans.operations import Plan
from es_simhash.plans.query_documents import QueryDocument, query_documents
from es_simhash.plans.search_terms import SearchTerms
from es_simhash.plans.text_comparison import minimum_similarities, plausible_hits
from es_simhash.scheme import own_fields
from es_simhash.scheme.fingerprint import Fingerprint
from es_simhash.scheme.query import Criteria, shared_bands
from es_simhash.scheme.rerank import (
    NOTHING,
    SHOWN_COLUMNS,
    Matches,
    Measured,
    compare,
    matches_of,
    shown_row,
)
from es_simhash.scheme.verdict.verifier import Verifier

Status: TypeAlias = Literal["new", "near-duplicate", "no text"]


@dataclass(frozen=True)
class Checked(Result):
    """A document to insert, its ``position`` in the list, and its near-duplicates.

    ``in_index`` holds those in the index, ``earlier`` those before it in the list: their ``id`` is their own or, where
    they have none, their position. One without a text to compare is neither new nor old: its ``status`` says so.
    """

    JSON = ("position", "id", "status", "is_new", "in_index", "earlier")

    position: int
    id: str | None
    in_index: Matches
    earlier: Matches

    @property
    def status(self) -> Status:
        """Whether it is ``new``, a ``near-duplicate``, or has ``no text``, so that nothing is known."""
        if self.in_index.status == "empty":
            return "no text"
        return "near-duplicate" if self.in_index or self.earlier else "new"

    @property
    def is_new(self) -> bool:
        """Whether it has a text and no near-duplicate, neither in the index nor earlier in the list."""
        return self.status == "new"

    @property
    def refused(self) -> int:
        """How many documents are similar enough, but share too few numbers."""
        return self.in_index.refused + self.earlier.refused

    @property
    def missing(self) -> tuple[str, ...]:
        """The fields of the scope in which it has no value, so that it has no near-duplicate."""
        return self.in_index.missing

    def shown(self) -> Shown:
        """Return its near-duplicates, those in the index and those before it in the list, for people."""
        name = f"Document {self.position:,}" + ("" if self.id is None else f" ({self.id})")
        count = len(self.in_index) + len(self.earlier)
        said = {"new": "is new", "no text": "has no text to compare"}
        verdict = said.get(self.status, f"has {counted(count, 'near-duplicate')}")
        places = {"index": self.in_index, "list": self.earlier}
        rows = ([place, *shown_row(match)] for place, matches in places.items() for match in matches)
        notes = [f"It has no value of the scope in: {', '.join(self.missing)}."] if self.missing else []
        return Shown(f"{name} {verdict}", ["in the", *SHOWN_COLUMNS], rows, count, notes)


# Keys by the field that has them.
Keys: TypeAlias = Mapping[str, Collection[str]]


class KeyPlaces:
    """The places of documents by their keys; nearly every key has one, which then takes no list."""

    def __init__(self) -> None:
        self._by_field: dict[str, dict[str, int | list[int]]] = {}

    def add(self, keys: Keys, place: int) -> None:
        """Add a place to those of keys."""
        for name, each in keys.items():
            by_key = self._by_field.setdefault(name, {})
            # Nearly all keys are in no other document, so sets leave out most of the work.
            held = {key: by_key[key] for key in by_key.keys() & each}
            by_key.update(dict.fromkeys(each, place))
            for key, places in held.items():
                if isinstance(places, list):
                    places.append(place)
                by_key[key] = places if isinstance(places, list) else [places, place]

    def remove(self, keys: Keys, place: int) -> None:
        """Remove a place from those of keys."""
        for name, each in keys.items():
            by_key = self._by_field[name]
            for key in each:
                held = by_key.get(key)
                if isinstance(held, list) and len(held) > 1:
                    held.remove(place)
                else:
                    by_key.pop(key, None)

    def shared(self, keys: Keys) -> Counter[int]:
        """Count how many of some keys each place has."""
        found: Counter[int] = Counter()
        for name, each in keys.items():
            by_key = self._by_field.get(name, {})
            for key in by_key.keys() & each:
                held = by_key[key]
                found.update(held if isinstance(held, list) else (held,))
        return found


@dataclass
class SeenDocuments:
    """The documents of a list so far, searchable by their keys; ``count`` includes rejected ones.

    Each takes about 4 kB of memory, plus its text.
    """

    terms: SearchTerms
    count: int = 0
    _hits: dict[int, Json] = field(default_factory=dict)
    _texts: dict[int, str] = field(default_factory=dict)
    _by_key: KeyPlaces = field(default_factory=KeyPlaces)
    _by_id: dict[str, list[int]] = field(default_factory=dict)
    _next: int = 0
    # Those of the document that was compared last, which is mostly the next to be added.
    _last_keys: tuple[Json, Keys, Keys] = field(default_factory=lambda: ({}, {}, {}))

    def measured(
        self,
        wanted: QueryDocument,
        fingerprint: Fingerprint,
        fields: Json,
        verifier: Verifier | None,
        without: Collection[str] = (),
    ) -> Measured:
        """Compare a text with the documents so far that share its keys; the ``verifier`` compares texts.

        Documents whose ids are in ``without`` are left out.
        """
        if fingerprint.status == "empty":
            return NOTHING
        scheme, prefix = self.terms.documents.scheme, self.terms.documents.prefix
        criteria = self.terms.criteria
        sharing = [place for place in self._candidates(fields, criteria) if self._hits[place]["_id"] not in without]
        if not sharing:
            return NOTHING
        values = self.terms.values_of(wanted.document)
        among, unscoped = self.terms.in_scope(values, [self._hits[place] for place in sharing])
        places = [sharing[place] for place in among]
        hits = [self._hits[place] for place in places]
        compared = compare(scheme, scheme.id, fingerprint, hits, prefix=prefix, content=fields["content"])
        compared = replace(compared, unscoped=unscoped)
        if verifier is None:
            return Measured(compared)
        plausible = plausible_hits(scheme, criteria, fingerprint, compared).tolist()
        texts = [self._texts[place] if is_read else None for place, is_read in zip(places, plausible, strict=True)]
        [exact] = verifier.each_to_others([(wanted.text, texts, minimum_similarities(criteria, compared))])
        return Measured(compared, exact)

    @cached_property
    def _scoped(self) -> SourceFilter:
        """The part of documents that the scope reads."""
        return SourceFilter.of(self.terms.scope_paths)

    def add(self, position: int, wanted: QueryDocument, fingerprint: Fingerprint, stored: Json) -> None:
        """Add a document with its position in the list and its fields."""
        id_ = str(position) if wanted.id is None else wanted.id
        if fingerprint.status == "empty":
            return
        place, self._next = self._next, self._next + 1
        for keys in self._keys(stored):
            self._by_key.add(keys, place)
        scoped = self._scoped.part_of(dict(wanted.document)) if self.terms.scope else {}
        self._hits[place] = {"_index": "", "_id": id_, "_source": scoped | {self.terms.documents.prefix: stored}}
        self._texts[place] = wanted.text
        self._by_id.setdefault(id_, []).append(place)

    def forget(self, id: str) -> None:
        """Forget the documents with an id so far: a later one replaces them."""
        for place in self._by_id.pop(id, ()):
            del self._texts[place]
            for keys in self._keys(self._hits.pop(place)["_source"][self.terms.documents.prefix]):
                self._by_key.remove(keys, place)

    def _candidates(self, fields: Json, criteria: Criteria) -> list[int]:
        scheme = self.terms.documents.scheme
        found: set[int] = set()
        blocks, bands = self._keys(fields)
        if criteria.distance is not None and scheme.simhash:
            shared = self._by_key.shared(blocks)
            least = scheme.simhash.layout.min_shared(criteria.distance)
            found |= {place for place, count in shared.items() if count >= least}
        if criteria.similarity is not None and scheme.minhash:
            least = shared_bands(scheme.minhash, criteria, len(self._hits))
            found |= {place for place, count in self._by_key.shared(bands).items() if count >= least}
        return sorted(found)

    def _keys(self, stored: Json) -> tuple[Keys, Keys]:
        """Return the keys of blocks and of bands by which a document may be found."""
        last, blocks, bands = self._last_keys
        if last is not stored:
            criteria = self.terms.criteria
            blocks = {} if criteria.distance is None else own_fields.keys_in(stored, "block")
            bands = {} if criteria.similarity is None else own_fields.keys_in(stored, "band")
            self._last_keys = stored, blocks, bands
        return blocks, bands


def check(seen: SeenDocuments, documents: Sequence[Document], on_reject: OnReject | None = None) -> Plan[list[Checked]]:
    """Check the next documents of the list, and remember them.

    A document that cannot be read raises a `DocumentError` that names it, or goes to ``on_reject`` and is left out.
    """
    own = seen.terms.documents
    wanted = query_documents(own, documents, seen.count, on_reject)
    seen.count += len(documents)
    made = made_of(own, wanted, on_reject)
    checking = yield from check_fingerprinted(seen, {position: wanted[position] for position in made}, made)
    checked = list(checking)
    found = yield from with_asked(seen.terms, [each.in_index for each in checked])
    return [replace(each, in_index=matches) for each, matches in zip(checked, found, strict=True)]


def check_fingerprinted(
    seen: SeenDocuments,
    wanted: Mapping[int, QueryDocument],
    made: Mapping[int, tuple[Fingerprint, Json]],
    candidates: FetchCandidates = all_candidates,
) -> Plan[Iterator[Checked]]:
    """Check documents by position, each as it is taken from the iterator; the next ones are also compared with it.

    The fingerprint and the fields of each are ``made`` already.
    """
    compare = seen.terms.verifier()
    in_index = yield from find_fingerprinted(
        seen.terms, list(wanted.values()), list(made.values()), compare, candidates
    )
    return _each_checked(seen, zip(wanted.items(), made.values(), in_index, strict=True), compare)


def _each_checked(
    seen: SeenDocuments,
    found: Iterable[tuple[tuple[int, QueryDocument], tuple[Fingerprint, Json], SearchResult]],
    compare: Verifier | None,
) -> Iterator[Checked]:
    criteria = seen.terms.criteria
    for (position, each), (fingerprint, stored), result in found:
        earlier = seen.measured(each, fingerprint, stored, compare)
        matches = matches_of(earlier, criteria, status=fingerprint.status)
        seen.add(position, each, fingerprint, stored)
        yield Checked(position, each.id, result.matches(), matches)


def made_of(
    documents: Documents, wanted: Mapping[int, QueryDocument], on_reject: OnReject | None
) -> dict[int, tuple[Fingerprint, Json]]:
    """Return the fingerprint and the fields of each text that has them, by position."""
    positions = iter(wanted)
    made: dict[int, tuple[Fingerprint, Json]] = {}
    for batch in documents.batches([each.text for each in wanted.values()]):
        if isinstance(batch, InputError):
            position = next(positions)
            Rejected.given(wanted[position].id, position, batch.problem).hand_to(on_reject)
        else:
            made.update(zip(islice(positions, len(batch[1])), zip(*batch, strict=True), strict=True))
    return made
