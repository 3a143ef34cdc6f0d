"""What all tests share."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

pytest_plugins = [
    "tests.support.nightly",
    "tests.support.pytest_nodes",
    "tests.support.sharing_out",
    "tests.support.whole_indices",
]

# A busy machine is no failure.
settings.register_profile("es_simhash", deadline=None)
settings.register_profile("fuzz", deadline=None, max_examples=2_000)
settings.load_profile("es_simhash")


# A shell that begins this in the background lets interruptions be ignored, also by the commands under test.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak", action="store_true", help="run tests/system/soak and tests/system/histories in full, which takes long"
    )
    parser.addoption(
        "--build", action="store_true", help="run tests/system/installed, which builds, downloads and installs"
    )
