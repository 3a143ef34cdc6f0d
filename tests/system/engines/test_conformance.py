"""The engines over real servers do what every engine does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from es_simhash.engines.base import Engine
from tests.conformance.engine_suite import EngineSuite
from tests.conformance.reader_suite import ReaderSuite
from tests.support.rest_engines import OTHER_PAIRS, Pair, engine_over, new_name, parametrize_pairs

pytestmark = pytest.mark.each_server


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_pairs(metafunc, *OTHER_PAIRS)


@pytest.fixture(scope="module")
def engine(pair: Pair, request: pytest.FixtureRequest) -> Iterator[Engine]:
    with engine_over(pair.client, pair.node(request).url) as engine:
        yield engine


@pytest.fixture
def index_name() -> str:
    return new_name()


# What aiohttp says of all large bodies; the clients give it nothing else.
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
class TestRestEngines(EngineSuite, ReaderSuite):
    """The suite, with each pair of client and node."""
