"""An explanation: all comparisons of two texts or documents, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from es_simhash._core.json_paths import Json
from es_simhash._core.rows import Result, Shown
from es_simhash.plans.explain.changes import Changes, changes
from es_simhash.plans.explain.compared_numbers import compare_numbers
from es_simhash.plans.explain.field_states import ExaminedDocument
from es_simhash.plans.explain.scope_of_pair import ScopeField, compare_scopes
from es_simhash.plans.explain.shared_features import Features, compare_features
from es_simhash.plans.explain.shared_keys import Keys, compare_keys
from es_simhash.plans.explain.shared_passages import SharedPassages, shared_passages
from es_simhash.plans.explain.simhash_bits import Bits, compare_bits
from es_simhash.plans.explain.similarities import ExactSimilarity, Similarity, compare_signatures, exact_similarity
from es_simhash.plans.explain.text_differences import TextPart, difference
from es_simhash.plans.explain.verdict import Evidence, Verdict, judge, out_of_scope
from es_simhash.scheme.query import Criteria, shared_bands
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.verdict.measures import PairMeasures
from es_simhash.scheme.verdict.plausible import lowest_estimate
from es_simhash.scheme.verdict.rarity import Rarity
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
        return f"By table {self.before.table}, before the index learnt anew, {similarity}, and the verdict {verdict}."

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
