"""The tables of Unicode 13.0 for the script, which must not depend on the Unicode version of a server's Java."""

from __future__ import annotations

from functools import cache
from itertools import chain, pairwise

from es_simhash._core.json_paths import Json
from es_simhash.text.normalise import unassigned_ranges

_CODE_POINTS = 0x110000


@cache
def unassigned_bounds() -> list[int]:
    """Return, in turn, where code points stop being assigned, and where they begin again."""
    return [bound for first, last in unassigned_ranges() for bound in (first, last + 1)]


@cache
def folding() -> Json:
    """Return case folding as runs: from ``starts`` to ``ends``, each ``steps``-th code point moves by ``distances``.

    Code points of a run with distance 0 become several, which ``expansions`` lists by their decimal numbers.
    """
    runs: list[list[int]] = []
    expansions: dict[str, str] = {}
    for point, folded in _folded():
        distance = ord(folded) - point if len(folded) == 1 else 0
        if not distance:
            expansions[str(point)] = folded
        if not (runs and _extend(runs[-1], point, distance)):
            runs.append([point, point, 1, distance])
    starts, ends, steps, distances = map(list, zip(*runs, strict=True))
    return {"starts": starts, "ends": ends, "steps": steps, "distances": distances, "expansions": expansions}


def _folded() -> list[tuple[int, str]]:
    """Return all assigned code points that case folding changes, with what they become."""
    assigned = pairwise([0, *unassigned_bounds(), _CODE_POINTS])
    points = chain.from_iterable(range(*bounds) for bounds in list(assigned)[::2])
    return [(point, folded) for point in points if (folded := chr(point).casefold()) != chr(point)]


def _extend(run: list[int], point: int, distance: int) -> bool:
    """Extend a run by a code point; return False if it does not continue the run."""
    start, end, step, own_distance = run
    gap = point - end
    goes_on = gap == step or (start == end and gap == 2)
    if distance != own_distance or not goes_on or (gap > 1 and not distance):
        return False
    run[1:3] = point, gap
    return True
