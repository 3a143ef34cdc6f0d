"""From {count:,} titles of 100 characters in memory to their groups of near-duplicates, on all cores.

One title in six is a near copy of another, with a word replaced; half of the words of all are common ones. Times are
medians of {rounds} runs, from the list of titles to the list of groups. A planted pair is found if one of the two is
removed; precision is the share of removed titles that are in a planted pair.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.corpora import topical
from benchmarks.dedup import Pairs, scores, with_near_copies
from benchmarks.tables import Table
from es_simhash import Scheme, dedup

COUNT, LENGTH, ROUNDS = 120_000, 100, 3
PRESETS = ("default", "short")
__doc__ = __doc__.format(count=COUNT, rounds=ROUNDS)


def run(share: float = 1.0) -> list[Table]:
    """Measure both presets that titles are for."""
    titles, planted = _titles(int(COUNT * share))
    table = Table(f"{len(titles):,} titles", ["", "wall s", "CPU s", "groups", "recall", "precision"])
    for preset in PRESETS:
        runs = [_groups(preset, titles) for _ in range(ROUNDS)]
        wall, cpu = (statistics.median(times) for times in zip(*(run[:2] for run in runs), strict=True))
        *_, groups, removed = runs[0]
        recall, precision = scores(removed, planted)
        table.add(preset, f"{wall:.1f}", f"{cpu:.1f}", f"{groups:,}", f"{recall:.4f}", f"{precision:.4f}")
    return [table]


def _titles(count: int) -> tuple[list[str], Pairs]:
    originals = topical(count * 5 // 6, LENGTH)
    return with_near_copies([title.split(" ") for title in originals], " ", count)


def _groups(preset: str, titles: Sequence[str]) -> tuple[float, float, int, set[int]]:
    """Return the wall and CPU time of all, the number of groups, and what is removed."""
    start, cpu = time.perf_counter(), time.process_time()
    with dedup(((str(place), title) for place, title in enumerate(titles)), scheme=Scheme.preset(preset)) as found:
        groups = list(found.positions())
        taken = time.perf_counter() - start, time.process_time() - cpu
        removed: list[int] = np.flatnonzero(~found.is_canonical).tolist()
    return *taken, len(groups), set(removed)
