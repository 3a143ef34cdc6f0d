"""Tests that are the same on both servers: `make test` runs each on one of them, by turns, and the nightly run on both.

What every engine has to do is tested on both each time, and so is what the servers do differently: those tests are
marked `each_server`. The others stand on that.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from zlib import crc32

import pytest

from tests.support.nightly import is_nightly

SERVERS = ("elasticsearch", "opensearch")
_SERVER = re.compile("|".join(SERVERS), re.IGNORECASE)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "each_server: on both servers in `make test`, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests on the server whose turn it is not."""
    if is_nightly(config):
        return
    system = [each for each in items if each.nodeid.startswith("tests/system/")]
    others = set(not_in_turn(each.nodeid for each in system if not each.get_closest_marker("each_server")))
    if others:
        config.hook.pytest_deselected(items=[each for each in items if each.nodeid in others])
        items[:] = [each for each in items if each.nodeid not in others]


def not_in_turn(tests: Iterable[str]) -> Iterator[str]:
    """Yield the names of tests whose twins, alike but for the server in their names, are on the one of their file."""
    twins: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for test in tests:
        file, _, name = test.partition("::")
        servers = _SERVER.findall(name)
        if servers:
            twins[f"{file}::{_SERVER.sub('', name)}"][servers[-1].lower()].append(test)
    for alike, on in twins.items():
        if len(on) == len(SERVERS):
            yield from on[SERVERS[1 - turn(alike.partition("::")[0])]]


def turn(file: str) -> int:
    """Return the number of the server whose turn it is in a file: one for all its tests, which share indices."""
    return crc32(file.encode()) % len(SERVERS)
