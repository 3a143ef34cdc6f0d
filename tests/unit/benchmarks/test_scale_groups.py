from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.planted_fingerprints import EQUAL, KINDS, Planted
from benchmarks.scale_groups import grouped
from es_simhash.groups.pairs.stored_rows import BLOCK


def test_planted_groups_have_the_sizes_of_their_kinds() -> None:
    sizes = Counter(Counter(Planted(20_001).firsts.tolist()).values())
    shares = {2: 0.12, 5: 0.05, 40: 0.02, 1000: 0.01}
    assert {size: count * size for size, count in sizes.items() if size > 1} == {
        size: int(share * 20_001) // size * size for size, share in shares.items() if share * 20_001 >= size
    }
    assert sum(kind.size == 2 for kind in KINDS) == 2


def test_members_of_planted_groups_agree_in_most_values_and_others_in_hardly_any() -> None:
    planted = Planted(5_000)
    values = np.concatenate([batch.values for batch in planted.batches() if batch.values is not None])
    contents = np.concatenate([batch.contents for batch in planted.batches()])
    is_later = planted.firsts != np.arange(5_000)
    agreement = (values == values[planted.firsts]).mean(axis=1)
    assert agreement[is_later].min() > 0.6
    assert 0.75 < agreement[is_later].mean() < 0.9
    equal = (contents == contents[planted.firsts]).all(axis=1)
    assert equal[is_later].sum() == next(kind.share for kind in KINDS if kind.name == EQUAL) * 5_000 / 2
    assert (values[:-1] == values[1:]).mean() < 0.01


def test_all_planted_groups_are_found_with_little_memory_and_with_much(tmp_path: Path) -> None:
    little, much = (
        grouped(20_000, memory, tmp_path, kept=kept) for memory, kept in ((1 << 20, True), (1 << 30, False))
    )
    assert little["found"] == little["planted"] == much["found"] > 1_000
    assert little["others"] == 0
    assert all(little[name] == much[name] for name in ("firsts", "pairs", "left_out", "compared"))
    assert little["fingerprints"] >= 20_000 // BLOCK * BLOCK * 152
    assert 0 < little["beyond"] < little["fingerprints"]
    assert list(tmp_path.iterdir()) == []
