"""Running a reindexing over an engine."""

from __future__ import annotations

from es_simhash._core.prefetch import Stop
from es_simhash._core.stages import OnProgress, stage
from es_simhash.documents.documents import Documents
from es_simhash.documents.rejected import OnReject
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.live.reindex.options import ReindexOptions
from es_simhash.live.reindex.plan import Reindexed, reindex
from es_simhash.live.reindex.survey import ReindexSurvey, survey
from es_simhash.live.sweep.progress import Progress, Tally
from es_simhash.live.sweep.runner import Runner
from es_simhash.plans.operation_retry import retry_each
from es_simhash.plans.operations import Plan


class Reindexing:
    """One run, by an engine that several threads can use; another thread can end it by ``stop``.

    ``documents`` is the plan that returns the scheme and the fields of the copy.
    """

    def __init__(
        self,
        engine: Engine,
        source: str,
        destination: str,
        documents: Plan[Documents],
        options: ReindexOptions | None = None,
        stop: Stop | None = None,
    ) -> None:
        self._engine = engine
        self._options = options or ReindexOptions()
        self._stop = stop or Stop()
        plan = retry_each(survey(source, destination, documents, self._options), self._options.patience)
        with stage("survey"):
            self.survey: ReindexSurvey = run(plan, StoppableEngine(engine, self._stop))
        self.progress = Progress(self.survey.source, self.survey.due)

    def run(self, on_progress: OnProgress[Progress] | None = None, on_reject: OnReject | None = None) -> Reindexed:
        """Do it, and return what became of it; documents that cannot be copied are handed to ``on_reject``."""
        tally = Tally(self.progress, on_progress, on_reject)
        runner = Runner(self._engine, self.survey.copying, self._options, tally, self._stop)
        return run(reindex(self.survey, self._options, self.progress, on_reject or (lambda _: None)), runner)
