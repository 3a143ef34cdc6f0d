"""Judging documents: what a gate is to do, and what it answers by the index and by what it accepted before."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias, get_args

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import SourceFilter, what_there_is
from es_simhash.errors import InputError
from es_simhash.plans.check import Made, SeenDocuments
from es_simhash.plans.find import FetchCandidates, SearchResult, find_fingerprinted
from es_simhash.plans.find_options import FindOptions, MatchOptions, QueryDocument
from es_simhash.plans.operations import Plan
from es_simhash.scheme.own_fields import object_in
from es_simhash.scheme.rerank import NOTHING, Match, matches_of, nearest_first
from es_simhash.scheme.scope import ScopeValues
from es_simhash.scheme.verifier import Verifier

# ``new``: nothing like it is known. ``equal``: its very text is. ``out of scope``: it has no value in a field of the
# scope, so it is compared with nothing. ``no text``: none of the text fields has one, so nothing is known of it.
# ``rejected``: it cannot be read, or the engine refused it. ``unknown``: the engine failed, so nobody knows.
Kind: TypeAlias = Literal["new", "near-duplicate", "equal", "out of scope", "no text", "rejected", "unknown"]


@dataclass(frozen=True)
class Verdict:
    """The answer about a document with this ``id``, which the gate made if the document had none.

    ``accepted`` is the gate's yes, by which it remembers the document. ``written_to`` is the index that the document
    was written to, if it was. ``duplicates`` are those that it is like, nearest first; unless they are ``complete``
    there are more. ``missing`` are the fields of the scope without a value. A
    document that is rejected, or has no text, has a ``reason``.
    """

    JSON = ("id", "verdict", "accepted", "written_to", "duplicates", "complete", "missing", "reason")

    id: str | None
    kind: Kind
    accepted: bool = False
    written_to: str | None = None
    duplicates: tuple[Match, ...] = ()
    complete: bool = True
    missing: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def verdict(self) -> Kind:
        """What it is, as answers over a wire call it."""
        return self.kind


Mode: TypeAlias = Literal["refuse", "advise"]

# Seconds: for as long as a queue before the index may hold a document back.
REMEMBERED = 900.0
# About as many as fit 300 MB with texts of 1.3 kB.
MOST_PENDING = 50_000


@dataclass(frozen=True)
class GateOptions:
    """How a gate works.

    - ``mode``: what becomes of a duplicate that is to be written. ``refuse`` leaves it out; ``advise`` writes it all
      the same.
    - ``remember``: seconds for which a document is remembered that was accepted, and that the index does not show.
    - ``most_pending``: how many of these there may be; then nothing is accepted until the index shows some.
    - ``syncs``: each yes is safe from the end of the machine, too, not only from that of the process.
    - ``patience``: seconds to wait for an engine that is away or overloaded.
    - ``find``: what makes a near-duplicate: the fields of `MatchOptions`, and ``idf``, as `Index.find` takes them.
    """

    mode: Mode = "refuse"
    remember: float = REMEMBERED
    most_pending: int = MOST_PENDING
    syncs: bool = True
    patience: float = 5.0
    find: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise InputError(f"Unknown mode {self.mode!r}. Choose from: {', '.join(get_args(Mode))}.")
        if not self.remember > 0 or self.most_pending < 1:
            raise InputError("A gate must remember what it accepts. Give a time and a number above 0.")
        known = {each.name for each in fields(MatchOptions)} | {"idf"}
        if unknown := sorted(set(self.find) - known):
            raise InputError(f"A gate cannot find by {', '.join(unknown)}. Leave it out.")

    def request(self) -> FindOptions:
        """Return how near-duplicates are found."""
        return FindOptions(**self.find, source=[])


# In an event of a journal, the gate's own index.
_OWN = ""
_DUPLICATES = ("near-duplicate", "equal")
# Seconds for which a sample of the index says how rare features are.
_FRESH = 10.0
_BEGUN = time.time() - time.monotonic()


def now() -> float:
    """Return the seconds since 1970, which never jump within a process.

    A wall clock that is set forward, as after a suspended machine wakes, would make a gate forget what it accepted a
    moment before.
    """
    return _BEGUN + time.monotonic()


@dataclass(frozen=True)
class Accepted:
    """An accepted document: its verdict, a hash of its text, its values in the scope, when, and who writes it."""

    verdict: Verdict
    content: str
    values: ScopeValues | None
    at: float
    writes: bool


class Pending:
    """Accepted documents by their ids, the oldest first; compared with others, unless people decided they are alone."""

    def __init__(self, seen: SeenDocuments) -> None:
        self.seen = seen
        self._accepted: dict[str, Accepted] = {}

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._accepted)

    def get(self, id: str) -> Accepted | None:
        """Return what was accepted under an id."""
        return self._accepted.get(id)

    def items(self) -> Iterator[tuple[str, Accepted]]:
        """Yield all documents, the oldest first."""
        yield from tuple(self._accepted.items())

    def add(self, id: str, accepted: Accepted, wanted: QueryDocument, made: Made, *, is_alone: bool = False) -> None:
        """Remember a document; it replaces one with the same id."""
        self.forget([id])
        self._accepted[id] = accepted
        if not is_alone:
            self.seen.add(0, wanted, *made)

    def forget(self, ids: Iterable[str]) -> None:
        """Forget documents, if they are remembered."""
        for id_ in ids:
            if self._accepted.pop(id_, None) is not None:
                self.seen.forget(id_)

    def shown(self, id: str, content: str | None) -> bool:
        """Return whether the index shows a document that is remembered, as it was accepted."""
        known = self._accepted.get(id)
        return known is not None and known.content == content


@dataclass(frozen=True)
class Judged:
    """A document, what is like it (nearest first), and the fields of the scope in which it has no value.

    It may be decided that it ``is_alone``.
    """

    position: int
    wanted: QueryDocument
    made: Made
    duplicates: tuple[Match, ...]
    complete: bool
    missing: tuple[str, ...]
    is_alone: bool

    @property
    def kind(self) -> Kind:
        """What the document is by that."""
        if self.made[0].status == "empty":
            return "no text"
        if self.missing:
            return "out of scope"
        if not self.duplicates:
            return "new"
        return "equal" if any(match.same_text for match in self.duplicates) else "near-duplicate"


class Judge:
    """Judges documents by an index, and by what was accepted before them.

    If it is not noted in the index how rare features are, that is looked up now and then, as the index grows.
    """

    def __init__(self, pending: Pending, candidates: FetchCandidates) -> None:
        self._pending = pending
        self._candidates = candidates
        self._verifier: Verifier | None = None
        self._looks_again = 0.0

    def judge(self, wanted: Mapping[int, QueryDocument], made: Mapping[int, Made]) -> Plan[Iterator[Judged]]:
        """Judge documents by position, each as it is taken from the iterator.

        So the caller can remember a document before the next one is judged.
        """
        if time.monotonic() >= self._looks_again:
            self._verifier = self._pending.seen.terms.verifier()
            self._looks_again = time.monotonic() + _FRESH
        terms, verifier = self._pending.seen.terms, self._verifier
        self._pending.seen.expect(made.values())
        found = yield from find_fingerprinted(
            terms, list(wanted.values()), list(made.values()), verifier, self._candidates
        )
        return _each_judged(self._pending, zip(wanted.items(), made.values(), found, strict=True), verifier)


def _each_judged(
    pending: Pending,
    found: Iterator[tuple[tuple[int, QueryDocument], Made, SearchResult]],
    verifier: Verifier | None,
) -> Iterator[Judged]:
    criteria, prefix = pending.seen.terms.criteria, pending.seen.terms.documents.prefix
    for (position, wanted), made, result in found:
        own = {} if wanted.id is None else {wanted.id}
        hits = ((hit["_id"], object_in(hit.get("_source"), prefix)) for hit in result.measured.compared.hits)
        in_both = {id_ for id_, there in hits if pending.shown(id_, there.get("content"))}
        earlier = result.earlier(partial(pending.seen.measured, wanted, *made, verifier), in_both.union(own))
        there = result.matches()
        accepted = () if earlier is NOTHING else matches_of(earlier, criteria, status=made[0].status)
        # Of a document that was accepted with another text since, the index shows what it was.
        current = [match for match in there if match.id in in_both or pending.get(match.id) is None]
        matches = sorted([*current, *accepted], key=nearest_first(criteria))
        size = result.search.terms.options.size
        is_alone = result.decided is not None and result.decided.is_alone
        yield Judged(position, wanted, made, tuple(matches[:size]), there.complete, there.missing, is_alone)


class Event:
    """The events of a journal: a document was accepted, or is no longer remembered."""

    @staticmethod
    def accepted(accepted: Accepted, action: Json) -> Json:
        """Note an accepted document, with what is needed to judge others by it, and to write it."""
        verdict = accepted.verdict
        form: Json = {"to": _OWN, "at": accepted.at, "writes": accepted.writes, "action": action}
        if verdict.kind != "new":
            form["kind"] = verdict.kind
        return form

    @staticmethod
    def gone(ids: Iterable[str]) -> Json:
        """Note documents that are no longer remembered."""
        return {"gone": [[_OWN, id_] for id_ in ids]}

    @staticmethod
    def gone_in(event: Json) -> list[str]:
        """Return the ids of documents that are no longer remembered."""
        return [id_ for index, id_ in event["gone"] if index == _OWN]

    @staticmethod
    def problem_of(event: Json) -> str | None:
        """Return why what a journal holds is not an event; None if it is one."""
        match event:
            case {"gone": [*keys]} if all(
                isinstance(key, list) and len(key) == 2 and all(isinstance(part, str) for part in key) for key in keys
            ):
                return None
            case {"to": str(), "at": int() | float(), "writes": bool(), "action": {"_id": str(), "_source": dict()}}:
                is_judged = event.get("kind", "new") in get_args(Kind)
                if event["to"] != _OWN:
                    return f"It is for {event['to']!r}, to which no gate writes any more. Write it there."
                return None if is_judged else "It is an event with another kind than a gate writes."
        return "Not an event of a gate: one accepts a document, or names some that are gone."

    @staticmethod
    def id_of(event: Json) -> str:
        """Return the id of an accepted document."""
        return str(event["action"]["_id"])

    @staticmethod
    def verdict_of(event: Json) -> Verdict:
        """Return the verdict on an accepted document, without its duplicates."""
        return Verdict(Event.id_of(event), event.get("kind", "new"), True)


@dataclass(frozen=True)
class Decision:
    """A verdict on a document; its event, if it is remembered; and whether it is to be written.

    It is written ``again`` if one with this id was, and no search has shown that yet.
    """

    verdict: Verdict
    id: str
    action: Json
    event: Json | None = None
    writes: bool = False
    again: bool = False


@dataclass
class Accepting:
    """Decides by the mode, and remembers what it accepts.

    The same document as before, by its id, text and values in the scope, gets the same answer.
    """

    options: GateOptions
    documents: Documents
    pending: Pending

    def decide(self, judged: Judged, action: Json, writes: bool, at: float) -> Decision:
        """Decide about a document as it is judged."""
        id_, content = str(action["_id"]), str(judged.made[1]["content"])
        verdict = self._repeated(judged) or self._verdict(judged, id_, writes)
        if not verdict.accepted:
            return Decision(verdict, id_, action)
        earlier = self.pending.get(id_)
        values = self.pending.seen.terms.values_of(judged.wanted.document)
        accepted = Accepted(verdict, content, values, at, writes)
        self.pending.add(id_, accepted, judged.wanted, judged.made, is_alone=judged.is_alone)
        noted = action if writes else {**action, "_source": self._part.part_of(action["_source"])}
        event = Event.accepted(accepted, noted)
        again = earlier is not None and earlier.writes
        return Decision(verdict, id_, action, event, writes, again)

    def _repeated(self, judged: Judged) -> Verdict | None:
        """Return the verdict on the same document, if it was accepted before."""
        id_, content = str(judged.wanted.id), judged.made[1]["content"]
        values = self.pending.seen.terms.values_of(judged.wanted.document)
        known = self.pending.get(id_)
        return known.verdict if known and known.content == content and known.values == values else None

    def _verdict(self, judged: Judged, id_: str, writes: bool) -> Verdict:
        if judged.kind == "no text":
            there = what_there_is(judged.wanted.document, self.documents.fields)
            where = ", ".join(self.documents.fields)
            return Verdict(
                id_, "no text", reason=f"It has no text to compare in {where}, so it is not accepted. {there}"
            )
        found = Verdict(id_, judged.kind, True, None, judged.duplicates, judged.complete, judged.missing)
        if judged.kind not in _DUPLICATES:
            return found
        is_accepted = self.options.mode == "advise" and writes
        return Verdict(id_, judged.kind, is_accepted, None, judged.duplicates, judged.complete)

    @cached_property
    def _part(self) -> SourceFilter:
        """The part of documents that others are compared with."""
        return SourceFilter.of([*self.documents.fields, *self.pending.seen.terms.scope_paths])
