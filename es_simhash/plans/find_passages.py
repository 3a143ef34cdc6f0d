"""Finding what contains a text, or what it contains: candidates by keys of passages, decided by the texts.

Keys score as terms of a text do, the more the rarer they are (BM25). So documents that share only boilerplate come
last, and are left out first where there are more candidates than are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from es_simhash._core.json_paths import Json
from es_simhash.documents.source_filter import SourceFilter
from es_simhash.plans.candidates import Candidates, all_candidates
from es_simhash.plans.operations import Plan
from es_simhash.plans.query_documents import QueryDocument
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
    found = []
    for text in texts:
        found.append((yield from _compared(text, [replies[search] for search in text.searches])))
    return found


def _compared(text: PassageText, replies: Sequence[Candidates]) -> Plan[Matches]:
    """Compare a text with those of its candidates."""
    here: list[Json] = []
    elsewhere: list[Json] = []
    hits: dict[tuple[str, str], Json] = {}
    for reply in replies:
        new = [hit for hit in reply.hits if (hit["_index"], hit["_id"]) not in hits]
        hits |= {(hit["_index"], hit["_id"]): hit for hit in new}
        (here if text.has_texts(reply.part) else elsewhere).extend(text.plausible(text.in_scope(new)[0]))
    documents = text.terms.documents
    texts = texts_in_hits(documents, here) | (yield from texts_of_hits(documents, elsewhere))
    return text.matches(list(hits.values()), texts, complete=all(reply.complete for reply in replies))


@dataclass(frozen=True, eq=False)
class PassageText(ScopedText):
    """A text whose passages are searched for."""

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
        containing = self.terms.options.relation == "containing"
        keys, are_chosen = passages.query_keys(
            self.terms.documents.scheme, self.words.hashes, most=passages.MOST_RUNS if containing else MAX_KEYS
        )
        if not containing:
            return [PassageSearch(self, keys[at : at + MAX_KEYS], 1) for at in range(0, len(keys), MAX_KEYS)]
        # Keys are hashes, so the lowest are as good a sample as any.
        keys = keys[:MAX_KEYS]
        needed = max(1, int(_SHARED * len(keys))) if are_chosen else 1
        return [PassageSearch(self, keys, needed)] if keys else []

    def has_texts(self, part: Part) -> bool:
        """Return whether hits with this part of documents have their texts."""
        return self.terms.options.source is True or part is not Part.FINGERPRINTS

    def plausible(self, hits: Sequence[Json]) -> list[Json]:
        """Return the hits of this scheme that may contain the text, or be contained, by the keys in common."""
        return [hit for hit in hits if self._is_ours(hit) and self._shares_enough(hit)]

    def _is_ours(self, hit: Json) -> bool:
        return bool(self._stored(hit).get("scheme") == self.terms.documents.scheme.id)

    def _stored(self, hit: Json) -> Json:
        stored = (hit.get("_source") or {}).get(self.terms.documents.prefix)
        return stored if isinstance(stored, dict) else {}

    def _shares_enough(self, hit: Json) -> bool:
        if self.terms.options.relation == "containing":
            return True  # the engine has counted
        own = passages.keys_in(self._stored(hit))
        return len(own & self.keys) >= _SHARED * len(own)

    def containment(self, text: str) -> float:
        """Return the share of the contained one of both texts that stands in the other."""
        scheme = self.terms.documents.scheme
        [other] = words_of_texts(scheme, [text])
        n = passages.passages_of(scheme).words
        containing = self.terms.options.relation == "containing"
        return self.words.share_in(other, n) if containing else other.share_in(self.words, n)

    def matches(self, hits: Sequence[Json], texts: Texts, *, complete: bool) -> Matches:
        """Return the hits that contain enough of the text, or that it contains enough of, the most first.

        ``texts`` are those that were read, of plausible hits.
        """
        options, least = self.terms.options, self.terms.criteria.similarity
        assert least is not None
        found = []
        for hit in hits:
            text = texts.get((hit["_index"], hit["_id"]))
            share = 0.0 if text is None else self.containment(text)
            if text is None or share < least:
                continue
            match = Match(
                hit["_index"],
                hit["_id"],
                None,
                None,
                is_exact=True,
                same_text=text == self.wanted.text,
                source=self._source_of(hit),
                clause=None,
                containment=share,
            )
            found.append(match)
        found.sort(key=lambda match: (-(match.containment or 0.0), match.index, match.id))
        others, unscoped = self.in_scope(hits)
        status: Status = "empty"
        if len(self.words.hashes):
            status = "ok" if self.searches or self.missing else "short"
        return Matches(
            tuple(found[: options.size]),
            len(others),
            complete,
            sum(not self._is_ours(hit) for hit in others),
            status,
            unscoped=unscoped,
            missing=self.missing,
        )

    def _source_of(self, hit: Json) -> Json | None:
        """Return what the caller asked for of a hit."""
        asked = self.terms.options.source
        if not asked:
            return None
        source: Json = hit["_source"]
        return source if asked is True else SourceFilter.of(query.name_list(asked)).part_of(source)


@dataclass(frozen=True, eq=False)
class PassageSearch:
    """The search for documents that have some of the keys of a text, ``needed`` of them or more."""

    text: PassageText
    keys: Sequence[str]
    needed: int

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
        known = texts_in_hits(text.terms.documents, text.plausible(text.in_scope(hits)[0]))
        return sum(text.containment(each) == 1.0 for each in known.values()) >= text.terms.options.size

    def _source(self, part: Part) -> list[str] | bool:
        """Return what to fetch of documents."""
        options, documents = self.text.terms.options, self.text.terms.documents
        if options.source is True or part is Part.WHOLE:
            return True
        own = ("scheme", passages.FIELD) if options.relation == "contained" else ("scheme",)
        asked = [*query.name_list(options.source or ()), *self.text.terms.scope_paths]
        source = [*asked, *(f"{documents.prefix}.{name}" for name in own)]
        return [*source, *documents.fields] if self.text.has_texts(part) else source
