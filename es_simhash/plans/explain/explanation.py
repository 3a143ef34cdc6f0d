"""Why two documents, or texts, are near-duplicates or not: what was read of them, and all that speaks for a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from es_simhash._core.json_codec import Json
from es_simhash._core.rows import Result, Shown
from es_simhash.documents.documents import Documents
from es_simhash.errors import DocumentError, IndexStateError, InputError, MissingError
from es_simhash.plans.explain.similarities import (
    Bits,
    ExactSimilarity,
    Features,
    Keys,
    SharedPassages,
    Similarity,
    clauses,
    compare_bits,
    compare_features,
    compare_keys,
    compare_signatures,
    exact_similarity,
    shared_passages,
)
from es_simhash.plans.explain.text_differences import Changes, TextPart, changes, difference
from es_simhash.plans.explain.verdict import (
    ComparedDocument,
    Evidence,
    ExaminedDocument,
    ScopeField,
    Verdict,
    compare_numbers,
    compare_scopes,
    examine,
    judge,
    out_of_scope,
)
from es_simhash.plans.operations import Plan, Search, is_server
from es_simhash.plans.reply_size import documents_by_id, with_source
from es_simhash.plans.search_terms import SearchTerms
from es_simhash.scheme.query import Criteria, shared_bands
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.rule import PairMeasures, lowest_estimate
from es_simhash.scheme.verdict.verifier import Verifier
from es_simhash.sketches.tradeoffs import sharing


@dataclass(frozen=True)
class Before:
    """How a pair stood by the ``table`` of rarity that was learnt before the present one."""

    table: str
    similarity: float
    are_duplicates: bool


@dataclass(frozen=True)
class Explanation(Result):
    """Why the two documents of a ``pair`` are near-duplicates under a scheme by these criteria, or why they are not.

    What the scheme lacks, or an empty text has not, is None. ``parts`` are the equal and the changed parts of both
    texts. ``scope`` are the fields of the scope, if there is one. ``before`` is there if an index has learnt again.
    """

    JSON = ("verdict", "scope", "pair", "evidence", "before", "features", "passages", "parts")

    scheme: Scheme
    pair: tuple[ExaminedDocument, ExaminedDocument]
    verdict: Verdict
    evidence: Evidence
    features: Features
    parts: tuple[TextPart, ...]
    passages: SharedPassages
    scope: tuple[ScopeField, ...] = ()
    before: Before | None = None

    @property
    def rarity(self) -> str | None:
        """A sentence on the table of rarity before the one that decided; None if there was none."""
        if self.before is None:
            return None
        similarity = f"the similarity was {self.before.similarity:.3f}"
        verdict = "the same" if self.before.are_duplicates == self.verdict.are_duplicates else "another"
        return f"By table {self.before.table}, before the index last learnt, {similarity}, and the verdict {verdict}."

    def shown(self) -> Shown:
        """Return the verdict, how near the two documents are, and what differs in their texts, for people."""
        first, second = self.pair
        rows = [[f"scope: {each.field}", ", ".join(each.a), ", ".join(each.b)] for each in self.scope]
        rows += [["text", part.a, part.b] for part in self.parts if part.kind != "equal"]
        notes = [", ".join(self._measures()), *self.verdict.notes]
        return Shown(self.verdict.sentence, ["", first.name, second.name], rows, len(rows), notes)

    def _measures(self) -> Iterator[str]:
        similarity, bits = self.evidence.similarity, self.evidence.bits
        yield f"Similarity of the features of the scheme {similarity.exact:.3f}"
        if similarity.verified is not None:
            yield f"as the scheme compares texts {similarity.verified:.3f}"
        if bits is not None:
            yield f"distance {bits.distance} of {bits.size} bits"


def explain(
    scheme: Scheme,
    criteria: Criteria,
    pair: tuple[ExaminedDocument, ExaminedDocument],
    named: Iterable[str] | None = None,
    verifier: Verifier | None = None,
    scope: Scope | None = None,
    previous: Rarity | None = None,
    documents: int = 0,
) -> Explanation:
    """Compare two documents; ``named`` holds the names of the first one's keys that the engine found in the second.

    With a ``verifier`` the texts decide, as in a search that compares them. A pair that is not in the ``scope`` is
    none. ``previous`` is the table of rarity that the verifier's has replaced. The index has this many ``documents``.
    """
    first, second = pair
    texts = first.document.text, second.document.text
    exact = exact_similarity(scheme, texts)
    least = verifier.verification.numbers if verifier else 0
    numbers = compare_numbers(scheme, least, texts, (first.name, second.name))
    by_fields = [
        replace(_evidence(scheme, criteria, fields, exact, keys, documents), numbers=numbers)
        for fields, keys in (((first.held, second.held), named), ((first.made, second.made), None))
    ]
    differing = changes(scheme, texts)
    fields = compare_scopes(scope, first.document.source, second.document.source) if scope else ()

    def judged(by: Verifier | None) -> tuple[Evidence, Verdict]:
        measured = by.measures(texts, np.array([[0], [1]])) if by else None
        held, made = (_with_texts(each, by, measured, differing) if by and measured else each for each in by_fields)
        verdict = judge(held, made, pair)
        return held, verdict if all(each.is_met for each in fields) else out_of_scope(fields, verdict)

    held, verdict = judged(verifier)
    before = None
    if verifier and held.table and previous:
        then, former = judged(replace(verifier, weights=previous))
        before = Before(previous.id, then.similarity.verified or 0.0, former.are_duplicates)
    return Explanation(
        scheme,
        pair,
        verdict,
        held,
        compare_features(verifier.compared if verifier else scheme, texts),
        difference(scheme, texts),
        shared_passages(scheme, texts),
        fields,
        before,
    )


def _with_texts(evidence: Evidence, verifier: Verifier, measured: PairMeasures, differing: Changes) -> Evidence:
    """Add how similar the texts are, by which table, and what differs."""
    known, meets = float(measured.similarities[0]), bool(measured.meets[0])
    similarity = replace(evidence.similarity, verified=known, meets=meets)
    table = verifier.weights.id if isinstance(verifier.weights, Rarity) else None
    return replace(evidence, similarity=similarity, table=table, changes=differing)


def _evidence(
    scheme: Scheme,
    criteria: Criteria,
    held: tuple[Json, Json],
    exact: ExactSimilarity,
    named: Iterable[str] | None,
    documents: int,
) -> Evidence:
    bits: Bits | None = None
    blocks: Keys | None = None
    bands: Keys | None = None
    if scheme.simhash:
        bits = compare_bits(scheme, held, exact.cosine, criteria.distance)
        needed = None if criteria.distance is None else scheme.simhash.layout.min_shared(criteria.distance)
        blocks = compare_keys(scheme, "block", held, needed=needed, probability=None, named=named)
    if scheme.minhash:
        needed = None if criteria.similarity is None else shared_bands(scheme.minhash, criteria, documents)
        probability = sharing(exact.signed, scheme.minhash.layout, needed or 1)
        bands = compare_keys(scheme, "band", held, needed=needed, probability=probability, named=named)
    similarity: Similarity = compare_signatures(scheme, held, exact, criteria.similarity)
    lowest = -1.0
    if scheme.minhash and criteria.similarity is not None:
        lowest = lowest_estimate(criteria, scheme.minhash, scheme.minhash.layout.value_bits)
    return Evidence(criteria, bits, blocks, bands, similarity, lowest_estimate=lowest)


# An id may stand for several documents: in other indices, and with other routing values.
_SAME_IDS = 10


def explain_pair(terms: SearchTerms, ids: tuple[str, str]) -> Plan[Explanation]:
    """Explain why two documents of an index are near-duplicates, or why they are not."""
    index, documents = terms.index, terms.documents
    if ids[0] == ids[1]:
        raise InputError(f"The document {ids[0]!r} was given twice. Name two.")
    pair = yield from _read(terms, ids)
    first, second = (examine(documents.scheme, each) for each in pair)
    named = yield from _named_by_engine(index, documents, first, second)
    yield from terms.experience.read(index, documents)
    return explain(
        documents.scheme,
        terms.criteria,
        (first, second),
        named,
        terms.verifier(),
        terms.scope,
        terms.rarity.previous,
        terms.experience.documents,
    )


def _read(terms: SearchTerms, ids: Sequence[str]) -> Plan[list[ComparedDocument]]:
    """Read both documents as last written, and whether searches see them so."""
    index, documents = terms.index, terms.documents
    source = [*documents.fields, documents.prefix, *terms.scope_paths]
    found = yield from documents_by_id(index, ids, source)
    # An id alone does not lead to a document with its own routing value, but searches find it.
    body = {"query": {"ids": {"values": list(ids)}}, "size": _SAME_IDS, "_source": False}
    hits = yield from with_source(index, (yield Search(index, body))["hits"]["hits"], source)
    return [_compared(index, documents, reply, [hit for hit in hits if hit["_id"] == reply["_id"]]) for reply in found]


def _compared(index: str, documents: Documents, reply: Json, hits: Sequence[Json]) -> ComparedDocument:
    if not reply["found"]:
        reply = _only(index, reply["_id"], hits)
    own, document = documents.prefix, reply.get("_source") or {}
    seen = [hit for hit in hits if hit["_index"] == reply["_index"]]
    stored = document.get(own)
    try:
        text = documents.text_of(document)
    except DocumentError as error:
        raise DocumentError(f"Document {reply['_id']!r} {error.problem}") from None
    return ComparedDocument(
        reply["_id"],
        text,
        reply["_index"],
        stored if isinstance(stored, dict) else None,
        any((hit.get("_source") or {}).get(own) == stored for hit in seen),
        document,
    )


def _only(index: str, id_: str, hits: Sequence[Json]) -> Json:
    """Return the one hit of an id."""
    if not hits:
        raise MissingError(f"The index {index!r} has no document {id_!r}. Check the id.")
    if len(hits) > 1:
        raise IndexStateError(
            f"There are several documents {id_!r} in {index!r}, with different routing or in different indices. "
            "Name the one index that is meant, or give the document another id."
        )
    return hits[0]


def _named_by_engine(
    index: str, documents: Documents, first: ExaminedDocument, second: ExaminedDocument
) -> Plan[list[str] | None]:
    """Return the names of the first one's keys that the engine finds in the second; None if it cannot be asked."""
    if not (first.is_held and second.is_held and second.document.is_seen):
        return None
    if not (yield from is_server()):  # the embedded engine knows no named queries
        return None
    query = {
        "bool": {
            "filter": [{"ids": {"values": [second.name]}}],
            "should": clauses(documents.scheme, first.held, documents.prefix),
        }
    }
    reply = yield Search(index, {"query": query, "size": _SAME_IDS, "_source": False})
    hits = [hit for hit in reply["hits"]["hits"] if hit["_index"] == second.document.index]
    return [name for hit in hits for name in hit.get("matched_queries", [])]
