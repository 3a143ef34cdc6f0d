"""What tests of indices stand on: names that are cleared away in the end, and the index under test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from es_simhash.engines.base import Engine
from es_simhash.engines.connect import connect
from es_simhash.errors import MissingError
from es_simhash.index import Index
from es_simhash.plans.operations import DeleteIndex


class IndexBase:
    """What the suites of indices have in common; ``engine`` is the one fixture to give."""

    @pytest.fixture
    def names(self, engine: Any) -> Iterator[Any]:
        """A maker of names for indices, which are removed in the end."""
        made: list[str] = []

        def name(start: str = "suite") -> str:
            made.append(f"{start}-{uuid.uuid4().hex[:12]}")
            return made[-1]

        yield name
        actual = self.engine_of(engine)
        for each in made:
            try:
                actual.perform(DeleteIndex(each))
            except MissingError:
                continue

    def engine_of(self, engine: Any) -> Engine:
        """The synchronous engine behind the fixture, for what a test prepares and looks at."""
        return connect(engine)

    def open(self, name: str, engine: Any, **known: Any) -> Any:
        """The index under test."""
        return Index(name, engine, **known)
