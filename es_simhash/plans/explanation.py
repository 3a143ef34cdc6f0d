"""Why two documents, or texts, are near-duplicates or not: what was read of them, and the verdict with its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from es_simhash._core.humanize import counted, share, with_error
from es_simhash._core.json_codec import Json, values_at
from es_simhash._core.rows import Result, Shown
from es_simhash.documents.decisions import Decision
from es_simhash.documents.documents import Documents
from es_simhash.errors import DocumentError, IndexStateError, InputError, MissingError
from es_simhash.plans.decided import readable_decisions_on
from es_simhash.plans.find_options import SearchTerms
from es_simhash.plans.operations import Plan, Search, is_server
from es_simhash.plans.reply_size import documents_by_id, searched
from es_simhash.plans.similarities import (
    Bits,
    ExactSimilarity,
    Features,
    Keys,
    SharedPassages,
    Similarity,
    compare_bits,
    compare_features,
    compare_keys,
    compare_signatures,
    exact_similarity,
    named_clauses,
    shared_passages,
)
from es_simhash.plans.text_differences import Changes, TextPart, changes, difference
from es_simhash.scheme import own_fields
from es_simhash.scheme.own_fields import DEFERRED
from es_simhash.scheme.query import Criteria, shared_bands
from es_simhash.scheme.rarity import Rarity
from es_simhash.scheme.rerank import LACKING
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope, duration_text, moment_in, values_in
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verifier import (
    CLAUSES,
    Clause,
    PairMeasures,
    Verifier,
    are_near,
    clauses,
    lowest_estimate,
    numbers_in,
    shared,
)
from es_simhash.sketches.keys import sharing


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
    ``lacks_decisions`` names the index of the decisions of people, if it could not be read.
    """

    JSON = (
        *("verdict", "scope", "pair", "decisions", "evidence", "before", "features", "passages", "parts"),
        "lacks_decisions",
    )

    scheme: Scheme
    pair: tuple[ExaminedDocument, ExaminedDocument]
    verdict: Verdict
    evidence: Evidence
    features: Features
    parts: tuple[TextPart, ...]
    passages: SharedPassages
    scope: tuple[ScopeField, ...] = ()
    before: Before | None = None
    decisions: tuple[Decision, ...] = ()
    lacks_decisions: str | None = None

    @property
    def decided(self) -> list[str]:
        """Sentences on what people have decided about the two documents."""
        lacking = [LACKING.format(self.lacks_decisions)] if self.lacks_decisions else []
        return [*(each.sentence for each in self.decisions), *lacking]

    @property
    def rarity(self) -> str | None:
        """A sentence on the table of rarity before the one that decided; None if there was none."""
        if self.before is None:
            return None
        similarity = f"the similarity was {share(self.before.similarity)}"
        verdict = "the same" if self.before.are_duplicates == self.verdict.are_duplicates else "another"
        return f"By table {self.before.table}, before the index last learnt, {similarity}, and the verdict {verdict}."

    def shown(self) -> Shown:
        """Return the verdict, how near the two documents are, and what differs in their texts, for people."""
        first, second = self.pair
        rows = [[f"scope: {each.field}", ", ".join(each.a), ", ".join(each.b)] for each in self.scope]
        rows += [["text", part.a, part.b] for part in self.parts if part.kind != "equal"]
        notes = [*self.decided, ", ".join(self._measures()), *self.verdict.notes]
        return Shown(self.verdict.sentence, ["", first.name, second.name], rows, len(rows), notes)

    def _measures(self) -> Iterator[str]:
        similarity, bits = self.evidence.similarity, self.evidence.bits
        yield f"Similarity of the features of the scheme {share(similarity.exact)}"
        if similarity.verified is not None:
            yield f"as the scheme compares texts {share(similarity.verified)}"
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
    texts = first.text, second.text
    exact = exact_similarity(scheme, texts)
    least = verifier.verification.numbers if verifier else 0
    numbers = compare_numbers(scheme, least, texts, (first.name, second.name))
    by_fields = [
        _evidence(scheme, criteria, fields, exact, keys, documents, numbers)
        for fields, keys in (((first.held, second.held), named), ((first.made, second.made), None))
    ]
    differing = changes(scheme, texts)
    fields = compare_scopes(scope, first.source, second.source) if scope else ()

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
    numbers: ComparedNumbers | None,
) -> Evidence:
    bits: Bits | None = None
    blocks: Keys | None = None
    bands: Keys | None = None
    lowest = -1.0
    if scheme.simhash:
        bits = compare_bits(scheme, held, exact.cosine, criteria.distance)
        needed = None if criteria.distance is None else scheme.simhash.layout.min_shared(criteria.distance)
        blocks = compare_keys("block", held, needed=needed, probability=None, named=named)
    if scheme.minhash:
        needed = None if criteria.similarity is None else shared_bands(scheme.minhash, criteria, documents)
        probability = sharing(exact.signed, scheme.minhash.layout, needed or 1)
        bands = compare_keys("band", held, needed=needed, probability=probability, named=named)
        if criteria.similarity is not None:
            lowest = lowest_estimate(criteria, scheme.minhash, scheme.minhash.layout.value_bits)
    similarity = compare_signatures(scheme, held, exact, criteria.similarity)
    return Evidence(criteria, bits, blocks, bands, similarity, lowest, numbers)


# An id may stand for several documents: in other indices, and with other routing values.
_SAME_IDS = 10


def explain_pair(terms: SearchTerms, ids: tuple[str, str]) -> Plan[Explanation]:
    """Explain why two documents of an index are near-duplicates, or why they are not."""
    index, documents = terms.index, terms.documents
    if ids[0] == ids[1]:
        raise InputError(f"The document {ids[0]!r} was given twice. Name two.")
    first, second = yield from _read(terms, ids)
    named = yield from _named_by_engine(index, documents, first, second)
    yield from terms.experience.read(index, documents)
    decisions: list[Decision] = []
    lacking = None
    if there := terms.decisions:
        keys = [(each.index or "", each.name) for each in (first, second)]
        read = yield from readable_decisions_on(there, keys)
        decisions, lacking = (read.on(*keys), None) if read else ([], there.index)
    found = explain(
        documents.scheme,
        terms.criteria,
        (first, second),
        named,
        terms.verifier(),
        terms.scope,
        terms.rarity.previous,
        terms.experience.documents,
    )
    return replace(found, decisions=tuple(decisions), lacks_decisions=lacking)


def _read(terms: SearchTerms, ids: Sequence[str]) -> Plan[list[ExaminedDocument]]:
    """Read both documents as last written, and whether searches see them so."""
    index, documents = terms.index, terms.documents
    source = [*documents.fields, documents.prefix, *terms.scope_paths]
    found = yield from documents_by_id(index, ids, source)
    # An id alone does not lead to a document with its own routing value, but searches find it.
    hits = yield from searched(index, {"ids": {"values": list(ids)}}, _SAME_IDS, source)
    return [_examined(index, documents, reply, [hit for hit in hits if hit["_id"] == reply["_id"]]) for reply in found]


def _examined(index: str, documents: Documents, reply: Json, hits: Sequence[Json]) -> ExaminedDocument:
    if not reply["found"]:
        reply = _only(index, reply["_id"], hits)
    own, document = documents.prefix, reply.get("_source") or {}
    seen = [hit for hit in hits if hit["_index"] == reply["_index"]]
    stored = document.get(own)
    try:
        text = documents.text_of(document)
    except DocumentError as error:
        raise DocumentError(f"Document {reply['_id']!r} {error.problem}") from None
    return examine(
        documents.scheme,
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
    if not (first.is_held and second.is_held and second.is_seen):
        return None
    if not (yield from is_server()):  # the embedded engine knows no named queries
        return None
    query = {
        "bool": {
            "filter": [{"ids": {"values": [second.name]}}],
            "should": named_clauses(first.held, documents.prefix),
        }
    }
    reply = yield Search(index, {"query": query, "size": _SAME_IDS, "_source": False})
    hits = [hit for hit in reply["hits"]["hits"] if hit["_index"] == second.index]
    return [name for hit in hits for name in hit.get("matched_queries", [])]


# A bare ``text`` has no fields. Fields of a document are those of its text, those of an older text, still to be made,
# of another scheme, not what the scheme makes from any text, or missing.
State: TypeAlias = Literal["text", "current", "stale", "deferred", "foreign", "damaged", "missing"]


@dataclass(frozen=True)
class ExaminedDocument:
    """A text; or a document of an index, the fields ``made`` from its text, and the ``state`` of its ``stored`` ones.

    ``held`` are the fields it is found by: the stored ones, or those made where the stored ones are unusable.
    ``is_seen`` says whether searches already see the stored fields; None if that was not checked. ``source`` has the
    values in the fields of a scope.
    """

    JSON = ("name", "index", "state", "is_seen", "status", "scheme", "characters")

    name: str
    text: str
    index: str | None
    stored: Json
    is_seen: bool | None
    source: Json
    made: Json
    held: Json
    state: State

    @property
    def status(self) -> str:
        """The status of its text."""
        return str(self.made["status"])

    @property
    def scheme(self) -> str | None:
        """The id of the scheme of its fields."""
        found: str | None = (self.stored or self.made).get("scheme")
        return found

    @property
    def characters(self) -> int:
        """The length of its text."""
        return len(self.text)

    @property
    def is_held(self) -> bool:
        """Whether the index holds usable fields of the scheme, so that the engine can be asked about them."""
        return self.held is not self.made


def examine(
    scheme: Scheme,
    name: str,
    text: str,
    index: str | None = None,
    stored: Json | None = None,
    is_seen: bool | None = None,
    source: Json | None = None,
) -> ExaminedDocument:
    """Determine the state of a document's fields."""
    [batch] = scheme.fingerprint_batches([text])
    [made] = own_fields.write(scheme, scheme.id, [text], batch)
    stored = stored or {}
    is_empty = stored.get("status") == "empty" and stored.get("scheme") == scheme.id
    is_whole = bool(own_fields.read_all(scheme, scheme.id, [stored]).places)
    is_usable = stored.get("status") != DEFERRED and (is_empty or is_whole)
    state = "text" if index is None else _state(scheme, stored, made, is_usable)
    return ExaminedDocument(
        name, text, index, stored, is_seen, source or {}, made, stored if is_usable else made, state
    )


def _state(scheme: Scheme, stored: Json, made: Json, is_usable: bool) -> State:
    if stored.get("status") == DEFERRED:
        return "deferred"
    if "scheme" not in stored:
        return "missing"
    if stored["scheme"] != scheme.id:
        return "foreign"
    if all(stored.get(name) == made.get(name) for name in own_fields.names(scheme)):
        return "current"
    return "stale" if is_usable and stored.get("content") != made["content"] else "damaged"


Code: TypeAlias = Literal[
    "out-of-scope",
    "duplicates",
    "below-threshold",
    "no-candidate",
    "empty",
    "missing",
    "deferred",
    "foreign",
    "damaged",
    "stale",
    "unseen",
    "contradiction",
]
CODES: tuple[Code, ...] = get_args(Code)

# Problems of the fields, the worst first, and the remedy.
_FAULTS: dict[State, tuple[str, str]] = {
    "missing": ("no fingerprint", "Run: es-simhash backfill."),
    "deferred": ("a fingerprint still to be made, since the text changed", "Run: es-simhash backfill."),
    "foreign": ("a fingerprint of another scheme", "Run: es-simhash backfill."),
    "damaged": ("fields that the scheme does not make from the text", "Write the document once more."),
    "stale": ("the fingerprint of an older text", "Run: es-simhash backfill --refresh-stale."),
}


@dataclass(frozen=True)
class Verdict:
    """Whether a search by the criteria finds one by the other, and the decisive reason; ``notes`` add to it."""

    code: Code
    are_duplicates: bool
    sentence: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """Everything that a verdict depends on; what the scheme lacks is None.

    Texts are compared from the ``lowest_estimate`` of their similarity on. ``numbers`` are there if texts must
    share some, ``table`` is that of rarity by which they were compared, and ``changes`` are what differs between them.
    """

    JSON = ("criteria", "bits", "blocks", "bands", "similarity", "clause", "numbers", "table", "changes")

    criteria: Criteria
    bits: Bits | None
    blocks: Keys | None
    bands: Keys | None
    similarity: Similarity
    lowest_estimate: float = -1.0
    numbers: ComparedNumbers | None = None
    table: str | None = None
    changes: Changes | None = None

    @property
    def clause(self) -> Clause:
        """The clause of the rule that decides (see `es_simhash.scheme.verifier`)."""
        decisive = np.nan if self.decisive is None else self.decisive
        texts = PairMeasures(np.array([decisive]), np.array([self.similarity.meets]))
        distances = None if self.bits is None else np.array([self.bits.distance])
        return CLAUSES[clauses(self.criteria, distances, texts)[0]]

    @property
    def is_candidate(self) -> bool:
        """Whether a search compares them."""
        return any(keys is not None and keys.is_candidate for keys in (self.blocks, self.bands))

    @property
    def is_plausible(self) -> bool:
        """Whether a search compares the texts, if it ever does: their estimate is not too low."""
        known = self.similarity
        return known.verified is None or known.estimate is None or known.estimate >= self.lowest_estimate

    @property
    def decisive(self) -> float | None:
        """The similarity that decides."""
        by_text = self.similarity.verified is not None and self.is_plausible
        return self.similarity.verified if by_text else self.similarity.estimate

    @property
    def is_met(self) -> bool:
        """Whether they are near enough."""
        return bool(are_near(np.array([CLAUSES.index(self.clause)], dtype=np.uint8))[0])

    @property
    def are_duplicates(self) -> bool:
        """Whether a search finds one by the other."""
        return self.is_candidate and self.is_met

    @property
    def contradicted(self) -> list[Keys]:
        """The keys on which the engine and the documents disagree."""
        return [keys for keys in (self.blocks, self.bands) if keys is not None and keys.is_contradicted]


def judge(held: Evidence, made: Evidence, pair: tuple[ExaminedDocument, ExaminedDocument]) -> Verdict:
    """Return the verdict by the fields ``held``; those ``made`` from the texts show what repaired fields would give."""
    if any(each.made["status"] == "empty" for each in pair):
        empty = " and ".join(repr(each.name) for each in pair if each.made["status"] == "empty")
        return Verdict("empty", False, f"No near-duplicates: there is no text in {empty}.")
    if unsound := [each for each in pair if each.state not in ("text", "current")]:
        return _of_unsound(held, made, pair, unsound)
    if unseen := [each for each in pair if each.is_seen is False]:
        names = " and ".join(repr(each.name) for each in unseen)
        sentence = f"No near-duplicates yet: searches do not see {names} as written last. Refresh the index."
        return Verdict("unseen", False, sentence, ("Then: " + _of_evidence(made).sentence,))
    if held.contradicted:
        return _of_contradiction(held)
    return replace(_of_evidence(held), notes=tuple(_notes(held, pair)))


def out_of_scope(fields: Sequence[ScopeField], otherwise: Verdict) -> Verdict:
    """Return the verdict on a pair out of scope, given the one that it would have ``otherwise``."""
    reasons = "; ".join(each.sentence for each in fields if not each.is_met)
    notes = (f"But for the scope: {otherwise.sentence}", *otherwise.notes)
    return Verdict("out-of-scope", False, f"No near-duplicates, since out of scope: {reasons}.", notes)


def _of_unsound(
    held: Evidence, made: Evidence, pair: tuple[ExaminedDocument, ExaminedDocument], unsound: list[ExaminedDocument]
) -> Verdict:
    """Return the verdict where fields do not fit the texts."""
    state = min((each.state for each in unsound), key=list(_FAULTS).index)
    names = [repr(each.name) for each in unsound if each.state == state]
    fault, remedy = _FAULTS[state]
    are_duplicates = all(each.is_held for each in pair) and held.are_duplicates
    has = f"{' and '.join(names)} {'have' if len(names) > 1 else 'has'} {fault}"
    sentence = f"{_found(are_duplicates)} by what the index holds: {has}. {remedy}"
    notes = (f"By the texts as they are now: {_of_evidence(made).sentence}",)
    return Verdict(cast("Code", state), are_duplicates, sentence, notes)


def _of_contradiction(held: Evidence) -> Verdict:
    keys = held.contradicted[0]
    sentence = (
        f"{_found(held.are_duplicates)} by the engine, which finds {len(keys.engine or [])} keys in common where the "
        f"documents have {len(keys.agree)}: it does not search these fields. Look at the mapping: es-simhash doctor."
    )
    return Verdict("contradiction", held.are_duplicates, sentence)


def _of_evidence(evidence: Evidence) -> Verdict:
    """Return the verdict on sound fields."""
    code: Code = "no-candidate"
    if evidence.is_candidate:
        code = "duplicates" if evidence.is_met else "below-threshold"
    candidates = ", not even candidates" if code == "no-candidate" else ""
    reasons = "; ".join([*_by_bands(evidence), *_by_blocks(evidence)])
    though = ""
    if code == "below-threshold":
        though = f"candidates, {'and' if evidence.clause == 'numbers' else 'but'} "
    found = _found(evidence.are_duplicates)
    return Verdict(code, evidence.are_duplicates, f"{found}{candidates}: {though}{reasons}.")


def _found(are_duplicates: bool) -> str:
    return "Near-duplicates" if are_duplicates else "No near-duplicates"


def _by_bands(evidence: Evidence) -> Iterator[str]:
    """Describe the bands and the similarity, if the criteria use them."""
    keys, similarity = evidence.bands, evidence.similarity
    if keys is None or keys.needed is None or similarity.estimate is None:
        return
    agree = _agreeing(keys, "bands")
    if not evidence.is_candidate:
        many = "one does" if keys.needed == 1 else f"{keys.needed} do, as it takes,"
        chance = f"where at the exact similarity {similarity.signed:.2f} {many} with a probability of {keys.chance}"
        though = f", though {_by_text(evidence)}" if evidence.is_met and similarity.verified is not None else ""
        yield f"{agree}, {chance}{though}"
        return
    if similarity.verified is not None and evidence.is_plausible:
        numbers = evidence.numbers if evidence.clause == "numbers" else None
        yield f"{_by_text(evidence)}{f', but {numbers.problem}' if numbers else ''}; {agree}"
        return
    estimated = with_error(similarity.estimate, similarity.standard_error)
    found = f"similarity {estimated} (exactly {similarity.signed:.2f})"
    if similarity.verified is not None:
        found = f"similarity {estimated} by signatures, too low for the texts to be compared,"
    than = "reaches" if similarity.estimate >= (similarity.threshold or 0.0) else "is below"
    yield f"{agree}, and the {found} {than} {similarity.threshold}"


def _by_text(evidence: Evidence) -> str:
    """Say what decided, and what differs: "0.91 ≥ 0.63 by table builtin-2: 2 of 160 words differ"."""
    found, threshold = evidence.similarity.verified, evidence.similarity.threshold
    assert found is not None
    assert threshold is not None
    sign = "≥" if found >= threshold else "<"
    by = f" by table {evidence.table}" if evidence.table else ""
    differ = f": {evidence.changes.sentence}" if evidence.changes else ""
    return f"{share(found, threshold)} {sign} {threshold:g}{by}{differ}"


def _by_blocks(evidence: Evidence) -> Iterator[str]:
    """Describe the blocks and the distance, if the criteria use them."""
    keys, bits = evidence.blocks, evidence.bits
    if keys is None or keys.needed is None or bits is None:
        return
    than = "within" if bits.is_met else "beyond"
    yield (
        f"{_agreeing(keys, 'blocks')} ({keys.needed} needed), and the distance of {bits.distance} bits is {than} "
        f"{bits.threshold}"
    )


def _agreeing(keys: Keys, what: str) -> str:
    count = len(keys.agree)
    return f"{count or 'none'} of {len(keys.a)} {what} agree{'' if count > 1 else 's'}"


def _notes(evidence: Evidence, pair: tuple[ExaminedDocument, ExaminedDocument]) -> Iterator[str]:
    """Yield what else is worth knowing."""
    similarity = evidence.similarity
    if pair[0].made["content"] == pair[1].made["content"]:
        yield "The texts are the same."
    for each in pair:
        if each.made["status"] == "short":
            yield f"{each.name!r} is short, with few features: compare the texts themselves."
    if similarity.threshold is None or similarity.estimate is None or similarity.verified is not None:
        return
    is_met = similarity.estimate >= similarity.threshold
    if is_met != (similarity.exact >= similarity.threshold):
        than = "is below" if is_met else "reaches"
        yield f"The exact similarity, {share(similarity.exact, similarity.threshold)}, {than} the threshold."


Document: TypeAlias = Mapping[str, Any]
Demand: TypeAlias = Literal["within", "across", "window"]


@dataclass(frozen=True)
class ScopeField:
    """A field of a scope: what is demanded of it, the values of both documents, and whether these meet the demand.

    The ``window`` is the one of dates.
    """

    field: str
    demand: Demand
    a: tuple[str, ...]
    b: tuple[str, ...]
    is_met: bool
    window: str | None = None

    @property
    def demanded(self) -> str:
        """The condition on the values, in words."""
        words = {"within": "the same", "across": "different", "window": f"at most {self.window} apart"}
        return words[self.demand]

    @property
    def sentence(self) -> str:
        """What the two have there, and what is demanded."""
        shown = " and ".join(", ".join(values) or "nothing" for values in (self.a, self.b))
        return f"{self.field} is {shown}, and must be {self.demanded}"


def compare_scopes(scope: Scope, a: Document, b: Document) -> tuple[ScopeField, ...]:
    """Compare two documents in each field of a scope."""
    found = [_compared("within", path, a, b) for path in scope.within]
    found += [_compared("across", path, a, b) for path in scope.across]
    if scope.date is not None and scope.window is not None:
        first, second = moment_in(a, scope.date), moment_in(b, scope.date)
        is_met = first is not None and second is not None and abs(first - second) <= scope.milliseconds
        dates = _dates(a, scope.date), _dates(b, scope.date)
        found.append(ScopeField(scope.date, "window", *dates, is_met, duration_text(scope.window)))
    return tuple(found)


def _compared(demand: Demand, path: str, a: Document, b: Document) -> ScopeField:
    own, other = values_in(a, path), values_in(b, path)
    meets = own == other if demand == "within" else own.isdisjoint(other)
    return ScopeField(path, demand, tuple(sorted(own)), tuple(sorted(other)), bool(own and other) and meets)


def _dates(document: Document, path: str) -> tuple[str, ...]:
    return tuple(str(value) for value in values_at(document, path) if value is not None)


@dataclass(frozen=True)
class ComparedNumbers:
    """The share of numbers that two texts have in common, the least one, and the ``problem`` if it is not reached."""

    least: float
    value: float
    problem: str | None


def compare_numbers(
    settings: Settings, least: float, texts: tuple[str, str], names: tuple[str, str]
) -> ComparedNumbers | None:
    """Compare the numbers of two texts, whose documents have these ``names``; None if none need be shared."""
    if not least:
        return None
    numbers = first, second = [numbers_in(settings, text) for text in texts]
    value = shared(first, second)
    if value >= least:
        return ComparedNumbers(least, value, None)
    fewer = int(len(second) < len(first))
    own = counted(len(numbers[fewer]), "number")
    has = f"{names[1 - fewer]!r} has {len(first & second):,} of {own} of {names[fewer]!r}"
    return ComparedNumbers(least, value, f"{has}, a share of {value:.2f}, below {least:g}")
