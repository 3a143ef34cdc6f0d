"""What the command `search` prints of a page."""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash.cli.show.output import Output
from es_simhash.plans.distinct import DistinctPage


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"at_end": True}, "0 hits without near-duplicates, of 40 read."),
        ({"at_end": False}, "There are more hits, and a hit may stand for more documents."),
        ({"at_end": False, "limit": "k"}, "The list ends here: k."),
    ],
    ids=str,
)
def test_why_a_page_has_no_more_hits_is_said(more: Any, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Output().show(DistinctPage((), 40, apart={}, reply={}, **more))
    assert said in "".join(capsys.readouterr()).splitlines()
