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
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from secrets import token_urlsafe
from typing import Any

from es_simhash._core.batched import chunks
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.rejected import Rejected
from es_simhash.engines.base import Engine, run
from es_simhash.errors import AccessError, DocumentError, EngineError, InputError
from es_simhash.gate.judging import OWN, Accepted, Event, Key, Pending, now
from es_simhash.gate.requests import check_sendable
from es_simhash.gate.state import Journal, SetAside
from es_simhash.gate.verdict import GateOptions
from es_simhash.plans.add import Writer, Written
from es_simhash.plans.bulk import hits_by_id, holds
from es_simhash.plans.check import made_of
from es_simhash.plans.find_options import query_documents
from es_simhash.plans.index_plans import IndexPlans
from es_simhash.plans.operation_retry import attempt
from es_simhash.plans.operations import GetDocuments, Plan, Refresh, Search
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

    def recover(self, keys: Collection[Key] | None = None) -> None:
        """Remember what the journal says of some documents, or of all."""
        if keys is None:
            self._pending.forget([key for key, _ in self._pending.items()])
        unusable: list[tuple[Any, str]] = []
        events = self._live(lambda record, reason: unusable.append((record, reason)))
        live = {key: event for key, event in events.items() if keys is None or key in keys}
        oldest = now() - self._remember
        # A document to be written is remembered, however old, until it is shown.
        ours = {key: event for key, event in live.items() if self._writing.has(key[0])}
        kept = {key: event for key, event in ours.items() if event["writes"] or event["at"] >= oldest}
        gone = [key for key in live if key not in kept]
        refused: dict[Key, str] = {}
        waiting = iter(kept.items())
        while some := dict(islice(waiting, _RECOVERED)):
            gone += self._recovered(some, refused)
        self._aside.add([*unusable, *((live[key], reason) for key, reason in refused.items())])
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
                for index in self._indices():
                    run(attempt(Refresh(index)), self._engine)
            shown = self._shown()
            if self._durable_at_once:
                late = {key for key, each in self._pending.items() if each.writes and self._is_late(each)}
                if late.difference(shown):
                    # What the gate has written itself is about to be forgotten, and no search shows it.
                    self._refresh(self._indices())
                    shown = self._shown()
                # Replicas refresh themselves in their own time, and the next search may ask one of them.
                self._refresh({self._writing.index_of(target) for target, _ in shown})
            self._before_forgetting()
            self._pending.forget(shown)
            expired = [key for key, accepted in self._pending.items() if self._is_late(accepted)]
            self._pending.forget(expired)
            self.expired += len(expired)
            if not len(self._pending):
                self._journal.replace(())
            elif shown or expired:
                self._journal.append([Event.gone([*shown, *expired])], durable=False)
        ended = time.monotonic()
        self._due = ended + max(_PAUSE, (ended - started) / _SHARE)

    def set_aside(self, refused: Mapping[Key, str]) -> None:
        """Forget documents that the engine refuses for good, and put them aside, each with the reason."""
        live = self._live()
        self._aside.add([(live[key], reason) for key, reason in refused.items() if key in live])
        self._pending.forget(refused)
        self._journal.append([Event.gone(refused)])

    def compact(self) -> None:
        """Rewrite the journal with what is still remembered."""
        self._journal.replace(event for key, event in self._live().items() if self._pending.get(key))

    def _live(self, reject: Callable[[Any, str], object] = lambda record, reason: None) -> dict[Key, Json]:
        """Return the last event of each document still in the journal; ``reject`` gets what is not an event."""
        found: dict[Key, Json] = {}
        for event in self._journal.events(reject):
            if problem := Event.problem_of(event):
                reject(event, problem)
            elif "gone" in event:
                for index, id_ in event["gone"]:
                    found.pop((index, id_), None)
            else:
                key = Event.key_of(event)
                found.pop(key, None)
                found[key] = event
        return found

    def _recovered(self, events: dict[Key, Json], refused: dict[Key, str]) -> list[Key]:
        """Remember documents, and write those again that the index has lost; return those to be forgotten.

        Those that cannot be used are ``refused``.
        """
        refused |= {key: problem for key, event in events.items() if (problem := _problem_of(event["action"]))}
        documents, keys = self._pending.seen.terms.documents, [key for key in events if key not in refused]

        def reject(one: Rejected) -> None:
            refused[keys[one.position]] = one.reason

        wanted = query_documents(documents, [events[key]["action"] for key in keys], 0, reject)
        made = made_of(documents, wanted, reject)
        self._pending.seen.expect(made.values())
        contents = {keys[place]: str(fields["content"]) for place, (_, fields) in made.items()}
        lacking = [key for key in self._lacking(events, contents, refused) if events[key]["writes"]]
        gone = lacking if self._durable_at_once else []
        if not self._durable_at_once:
            refused |= self._written_again(lacking, events)
        forgotten = refused.keys() | gone
        for place, each in made.items():
            key, event = keys[place], events[keys[place]]
            if key not in forgotten:
                verdict = Event.verdict_of(event)
                values = self._pending.seen.terms.values_of(wanted[place].document)
                accepted = Accepted(verdict, contents[key], values, event["at"], event["writes"])
                self._pending.add(key, accepted, wanted[place], each)
        return gone

    def _lacking(self, events: dict[Key, Json], contents: dict[Key, str], refused: dict[Key, str]) -> Iterator[Key]:
        """Yield documents that their indices do not have as they were accepted."""
        for target in dict.fromkeys(key[0] for key in contents):
            keys = [key for key in contents if key[0] == target]
            yield from answered(lambda some: self._lacking_of(some, events, contents), keys, refused)

    def _lacking_of(self, keys: Sequence[Key], events: dict[Key, Json], contents: dict[Key, str]) -> Iterator[Key]:
        """Yield those of documents of one index that it does not have as they were accepted."""
        prefix, target = self._pending.seen.terms.documents.prefix, keys[0][0]
        routings = [events[key]["action"].get("_routing") if key in events else None for key in keys]
        index, ids = self._writing.index_of(target), [id_ for _, id_ in keys]
        source = [f"{prefix}.content"]
        if self._writing.rolls(target):
            there = run(hits_by_id(index, ids, source, refresh=True), self._engine)
        else:
            # This reads even what no search shows yet.
            reading = GetDocuments(index, ids, source, routings if any(routings) else None)
            there = {reply["_id"]: [reply] for reply in self._engine.perform(reading) if reply["found"]}
        for key in keys:
            found = (object_in(hit.get("_source"), prefix) for hit in there.get(key[1], ()))
            if not any(own.get("content") == contents.get(key) for own in found):
                yield key

    def _written_again(self, keys: Sequence[Key], events: dict[Key, Json]) -> dict[Key, str]:
        """Write documents again; return those that the engine refuses, and why."""
        refused: dict[Key, str] = {}
        for target in dict.fromkeys(key[0] for key in keys):
            some = [key for key in keys if key[0] == target]
            answers = self._writing.write(target, [events[key]["action"] for key in some])
            refused |= {some[place]: reason for place, reason in answers.items()}
        return refused

    def _indices(self) -> set[str]:
        return {self._writing.index_of(key[0]) for key, _ in self._pending.items()}

    def _refresh(self, indices: Iterable[str]) -> None:
        for index in indices:
            with suppress(AccessError):  # then one copy must do
                self._engine.perform(Refresh(index))

    def _is_late(self, accepted: Accepted) -> bool:
        return accepted.at < now() - self._remember

    def _shown(self) -> list[Key]:
        """Return the documents that searches find as they were accepted; put aside what no search can be sent for."""
        shown: list[Key] = []
        refused: dict[Key, str] = {}
        by_target: dict[str, list[Key]] = defaultdict(list)
        for key, _ in self._pending.items():
            by_target[key[0]].append(key)
        for keys in by_target.values():
            for _, some in chunks(keys, _LOOKED_FOR):
                shown += answered(self._shown_of, some, refused)
        if refused:
            self.set_aside(refused)
        return shown

    def _shown_of(self, keys: Sequence[Key]) -> Iterator[Key]:
        """Yield those of documents of one index that a search finds as they were accepted."""
        documents, target = self._pending.seen.terms.documents, keys[0][0]
        body: Json = {
            "query": {"ids": {"values": [id_ for _, id_ in keys]}},
            "size": len(keys),
            "_source": [f"{documents.prefix}.{name}" for name in ("content", "scheme")],
            "track_total_hits": False,
        }
        reply = self._engine.perform(Search(self._writing.index_of(target), body))
        for hit in reply["hits"]["hits"]:
            own, accepted = object_in(hit.get("_source"), documents.prefix), self._pending.get((target, hit["_id"]))
            if accepted and own.get("content") == accepted.content and own.get("scheme") == documents.scheme.id:
                yield target, hit["_id"]


def _problem_of(action: Json) -> str | None:
    try:
        check_sendable(action)
    except DocumentError as error:
        return error.problem
    return None


def answered(ask: Callable[[Sequence[Key]], Iterable[Key]], keys: Sequence[Key], refused: dict[Key, str]) -> list[Key]:
    """Return what the engine answers about some documents of an index.

    Those for whose sake it refuses the question for good, and not the same one about another id, are ``refused``.
    """
    try:
        return list(ask(keys))
    except (EngineError, InputError) as error:
        if not is_for_good(error):
            raise
        if len(keys) == 1:
            list(ask([(keys[0][0], token_urlsafe())]))
            refused[keys[0]] = str(error)
            return []
    half = len(keys) // 2
    return answered(ask, keys[:half], refused) + answered(ask, keys[half:], refused)


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
    """Writers to the indices of a gate, which get the fields that they need."""

    def __init__(self, plans: IndexPlans, engine: Engine, options: GateOptions, documents: Documents) -> None:
        self._engine = engine
        is_tagged = options.mode == "tag"
        if is_tagged:
            run(plans.bring_tags(), engine)
        self._writers: dict[str, Writer] = {
            OWN: run(plans.writer(False, options.patience, grouped=is_tagged), engine),
        }
        if options.divert_to is not None:
            prefix, fields = documents.prefix, documents.fields
            other = IndexPlans(options.divert_to, scheme=documents.scheme, fields=fields, prefix=prefix)
            run(other.init(None, False, None), engine)
            run(other.bring_tags(), engine)
            self._writers[options.divert_to] = run(other.writer(False, options.patience), engine)

    def index_of(self, target: str) -> str:
        """Return the name of the index that a key names."""
        return self._writers[target].index

    def has(self, target: str) -> bool:
        """Return whether the gate writes to an index."""
        return target in self._writers

    def rolls(self, target: str) -> bool:
        """Return whether documents come by the name of an alias or a data stream."""
        return self._writers[target].rolls

    def write(
        self, target: str, actions: Sequence[Json], sought: Collection[str] = (), again: bool = False
    ) -> dict[int, str]:
        """Write documents; return the positions of those that are refused, and why.

        Some ids are ``sought`` where a document may be there already, perhaps since a moment ago (``again``).
        """
        if not self.rolls(target):
            return self._written(target, actions)
        refused: dict[int, str] = {}
        for number, places in enumerate(rounds(actions)):
            plan = placed(self._writers[target], [actions[place] for place in places], sought, again or number > 0)
            ready = dict(zip(places, run(plan, self._engine), strict=True))
            refused |= {place: each for place, each in ready.items() if isinstance(each, str)}
            due = {place: each for place, each in ready.items() if isinstance(each, dict)}
            answers = self._written(target, list(due.values()))
            refused |= {list(due)[position]: reason for position, reason in answers.items()}
        return refused

    def _written(self, target: str, actions: Sequence[Json]) -> dict[int, str]:
        """Write documents; return the positions of those that the engine refuses, and why.

        If it refuses a request as a whole for what is in it, the others are written without that.
        """
        written = Written()
        try:
            run(self._writers[target].write(actions, 0, written), self._engine)
        except (EngineError, InputError) as error:
            if isinstance(error, EngineError) and type(error) is not EngineError:
                raise
            if len(actions) == 1:
                return {0: str(error)}
            half = len(actions) // 2
            first = self._written(target, actions[:half])
            return first | {half + place: why for place, why in self._written(target, actions[half:]).items()}
        return {one.position: one.reason for one in written.rejected}
