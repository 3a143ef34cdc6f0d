"""What the command `search` prints of a page."""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash.cli.commands.search import _show
from es_simhash.cli.show.output import Output
from es_simhash.plans.distinct.pages import DistinctPage


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"at_end": True}, "0 shown of 40 hits read."),
        ({"at_end": False}, "0 shown of 40 hits read. There are more."),
        ({"at_end": False, "limit": "k"}, "0 shown of 40 hits read. No more can be read: k."),
    ],
    ids=str,
)
def test_why_a_page_has_no_more_hits_is_said(more: Any, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    _show(Output(), DistinctPage((), 40, apart={}, reply={}, **more))
    assert said in capsys.readouterr().err.splitlines()
