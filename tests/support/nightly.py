"""What `make test` leaves out and the nightly run does: tests marked `nightly`, and more examples of others.

Each law keeps at least one quick case without the mark.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest
from hypothesis import settings

_PROFILE = "nightly"
settings.register_profile(_PROFILE, deadline=None, max_examples=200)


def is_nightly(config: pytest.Config) -> bool:
    """Whether there is time for all; what is run for hours is run in full anyway."""
    return bool(config.getoption("--nightly") or config.getoption("--soak", False))


def rest_at_night(cases: Iterable[Any], quick: Container[Any]) -> list[Any]:
    """Return the cases for a parameter; all but the quick ones are left to the nightly run."""
    return [pytest.param(each, marks=() if each in quick else pytest.mark.nightly) for each in cases]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="also run what takes longer than `make test` has time for")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "nightly: only with --nightly or --soak")
    if is_nightly(config) and not config.getoption("--hypothesis-profile", None):
        settings.load_profile(_PROFILE)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked, unless it is asked for."""
    if is_nightly(config):
        return
    slow, quick = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        (slow if item.get_closest_marker("nightly") else quick).append(item)
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = quick
