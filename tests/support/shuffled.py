"""Tests in another order, for those that depend on what ran before: ``--shuffled SEED``."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffled", metavar="SEED", help="run the files, and the tests of each, in a random order")


def pytest_report_header(config: pytest.Config) -> list[str]:
    seed = config.getoption("--shuffled")
    return [] if seed is None else [f"shuffled: {seed}"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle before pytest brings together the tests that share a parameter of a wider scope."""
    seed = config.getoption("--shuffled")
    if seed is None:
        return
    files: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        files[item.nodeid.partition("::")[0]].append(item)
    rng = random.Random(str(seed))
    groups = list(files.values())
    rng.shuffle(groups)
    for group in groups:
        rng.shuffle(group)
    items[:] = [item for group in groups for item in group]
