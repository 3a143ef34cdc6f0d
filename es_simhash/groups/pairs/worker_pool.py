"""Condensing texts on all cores: in threads with the compiled kernels, which let each other run; else in processes.

Worker processes are started once there is enough to do. They are programs of their own, not forked, so threads of the
caller and its main module do not matter.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING

from es_simhash.errors import EsSimhashError, InputError, WorkerError
from es_simhash.groups.pairs.fingerprint_store import Condensed, condense
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.settings import Settings, reads_texts
from es_simhash.text.hashing.registry import HASH_FUNCTIONS
from es_simhash.text.tokens.kinds import Custom

if TYPE_CHECKING:
    import subprocess

# Seconds of CPU time after which workers are started; each takes about one second to start.
_WORTHWHILE = 4.0


def condense_all(settings: Settings, texts: Iterable[str], threads: int) -> Iterator[Condensed]:
    """Condense any number of texts, and yield batches in their order.

    Functions of the caller cannot be sent to other processes: with them, all is done in this one.
    """
    if reads_texts(settings):
        yield from fingerprinting.in_batches(texts, partial(condense, settings), threads)
    elif threads == 1 or not _can_be_sent(settings):
        yield from fingerprinting.in_batches(texts, partial(condense, settings))
    else:
        with Pool(settings, threads) as pool:
            yield from pool.condense_all(texts)


def _can_be_sent(settings: Settings) -> bool:
    return (
        not isinstance(settings.tokens, Custom)
        and settings.hash_function.name in HASH_FUNCTIONS
        and bool(sys.executable)
    )


class Pool:
    """Worker processes, each with a thread that talks to it, started when there is enough to do."""

    def __init__(self, settings: Settings, processes: int) -> None:
        self._settings = settings
        self._processes = processes
        self._threads = ThreadPoolExecutor(processes)
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self.workers: list[subprocess.Popen[bytes]] = []
        self._spent = 0.0

    def __enter__(self) -> Pool:
        """Return the pool, whose workers end with the block."""
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.workers:
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self.workers:
            process.communicate()

    def condense_all(self, texts: Iterable[str]) -> Iterator[Condensed]:
        """Condense texts, and yield batches in their order."""
        done = 0
        for made in self._in_order(texts):
            condensed = _result(made, done) if isinstance(made, Future) else made
            done += len(condensed)
            yield condensed

    def _in_order(self, texts: Iterable[str]) -> Iterator[Condensed | Future[Condensed]]:
        """Yield what was made here at once, and what is made elsewhere when some is waiting for each process."""
        waiting: deque[Future[Condensed]] = deque()
        for made in fingerprinting.in_batches(texts, self._here_or_there):
            if isinstance(made, Future):
                waiting.append(made)
            else:
                yield made
            if len(waiting) > 2 * self._processes:
                yield waiting.popleft()
        yield from waiting

    def _here_or_there(self, texts: Sequence[str]) -> Condensed | Future[Condensed]:
        if self._spent >= _WORTHWHILE:
            while len(self.workers) < self._processes:
                self._start()
            return self._threads.submit(self._ask, texts)
        start = time.thread_time()
        condensed = condense(self._settings, texts)
        self._spent += time.thread_time() - start
        return condensed

    def _start(self) -> None:
        import subprocess  # takes programs without workers too long to load

        command = [sys.executable, "-m", __name__]
        paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        # In sessions of their own, workers are not interrupted with the parent, which ends them when it is.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | paths,
            start_new_session=True,
        )
        self.workers.append(process)
        self._idle.put(process)
        _send(process, self._settings)

    def _ask(self, texts: Sequence[str]) -> Condensed:
        process = self._idle.get()
        try:
            _send(process, texts)
            answer = _receive(process)
        finally:
            self._idle.put(process)
        if isinstance(answer, EsSimhashError):
            raise answer
        assert isinstance(answer, Condensed)
        return answer


def _result(future: Future[Condensed], done: int) -> Condensed:
    try:
        return future.result()
    except InputError as error:
        if error.position is None:
            raise
        raise type(error)(error.problem, done + error.position) from None


def _send(process: subprocess.Popen[bytes], what: object) -> None:
    assert process.stdin
    try:
        pickle.dump(what, process.stdin, pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
    except OSError:
        raise _ended(process) from None


def _receive(process: subprocess.Popen[bytes]) -> object:
    assert process.stdout
    try:
        return pickle.load(process.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        raise _ended(process) from None


def _ended(process: subprocess.Popen[bytes]) -> WorkerError:
    process.kill()
    return WorkerError(
        f"A worker process ended with the code {process.wait()} before its work was done. "
        "If memory ran out, allow less of it, or let one process do all (threads=1 in Python)."
    )


def main() -> None:
    """Condense as a worker: read pickled settings, then lists of texts, and write results, until the input ends."""
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # prints must not mix with the answers
    with suppress(EOFError, pickle.UnpicklingError, BrokenPipeError):
        settings = pickle.load(sys.stdin.buffer)
        while True:
            texts = pickle.load(sys.stdin.buffer)
            try:
                answer: object = condense(settings, texts)
            except EsSimhashError as error:
                answer = error
            pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()


if __name__ == "__main__":
    main()
