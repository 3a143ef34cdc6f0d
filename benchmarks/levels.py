"""What each level hides wrongly, and what it leaves, so that you can choose one.

As `dedup` runs, of each labelled set: *wrong* is the share of the documents that it calls duplicates whose canonical
document is none of theirs; *left* is the share of the duplicates that it does not hide. First by the built-in table of
rarity, then by one that `learn` has learnt from the set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import numpy as np

from benchmarks.corpora import CORPORA_VARIABLE
from benchmarks.labelled import LabelledSet, labelled_sets
from benchmarks.quality_sets import about
from benchmarks.tables import Table
from es_simhash import Scheme, dedup
from es_simhash.groups.of_texts import learn_from
from es_simhash.scheme.rarity import Rarity
from es_simhash.scheme.verification import Level

_LEVELS: tuple[Level, ...] = get_args(Level)


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure every labelled set, or a share of its clusters."""
    columns = ("", "origin", *(f"{level}: {error}" for level in _LEVELS for error in ("wrong", "left")))
    builtin, learnt = (Table(f"By {name} table", columns) for name in ("the built-in", "a learnt"))
    for each in labelled_sets():
        part = each.part(share)[0] if share < 1 else each
        for table, rarity in ((builtin, None), (learnt, learn_from(part.documents, Scheme()))):
            cells = (f"{error:.1%}" for level in _LEVELS for error in errors(part, level, rarity))
            table.add(part.name, about(part.name).origin, *cells)
            print(table.rows[-1], flush=True)
    if not builtin.rows:
        print(f"No labelled documents: {CORPORA_VARIABLE} names no folder that has them.", flush=True)
        return
    for table in (builtin, learnt):
        means = np.mean([[float(cell.rstrip("%")) for cell in row[2:]] for row in table.rows], axis=0)
        table.add("mean", "", *(f"{mean:.1f}%" for mean in means))
        yield table


def errors(on: LabelledSet, level: Level, rarity: Rarity | None) -> tuple[float, float]:
    """Return the share of duplicates called so that are none, and of those that are not."""
    with dedup(on.documents, similarity=level, rarity=rarity) as found:
        standing = found.canonicals
        called = np.flatnonzero(~found.is_canonical)
    right = int((on.units[called] == on.units[standing[called]]).sum())
    duplicates = len(on.units) - len(np.unique(on.units))
    return 1 - right / max(len(called), 1), 1 - right / max(duplicates, 1)
