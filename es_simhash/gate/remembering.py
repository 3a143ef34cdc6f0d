"""Writing what a gate accepted, and remembering it until the index shows it; after a failure, as journal and index say.

A document that others write is remembered until the index shows it, or for its time. Of one that the gate itself was to
write, the index is asked by id (an alias or a data stream is refreshed first, since a search has to answer):

- It has the document: it was written, and perhaps answered.
- It lacks the document, and is a server: these keep what they have acknowledged, so nobody was answered, and the
  document is forgotten. A client that asks again gets a new answer.
- It lacks the document, and is embedded: that keeps only what was refreshed, so somebody may have been answered. The
  document is written again.

What no gate can use is set aside: what is not an event, a document that cannot be read or sent, and one that the engine
refuses for good. An engine that is away is not a reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from secrets import token_urlsafe
from typing import Any

from es_simhash._core.batches import chunks
from es_simhash._core.json_codec import Json
from es_simhash.documents.sources import Rejected
from es_simhash.engines.base import Engine, run
from es_simhash.errors import AccessError, DocumentError, EngineError, InputError
from es_simhash.gate.judging import Accepted, Event, GateOptions, Pending, now
from es_simhash.gate.requests import check_sendable
from es_simhash.gate.state import Journal, SetAside
from es_simhash.plans.add import WriteCounts, Writer
from es_simhash.plans.bulk import hits_by_id, holds
from es_simhash.plans.check import made_of
from es_simhash.plans.find_options import query_documents
from es_simhash.plans.index_plans import IndexPlans
from es_simhash.plans.operations import GetDocuments, Plan, Refresh, Search, attempt
from es_simhash.scheme.own_fields import object_in

# Seconds between two looks at the index, and the share of the time that they may take.
_PAUSE, _SHARE = 1.0, 0.1
# Documents that are recovered together, and that are looked for.
_RECOVERED, _LOOKED_FOR = 200, 1000


@dataclass
class Remembering:
    """Remembers what a journal holds, and forgets what the index shows by now, or nobody has written in time.

    A server is ``durable_at_once``, and shows by itself what it has. Of the documents that were forgotten, ``expired``
    is the number of those that were never shown.
    """

    _engine: Engine
    _pending: Pending
    _journal: Journal
    _writing: Writing
    _aside: SetAside
    _remember: float
    _durable_at_once: bool
    _before_forgetting: Callable[[], object]
    _due: float = field(default_factory=lambda: time.monotonic() + _PAUSE)
    expired: int = 0

    def recover(self, ids: Collection[str] | None = None) -> None:
        """Remember what the journal says of some documents, or of all."""
        if ids is None:
            self._pending.forget([id_ for id_, _ in self._pending.items()])
        unusable: list[tuple[Any, str]] = []
        events = self._live(lambda record, reason: unusable.append((record, reason)))
        live = {id_: event for id_, event in events.items() if ids is None or id_ in ids}
        oldest = now() - self._remember
        # A document to be written is remembered, however old, until it is shown.
        kept = {id_: event for id_, event in live.items() if event["writes"] or event["at"] >= oldest}
        gone = [id_ for id_ in live if id_ not in kept]
        refused: dict[str, str] = {}
        waiting = iter(kept.items())
        while some := dict(islice(waiting, _RECOVERED)):
            gone += self._recovered(some, refused)
        self._aside.add([*unusable, *((live[id_], reason) for id_, reason in refused.items())])
        gone += refused
        self._pending.forget(gone)
        self._journal.append([Event.gone(gone)] if gone else [], durable=bool(refused))
        if unusable:
            self.compact()

    def settle_if_due(self) -> None:
        """Look, if that was not done just now."""
        if time.monotonic() >= self._due:
            self.settle()

    def settle(self, *, urgently: bool = False) -> None:
        """Look now; ``urgently`` makes the index show what it has, as the embedded engine needs each time."""
        started = time.monotonic()
        if len(self._pending):
            if urgently or not self._durable_at_once:
                run(attempt(Refresh(self._writing.index)), self._engine)
            shown = self._shown()
            if self._durable_at_once:
                late = {id_ for id_, each in self._pending.items() if each.writes and self._is_late(each)}
                if late.difference(shown):
                    # What the gate has written itself is about to be forgotten, and no search shows it.
                    self._refresh()
                    shown = self._shown()
                # Replicas refresh themselves in their own time, and the next search may ask one of them.
                if shown:
                    self._refresh()
            self._before_forgetting()
            self._pending.forget(shown)
            expired = [id_ for id_, accepted in self._pending.items() if self._is_late(accepted)]
            self._pending.forget(expired)
            self.expired += len(expired)
            if not len(self._pending):
                self._journal.replace(())
            elif shown or expired:
                self._journal.append([Event.gone([*shown, *expired])], durable=False)
        ended = time.monotonic()
        self._due = ended + max(_PAUSE, (ended - started) / _SHARE)

    def set_aside(self, refused: Mapping[str, str]) -> None:
        """Forget documents that the engine refuses for good, and put them aside, each with the reason."""
        live = self._live()
        self._aside.add([(live[id_], reason) for id_, reason in refused.items() if id_ in live])
        self._pending.forget(refused)
        self._journal.append([Event.gone(refused)])

    def compact(self) -> None:
        """Rewrite the journal with what is still remembered."""
        self._journal.replace(event for id_, event in self._live().items() if self._pending.get(id_))

    def _live(self, reject: Callable[[Any, str], object] = lambda record, reason: None) -> dict[str, Json]:
        """Return the last event of each document still in the journal; ``reject`` gets what is not an event."""
        found: dict[str, Json] = {}
        for event in self._journal.events(reject):
            if problem := Event.problem_of(event):
                reject(event, problem)
            elif "gone" in event:
                for id_ in Event.gone_in(event):
                    found.pop(id_, None)
            else:
                id_ = Event.id_of(event)
                found.pop(id_, None)
                found[id_] = event
        return found

    def _recovered(self, events: dict[str, Json], refused: dict[str, str]) -> list[str]:
        """Remember documents, and write those again that the index has lost; return those to be forgotten.

        Those that cannot be used are ``refused``.
        """
        refused |= {id_: problem for id_, event in events.items() if (problem := _problem_of(event["action"]))}
        documents, ids = self._pending.seen.terms.documents, [id_ for id_ in events if id_ not in refused]

        def reject(one: Rejected) -> None:
            refused[ids[one.position]] = one.reason

        wanted = query_documents(documents, [events[id_]["action"] for id_ in ids], 0, reject)
        made = made_of(documents, wanted, reject)
        self._pending.seen.expect(made.values())
        contents = {ids[place]: str(fields["content"]) for place, (_, fields) in made.items()}
        lacking = [id_ for id_ in self._lacking(events, contents, refused) if events[id_]["writes"]]
        gone = lacking if self._durable_at_once else []
        if not self._durable_at_once:
            refused |= self._written_again(lacking, events)
        forgotten = refused.keys() | gone
        for place, each in made.items():
            id_, event = ids[place], events[ids[place]]
            if id_ not in forgotten:
                verdict = Event.verdict_of(event)
                values = self._pending.seen.terms.values_of(wanted[place].document)
                accepted = Accepted(verdict, contents[id_], values, event["at"], event["writes"])
                self._pending.add(id_, accepted, wanted[place], each)
        return gone

    def _lacking(self, events: dict[str, Json], contents: dict[str, str], refused: dict[str, str]) -> list[str]:
        """Return documents that the index does not have as they were accepted."""
        return answered(lambda some: self._lacking_of(some, events, contents), list(contents), refused)

    def _lacking_of(self, ids: Sequence[str], events: dict[str, Json], contents: dict[str, str]) -> Iterator[str]:
        """Yield those of documents that the index does not have as they were accepted."""
        prefix, index = self._pending.seen.terms.documents.prefix, self._writing.index
        routings = [events[id_]["action"].get("_routing") if id_ in events else None for id_ in ids]
        source = [f"{prefix}.content"]
        if self._writing.rolls:
            there = run(hits_by_id(index, ids, source, refresh=True), self._engine)
        else:
            # This reads even what no search shows yet.
            reading = GetDocuments(index, ids, source, routings if any(routings) else None)
            there = {reply["_id"]: [reply] for reply in self._engine.perform(reading) if reply["found"]}
        for id_ in ids:
            found = (object_in(hit.get("_source"), prefix) for hit in there.get(id_, ()))
            if not any(own.get("content") == contents.get(id_) for own in found):
                yield id_

    def _written_again(self, ids: Sequence[str], events: dict[str, Json]) -> dict[str, str]:
        """Write documents again; return those that the engine refuses, and why."""
        if not ids:
            return {}
        answers = self._writing.write([events[id_]["action"] for id_ in ids])
        return {ids[place]: reason for place, reason in answers.items()}

    def _refresh(self) -> None:
        with suppress(AccessError):  # then one copy must do
            self._engine.perform(Refresh(self._writing.index))

    def _is_late(self, accepted: Accepted) -> bool:
        return accepted.at < now() - self._remember

    def _shown(self) -> list[str]:
        """Return the documents that searches find as they were accepted; put aside what no search can be sent for."""
        shown: list[str] = []
        refused: dict[str, str] = {}
        for _, some in chunks([id_ for id_, _ in self._pending.items()], _LOOKED_FOR):
            shown += answered(self._shown_of, some, refused)
        if refused:
            self.set_aside(refused)
        return shown

    def _shown_of(self, ids: Sequence[str]) -> Iterator[str]:
        """Yield those of documents that a search finds as they were accepted."""
        documents = self._pending.seen.terms.documents
        body: Json = {
            "query": {"ids": {"values": list(ids)}},
            "size": len(ids),
            "_source": [f"{documents.prefix}.{name}" for name in ("content", "scheme")],
            "track_total_hits": False,
        }
        reply = self._engine.perform(Search(self._writing.index, body))
        for hit in reply["hits"]["hits"]:
            own, accepted = object_in(hit.get("_source"), documents.prefix), self._pending.get(hit["_id"])
            if accepted and own.get("content") == accepted.content and own.get("scheme") == documents.scheme.id:
                yield hit["_id"]


def _problem_of(action: Json) -> str | None:
    try:
        check_sendable(action)
    except DocumentError as error:
        return error.problem
    return None


def answered(ask: Callable[[Sequence[str]], Iterable[str]], ids: Sequence[str], refused: dict[str, str]) -> list[str]:
    """Return what the engine answers about some documents.

    Those for whose sake it refuses the question for good, and not the same one about another id, are ``refused``.
    """
    if not ids:
        return []
    try:
        return list(ask(ids))
    except (EngineError, InputError) as error:
        if not is_for_good(error):
            raise
        if len(ids) == 1:
            list(ask([token_urlsafe()]))
            refused[ids[0]] = str(error)
            return []
    half = len(ids) // 2
    return answered(ask, ids[:half], refused) + answered(ask, ids[half:], refused)


def is_for_good(error: EngineError | InputError) -> bool:
    """Return whether a request was refused for what is in it, so that it will be again."""
    return isinstance(error, InputError) or (type(error) is EngineError and error.is_of_request)


# ---- writing


def rounds(actions: Sequence[Json]) -> Iterator[list[int]]:
    """Yield the places of actions such that no id is in a round twice, and those of an id stay in order."""
    waiting = list(range(len(actions)))
    while waiting:
        first = {actions[place]["_id"]: place for place in reversed(waiting)}
        yield sorted(first.values())
        waiting = [place for place in waiting if first[actions[place]["_id"]] != place]


def placed(
    writer: Writer, actions: Sequence[Json], sought: Collection[str], refresh: bool
) -> Plan[list[Json | str | None]]:
    """Return each action as it is to be sent, None where that is done, or why it cannot be.

    Only ``sought`` ids may be there already; with ``refresh``, since a moment ago.
    """
    ids = [str(action["_id"]) for action in actions if str(action["_id"]) in sought]
    found = (yield from hits_by_id(writer.index, ids, None, refresh=refresh)) if ids else {}
    return [_placed(writer, action, found.get(str(action["_id"]), ())) for action in actions]


def _placed(writer: Writer, action: Json, hits: Sequence[Json]) -> Json | str | None:
    if not hits:
        return {**action, "_op_type": "create"} if writer.is_stream else action
    if len(hits) > 1:
        there = " and in ".join(repr(hit["_index"]) for hit in hits)
        return f"There are documents with this id in {there}. Delete all but one of them, then send it again."
    [hit] = hits
    source = hit.get("_source") or {}
    is_ours = object_in(source, writer.documents.prefix).get("scheme") == writer.documents.scheme.id
    if is_ours and holds(source, action["_source"]):
        return None  # it is there with all that is given, and with a fingerprint
    # A data stream takes nothing else.
    version = {"_if_seq_no": hit["_seq_no"], "_if_primary_term": hit["_primary_term"]} if writer.is_stream else {}
    return {**action, "_index": hit["_index"], **version}


class Writing:
    """Writes to the index of a gate; if it ``rolls``, it is an alias or a data stream."""

    def __init__(self, plans: IndexPlans, engine: Engine, options: GateOptions) -> None:
        self._engine = engine
        self._writer = run(plans.writer(False, options.patience), engine)
        self.index, self.rolls = self._writer.index, self._writer.rolls

    def write(self, actions: Sequence[Json], sought: Collection[str] = (), again: bool = False) -> dict[int, str]:
        """Write documents; return the positions of those that are refused, and why.

        Some ids are ``sought`` where a document may be there already, perhaps since a moment ago (``again``).
        """
        if not self.rolls:
            return self._written(actions)
        refused: dict[int, str] = {}
        for number, places in enumerate(rounds(actions)):
            plan = placed(self._writer, [actions[place] for place in places], sought, again or number > 0)
            ready = dict(zip(places, run(plan, self._engine), strict=True))
            refused |= {place: each for place, each in ready.items() if isinstance(each, str)}
            due = {place: each for place, each in ready.items() if isinstance(each, dict)}
            answers = self._written(list(due.values()))
            refused |= {list(due)[position]: reason for position, reason in answers.items()}
        return refused

    def _written(self, actions: Sequence[Json]) -> dict[int, str]:
        """Write documents; return the positions of those that the engine refuses, and why.

        If it refuses a request as a whole for what is in it, the others are written without that.
        """
        written = WriteCounts()
        try:
            run(self._writer.write(actions, 0, written), self._engine)
        except (EngineError, InputError) as error:
            if isinstance(error, EngineError) and type(error) is not EngineError:
                raise
            if len(actions) == 1:
                return {0: str(error)}
            half = len(actions) // 2
            first = self._written(actions[:half])
            return first | {half + place: why for place, why in self._written(actions[half:]).items()}
        return {one.position: one.reason for one in written.rejected}
