"""The verdict on two documents: what was read of them, their scope and numbers, and the sentence that says why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from es_simhash._core.humanize import counted, with_error
from es_simhash._core.json_codec import Json, values_at
from es_simhash.plans.explain.similarities import Bits, Keys, Similarity
from es_simhash.plans.explain.text_differences import Changes
from es_simhash.scheme import own_fields
from es_simhash.scheme.own_fields import DEFERRED
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope, duration_text, moment_in, values_in
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.rule import CLAUSES, Clause, PairMeasures, are_near, clauses
from es_simhash.scheme.verdict.verifier import numbers_in, shared

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
        """The clause of the rule that decides (see `es_simhash.scheme.verdict.rule`)."""
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
    if unseen := [each for each in pair if each.document.is_seen is False]:
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
        yield f"{_by_text(evidence)}{_by_numbers(evidence)}; {agree}"
        return
    estimated = with_error(similarity.estimate, similarity.standard_error, 2)
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
    # If they agree in two digits, more are shown.
    digits = next(digits for digits in (2, 4, 17) if f"{found:.{digits}f}" != f"{threshold:.{digits}f}" or digits == 17)
    sign = "≥" if found >= threshold else "<"
    by = f" by table {evidence.table}" if evidence.table else ""
    differ = f": {evidence.changes.sentence}" if evidence.changes else ""
    return f"{found:.{digits}f} {sign} {threshold:g}{by}{differ}"


def _by_numbers(evidence: Evidence) -> str:
    return f", but {evidence.numbers.problem}" if evidence.numbers and evidence.clause == "numbers" else ""


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
        yield f"The exact similarity, {similarity.exact:.3f}, {than} the threshold."


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


# A bare ``text`` has no fields. Fields of a document are those of its text, those of an older text, still to be made,
# of another scheme, not what the scheme makes from any text, or missing.
State: TypeAlias = Literal["text", "current", "stale", "deferred", "foreign", "damaged", "missing"]


@dataclass(frozen=True)
class ComparedDocument:
    """A text; or a document of an index, with its text and its ``stored`` fingerprint fields.

    ``is_seen`` says whether searches already see these fields; None if that was not checked. ``source`` has the values
    in the fields of a scope.
    """

    name: str
    text: str
    index: str | None = None
    stored: Json | None = None
    is_seen: bool | None = None
    source: Json = field(default_factory=dict)


@dataclass(frozen=True)
class ExaminedDocument:
    """A document, the fields ``made`` from its current text, and the state of those that are stored.

    ``held`` are the fields it is found by: the stored ones, or those made where the stored ones are unusable.
    """

    JSON = ("name", "index", "state", "is_seen", "status", "scheme", "characters")

    document: ComparedDocument
    made: Json
    held: Json
    state: State

    @property
    def name(self) -> str:
        """The name to show."""
        return self.document.name

    @property
    def index(self) -> str | None:
        """Its index; None for a text."""
        return self.document.index

    @property
    def is_seen(self) -> bool | None:
        """Whether searches already see its fields; None if that was not checked."""
        return self.document.is_seen

    @property
    def status(self) -> str:
        """The status of its text."""
        return str(self.made["status"])

    @property
    def scheme(self) -> str | None:
        """The id of the scheme of its fields."""
        found: str | None = (self.document.stored or self.made).get("scheme")
        return found

    @property
    def characters(self) -> int:
        """The length of its text."""
        return len(self.document.text)

    @property
    def is_held(self) -> bool:
        """Whether the index holds usable fields of the scheme, so that the engine can be asked about them."""
        return self.held is not self.made


def examine(scheme: Scheme, document: ComparedDocument) -> ExaminedDocument:
    """Determine the state of a document's fields."""
    [batch] = scheme.fingerprint_batches([document.text])
    [made] = own_fields.write(scheme, scheme.id, [document.text], batch)
    stored = document.stored or {}
    is_empty = stored.get("status") == "empty" and stored.get("scheme") == scheme.id
    is_usable = stored.get("status") != DEFERRED and (
        is_empty or own_fields.read(scheme, scheme.id, stored) is not None
    )
    return ExaminedDocument(document, made, stored if is_usable else made, _state(scheme, document, made, is_usable))


def _state(scheme: Scheme, document: ComparedDocument, made: Json, is_usable: bool) -> State:
    stored = document.stored or {}
    if document.index is None:
        return "text"
    if stored.get("status") == DEFERRED:
        return "deferred"
    if "scheme" not in stored:
        return "missing"
    if stored["scheme"] != scheme.id:
        return "foreign"
    if all(stored.get(name) == made.get(name) for name in own_fields.names(scheme)):
        return "current"
    return "stale" if is_usable and stored.get("content") != made["content"] else "damaged"
