"""The gate's own process, which may be killed, and clients that ask until they are answered."""

from __future__ import annotations

import http.client
import json
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from es_simhash import Index, Policy
from es_simhash.engines.connect import connect
from es_simhash.errors import MissingError
from es_simhash.plans.operations import DeleteIndex
from tests.support.commands import environment

# Seconds after which a process that should answer is broken.
_TIMEOUT = 120.0
OUR_PROGRAM = (sys.executable, "-m", "es_simhash")


class GateProcess:
    """A process that serves a gate; it may be killed, and started again with the same state.

    Who is refused asks again after a ``pause`` of seconds; ``refused`` counts how often, and by what.
    """

    def __init__(
        self,
        *arguments: str,
        cwd: Path,
        variables: Mapping[str, str] = MappingProxyType({}),
        program: Sequence[str] = OUR_PROGRAM,
        port: str = "0",
    ) -> None:
        self._command = [*program, "gate", *arguments, "--port", port, "--json", "--quiet"]
        self._cwd = cwd
        self._variables = variables
        self._changed = Condition()
        self._address: tuple[str, int] | None = None
        self._process: subprocess.Popen[str] | None = None
        self.starts = 0
        self.pause = 0.0
        self.refused: Counter[str] = Counter()

    @property
    def address(self) -> tuple[str, int]:
        assert self._address
        return self._address

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process and self.is_running else None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        process = subprocess.Popen(
            self._command, cwd=self._cwd, stdout=subprocess.PIPE, text=True, env=environment(self._variables)
        )
        assert process.stdout
        line = process.stdout.readline()
        assert line, "the gate did not start"
        place = urlsplit(json.loads(line)["address"])
        with self._changed:
            self._process, self._address = process, (str(place.hostname), int(place.port or 0))
            self.starts += 1
            self._changed.notify_all()

    def kill(self) -> None:
        """End the process without a warning."""
        assert self._process
        with self._changed:
            self._address = None
        self._process.kill()
        self._ended()

    def stop(self) -> int:
        """Ask the process to end; return its exit code."""
        assert self._process
        self._process.send_signal(signal.SIGTERM)
        return self._ended()

    def _ended(self) -> int:
        assert self._process
        assert self._process.stdout
        code = self._process.wait(_TIMEOUT)
        self._process.stdout.close()
        return code

    def ask(self, path: str, body: Any, headers: Mapping[str, str] = MappingProxyType({})) -> tuple[int, Any]:
        """Post JSON until it is answered, by whichever process."""
        while True:
            with self._changed:
                assert self._changed.wait_for(lambda: self._address, _TIMEOUT)
                assert self._address
                host, port = self._address
            connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT)
            try:
                with closing(connection):
                    connection.request("POST", path, json.dumps(body), {"content-type": "application/json", **headers})
                    with connection.getresponse() as reply:
                        content = reply.read()
                if reply.status not in (429, 503):
                    return reply.status, json.loads(content)
                self.refused[str(reply.status)] += 1
            except (OSError, http.client.HTTPException):
                self.refused["no answer"] += 1
            time.sleep(self.pause)


@contextmanager
def made_index(place: str, policy: Policy | None = None) -> Iterator[str]:
    """Make an empty index with fields in a place, and remove it in the end."""
    name = f"gate-{uuid.uuid4().hex[:10]}"
    with Index(name, place, fields=["title", "body"]) as index:
        index.init(policy=policy)
    try:
        yield name
    finally:
        with closing(connect(place)) as engine, suppress(MissingError):
            engine.perform(DeleteIndex(name))


@dataclass
class History:
    """What clients were answered: which ids were accepted, and which refused."""

    accepted: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    answered: int = 0
    _changed: Condition = field(default_factory=Condition)

    def note(self, answers: Sequence[Any]) -> None:
        with self._changed:
            for each in answers:
                (self.accepted if each["accepted"] else self.refused).add(each["id"])
                self.answered += 1
            self._changed.notify_all()

    def await_answers(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.answered >= count, _TIMEOUT)

    def pause(self, seconds: float) -> None:
        """Let a moment pass, in which anything may be under way."""
        with self._changed:
            self._changed.wait_for(lambda: False, seconds)


def with_kills(
    gate: GateProcess, path: str, documents: Sequence[Any], kills: int, seed: int, clients: int = 4
) -> History:
    """Ask for documents by some clients, one or a few at a time, while the process is killed at random moments."""
    rng, history = random.Random(seed), History()
    shares = [list(documents[number::clients]) for number in range(clients)]
    failures: list[BaseException] = []

    def go(own: list[Any], sizes: random.Random) -> None:
        try:
            while own:
                some, own = own[: (size := sizes.choice([1, 1, 3]))], own[size:]
                _, answers = gate.ask(path, some[0] if len(some) == 1 else some)
                history.note([answers] if len(some) == 1 else answers)
        except BaseException as error:
            failures.append(error)
            raise

    gate.start()
    threads = [Thread(target=go, args=(own, random.Random(f"{seed} {own[0]}")), daemon=True) for own in shares]
    for each in threads:
        each.start()
    moments = sorted(rng.sample(range(len(documents) * 9 // 10), kills))
    for moment in moments:
        history.await_answers(moment)
        history.pause(rng.uniform(0, 0.01))
        gate.kill()
        gate.start()
    for each in threads:
        each.join(_TIMEOUT)
    assert not failures
    assert not any(each.is_alive() for each in threads)
    return history
