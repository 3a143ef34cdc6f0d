"""Running a backfill over an engine."""

from __future__ import annotations

from es_simhash._core.prefetch import Stop
from es_simhash._core.stages import OnProgress, stage
from es_simhash.documents.documents import Documents
from es_simhash.documents.rejected import OnReject
from es_simhash.engines.base import Engine, StoppableEngine, leave, run
from es_simhash.errors import EngineError
from es_simhash.live.backfill.fingerprinting import Fingerprinting
from es_simhash.live.backfill.options import BackfillOptions
from es_simhash.live.backfill.plan import passes, settings_for
from es_simhash.live.backfill.survey import survey
from es_simhash.live.backfill.trial import Trial, try_some
from es_simhash.live.doctor.finding import Finding
from es_simhash.live.learning import LowestContents, learn_once, now
from es_simhash.live.sweep.progress import Progress, Tally
from es_simhash.live.sweep.runner import Runner
from es_simhash.live.sweep.temporary_settings import all_set_back
from es_simhash.plans.operation_retry import retry_each
from es_simhash.plans.operations import Plan


class Backfill:
    """One run over an index, or over the indices behind a name.

    Indices without our fields are left out, unless the caller ``brings_fields`` to them before it runs. Settings that
    are changed for the run are set back; if the engine is then away (``is_set_back`` is false), the next run does that
    first. Another thread can end the run by ``stop``.
    """

    is_set_back = True

    def __init__(
        self,
        engine: Engine,
        index: str,
        documents: Documents,
        options: BackfillOptions | None = None,
        brings_fields: bool = False,
        stop: Stop | None = None,
    ) -> None:
        self._engine = engine
        self._index = index
        self._documents = documents
        self._options = options or BackfillOptions()
        self._stop = stop or Stop()
        with stage("survey"):
            plan = retry_each(survey(index, documents, self._options, brings_fields), self._options.patience)
            self.survey = run(plan, StoppableEngine(engine, self._stop))
        self.progress = Progress.of(index, self.survey.parts, self.survey.left_out)

    @property
    def findings(self) -> list[Finding]:
        """The doctor's findings about the indices that have documents to do."""
        return self.survey.findings

    def trial(self) -> Trial | None:
        """Try how fast some documents are read and fingerprinted; nothing is written."""
        return run(
            try_some(self.survey.parts, self._documents, self._options), StoppableEngine(self._engine, self._stop)
        )

    def run(self, on_progress: OnProgress[Progress] | None = None, on_reject: OnReject | None = None) -> Progress:
        """Do it, and return the counts. A finding that stops it is raised."""
        self.survey.check()
        parts = self.survey.parts
        indices = [part.index for part in parts]
        tally = Tally(self.progress, on_progress, on_reject)
        work = Fingerprinting(self._documents)
        runner = Runner(self._engine, work, self._options, tally, self._stop)
        try:
            for part in parts:
                run(settings_for(part, self._options), runner)
            with stage("documents"):
                run(passes(parts, self._documents, self._options, self.progress), runner)
        except BaseException:
            self.is_set_back = not self._options.settings or leave(all_set_back(indices), self._engine)
            raise
        try:
            run(retry_each(all_set_back(indices), self._options.patience), runner)
        except EngineError:
            self.is_set_back = False
        with stage("learn"):
            run(self._learning(work.lowest), runner)
        return self.progress

    def _learning(self, known: LowestContents) -> Plan[None]:
        """Learn how rare features are, after a run over everything, if that was never done."""
        options = self._options
        if options.is_alone and not options.filters:
            given = self._index, self._documents, now(), options.patience, known
            self.progress.learnt = yield from learn_once(*given)
