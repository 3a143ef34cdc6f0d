"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import settings

from tools.nodes.machine import memory_folder

pytest.register_assert_rewrite("tests.conformance")

pytest_plugins = [
    "tests.support.nightly",
    "tests.support.by_turns",
    "tests.support.leftovers",
    "tests.support.pytest_nodes",
    "tests.support.sharing_out",
    "tests.support.shuffled",
    "tests.support.whole_indices",
]

# A busy machine is not a failure.
settings.register_profile("es_simhash", deadline=None, max_examples=50)
settings.register_profile("again", deadline=None, max_examples=25)
settings.register_profile("fuzz", deadline=None, max_examples=2_000)
settings.load_profile("es_simhash")


# The embedded engine waits for the disk as a server does, which in memory takes no time.
if (_in_memory := memory_folder()) is not None:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_in_memory))

# Of ten thousand collected tests nothing is garbage, neither while they are collected nor later.
gc.disable()

# A shell that begins this in the background lets interruptions be ignored, also by the commands under test.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="run the tests of `make soak` in full, which takes long")
    parser.addoption(
        "--build", action="store_true", help="run tests/system/installed, which builds, downloads and installs"
    )
