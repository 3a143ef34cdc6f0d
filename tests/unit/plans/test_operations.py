"""Plans whose operations are retried while an engine is away."""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash.engines.base import run
from es_simhash.errors import MissingError, UnavailableError, UnreachableError
from es_simhash.plans.operations import Count, GetMappings, Operation, Plan, Refresh, retry_each


class Away:
    """Replies to an operation only after it has failed some times."""

    def __init__(self, failures: int) -> None:
        self._failures = failures
        self.asked: list[Operation[Any]] = []

    def perform(self, operation: Operation[Any]) -> Any:
        self.asked.append(operation)
        if isinstance(operation, GetMappings):
            raise MissingError("no such index")
        if self.asked.count(operation) <= self._failures:
            raise UnavailableError("its shards are taken over")
        return len(self.asked)

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, which takes no time here."""
    seconds: list[float] = []
    monkeypatch.setattr("es_simhash.engines.base.time.sleep", seconds.append)
    return seconds


def look() -> Plan[tuple[int, bool]]:
    """Count, once there is such an index or not."""
    yield Refresh("articles")
    try:
        yield GetMappings("articles")
    except MissingError:
        return (yield Count("articles", {})), True
    return 0, False


def test_each_operation_is_repeated_and_none_that_was_done(waited: list[float]) -> None:
    engine = Away(failures=2)
    number, is_missing = run(retry_each(look(), 60), engine)
    assert [type(each) for each in engine.asked] == [Refresh] * 3 + [GetMappings] + [Count] * 3
    assert (number, is_missing) == (7, True)
    assert 1 < sum(waited) < 4


def test_an_engine_that_stays_away_ends_it(waited: list[float]) -> None:
    with pytest.raises(UnavailableError):
        run(retry_each(look(), 60), Away(failures=1000))
    assert 60 <= sum(waited) < 90


def test_what_the_plan_raises_itself_is_not_repeated() -> None:
    def refuse() -> Plan[None]:
        yield Refresh("articles")
        raise UnreachableError("ours")

    engine = Away(failures=0)
    with pytest.raises(UnreachableError, match="ours"):
        run(retry_each(refuse(), 60), engine)
    assert len(engine.asked) == 1
