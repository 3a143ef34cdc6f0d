"""Users of an index, each in a thread of its own that makes one step after the other."""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, Thread
from typing import ClassVar, TypeVar

from es_simhash.errors import EngineError
from es_simhash.index import Index
from tests.system.soak.hours.ledger import Ledger
from tests.system.soak.hours.place import Place
from tests.system.soak.hours.programs import Programs, kind_of
from tests.system.soak.hours.tally import Tally

Result = TypeVar("Result")

_END_SECONDS = 60.0
_LIMIT_SECONDS, _AGAIN_SECONDS, _MOST_ATTEMPTS = 900.0, 1.0, 300


@dataclass
class Scene:
    """What users share."""

    place: Place
    ledger: Ledger
    programs: Programs
    tally: Tally

    def by_index(self, what: str, work: Callable[[Index], Result | None]) -> Result:
        """Have work done by an `Index` of this process, which is opened again until the work has a result."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                with self.place.turn(), Index(self.place.index, self.place.url) as index:
                    result = work(index)
                if result is not None:
                    return result
            except EngineError as error:
                self.tally.saw(f"{what}: {kind_of(str(error))}")
            time.sleep(_AGAIN_SECONDS)
        raise TimeoutError(f"{what} was not done")


class Actor(ABC):
    """A user who makes a step every ``pause`` seconds, on average."""

    pause: ClassVar[float]

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    @property
    def name(self) -> str:
        return type(self).__name__

    @abstractmethod
    def step(self, rng: random.Random) -> None:
        """Do something to the end."""


class Stage:
    """Lets actors make their steps, but when it is paused; ``pace`` multiplies their pauses."""

    def __init__(self, actors: Sequence[Actor], tally: Tally, seed: int, pace: float = 1.0) -> None:
        self._tally, self._pace = tally, pace
        self._changed = Condition()
        self._is_open, self._is_over = True, False
        self._busy: dict[str, float] = {}
        self._threads = [
            Thread(target=self._play, args=(actor, random.Random(f"{seed} {actor.name}")), name=actor.name, daemon=True)
            for actor in actors
        ]

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within it, nobody does anything; steps that were begun are done."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
            # A machine that was suspended in the meantime is not a fault.
            if not any(self._changed.wait_for(lambda: not self._busy, _LIMIT_SECONDS / 9) for _ in range(9)):
                raise TimeoutError(f"these do not come to an end: {sorted(self._busy)}")
        try:
            yield
        finally:
            with self._changed:
                self._is_open = True
                self._changed.notify_all()

    def end(self) -> None:
        """Let actors end their steps, and make no more."""
        until = time.monotonic() + _END_SECONDS
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0))

    def _play(self, actor: Actor, rng: random.Random) -> None:
        while self._turn(actor, rng):
            try:
                actor.step(rng)
            except BaseException:
                self._tally.failed(actor.name)
            with self._changed:
                del self._busy[actor.name]
                self._changed.notify_all()

    def _turn(self, actor: Actor, rng: random.Random) -> bool:
        """Wait for the next step; return False at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over, self._pace * actor.pause * rng.uniform(0.5, 1.5))
            self._changed.wait_for(lambda: self._is_open or self._is_over)
            if not self._is_over:
                self._busy[actor.name] = time.monotonic()
            return not self._is_over
