"""What the script knows of Unicode is what normalisation in Python does."""

from __future__ import annotations

from bisect import bisect_right

from es_simhash.documents.painless.ingest_pipeline import folding, unassigned_bounds
from es_simhash.text.normalise import is_unassigned

CODE_POINTS = range(0x110000)


def test_the_bounds_separate_assigned_code_points_from_others() -> None:
    bounds = unassigned_bounds()
    assert bounds == sorted(set(bounds))
    wrong = [point for point in CODE_POINTS if is_unassigned(chr(point)) != bisect_right(bounds, point) % 2]
    assert wrong == []


def test_the_runs_fold_every_assigned_code_point() -> None:
    table = folding()
    folded = {}
    runs = (table[name] for name in ("starts", "ends", "steps", "distances"))
    for start, end, step, distance in zip(*runs, strict=True):
        for point in range(start, end + 1, step):
            folded[point] = chr(point + distance) if distance else table["expansions"][str(point)]
    assert table["starts"] == sorted(table["starts"])
    changed = {point: chr(point).casefold() for point in CODE_POINTS if chr(point).casefold() != chr(point)}
    assert folded == {point: text for point, text in changed.items() if not is_unassigned(chr(point))}
