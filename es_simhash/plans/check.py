"""Checking documents before they are inserted: against the index, and against earlier documents of the same list."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Literal, TypeAlias

import numpy as np

from es_simhash._core import arrays
from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import Result, Shown
from es_simhash.documents.documents import Document, Documents
from es_simhash.documents.sources import OnReject, Rejected, SourceFilter
from es_simhash.errors import InputError
from es_simhash.plans.find import (
    FetchCandidates,
    SearchResult,
    all_candidates,
    find_fingerprinted,
    minimum_similarities,
    plausible_hits,
    with_asked,
)
from es_simhash.plans.find_options import QueryDocument, SearchTerms, query_documents
from es_simhash.plans.operations import Plan
from es_simhash.scheme.fingerprinting import Fingerprint
from es_simhash.scheme.query import shared_bands
from es_simhash.scheme.rerank import (
    DETAILED_COLUMNS,
    NOTHING,
    Matches,
    Measured,
    compare,
    matches_of,
    shown_matches,
)
from es_simhash.scheme.verifier import Verifier
from es_simhash.sketches.keys import KeyIndex, Keys

Status: TypeAlias = Literal["new", "near-duplicate", "no text"]
# Documents that are removed from the keys at once.
_REMOVED = 100
# A fingerprint, and the fields that hold it.
Made: TypeAlias = tuple[Fingerprint, Json]


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
        columns, shown = shown_matches(match for matches in places.values() for match in matches)
        names = (place for place, matches in places.items() for _ in matches)
        rows = ([place, *row] for place, row in zip(names, shown, strict=True))
        notes = [f"It has no value in a field of the scope: {', '.join(self.missing)}."] if self.missing else []
        return Shown(f"{name} {verdict}", ["in the", *columns], rows, count, notes, detailed=DETAILED_COLUMNS)


class SeenDocuments:
    """The documents of a list so far, found by their keys; ``count`` includes rejected ones.

    Each takes about 2 kB of memory, plus its text.
    """

    def __init__(self, terms: SearchTerms) -> None:
        self.terms = terms
        self.count = 0
        self._kinds = list(_kinds_of_keys(terms))
        self._next = 0
        # Those that are compared with others, by their places in the indices of keys.
        self._hits: dict[int, Json] = {}
        self._texts: dict[int, str] = {}
        self._by_id: dict[str, list[int]] = {}
        self._forgotten: list[int] = []
        # The fields of documents that come next, their places, and those of earlier ones that share their keys.
        self._coming: dict[int, tuple[Json, int, list[int]]] = {}

    def expect(self, made: Iterable[Made]) -> None:
        """Look up at once what shares the keys of documents that are compared or added next, in this order."""
        self._forgotten += [place for _, place, _ in self._coming.values() if place not in self._hits]
        if len(self._forgotten) > _REMOVED:
            for kind in self._kinds:
                kind.index.remove(self._forgotten)
            self._forgotten.clear()
        coming = [(fingerprint, fields) for fingerprint, fields in made if fingerprint.status != "empty"]
        first, self._next = self._next, self._next + len(coming)
        sharing: list[set[int]] = [set() for _ in coming]
        for kind in self._kinds if coming else ():
            for row, place in kind.added([fingerprint for fingerprint, _ in coming], len(self._hits)):
                sharing[row].add(place)
        self._coming = {
            id(fields): (fields, first + row, sorted(place for place in sharing[row] if place < first + row))
            for row, (_, fields) in enumerate(coming)
        }

    def measured(
        self,
        wanted: QueryDocument,
        fingerprint: Fingerprint,
        fields: Json,
        verifier: Verifier | None,
        without: Collection[str] = (),
    ) -> Measured:
        """Compare an expected document with those so far that share its keys; the ``verifier`` compares texts.

        Documents whose ids are in ``without`` are left out.
        """
        if fingerprint.status == "empty":
            return NOTHING
        scheme, prefix = self.terms.documents.scheme, self.terms.documents.prefix
        criteria = self.terms.criteria
        found = ((place, self._hits.get(place)) for place in self._coming[id(fields)][2])
        sharing = [(place, hit) for place, hit in found if hit is not None and hit["_id"] not in without]
        if not sharing:
            return NOTHING
        values = self.terms.values_of(wanted.document)
        among, unscoped = self.terms.in_scope(values, [hit for _, hit in sharing])
        places, hits = [sharing[which][0] for which in among], [sharing[which][1] for which in among]
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
        """Add an expected document with its position in the list and its fields."""
        if fingerprint.status == "empty":
            return
        id_ = str(position) if wanted.id is None else wanted.id
        place = self._coming[id(stored)][1]
        scoped = self._scoped.part_of(dict(wanted.document)) if self.terms.scope else {}
        self._hits[place] = {"_index": "", "_id": id_, "_source": scoped | {self.terms.documents.prefix: stored}}
        self._texts[place] = wanted.text
        self._by_id.setdefault(id_, []).append(place)

    def forget(self, id: str) -> None:
        """Forget the documents with an id so far: a later one replaces them."""
        for place in self._by_id.pop(id, ()):
            del self._texts[place], self._hits[place]
            self._forgotten.append(place)


@dataclass(frozen=True)
class _KeyKind:
    """Keys of one kind of the documents so far: how to make them, and how many to share among some documents."""

    index: KeyIndex
    keys_of: Callable[[Sequence[Fingerprint]], Keys]
    least: Callable[[int], int]

    def added(self, fingerprints: Sequence[Fingerprint], count: int) -> Iterator[tuple[int, int]]:
        """Add documents; yield for each the places of those that share its keys, itself among them."""
        keys = self.keys_of(fingerprints)
        self.index.add(keys)
        rows, places, _ = self.index.sharing(keys, self.least(count))
        return zip(rows.tolist(), places.tolist(), strict=True)


def _kinds_of_keys(terms: SearchTerms) -> Iterator[_KeyKind]:
    simhash, minhash, criteria = terms.documents.scheme.simhash, terms.documents.scheme.minhash, terms.criteria
    if simhash and criteria.distance is not None:
        blocks, bits, least = simhash.layout, simhash.bits, simhash.layout.min_shared(criteria.distance)

        def of_blocks(some: Sequence[Fingerprint]) -> Keys:
            return blocks.values(arrays.from_ints((each.simhash or 0 for each in some), bits))

        yield _KeyKind(KeyIndex(blocks.count), of_blocks, lambda _: least)
    if minhash and criteria.similarity is not None:
        bands = minhash.layout
        yield _KeyKind(
            KeyIndex(bands.count, bands.packed_type),
            lambda some: bands.packed(np.stack([each.signature for each in some])),
            lambda count: shared_bands(minhash, criteria, count),
        )


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
    made: Mapping[int, Made],
    candidates: FetchCandidates = all_candidates,
) -> Plan[Iterator[Checked]]:
    """Check documents by position, each as it is taken from the iterator; the next ones are also compared with it.

    The fingerprint and the fields of each are ``made`` already.
    """
    compare = seen.terms.verifier()
    seen.expect(made.values())
    in_index = yield from find_fingerprinted(
        seen.terms, list(wanted.values()), list(made.values()), compare, candidates
    )
    return _each_checked(seen, zip(wanted.items(), made.values(), in_index, strict=True), compare)


def _each_checked(
    seen: SeenDocuments,
    found: Iterable[tuple[tuple[int, QueryDocument], Made, SearchResult]],
    compare: Verifier | None,
) -> Iterator[Checked]:
    criteria = seen.terms.criteria
    for (position, each), (fingerprint, stored), result in found:
        earlier = result.earlier(partial(seen.measured, each, fingerprint, stored, compare))
        matches = matches_of(earlier, criteria, status=fingerprint.status)
        seen.add(position, each, fingerprint, stored)
        yield Checked(position, each.id, result.matches(), matches)


def made_of(documents: Documents, wanted: Mapping[int, QueryDocument], on_reject: OnReject | None) -> dict[int, Made]:
    """Return the fingerprint and the fields of each text that has them, by position."""
    positions = iter(wanted)
    made: dict[int, Made] = {}
    for batch in documents.batches([each.text for each in wanted.values()]):
        if isinstance(batch, InputError):
            position = next(positions)
            Rejected.given(wanted[position].id, position, batch.problem).hand_to(on_reject)
        else:
            made.update(zip(islice(positions, len(batch[1])), zip(*batch, strict=True), strict=True))
    return made
