"""Reading decisions ends without a word, however it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from es_simhash import Decision, Index
from es_simhash.plans.decided import decisions_on_all
from es_simhash.plans.operations import CloseReader, GetMappings, OpenReader, ReadPage


@pytest.fixture
def mappings(tmp_path: Path) -> Any:
    with Index("articles", str(tmp_path), fields=["body"]) as index:
        index.init()
        index.decide([Decision.about("1", "alone")])
        return index.engine.perform(GetMappings("articles"))


def test_reading_that_is_given_up_yields_no_more(mappings: Any) -> None:
    plan = decisions_on_all(mappings, "dedup")
    assert isinstance(next(plan), OpenReader)
    assert isinstance(plan.send("a reader"), ReadPage)
    plan.close()


def test_a_reader_is_closed_when_reading_fails(mappings: Any) -> None:
    plan = decisions_on_all(mappings, "dedup")
    next(plan), plan.send("a reader")
    assert isinstance(plan.throw(ValueError("no")), CloseReader)
    with pytest.raises(ValueError, match="no"):
        plan.send(None)
