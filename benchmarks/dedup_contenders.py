"""Contenders that remove near-duplicates from a file of texts, each in its own process.

``python -m benchmarks.dedup_contenders CONTENDER KIND PATH`` prints what it took and the places of what it removed. The
interpreter may be that of a peer's environment, which has numpy but not our packages.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.corpora import english
from benchmarks.measuring import peak

THRESHOLD = 0.8
PERMUTATIONS = 128
MORE_BANDS = 16  # rensa's own choice finds fewer
GROWTH_MEMORY = 64 << 20

Cut = Callable[[str], list[str]]


def _characters(text: str) -> list[str]:
    return [text[i : i + 5] for i in range(len(text) - 4)]


CUTS: dict[str, Cut] = {"chars": _characters, "words": str.split}


def removed_of(kept: Iterable[str], count: int) -> list[int]:
    """Return the places of removed documents; the id of a document is its place among ``count``."""
    return sorted({*range(count)} - {int(id) for id in kept})


def _documents(path: str) -> Iterator[tuple[str, str]]:
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            document = json.loads(line)
            yield document["id"], document["text"]


def _count(path: str) -> int:
    with Path(path).open("rb") as file:
        return sum(1 for _ in file)


# --- in our environment ---


def _by_es_simhash(kind: str, path: str) -> list[int]:
    from es_simhash import Scheme, dedup
    from es_simhash.text import Chars, Words

    # As the others compare: features that all weigh the same.
    scheme = Scheme(tokens=Words(1) if kind == "words" else Chars(5), verification=None)
    with dedup(_documents(path), scheme=scheme, similarity=THRESHOLD) as found:
        removed: list[int] = np.flatnonzero(~found.is_canonical).tolist()
    return removed


def _by_rensa(kind: str, path: str, bands: int | None = None) -> list[int]:
    import rensa

    deduplicator = rensa.RMinHashDeduplicator(THRESHOLD, PERMUTATIONS, use_lsh=True, num_bands=bands)
    kept = deduplicator.add_pairs((id, CUTS[kind](text)) for id, text in _documents(path))
    return [place for place, keep in enumerate(kept) if not keep]


def _by_gaoya(kind: str, path: str) -> list[int]:
    from gaoya.minhash import MinHashStringIndex

    analyzer, size = ("char", 5) if kind == "chars" else ("word", 1)
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=THRESHOLD,
        num_bands=PERMUTATIONS // 4,
        band_size=4,
        num_hashes=PERMUTATIONS,
        analyzer=analyzer,
        ngram_range=(size, size),
    )
    removed = []
    for place, (_, text) in enumerate(_documents(path)):
        if index.query(text):
            removed.append(place)
        else:
            index.insert_document(place, text)
    return removed


def _by_datasketch(kind: str, path: str) -> list[int]:
    from datasketch import MinHash, MinHashLSH

    index, removed = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS), []
    signatures: dict[str, Any] = {}
    for place, (id, text) in enumerate(_documents(path)):
        signature = MinHash(num_perm=PERMUTATIONS)
        signature.update_batch([feature.encode() for feature in set(CUTS[kind](text))])
        if any(signature.jaccard(signatures[other]) >= THRESHOLD for other in index.query(signature)):
            removed.append(place)
        else:
            index.insert(id, signature)
            signatures[id] = signature
    return removed


# --- in an environment of its own ---


def _by_datatrove(kind: str, path: str) -> list[int]:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup.minhash import (
        MinhashConfig,
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
        MinhashDedupSignature,
    )
    from datatrove.pipeline.readers import JsonlReader

    config = MinhashConfig(n_grams=1)
    kept: set[str] = set()

    def keep(documents: Iterable[Any], rank: int, world_size: int) -> None:
        kept.update(document.id for document in documents)

    with tempfile.TemporaryDirectory() as folder:
        signatures, buckets, clusters = (f"{folder}/{name}" for name in ("signatures", "buckets", "clusters"))
        signing = MinhashDedupSignature(signatures, config)
        # By default spaCy cuts the texts, which takes most of the time.
        signing.word_tokenizer = SimpleNamespace(word_tokenize=CUTS[kind])
        reader = partial(JsonlReader, str(Path(path).parent), glob_pattern=Path(path).name)
        for name, tasks, pipeline in (
            ("sign", 1, [reader(), signing]),
            ("bucket", config.num_buckets, [MinhashDedupBuckets(signatures, buckets, config=config)]),
            ("cluster", 1, [MinhashDedupCluster(buckets, clusters, config=config)]),
            ("filter", 1, [reader(), MinhashDedupFilter(clusters), keep]),
        ):
            LocalPipelineExecutor(pipeline, tasks=tasks, workers=1, logging_dir=f"{folder}/logs/{name}").run()
    return removed_of(kept, _count(path))


def _by_text_dedup(kind: str, path: str) -> list[int]:
    with tempfile.TemporaryDirectory() as folder:
        # Read when `datasets` is imported.
        os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HOME": folder}
        from datasets import load_from_disk
        from text_dedup.minhash import main

        output = f"{folder}/output"
        source = ["--path", "json", "--data_files", path, "--split", "train", "--column", "text"]
        places = ["--cache_dir", f"{folder}/cache", "--output", output]
        features = ["--ngram", "1", "--min_length", "0", "--hash_func", "xxh3"]
        minhash = ["--threshold", str(THRESHOLD), "--num_perm", str(PERMUTATIONS), "--num_proc", "1"]
        main([*source, *places, *features, *minhash], standalone_mode=False)
        return removed_of(load_from_disk(output)["id"], _count(path))


# --- growth ---


def _grow(count: str) -> list[int]:
    from es_simhash import GroupOptions, dedup

    options = GroupOptions(similarity=THRESHOLD, memory=GROWTH_MEMORY)
    with dedup(_made_on_the_fly(int(count)), **vars(options)) as found:
        return [len(found)]


def _made_on_the_fly(count: int) -> Iterator[tuple[str, str]]:
    """Make each document of thirds of three others: it resembles many and duplicates no other."""
    thirds = [text[i : i + 500] for text in english(3_000) for i in (0, 500, 1_000)]
    rng = np.random.default_rng(0)
    made = 0
    while made < count:
        for places in islice(rng.integers(0, len(thirds), (1_000, 3)).tolist(), count - made):
            yield str(made), "".join(thirds[place] for place in places)
            made += 1


# --- the process ---

CONTENDERS: dict[str, Callable[..., list[int]]] = {
    "es_simhash": _by_es_simhash,
    "rensa": _by_rensa,
    f"rensa {MORE_BANDS}": partial(_by_rensa, bands=MORE_BANDS),
    "gaoya": _by_gaoya,
    "datasketch": _by_datasketch,
    "datatrove": _by_datatrove,
    "text-dedup": _by_text_dedup,
    "growth": _grow,
}


def _main(contender: str, *arguments: str) -> None:
    start, cpu = time.perf_counter(), -_cpu()
    with redirect_stdout(sys.stderr):  # some print progress there
        removed = CONTENDERS[contender](*arguments)
    cpu += _cpu()
    print(json.dumps({"cpu": cpu, "wall": time.perf_counter() - start, "peak": peak(), "removed": removed}))


def _cpu() -> float:
    """Return the CPU time of this process and of its finished children."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


if __name__ == "__main__":
    _main(*sys.argv[1:])
