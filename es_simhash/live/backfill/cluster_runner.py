"""Running a backfill in the cluster: the server first, and then the client for what the server has left."""

from __future__ import annotations

from typing import TypeVar, cast

from es_simhash._core.prefetch import Stop
from es_simhash.engines.base import Engine, run
from es_simhash.live.backfill.fingerprinting import Fingerprinting
from es_simhash.live.backfill.in_cluster import ClusterUpdate
from es_simhash.live.backfill.options import BackfillOptions
from es_simhash.live.sweep.progress import Tally
from es_simhash.live.sweep.runner import Pass, Runner
from es_simhash.plans.operations import Operation

Result = TypeVar("Result")


class ClusterRunner(Runner):
    """A runner that leaves the first pass over an index to the server.

    If the run ends early, and the server does not confirm at once that its task is cancelled, ``abandoned`` is its id.
    """

    abandoned: str | None = None

    def __init__(
        self, engine: Engine, work: Fingerprinting, options: BackfillOptions, tally: Tally, stop: Stop | None = None
    ) -> None:
        super().__init__(engine, work, options, tally, stop)
        self._documents, self._backfill = work.documents, options

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation, or a pass."""
        if isinstance(operation, Pass) and not operation.again and not self._left(operation):
            return cast("Result", None)
        return super().perform(operation)

    def _left(self, operation: Pass) -> int:
        """Have the server do a pass; return how many documents it has left."""
        update = ClusterUpdate(operation.index, operation.query, self._documents, self._backfill, self._tally.add)
        try:
            return run(update.run(), self)
        except BaseException:
            self.leave(update.cancel())
            self.abandoned = update.task
            raise
