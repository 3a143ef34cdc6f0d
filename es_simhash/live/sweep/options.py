"""The options that long jobs share."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from es_simhash._core.arguments import check_types
from es_simhash._core.environment import PATIENCE
from es_simhash.errors import InputError
from es_simhash.live.doctor.finding import check_accepted
from es_simhash.plans.operations import Slice


@dataclass(frozen=True)
class RunOptions:
    """The options of every long job.

    ``parallel`` slices are read and written side by side. At most ``max_rate`` documents a second are written. The job
    waits up to ``patience`` seconds for an engine that is away or overloaded.
    """

    parallel: int = 1
    max_rate: float | None = None
    patience: float = PATIENCE

    def __post_init__(self) -> None:
        check_types(self)
        if self.parallel < 1:
            raise InputError(f"An index cannot be read in {self.parallel} slices. Choose 1 or more.")
        if self.max_rate is not None and self.max_rate <= 0:
            raise InputError(f"{self.max_rate} documents a second are none. Choose a rate above 0, or none.")

    @property
    def machine(self) -> tuple[int, int]:
        """The number of this machine, from 0, and how many share the job."""
        return 0, 1

    @property
    def slices(self) -> list[Slice | None]:
        """The slices that this machine reads; None stands for the whole index."""
        number, count = self.machine
        if self.parallel * count == 1:
            return [None]
        return [Slice(number * self.parallel + i, count * self.parallel) for i in range(self.parallel)]

    @property
    def is_alone(self) -> bool:
        """Whether this machine does the whole job."""
        return self.machine == (0, 1)


@dataclass(frozen=True)
class UpdateOptions(RunOptions):
    """The options of jobs that update documents, in addition to those of `RunOptions`.

    ``accept`` has the codes of findings that do not stop the job (see `es_simhash.live.doctor.finding`).

    >>> index.remove_fields(parallel=2).progress.written
    3
    """

    accept: Collection[str] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_accepted(self.accept)
