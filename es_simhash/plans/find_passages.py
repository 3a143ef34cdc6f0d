"""Finding what contains a text, or what it contains: candidates by keys of passages, verified in the texts.

Keys score as terms of a text do, the more the rarer they are (BM25). So documents that share only boilerplate come
last, and are left out first where there are more candidates than are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from es_simhash._core.json_codec import Json
from es_simhash.documents.sources import SourceFilter
from es_simhash.plans.candidates import Candidates, all_candidates
from es_simhash.plans.find import has_asked, with_asked
from es_simhash.plans.find_options import QueryDocument
from es_simhash.plans.operations import Plan
from es_simhash.plans.scoped_text import ScopedText
from es_simhash.plans.search_experience import Part
from es_simhash.plans.search_terms import SearchTerms
from es_simhash.plans.text_comparison import Texts, texts_in_hits, texts_of_hits
from es_simhash.scheme import passages, query
from es_simhash.scheme.fingerprint import Status
from es_simhash.scheme.rerank import Match, Matches
from es_simhash.scheme.settings import MAX_KEYS
from es_simhash.scheme.verdict.common_passages import WordsOfText, words_of_texts

# The share of its keys that a contained text has in common with the other, at least: with 5% of its words changed, half
# of them in the median, and a fifth where chance is against it.
_SHARED = 0.1


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
        (elsewhere if reply.part is Part.FINGERPRINTS else here).extend(search.text.plausible(reply.hits))
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
        stored = (hit.get("_source") or {}).get(self.terms.documents.prefix)
        return stored if isinstance(stored, dict) else {}

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
                source=self._source_of(*distinct[hit["_index"], hit["_id"]]),
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

    def _source_of(self, hit: Json, part: Part) -> Json | None:
        """Return what the caller asked for of a hit, if it came with it."""
        asked = self.terms.options.source
        if not asked or not has_asked(self.terms, part):
            return None
        source: Json = hit["_source"]
        return source if asked is True else SourceFilter.of(self.terms.options.named_source).part_of(source)


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

    def body(self, size: int, part: Part, *, scored: bool, filtered: bool) -> Json:
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

    def _source(self, part: Part) -> list[str] | bool:
        """Return what to fetch of documents."""
        terms = self.text.terms
        if part is Part.WHOLE:
            return True
        own = ("scheme",) if self.text.is_inner else ("scheme", passages.FIELD)
        asked = terms.options.named_source if has_asked(terms, part) else []
        source = [*asked, *terms.scope_paths, *(f"{terms.documents.prefix}.{name}" for name in own)]
        return [*source, *terms.documents.fields] if part is Part.TEXTS else source
