"""Each engine, and names for indices that are deleted again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from es_simhash.engines.base import Engine
from tests.support.whole_indices import ENGINES, engine_of_kind, new_names


@pytest.fixture(params=ENGINES, scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with engine_of_kind(request.param, request) as engine:
        yield engine


@pytest.fixture(scope="module")
def names(engine: Engine) -> Iterator[Callable[[], str]]:
    with new_names(engine) as name:
        yield name
