"""How tests are shared out among processes: those on one kind of server to one of them, so that it starts once."""

from __future__ import annotations

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

_ENGINES = ("elasticsearch", "opensearch")


class ByServer(LoadScopeScheduling):  # type: ignore[misc]
    """Tests that name one kind of server stay together, the others of a file do."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, name = nodeid.partition("::")
        engines = [engine for engine in _ENGINES if engine in name.lower()]
        return engines[0] if len(engines) == 1 else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByServer:
    """Take this way, whatever was asked for by ``--dist``."""
    return ByServer(config, log)
