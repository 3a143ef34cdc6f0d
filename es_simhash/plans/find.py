"""Finding near-duplicates: fetch all candidates from the engine, then compare them exactly here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import fingerprinted, prepared
from es_simhash.documents.painless import hamming_script
from es_simhash.documents.sources import SourceFilter
from es_simhash.plans.candidates import Candidates, all_candidates
from es_simhash.plans.find_options import QueryDocument
from es_simhash.plans.operations import Plan
from es_simhash.plans.reply_size import with_source
from es_simhash.plans.scoped_text import ScopedText
from es_simhash.plans.search_experience import Part
from es_simhash.plans.search_terms import SearchTerms
from es_simhash.plans.text_comparison import (
    minimum_similarities,
    plausible_hits,
    texts_in_hits,
    texts_of_hits,
)
from es_simhash.scheme import query, rerank
from es_simhash.scheme.fingerprint import Fingerprint
from es_simhash.scheme.own_fields import object_in
from es_simhash.scheme.rerank import NOTHING, Compared, Match, Matches, Measured
from es_simhash.scheme.verdict.verifier import Verifier


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
    needless = [search.is_needless for search in searches]
    sent = [search for search, is_needless in zip(searches, needless, strict=True) if not is_needless]
    if sent:
        yield from terms.experience.read(terms.index, terms.documents)
    by_words = terms.options.candidates == "more_like_this"
    replies = yield from candidates(terms, sent, with_texts=by_words or verifier is not None)
    if by_words:
        for place, search in enumerate(sent):
            replies[place] = yield from _with_texts(search, replies[place])
    # To compare nothing takes time as well.
    found = {place: sent[place].compared(reply.hits) for place, reply in enumerate(replies) if reply.hits}
    measured = {place: Measured(compared) for place, compared in found.items()}
    if verifier is not None and found:
        some, theirs = [sent[place] for place in found], [replies[place] for place in found]
        exact = yield from _verified(verifier, some, list(found.values()), theirs)
        measured = dict(zip(found, exact, strict=True))
    results = iter(
        SearchResult(search, measured.get(place, NOTHING), reply.complete, reply.part)
        for place, (search, reply) in enumerate(zip(sent, replies, strict=True))
    )
    return [
        SearchResult(search, NOTHING, True) if is_needless else next(results)
        for search, is_needless in zip(searches, needless, strict=True)
    ]


def _with_texts(search: TextSearch, reply: Candidates) -> Plan[Candidates]:
    """Return candidates with their texts, which are compared with nothing else."""
    if reply.part is not Part.FINGERPRINTS:
        return reply
    source = search.source(Part.TEXTS)
    return Candidates((yield from with_source(search.terms.index, reply.hits, source)), reply.complete, Part.TEXTS)


def _verified(
    verifier: Verifier, searches: Sequence[TextSearch], found: Sequence[Compared], replies: Sequence[Candidates]
) -> Plan[list[Measured]]:
    """Measure the texts of the candidates that may be similar enough."""
    here: list[Json] = []
    elsewhere: list[Json] = []
    for search, compared, reply in zip(searches, found, replies, strict=True):
        plausible = plausible_hits(verifier.settings, search.terms.criteria, search.fingerprint, compared).nonzero()[0]
        (elsewhere if reply.part is Part.FINGERPRINTS else here).extend(compared.hits[i] for i in plausible.tolist())
    terms = searches[0].terms
    documents = terms.documents
    size = terms.experience.size_of_texts(max(search.own_length for search in searches))
    texts = texts_in_hits(documents, here) | (yield from texts_of_hits(documents, elsewhere, size))
    wanting = []
    for search, compared in zip(searches, found, strict=True):
        others = [texts.get((hit["_index"], hit["_id"])) for hit in compared.hits]
        least = minimum_similarities(terms.criteria, compared)
        wanting.append((search.wanted.text, others, least))
    exact = verifier.each_to_others(wanting)
    return [Measured(compared, each) for compared, each in zip(found, exact, strict=True)]


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

    def body(self, size: int, part: Part, *, scored: bool, filtered: bool) -> Json:
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
        """Compare the fingerprints of candidates."""
        others, unscoped = self.in_scope(hits)
        return replace(self._compared_in_scope(others), unscoped=unscoped)

    def _compared_in_scope(self, others: Sequence[Json]) -> Compared:
        if not self.is_by_words:
            return self._compared(others)
        # These hits have no fingerprints yet.
        made = prepared(self.terms.documents, ({"_source": hit["_source"]} for hit in others), None)
        read = {(hit["_index"], hit["_id"]): hit for hit in others}
        compared = self._compared([{**hit, **each} for hit, each in zip(others, made, strict=True)])
        return replace(compared, hits=[read[hit["_index"], hit["_id"]] for hit in compared.hits])

    def _compared(self, hits: Sequence[Json]) -> Compared:
        own = self.terms.documents
        content = self.fields["content"]
        return rerank.compare(own.scheme, own.scheme.id, self.fingerprint, hits, prefix=own.prefix, content=content)

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
        return hamming_script.may_be_within(own.prefix, own.scheme.simhash, own.scheme.id, simhash, distance)

    def source(self, part: Part) -> list[str] | bool:
        """Return what to fetch of documents: the part that is compared; what the caller requested may be long."""
        if part is Part.WHOLE:
            return True
        source = [*self.terms.scope_paths]
        if has_asked(self.terms, part):
            source += self.terms.options.named_source
        if not self.is_by_words:
            source += query.compared_fields(self.terms.documents.scheme, self.terms.documents.prefix)
        return source + list(self.terms.documents.fields) if part is Part.TEXTS else source or False


@dataclass(frozen=True)
class SearchResult:
    """The candidates that a search has found and compared; unless it is ``complete``, there are more."""

    search: TextSearch
    measured: Measured
    complete: bool
    part: Part = Part.FINGERPRINTS

    def matches(self) -> Matches:
        """Return the nearest matches."""
        search, options = self.search, self.search.terms.options
        if search.is_empty:
            return Matches((), status="empty")
        if search.missing:
            return Matches((), status=search.fingerprint.status, missing=search.missing)
        found = rerank.matches_of(
            self.measured,
            search.terms.criteria,
            status=search.fingerprint.status,
            complete=self.complete,
            with_source=has_asked(search.terms, self.part),
            size=options.size,
        )
        if not options.source or options.source is True or not has_asked(search.terms, self.part):
            return found
        # The source also has the fields read for the comparison.
        asked = SourceFilter.of(options.named_source)
        return replace(found, matches=tuple(replace(each, source=asked.part_of(each.source or {})) for each in found))


def has_asked(terms: SearchTerms, part: Part) -> bool:
    """Return whether candidates come with all that the caller asks for: in whole documents, or if it is ours."""
    asked, prefix = terms.options.source, terms.documents.prefix
    if not asked or part is Part.WHOLE:
        return bool(asked)
    return asked is not True and all(name.startswith(f"{prefix}.") for name in terms.options.named_source)


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
