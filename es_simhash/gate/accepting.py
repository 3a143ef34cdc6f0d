"""What a verdict leads to: whether a document is accepted and remembered, where it is written, and with which tag."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.source_filter import SourceFilter
from es_simhash.documents.text_sought import what_there_is
from es_simhash.gate.judging import Judged
from es_simhash.gate.options import GateOptions
from es_simhash.gate.pending import OWN, Accepted, Key, Pending
from es_simhash.gate.repeated import Repeated
from es_simhash.gate.verdict import Kind, Verdict
from es_simhash.scheme.group_fields import GROUP
from es_simhash.scheme.own_fields import DUPLICATE_OF, object_in
from es_simhash.scheme.rerank import Match

_DUPLICATES = ("near-duplicate", "equal")


class Event:
    """The events of a journal: a document was accepted, or is no longer remembered."""

    @staticmethod
    def accepted(key: Key, accepted: Accepted, action: Json) -> Json:
        """Note an accepted document, with what is needed to judge others by it, and to write it."""
        verdict = accepted.verdict
        form: Json = {"to": key[0], "at": accepted.at, "writes": accepted.writes, "action": action}
        if verdict.kind != "new":
            form |= {"kind": verdict.kind, "tags": verdict.tags}
        return form

    @staticmethod
    def gone(keys: Iterable[Key]) -> Json:
        """Note documents that are no longer remembered."""
        return {"gone": [list(key) for key in keys]}

    @staticmethod
    def problem_of(event: Json) -> str | None:
        """Return why what a journal holds is no event; None if it is one."""
        match event:
            case {"gone": [*keys]} if all(
                isinstance(key, list) and len(key) == 2 and all(isinstance(part, str) for part in key) for key in keys
            ):
                return None
            case {"to": str(), "at": int() | float(), "writes": bool(), "action": {"_id": str(), "_source": dict()}}:
                is_judged = event.get("kind", "new") in get_args(Kind) and isinstance(event.get("tags") or {}, dict)
                return None if is_judged else "It is an event with another kind or tags than a gate writes."
        return "It is no event of a gate: one accepts a document, or names some that are gone."

    @staticmethod
    def key_of(event: Json) -> Key:
        """Return the key of an accepted document."""
        return event["to"], str(event["action"]["_id"])

    @staticmethod
    def verdict_of(event: Json) -> Verdict:
        """Return the verdict on an accepted document, without its duplicates."""
        key = Event.key_of(event)
        return Verdict(key[1], event.get("kind", "new"), key[0] == OWN, tags=event.get("tags"))


@dataclass(frozen=True)
class Decision:
    """A verdict; for a document that is remembered, its key and event; and what is to be written where.

    It is written ``again`` if one with this key was, and no search has shown that yet.
    """

    verdict: Verdict
    key: Key
    action: Json
    event: Json | None = None
    writes_to: str | None = None
    again: bool = False


@dataclass(frozen=True)
class Accepting:
    """Decides by the mode, and remembers what it accepts."""

    options: GateOptions
    documents: Documents
    pending: Pending
    repeated: Repeated

    def decide(self, judged: Judged, action: Json, writes: bool, at: float) -> Decision:
        """Decide about a document as it is judged."""
        id_, content = str(action["_id"]), str(judged.made[1]["content"])
        verdict = self.repeated.verdict(judged) or self._verdict(judged, id_, writes)
        target = self._target(verdict, writes)
        if target is None:
            return Decision(verdict, (OWN, id_), action)
        if writes:
            action = self._tagged(action, verdict)
        key = (target, id_)
        earlier = self.pending.get(key)
        values = self.pending.seen.terms.values_of(judged.wanted.document)
        accepted = Accepted(verdict, content, values, at, writes)
        self.pending.add(key, accepted, judged.wanted, judged.made)
        event = Event.accepted(key, accepted, action if writes else self._compared(action))
        again = earlier is not None and earlier.writes
        return Decision(verdict, key, action, event, target if writes else None, again)

    def _verdict(self, judged: Judged, id_: str, writes: bool) -> Verdict:
        if judged.kind == "no text":
            return Verdict(id_, "no text", reason=self._without_text(judged))
        found = Verdict(id_, judged.kind, True, None, judged.duplicates, judged.complete, judged.missing)
        if judged.kind not in _DUPLICATES:
            return found
        mode = self.options.mode
        is_accepted = mode == "tag" or (mode == "advise" and writes)
        tags = self._tags(judged.duplicates) if mode in ("tag", "divert") else None
        return Verdict(id_, judged.kind, is_accepted, None, judged.duplicates, judged.complete, (), tags)

    def _target(self, verdict: Verdict, writes: bool) -> str | None:
        """Return which index the document is for: its own, another, or none."""
        if verdict.accepted:
            return OWN
        return self.options.divert_to if writes and verdict.kind in _DUPLICATES else None

    def _without_text(self, judged: Judged) -> str:
        there = what_there_is(judged.wanted.document, self.documents.fields)
        return f"There is no text to compare in {', '.join(self.documents.fields)}, so it is not taken. {there}"

    def _tags(self, duplicates: Iterable[Match]) -> Json | None:
        """Name the nearest document that may stand for others; what is like tagged documents only has no tags."""
        original = next(filter(self._may_stand, duplicates), None)
        if original is None:
            return None
        group = object_in(original.source, self.documents.prefix).get(GROUP)
        return {DUPLICATE_OF: original.id, **({GROUP: group} if isinstance(group, str) else {})}

    def _may_stand(self, match: Match) -> bool:
        """Return whether a search without the tagged documents shows this one, where such stay in the index."""
        if self.options.mode != "tag":
            return True
        if known := self.pending.get((OWN, match.id)):
            return not known.verdict.tags
        return DUPLICATE_OF not in object_in(match.source, self.documents.prefix)

    def _tagged(self, action: Json, verdict: Verdict) -> Json:
        """Add the tag; the group is given when the document is written."""
        if not verdict.tags:
            return action
        body, prefix = action["_source"], self.documents.prefix
        own: Any = body.get(prefix)
        tagged = {**(own if isinstance(own, dict) else {}), DUPLICATE_OF: verdict.tags[DUPLICATE_OF]}
        return {**action, "_source": {**body, prefix: tagged}}

    @cached_property
    def _part(self) -> SourceFilter:
        """The part of documents that others are compared with."""
        return SourceFilter.of([*self.documents.fields, *self.pending.seen.terms.scope_paths])

    def _compared(self, action: Json) -> Json:
        return {**action, "_source": self._part.part_of(action["_source"])}
