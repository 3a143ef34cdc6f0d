"""Forgetting what the index shows by now, and what nobody has written in time."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from es_simhash._core.batched import chunks
from es_simhash._core.json_paths import Json
from es_simhash.engines.base import Engine, run
from es_simhash.errors import AccessError
from es_simhash.gate.accepting import Event
from es_simhash.gate.clock import now
from es_simhash.gate.journal import Journal
from es_simhash.gate.pending import Accepted, Key, Pending
from es_simhash.gate.set_aside import answered
from es_simhash.plans.operation_retry import attempt
from es_simhash.plans.operations import Refresh, Search
from es_simhash.scheme.own_fields import object_in

# Seconds between two looks, and the share of the time that they may take.
_PAUSE, _SHARE = 1.0, 0.1
_AT_ONCE = 1000


class Settling:
    """Looks into the index now and then; ``expired`` counts what was forgotten without being shown."""

    def __init__(
        self,
        engine: Engine,
        index: str,
        pending: Pending,
        journal: Journal,
        remember: float,
        durable_at_once: bool,
        before_forgetting: Callable[[], object],
        set_aside: Callable[[dict[Key, str]], object],
    ) -> None:
        self._engine = engine
        self._index = index
        self._pending = pending
        self._journal = journal
        self._remember = remember
        self._refreshes_itself = durable_at_once
        self._before_forgetting = before_forgetting
        self._set_aside = set_aside
        self._due = time.monotonic() + _PAUSE
        self.expired = 0

    def settle_if_due(self) -> None:
        """Look, if that was not done just now."""
        if time.monotonic() >= self._due:
            self.settle()

    def settle(self, *, urgently: bool = False) -> None:
        """Look now; ``urgently`` makes the index show what it has, as the embedded engine needs each time."""
        started = time.monotonic()
        if len(self._pending):
            targets = {key[0] or self._index for key, _ in self._pending.items()}
            if urgently or not self._refreshes_itself:
                for index in targets:
                    run(attempt(Refresh(index)), self._engine)
            shown = self._shown()
            if self._refreshes_itself and self._is_written_and_late(shown):
                self._refresh({key[0] or self._index for key, _ in self._pending.items()})
                shown = self._shown()
            if self._refreshes_itself:
                self._refresh_copies(shown)
            self._before_forgetting()
            self._pending.forget(shown)
            late = [key for key, accepted in self._pending.items() if self._is_late(accepted)]
            self._pending.forget(late)
            self.expired += len(late)
            if not len(self._pending):
                self._journal.replace(())
            elif shown or late:
                self._journal.append([Event.gone([*shown, *late])], durable=False)
        ended = time.monotonic()
        self._due = ended + max(_PAUSE, (ended - started) / _SHARE)

    def _refresh_copies(self, shown: Iterable[Key]) -> None:
        """Have replicas show what one copy does: each refreshes itself in its own time, and the next search may ask it.

        Where the login may not refresh, one copy must do.
        """
        self._refresh({target or self._index for target, _ in shown})

    def _refresh(self, indices: Iterable[str]) -> None:
        for index in indices:
            with suppress(AccessError):
                self._engine.perform(Refresh(index))

    def _is_late(self, accepted: Accepted) -> bool:
        return accepted.at < now() - self._remember

    def _is_written_and_late(self, shown: Iterable[Key]) -> bool:
        """Return whether the gate is about to forget what it has written itself, and no search shows."""
        found = set(shown)
        return any(
            accepted.writes and self._is_late(accepted) and key not in found for key, accepted in self._pending.items()
        )

    def _shown(self) -> list[Key]:
        """Return the documents that searches find as they were accepted; put aside what no search can be sent for."""
        shown: list[Key] = []
        refused: dict[Key, str] = {}
        by_target: dict[str, list[Key]] = defaultdict(list)
        for key, _ in self._pending.items():
            by_target[key[0]].append(key)
        for keys in by_target.values():
            for _, some in chunks(keys, _AT_ONCE):
                shown += answered(self._shown_of, some, refused)
        if refused:
            self._set_aside(refused)
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
        reply = self._engine.perform(Search(target or self._index, body))
        for hit in reply["hits"]["hits"]:
            own, accepted = object_in(hit.get("_source"), documents.prefix), self._pending.get((target, hit["_id"]))
            if accepted and own.get("content") == accepted.content and own.get("scheme") == documents.scheme.id:
                yield target, hit["_id"]
