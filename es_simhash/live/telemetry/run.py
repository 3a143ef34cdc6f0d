"""One run of a job, as operators see it: its id, its stages, its counts, and the engine that it works on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter, time
from typing import TYPE_CHECKING

from es_simhash._core.stages import Stage, watched
from es_simhash._version import __version__
from es_simhash.live.telemetry import spans
from es_simhash.live.telemetry.metrics import (
    ENDED,
    EXIT_CODE,
    INFO,
    REMAINING,
    STAGE_SECONDS,
    STARTED,
    SUCCEEDED,
    metric_of,
)

if TYPE_CHECKING:
    from es_simhash.engines.base import Engine
    from es_simhash.live.telemetry.metrics import Metrics


class Run:
    """One run of a verb: logs, spans, metrics and the server know it by its ``id``.

    ``counts`` are the latest that its job has reported. ``on_stage`` is called with each stage that is over, and its
    seconds; ``on_change`` when there is news for metrics, and ``on_end`` with the last of it.
    """

    def __init__(self, verb: str = "") -> None:
        self.id = f"es-simhash-{os.urandom(8).hex()}"
        self.verb = verb
        self.counts: dict[str, int] = {}
        self.metrics: Metrics | None = None
        self._of_engine: Metrics | None = None
        self.on_stage: Callable[[Stage, float], object] = _nothing
        self.on_change: Callable[[], object] = _nothing
        self.on_end: Callable[[], object] = _nothing
        self._begun = perf_counter()

    @property
    def seconds(self) -> float:
        """The seconds since the run began."""
        return perf_counter() - self._begun

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Show the run and its stages within the block to those who watch it."""
        with spans.span(f"es-simhash {self.verb}", {"es_simhash.run.id": self.id}), watched(self._stage):
            yield

    def appear(self, metrics: Metrics) -> None:
        """Show the run in ``metrics``, and the operations of an engine that is opened from now on."""
        self._of_engine = metrics
        metrics.set(INFO, 1, run_id=self.id, version=__version__)
        metrics.set(STARTED, time() - self.seconds)

    def publish(self, metrics: Metrics) -> None:
        """Count in ``metrics`` what the job of the run does."""
        self.appear(metrics)
        self.metrics = metrics
        metrics.set(ENDED, 0)
        metrics.set(EXIT_CODE, -1)
        metrics.set(SUCCEEDED, 0)

    def count(self, counts: Mapping[str, int], left: int | None = None) -> None:
        """Take over the latest counts of a job, by the names of `counts_of`; ``left`` documents are still to do."""
        self.counts.update(counts)
        if not self.metrics:
            return
        for name, count in counts.items():
            metric, labels = metric_of(name)
            self.metrics.reach(metric, count, **labels)
        if left is not None:
            self.metrics.set(REMAINING, left)
        self.on_change()

    def engine(self, engine: Engine, place: str) -> Engine:
        """Return an engine whose operations are watched, if anybody watches."""
        if not self._of_engine and not spans.are_wanted():
            return engine
        from es_simhash.live.telemetry.engine import WatchedEngine

        return WatchedEngine(engine, place, self._of_engine)

    def ended(self, exit_code: int) -> None:
        """Note how the run has ended."""
        if not self.metrics:
            return
        now = time()
        self.metrics.set(ENDED, now)
        self.metrics.set(EXIT_CODE, exit_code)
        if exit_code == 0:
            self.metrics.set(SUCCEEDED, now)
            self.metrics.set(REMAINING, 0)
        self.on_end()

    @contextmanager
    def _stage(self, name: Stage) -> Iterator[None]:
        begun = perf_counter()
        try:
            with spans.span(name, {"es_simhash.run.id": self.id}):
                yield
        finally:
            seconds = perf_counter() - begun
            if self.metrics:
                self.metrics.add(STAGE_SECONDS, seconds, stage=name)
                self.on_change()
            self.on_stage(name, seconds)


def _nothing(*_: object) -> None:
    """Report to nobody."""
