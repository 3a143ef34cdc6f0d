"""Pairs lost by keys, compared with comparing all texts with each other.

Per preset that compares texts: the pairs of at least its own similarity, among all pairs with a plain Jaccard
similarity of at least {least}; the share that shares enough bands, the share that shares enough bands or blocks
(`find --distance 3 --similarity near`), and the share that `dedup` finds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from benchmarks.corpora import CORPORA_VARIABLE
from benchmarks.labelled import LabelledSet, labelled_sets
from benchmarks.tables import Table
from es_simhash import Scheme
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.ceiling import KeyMatcher, similar_pairs
from es_simhash.quality.labels import predict_pairs
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.settings import PRESETS
from es_simhash.scheme.verifier import Verifier

LEAST = 0.3
AT_ONCE = 20_000
__doc__ = __doc__.format(least=LEAST)


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure on every labelled set, or on a share of each; labels are ignored."""
    columns = ("", "preset", "pairs", "share bands", "bands, or blocks", "found")
    table = Table("Pairs that all comparisons find", columns)
    for each in labelled_sets():
        on, _ = each.part(share) if share < 1 else (each, None)
        for name in PRESETS:
            if Scheme.preset(name).verification:
                _add(table, on, name)
    if not table.rows:
        print(f"No labelled documents: {CORPORA_VARIABLE} names no folder that has them.", flush=True)
    yield table


def _add(table: Table, on: LabelledSet, name: str) -> None:
    scheme = Scheme.preset(name)
    wanted = _by_comparing_all(scheme, on)
    with group_texts(on.documents, scheme, GroupOptions(threads=1)) as duplicates:
        found = np.isin(wanted, predict_pairs(duplicates, on.apart).pairs)
    bands, both = (KeyMatcher(scheme, Criteria.of(scheme, by), on.texts).meet(wanted) for by in ("minhash", "both"))
    table.add(on.name, name, f"{len(wanted):,}", *(f"{part.mean():.4f}" for part in (bands, both, found)))


def _by_comparing_all(scheme: Scheme, on: LabelledSet) -> Numbers:
    """Find all pairs that are similar enough by the scheme's verification."""
    assert scheme.verification
    similar = similar_pairs(scheme, on.texts, on.apart).predicted
    pairs = similar.pairs[similar.similarities >= LEAST]
    verifier = Verifier(scheme, scheme.verification, builtin())
    chosen = [_similarities(verifier, on.texts, pairs[i : i + AT_ONCE]) for i in range(0, len(pairs), AT_ONCE)]
    similarities = np.concatenate([np.empty(0), *chosen])
    return pairs[similarities >= scheme.verification.similarity]


def _similarities(verifier: Verifier, texts: list[str], pairs: Numbers) -> npt.NDArray[np.float64]:
    """Compute the similarities of some pairs, with features of their texts only."""
    sides = np.stack(positions(pairs))
    places, numbers = np.unique(sides, return_inverse=True)
    return verifier.similarities([texts[place] for place in places.tolist()], numbers.reshape(sides.shape))
