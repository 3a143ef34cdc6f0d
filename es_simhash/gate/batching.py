"""Requests of many clients, answered together: all that waits is one batch, up to a limit."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from es_simhash.errors import EsSimhashError, UnavailableError
from es_simhash.gate import limits
from es_simhash.gate.gate import Asked, Gate
from es_simhash.gate.requests import BATCH, Answer

# Seconds that a client is asked to wait, at most.
_LONGEST = 60
# Seconds without a request after which the gate looks into the index by itself.
_IDLE = 1.0


class BusyError(UnavailableError):
    """Too many documents wait; ``seconds`` later there may be room."""

    def __init__(self, waiting: int, seconds: int) -> None:
        super().__init__(f"{waiting:,} documents wait for the index. Ask again in {seconds} s.")
        self.seconds = seconds


@dataclass
class _Job:
    asked: Sequence[Asked]
    size: int
    answers: asyncio.Future[list[Answer]]


class Batcher:
    """Hands what waits to a gate, in a thread of its own; ``observe`` gets the size and the seconds of each batch."""

    def __init__(self, gate: Gate, observe: Callable[[int, float], object] = lambda size, seconds: None) -> None:
        self._gate = gate
        self._observe = observe
        self._jobs: deque[_Job] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="es-simhash-gate")
        self._has_jobs = asyncio.Event()
        self._has_room = asyncio.Event()
        self._stops = False
        self._is_idle = False
        self._rate = float(BATCH)
        self.waiting = 0
        # The error of the last batch, if it had one.
        self.problem: BaseException | None = None

    async def ask(self, asked: Sequence[Asked], size: int, *, patiently: bool = False) -> list[Answer]:
        """Return the answers about documents of ``size`` bytes together.

        A client that is not willing to wait for room gets a `BusyError`.
        """
        answers: list[Answer] = []
        for start in range(0, len(asked), BATCH):
            some = asked[start : start + BATCH]
            # What has begun is finished: its client cannot know how far it came.
            answers += await self._ask(some, size * len(some) // len(asked), patiently or start > 0)
        return answers

    async def _ask(self, asked: Sequence[Asked], size: int, patiently: bool) -> list[Answer]:
        if patiently:
            while self.waiting >= self._most_of_patient:
                self._has_room.clear()
                await self._has_room.wait()
        elif self.waiting >= limits.WAITING:
            raise BusyError(self.waiting, self.seconds_to_wait())
        job = _Job(asked, size, asyncio.get_running_loop().create_future())
        self._is_idle = False
        self._jobs.append(job)
        self._count(len(asked))
        self._has_jobs.set()
        return await job.answers

    def seconds_to_wait(self) -> int:
        """Return after how many seconds what waits now should be done."""
        return min(_LONGEST, max(1, math.ceil(self.waiting / self._rate)))

    async def run(self) -> None:
        """Answer until `stop`."""
        watching = asyncio.create_task(self._watch())
        while not (self._stops and not self._jobs):
            await self._has_jobs.wait()
            if batch := self._next():
                await self._answer(batch)
            elif self._is_idle:
                await self._settle()
            if not self._jobs and not self._stops:
                self._has_jobs.clear()
        watching.cancel()
        self._thread.shutdown()

    async def _watch(self) -> None:
        """Notice when nobody has asked for a while."""
        while True:
            self._is_idle = True
            await asyncio.sleep(_IDLE)
            if self._is_idle:
                self._has_jobs.set()

    def stop(self) -> None:
        """Answer what waits, then end."""
        self._stops = True
        self._has_jobs.set()

    @property
    def _most_of_patient(self) -> int:
        """How many may wait when a patient client goes on, so that others find room as well."""
        return max(1, limits.WAITING // 2)

    def _count(self, more: int) -> None:
        self.waiting += more
        if self.waiting < self._most_of_patient:
            self._has_room.set()

    def _next(self) -> list[_Job]:
        """Take the first jobs, up to a batch; a client that has gone away is not answered."""
        batch: list[_Job] = []
        count = size = 0
        while self._jobs:
            job = self._jobs[0]
            if batch and (count + len(job.asked) > BATCH or size + job.size > limits.BATCH_BYTES):
                break
            self._jobs.popleft()
            self._count(-len(job.asked))
            if not job.answers.cancelled():
                batch.append(job)
                count += len(job.asked)
                size += job.size
        return batch

    async def _answer(self, batch: Sequence[_Job]) -> None:
        loop = asyncio.get_running_loop()
        asked = [each for job in batch for each in job.asked]
        began = loop.time()
        try:
            answers = await loop.run_in_executor(self._thread, self._gate.answer, asked)
        except Exception as error:
            if len(batch) > 1 and not isinstance(error, UnavailableError):
                # It may be the fault of one.
                for job in batch:
                    await self._answer([job])
                return
            self.problem = error
            _give(batch[0].answers, error)
            for job in batch[1:]:
                _give(job.answers, error)
            return
        self.problem = next((each for each in answers if isinstance(each, EsSimhashError)), None)
        seconds = max(loop.time() - began, 1e-6)
        self._rate += 0.2 * (len(asked) / seconds - self._rate)
        self._observe(len(asked), seconds)
        rest = iter(answers)
        for job in batch:
            own = [next(rest) for _ in job.asked]
            if not job.answers.done():
                job.answers.set_result(own)

    async def _settle(self) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._settled)
        except Exception as error:  # the next request gets it, too
            self.problem = error
        else:
            self.problem = None

    def _settled(self) -> None:
        if self.problem is not None:
            self._gate.reach()
        self._gate.settle()


def _give(answers: asyncio.Future[list[Answer]], error: Exception) -> None:
    if not answers.done():
        answers.set_exception(error)
