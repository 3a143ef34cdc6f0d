"""How actions are put into requests."""

from __future__ import annotations

from es_simhash.plans import bulk
from es_simhash.plans.operations import Action, ActionResult, Bulk


def sizes(lengths: list[int], most: int = 500) -> list[int]:
    """Send actions with bodies of these lengths; return how many each request has."""
    actions = [Action("index", str(i), {"body": "x" * length}) for i, length in enumerate(lengths)]
    steps = bulk.send(Bulk("articles", actions), lambda *_: None, bulk.RequestSize(most), patience=0)
    found: list[int] = []
    answer = None
    while True:
        try:
            request = steps.send(answer)
        except StopIteration:
            return found
        assert isinstance(request, Bulk)
        found.append(len(request.actions))
        answer = [ActionResult(str(action.id), 200, None) for action in request.actions]


def test_requests_are_short_in_characters_and_in_actions() -> None:
    third = (4 << 20) // 3
    assert sizes([third - 100] * 7) == [3, 3, 1]
    assert sizes([third] * 4) == [2, 2]
    assert sizes([9] * 7, most=5) == [5, 2]


def test_what_is_too_long_goes_alone() -> None:
    assert sizes([9, 9 << 20, 9]) == [1, 1, 1]
