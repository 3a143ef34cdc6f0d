"""The deduplicator: how to deduplicate, as one value."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path

from es_simhash._core.environment import MEMORY
from es_simhash._core.json_paths import Json
from es_simhash._core.stages import OnProgress, stage
from es_simhash.errors import SchemeError
from es_simhash.groups.pairs.condense import needed
from es_simhash.groups.pairs.deduplication_steps import (
    Choices,
    Deduplication,
    Documents,
    Rank,
    checked,
    each_document,
)
from es_simhash.groups.pairs.learning import learn
from es_simhash.groups.pairs.result import Duplicates
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stages import KeptStages
from es_simhash.groups.pairs.worker_pool import default_threads
from es_simhash.scheme.fingerprinting import check_threads
from es_simhash.scheme.query import By, Criteria
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verification import Level
from es_simhash.scheme.verdict.verifier import is_by_rarity, verification_of

_LEAST_MEMORY = 1 << 20
# The folder within a directory of state, which may have other files.
_KEPT = "dedup"
# Each of at most nine spools may have this share of the memory.
_SPOOL_SHARE = 32


@dataclass(frozen=True)
class Deduplicator:
    """Finds the near-duplicates among documents that are read once.

    ``settings`` is a scheme; ``by``, ``distance``, ``similarity`` and ``numbers`` define near-duplicates, as in a
    search. Texts, which are stored for this, decide as the ``verification`` of the settings says. Without it, or with
    ``estimate``, fingerprints do: distances are exact, similarities estimated. ``rarity`` is what was learnt by
    `learn` or in an index, or its JSON form; without it, the built-in table decides how rare features are. If more than
    ``max_bucket`` documents share a key, only this many are compared.

    A group has all documents that links connect, however far apart its ends are. Each of its documents is near the one
    that stands for it, or stands for itself.

    The job takes about ``memory`` bytes, beside the program itself and some 20 bytes a document, in a scope 40. Beyond
    that it uses temporary files of ``directory``, by default the system's, which vanish however the program ends.
    ``threads`` make fingerprints and compare them: by default one per core (without the compiled kernels, as many
    processes make them). The result depends on none of these.

    Only pairs in the ``scope`` count; a document without one of its values is in none.

    The directory ``state`` keeps each stage of linking until all are over, so that a job that was stopped goes on when
    it is run again with the same documents and options; with others it is refused. Documents are read again.
    """

    settings: Settings
    _: KW_ONLY
    by: By | None = None
    distance: int | None = None
    similarity: float | Level | None = None
    numbers: float | None = None
    estimate: bool = False
    rarity: Rarity | Json | None = None
    max_bucket: int | None = None
    memory: int = MEMORY
    threads: int | None = None
    directory: str | Path | None = None
    scope: Scope | None = None
    state: str | Path | None = None

    def __post_init__(self) -> None:
        needed(self.settings, self.criteria)  # checks the options
        if not isinstance(self.memory, int) or self.memory < _LEAST_MEMORY:
            raise SchemeError(f"{self.memory!r} bytes of memory are too few. Allow at least {_LEAST_MEMORY:,}.")
        self._rarity  # noqa: B018 - validates it
        if self.threads is not None:
            check_threads(self.threads)

    @cached_property
    def criteria(self) -> Criteria:
        """The criteria for near-duplicates."""
        verification = verification_of(self.settings, estimate=self.estimate, numbers=self.numbers)
        return Criteria.of(self.settings, self.by, self.distance, self.similarity, verification, self.numbers)

    @property
    def weighs_rarity(self) -> bool:
        """Whether texts are compared, and features weigh the more the rarer they are."""
        return self.criteria.similarity is not None and is_by_rarity(self.settings, self.criteria.verification)

    @cached_property
    def _rarity(self) -> Rarity | None:
        return Rarity.given(self.rarity)

    def learn(self, documents: Documents) -> Rarity:
        """Learn how rare features are among documents, given as to `run`, for other deduplicators of the settings."""
        numbered = enumerate(each_document(documents, self.scope))
        return learn(self.settings, (checked(document, place, self.scope)[1] for place, document in numbered))

    def run(
        self, documents: Documents, on_progress: OnProgress[int] | None = None, rank: Rank | None = None
    ) -> Duplicates:
        """Find the near-duplicates among documents: (id, text) pairs or a frame (see `Frame`), read as they are needed.

        With a scope, they are (id, text, values), where the values are an object with the fields of the scope.

        ``on_progress`` is called with the number of documents read so far. Documents with a low ``rank``, which is
        called with their positions once all are read, stand for others; without ``rank`` those that come first do.
        """
        kept = None if self.state is None else KeptStages(Path(self.state) / _KEPT)
        spools = Spools(self.memory // _SPOOL_SHARE, self.directory)
        try:
            choices = Choices(self.max_bucket, self._rarity, self.scope)
            threads = self.threads or default_threads()
            job = Deduplication(self.settings, self.criteria, choices, self.memory, threads, spools)
            with stage("read"):
                job.read(documents, on_progress or (lambda _: None))
            with stage("compare"):
                if kept:
                    kept.begin(job.known_by(), anew=False)
                    spools.stages = kept
                found = job.result(rank)
            spools.stages.remove()
            return found
        except BaseException:
            spools.close()
            if kept:
                kept.close()
            raise
