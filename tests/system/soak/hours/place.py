"""Where a soak takes place: an index on a server, or in a directory of the embedded engine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import RLock
from typing import Any

from es_simhash._core.json_codec import Json
from es_simhash.plans.operations import CreateIndex, Refresh, Search
from tests.system.histories.embedded import Directory
from tests.system.soak.hours.tally import Tally
from tools.nodes import Node
from tools.nodes.web import Reply

FIELDS = ("title", "body")
# More than a soak lets an index have.
_MOST = 10_000
_AGAIN_SECONDS, _MOST_ATTEMPTS = 0.5, 1_200
BODY: Json = {
    "settings": {"number_of_shards": 2, "number_of_replicas": 0},
    "mappings": {
        "properties": {
            "title": {"type": "text"},
            "body": {"type": "text"},
            "number": {"type": "long"},
            "tag": {"type": "keyword"},
            "id": {"type": "keyword"},
        }
    },
}


@dataclass
class Place:
    """An index; who writes to an embedded one waits for their turn."""

    target: Node | Directory
    tally: Tally
    index: str = "soak"
    _turn: RLock = field(default_factory=RLock)

    @property
    def url(self) -> str:
        """Where commands find it."""
        return self.target.url

    @property
    def node(self) -> Node | None:
        """The server, if it is one."""
        return None if isinstance(self.target, Directory) else self.target

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Within it, nobody else writes to an embedded index."""
        if self.node:
            yield
            return
        with self._turn:
            yield

    def create(self) -> None:
        """Make the index as a team has it."""
        if self.node:
            self.ask("PUT", "", BODY)
        else:
            assert isinstance(self.target, Directory)
            self.target.perform(CreateIndex(self.index, BODY))

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request of somebody who knows nothing of us, and repeat it until it is done."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                with self.turn():
                    reply = self.target.request(method, f"/{self.index}{path}", body)
            except OSError:
                self.tally.saw("another's request: no answer")
            else:
                if is_done(method, reply):
                    return reply.body
                self.tally.saw(f"another's request: {reply.status}")
                if reply.status == HTTPStatus.BAD_REQUEST:
                    raise ValueError(f"{method} {path}: {reply}")
            time.sleep(_AGAIN_SECONDS)
        raise TimeoutError(f"{method} {path} was not done")

    def refresh(self) -> None:
        """Make all that was written visible to searches."""
        if self.node:
            self.ask("POST", "/_refresh")
        else:
            assert isinstance(self.target, Directory)
            with self.turn():
                self.target.perform(Refresh(self.index))

    def hits(self) -> list[Json]:
        """Read the whole index, without us where it is on a server."""
        body: Json = {"size": _MOST, "query": {"match_all": {}}}
        self.refresh()
        if self.node:
            reply = self.ask("POST", "/_search", {**body, "track_total_hits": True})
            assert reply["hits"]["total"]["value"] <= _MOST
            assert not reply["_shards"]["failed"]
        else:
            assert isinstance(self.target, Directory)
            with self.turn():
                reply = self.target.perform(Search(self.index, body))
        hits: list[Json] = reply["hits"]["hits"]
        return hits


def is_done(method: str, reply: Reply) -> bool:
    """Return whether a request was done, now or by an earlier attempt whose reply was lost."""
    if method == "DELETE" and reply.status == HTTPStatus.NOT_FOUND:
        return True
    return reply.status < HTTPStatus.MULTIPLE_CHOICES
