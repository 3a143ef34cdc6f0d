"""A program that links generated fingerprints in stages, in processes that kill themselves at these.

``python -m tests.support.linked_in_stages DIRECTORY SEED CRITERIA [kill]`` prints what is found. With ``kill``,
processes follow one another that kill themselves when they are about to end a stage, and when they have, until one has
nothing left to do. The stages whose end is reached are added to the file ``log`` of the directory.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from es_simhash import Scheme, Verification
from es_simhash._core.arrays import Integers
from es_simhash._core.json_codec import Json
from es_simhash.groups import corpus
from es_simhash.groups.corpus import link
from es_simhash.groups.pairs import candidates, fingerprint_store
from es_simhash.groups.pairs.compare import Comparison
from es_simhash.groups.pairs.fingerprint_store import Condensed, FingerprintStore
from es_simhash.groups.pairs.stored_rows import KeptStages, Spools, Stages
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import MinHash
from es_simhash.scheme.verifier import PairMeasures

SCHEME = replace(Scheme(), minhash=MinHash(size=16, bands=4, rows=2, key_bits=12))
CRITERIA = {
    "similarity": Criteria(None, 0.6),
    "either": Criteria(3, 0.6),
    "texts": Criteria(None, 0.6, Verification(0.6)),
}


def documents(seed: int, count: int) -> Condensed:
    """Draw documents, many of them copies and near-copies of a few others, with a key that a third have in common."""
    rng = np.random.default_rng(seed)
    originals = rng.integers(0, count // 3, count)
    values = rng.integers(0, 256, (count, 16), dtype=np.uint8)[originals]
    simhashes = rng.integers(0, 1 << 63, count, dtype=np.uint64)[originals]
    is_edited = rng.random(count) < 0.8
    noise = (rng.random(values.shape) < 0.1) & is_edited[:, None]
    values = np.where(noise, rng.integers(0, 256, values.shape, dtype=np.uint8), values)
    values[: count // 3, :2] = 7
    simhashes ^= np.where(is_edited, np.uint64(1) << rng.integers(0, 60, count, dtype=np.uint64), np.uint64(0))
    contents = np.stack([np.where(is_edited, np.arange(count) + count, originals), originals], axis=1)
    statuses = (rng.random(count) < 0.01).astype(np.uint8)
    return Condensed(statuses, contents.astype(np.uint64), simhashes, values)


def linked(found: Condensed, criteria: Criteria, memory: int, stages: Stages | None = None) -> Json:
    """Link documents; return all that is known of the links."""
    with Spools(memory // 32, stages=stages) as spools:
        settings = SCHEME if criteria.distance is not None else replace(SCHEME, simhash=None)
        store = FingerprintStore(settings, spools)
        store.add(found if settings.simhash else replace(found, simhashes=None))
        store.complete()

        def exact(first: Integers, second: Integers, least: Any) -> PairMeasures:
            same: Any = (found.values[first] == found.values[second]).mean(axis=1)  # type: ignore[index]
            return PairMeasures.of_similarities(same)

        comparison = Comparison(store, criteria, exact if criteria.verification else None)
        links = link(store, criteria, comparison, memory, spools)
        names = ("first", "second", "clause", "similarity")
        pairs = sorted(row for some in links.pairs for row in some[list(names)].tolist())
        return {
            "pairs": [list(pair) for pair in pairs],
            "firsts": links.union.groups().firsts.tolist(),
            "counts": [links.identical, links.near, links.left_out, links.cut_off],
            "comparison": [comparison.compared, comparison.verified, comparison.sample.valley],
            "hot": sorted([key.name, key.documents, key.position] for key in links.hot_keys),
        }


def needing_files(numbers: int) -> None:
    """Let few numbers be sorted at once, and few rows be at hand."""
    corpus._BYTES_A_NUMBER = (1 << 20) // numbers
    candidates.HotKeys.__init__.__defaults__ = (50, 20, ())
    fingerprint_store._AS_ROWS, fingerprint_store._LEAST_TILE = 1, 8


class _Killed(KeptStages):
    """Stages that note in a file which of them come to their end, and end the process at one."""

    def __init__(self, directory: Path, of: Json, when: str) -> None:
        self._log = directory / "log"
        self._when = when
        super().__init__(directory)
        self.begin(of)

    def end(self, stage: str, note: Json) -> None:
        with self._log.open("a") as log:
            log.write(f"{stage} {note.get('counts', {}).get('tables', '')} {note.get('next', '')}\n")
        if self._when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        super().end(stage, note)
        if self._when == "after":
            os.kill(os.getpid(), signal.SIGKILL)


def main(directory: str, seed: str, criteria: str, kill: str = "") -> None:
    """Link documents in stages, and print what is found."""
    needing_files(1_500)
    moments = cycle(("before", "after")) if kill else [""]
    for when in moments:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            stages = _Killed(Path(directory), {"seed": seed}, when)
            print(json.dumps(linked(documents(int(seed), 2_000), CRITERIA[criteria], 1 << 20, stages)))
            return
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            break
        assert os.WTERMSIG(status) == signal.SIGKILL


if __name__ == "__main__":
    main(*sys.argv[1:])
