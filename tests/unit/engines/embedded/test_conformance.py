"""The embedded engine does what every engine does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from es_simhash.engines.embedded import EmbeddedEngine
from tests.conformance.engine_suite import EngineSuite
from tests.conformance.reader_suite import ReaderSuite


class TestEmbeddedEngine(EngineSuite, ReaderSuite):
    @pytest.fixture
    def engine(self, tmp_path: Path) -> Iterator[EmbeddedEngine]:
        engine = EmbeddedEngine(tmp_path)
        yield engine
        engine.close()

    @pytest.fixture
    def index_name(self) -> str:
        return "conformance"
