"""Running a reindexing over an engine, synchronous or not."""

from __future__ import annotations

from es_simhash.documents.documents import Documents
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.engines.base import AsyncEngine, Engine, run, run_async
from es_simhash.live.backfill.run import Runner
from es_simhash.live.backfill.run_async import AsyncRunner
from es_simhash.live.reindex.plan import Reindexed, reindex
from es_simhash.live.reindex.prospect import Prospect, ReindexOptions, look
from es_simhash.live.sweep.progress import OnProgress, Progress, Teller
from es_simhash.plans.operations import Plan


class Reindexing:
    """One run, by an engine that can be used by several threads; ``documents`` is a plan that tells of the copy."""

    def __init__(
        self,
        engine: Engine,
        source: str,
        destination: str,
        documents: Plan[Documents],
        options: ReindexOptions | None = None,
    ) -> None:
        self._engine = engine
        self._options = options or ReindexOptions()
        self.prospect: Prospect = run(look(source, destination, documents, self._options), engine)
        self.progress = Progress(self.prospect.source, self.prospect.due)

    def run(self, on_progress: OnProgress | None = None, on_undone: OnReject | None = None) -> Reindexed:
        """Do what is to be done; what cannot be is told to ``on_undone``."""
        teller = Teller(self.progress, on_progress, on_undone)
        runner = Runner(self._engine, self.prospect.copying, self._options, teller)
        return run(reindex(self.prospect, self._options, self.progress, on_undone or _nobody), runner)


class AsyncReindexing:
    """The same by an asynchronous engine."""

    def __init__(self, engine: AsyncEngine, prospect: Prospect, options: ReindexOptions) -> None:
        self._engine = engine
        self._options = options
        self.prospect = prospect
        self.progress = Progress(prospect.source, prospect.due)

    @classmethod
    async def begin(
        cls,
        engine: AsyncEngine,
        source: str,
        destination: str,
        documents: Plan[Documents],
        options: ReindexOptions | None = None,
    ) -> AsyncReindexing:
        """A run, with what is to be done already known."""
        options = options or ReindexOptions()
        return cls(engine, await run_async(look(source, destination, documents, options), engine), options)

    async def run(self, on_progress: OnProgress | None = None, on_undone: OnReject | None = None) -> Reindexed:
        """See `Reindexing.run`."""
        teller = Teller(self.progress, on_progress, on_undone)
        runner = AsyncRunner(self._engine, self.prospect.copying, self._options, teller)
        return await run_async(reindex(self.prospect, self._options, self.progress, on_undone or _nobody), runner)


def _nobody(undone: Rejected) -> None:
    """Whom things are told if nobody asks."""
