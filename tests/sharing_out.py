"""How tests are shared out among processes: those on one kind of server to one of them, so that it starts once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

_ENGINES = ("elasticsearch", "opensearch")
_WITH_LOGINS = "guarded_node"


class ByServer(LoadScopeScheduling):  # type: ignore[misc]
    """Tests that name one kind of server stay together, as do files with the guarded node; others go file by file."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, name = nodeid.partition("::")
        if _mentions(self.config.rootpath / path, _WITH_LOGINS):
            return "elasticsearch"  # which it is, even where a test names another one's client
        engines = [engine for engine in _ENGINES if engine in name.lower()]
        return engines[0] if len(engines) == 1 else path


@cache
def _mentions(path: Path, what: str) -> bool:
    return what in path.read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByServer:
    """Take this way, whatever was asked for by ``--dist``."""
    return ByServer(config, log)
