"""Another thread may change an array while a kernel reads it: the kernel does not fail."""

from __future__ import annotations

from threading import Event, Thread

import numpy as np
import pytest

from es_simhash._core.environment import native

PAIRS = 1 << 20


@pytest.mark.skipif(native() is None, reason="without the compiled kernels")
def test_places_are_those_of_one_moment_while_another_thread_changes_the_pairs() -> None:
    kernels = native()
    assert kernels
    near = np.arange(PAIRS, dtype=np.uint64) << np.uint64(32) | np.arange(1, PAIRS + 1, dtype=np.uint64)
    far = near + np.uint64(PAIRS * 4 << 32 | PAIRS * 4)
    codes, done = near.copy(), Event()

    def change() -> None:
        while not done.is_set():
            codes[:] = far
            codes[:] = near

    thread = Thread(target=change)
    thread.start()
    try:
        for _ in range(20):
            documents, first, second = kernels.places(codes)
            assert len(first) == len(second) == PAIRS
            assert max(first.max(), second.max()) < len(documents)
            assert (np.diff(documents) > 0).all()
    finally:
        done.set()
        thread.join()
