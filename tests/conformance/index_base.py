"""The base of the suites for indices: names that are removed afterwards, and the index under test."""

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
    """The base of the suites for indices; give it the fixture ``engine``."""

    @pytest.fixture
    def names(self, engine: Any) -> Iterator[Any]:
        """Yield a function that makes names for indices; remove these indices afterwards."""
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
        """Return the synchronous engine behind the fixture, for preparations and checks."""
        return connect(engine)

    def open(self, name: str, engine: Any, **known: Any) -> Any:
        """Open the index under test."""
        return Index(name, engine, **known)
