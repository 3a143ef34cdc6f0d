"""What a name has behind it that rolls over: the indices of an alias or of a data stream, one for each time."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from es_simhash._core.json_codec import Json
from tests.system.histories.target import Target

TIME = "@timestamp"


@dataclass(frozen=True)
class Generations:
    """The generations behind a name, each made with ``body``."""

    target: Target
    name: str
    body: Json
    is_stream: bool

    def begin(self) -> None:
        """Make the first one."""
        if self.is_stream:
            # Its time is added to the mapping, which is theirs.
            template = {"index_patterns": [self.name], "data_stream": {}, "template": self.body}
            self._ask("PUT", f"/_index_template/{self.name}", template)
            self._ask("PUT", f"/_data_stream/{self.name}")
        else:
            alias = {"aliases": {self.name: {"is_write_index": True}}}
            self._ask("PUT", f"/{self.name}-000001", {**self.body, **alias})

    def roll_over(self) -> None:
        """Make the next one, which gets what is written from now on."""
        self._ask("POST", f"/{self.name}/_rollover", None if self.is_stream else self.body)
        # As soon as all copies are there, nodes may be hit again.
        self.target.request("GET", f"/_cluster/health/{self.name}?wait_for_status=green&timeout=3s")

    def end(self) -> None:
        """Delete all of them."""
        if self.is_stream:
            self._ask("DELETE", f"/_data_stream/{self.name}")
            self._ask("DELETE", f"/_index_template/{self.name}")
        else:
            found = self.target.request("GET", f"/{self.name}/_alias")
            self._ask("DELETE", f"/{','.join(found.body)}")

    def _ask(self, method: str, path: str, body: Json | None = None) -> None:
        reply = self.target.request(method, path, body)
        assert reply.status < HTTPStatus.MULTIPLE_CHOICES, reply
