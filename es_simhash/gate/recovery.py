"""What a gate remembers, read again from its journal and its index: when it opens, and after a failure.

A document that others write is remembered until the index shows it, or for its time. Of one that the gate itself was to
write, the index is asked by id (an alias or a data stream is refreshed first, since a search has to answer):

- It has the document: it was written, and perhaps answered.
- It lacks the document, and is a server: these keep what they have acknowledged, so nobody was answered, and the
  document is forgotten. A client that asks again is answered anew.
- It lacks the document, and is embedded: that keeps only what was refreshed, so somebody may have been answered. The
  document is written again.

What no gate can use is set aside: what is no event, a document that cannot be read or sent, and one that the engine
refuses for good. An engine that is away is no reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.documents.rejected import Rejected
from es_simhash.engines.base import Engine, run
from es_simhash.errors import DocumentError
from es_simhash.gate.accepting import Event
from es_simhash.gate.clock import now
from es_simhash.gate.journal import Journal
from es_simhash.gate.pending import Accepted, Key, Pending
from es_simhash.gate.sendable import check_sendable
from es_simhash.gate.set_aside import SetAside, answered
from es_simhash.gate.writing import Writing
from es_simhash.plans.check import made_of
from es_simhash.plans.hits_by_id import hits_by_id
from es_simhash.plans.operations import GetDocuments
from es_simhash.plans.query_documents import query_documents
from es_simhash.scheme.own_fields import object_in

_AT_ONCE = 200


class Recovery:
    """Reads a journal; a server is ``durable_at_once``."""

    def __init__(
        self,
        engine: Engine,
        pending: Pending,
        journal: Journal,
        writing: Writing,
        aside: SetAside,
        durable_at_once: bool,
    ) -> None:
        self._engine = engine
        self._pending = pending
        self._journal = journal
        self._writing = writing
        self._aside = aside
        self._durable_at_once = durable_at_once

    def recover(self, keys: Collection[Key] | None, remember: float) -> None:
        """Remember what the journal says of some documents, or of all."""
        if keys is None:
            self._pending.forget([key for key, _ in self._pending.items()])
        unusable: list[tuple[Any, str]] = []
        events = self._live(lambda record, reason: unusable.append((record, reason)))
        live = {key: event for key, event in events.items() if keys is None or key in keys}
        oldest = now() - remember
        kept = {key: event for key, event in live.items() if self._is_ours(key) and _is_needed(event, oldest)}
        gone = [key for key in live if key not in kept]
        refused: dict[Key, str] = {}
        waiting = iter(kept.items())
        while some := dict(islice(waiting, _AT_ONCE)):
            gone += self._recovered(some, refused)
        self._aside.add([*unusable, *((live[key], reason) for key, reason in refused.items())])
        gone += refused
        self._pending.forget(gone)
        self._journal.append([Event.gone(gone)] if gone else [], durable=bool(refused))
        if unusable:
            self.compact()

    def set_aside(self, refused: Mapping[Key, str]) -> None:
        """Forget documents that the engine refuses for good, and put them aside, each with the reason."""
        live = self._live()
        self._aside.add([(live[key], reason) for key, reason in refused.items() if key in live])
        self._pending.forget(refused)
        self._journal.append([Event.gone(refused)])

    def compact(self) -> None:
        """Make the journal anew, of what is still remembered."""
        self._journal.replace(event for key, event in self._live().items() if self._pending.get(key))

    def _is_ours(self, key: Key) -> bool:
        return self._writing.has(key[0])

    def _live(self, reject: Callable[[Any, str], object] = lambda record, reason: None) -> dict[Key, Json]:
        """Return the last event of each document that is not gone by the journal; ``reject`` gets what is no event."""
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


def _problem_of(action: Json) -> str | None:
    try:
        check_sendable(action)
    except DocumentError as error:
        return error.problem
    return None


def _is_needed(event: Json, oldest: float) -> bool:
    """Return whether a document is remembered: what was to be written is, however old, until it is shown."""
    return bool(event["writes"]) or event["at"] >= oldest
