from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from subprocess import PIPE
from typing import Any

import numpy as np
import pytest

from es_simhash.errors import TextError, WorkerError
from es_simhash.groups.corpus import default_threads
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs import worker_pool
from es_simhash.groups.pairs.fingerprint_store import condense
from es_simhash.groups.pairs.worker_pool import Pool, condense_all
from es_simhash.scheme.scheme import Scheme
from es_simhash.text.hashing.registry import custom_hash
from es_simhash.text.tokens.kinds import Custom

SCHEME = Scheme.preset("default")
TEXTS = [sha256(bytes([i % 250, i % 37])).hexdigest() for i in range(20_000)]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers are started after the first texts."""
    monkeypatch.setattr(worker_pool, "_WORTHWHILE", 1e-9)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_make_the_same_in_the_same_order() -> None:
    here = list(condense_all(SCHEME, TEXTS, 1))
    with Pool(SCHEME, 2) as pool:
        there = list(pool.condense_all(TEXTS))
        assert len(pool.workers) == 2
    assert not any(is_running(process.pid) for process in pool.workers)
    for name in ("statuses", "contents", "simhashes", "values"):
        expected = np.concatenate([getattr(each, name) for each in here])
        assert np.array_equal(np.concatenate([getattr(each, name) for each in there]), expected)


def test_the_result_depends_neither_on_threads_nor_on_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for native in ("1", "0"):
        monkeypatch.setenv("ES_SIMHASH_NATIVE", native)
        for threads in (1, 3):
            with group_texts(((text, text) for text in TEXTS[:9_000]), SCHEME, GroupOptions(threads=threads)) as found:
                pairs = [batch.tobytes() for batch in found.pairs()]
                results.append((found.counts, pairs, found.firsts.tolist()))
    assert all(each == results[0] for each in results)


@pytest.mark.parametrize("native", ["0", "1"])
def test_a_text_that_a_worker_cannot_use_is_named_by_its_position(native: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ES_SIMHASH_NATIVE", native)
    texts: list[Any] = [*TEXTS[:15_000], "\ud800", *TEXTS]
    with pytest.raises(TextError, match="Text 15000 has the lone surrogate"):
        list(condense_all(SCHEME, texts, 2))


def test_the_death_of_a_worker_is_one_error_that_says_what_to_do() -> None:
    pool = Pool(SCHEME, 2)

    def texts() -> Iterator[str]:
        for i, text in enumerate(TEXTS * 3):
            if i == 20_000:
                for process in pool.workers:
                    os.kill(process.pid, signal.SIGKILL)
            yield text

    with pytest.raises(WorkerError, match=r"ended with the code -9 .*threads=1"), pool:
        list(pool.condense_all(texts()))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interruption_ends_the_workers(error: type[BaseException]) -> None:
    pool = Pool(SCHEME, 2)

    def texts() -> Iterator[str]:
        yield from TEXTS
        raise error

    with pytest.raises(error), pool:
        list(pool.condense_all(texts()))
    assert len(pool.workers) == 2
    assert not any(is_running(process.pid) for process in pool.workers)


@pytest.mark.parametrize("sent", [[], [SCHEME], [SCHEME, TEXTS]], ids=len)
@pytest.mark.parametrize("missing", [0, 1, 20])
def test_a_worker_whose_parent_is_gone_ends_without_a_word(sent: list[Any], missing: int) -> None:
    data = b"".join(pickle.dumps(each) for each in sent)
    with subprocess.Popen(
        [sys.executable, "-m", worker_pool.__name__], stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
    ) as process:
        assert process.stdout
        process.stdout.close()
        _, said = process.communicate(data[: len(data) - missing])
    assert (process.returncode, said) == (0, b"")


def test_a_caller_who_stops_early_ends_the_workers() -> None:
    with Pool(SCHEME, 2) as pool:
        made = pool.condense_all(TEXTS)
        next(made)
        next(made)
    assert not any(is_running(process.pid) for process in pool.workers)


@pytest.mark.parametrize(
    "scheme",
    [
        Scheme(tokens=Custom("letters", lambda text: list(text))),  # noqa: PLW0108 - cannot be sent to another process
        Scheme(hash=custom_hash("lengths", lambda token: len(token))),  # noqa: PLW0108
    ],
    ids=["tokens", "hash"],
)
def test_functions_of_the_caller_are_used_in_this_process(scheme: Scheme, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(worker_pool, "Pool")
    made = list(condense_all(scheme, TEXTS[:3], 2))
    assert np.array_equal(made[0].contents, condense(scheme, TEXTS[:3]).contents)


def test_little_work_starts_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "_WORTHWHILE", 1e9)
    with Pool(SCHEME, 2) as pool:
        list(pool.condense_all(TEXTS))
        assert pool.workers == []


def test_all_cores_are_used_by_default() -> None:
    assert 1 <= default_threads() <= (os.cpu_count() or 1)
