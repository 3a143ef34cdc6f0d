"""How long it takes from a file of texts to its documents without near-duplicates, beside rensa, gaoya and datasketch.

One document in six is a near copy of another, with 1 to 10% of its words replaced. What counts as a duplicate is a
Jaccard similarity of at least 0.8 of the same features, character 5-grams or words, which the texts are cleaned for so
that all contenders cut them alike. A duplicate is found if it is not among the documents to keep. Each run is a process
of its own, and its CPU time that of all it does, with the import of the library and the compiled loops, and of its
workers: the median of {rounds} runs, but of datasketch a single one. gaoya cuts the texts itself. With it and with
datasketch a document is kept if their index finds none like it; datasketch's candidates are compared by estimates.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import chinese, english
from benchmarks.processes import peak
from benchmarks.tables import Table

ROUNDS = 3
ONCE = "datasketch"  # takes long
__doc__ = __doc__.format(rounds=ROUNDS)
THRESHOLD = 0.8
PERMUTATIONS = 128
MORE_BANDS = 16  # rensa's own choice finds fewer
GROWTH_MEMORY = 64 << 20

Cut = Callable[[str], list[str]]


def run(in_english: int = 50_000, in_chinese: int = 20_000, gigabytes: tuple[float, ...] = (0.5, 1)) -> list[Table]:
    """Measure everything."""
    with tempfile.TemporaryDirectory() as folder:
        tables = []
        for name, texts, features in (
            ("English texts of 1.5 kB", _english(in_english), ("chars", "words")),
            ("Chinese texts of 650 characters", _chinese(in_chinese), ("chars",)),
        ):
            tables.append(_compare(name, Path(folder) / "texts.jsonl", texts, features))
    return [*tables, _growth(gigabytes)]


# --- beside rensa ---


def _compare(
    name: str, path: Path, corpus: tuple[list[str], list[tuple[int, int]]], features: tuple[str, ...]
) -> Table:
    texts, planted = corpus
    with path.open("w", encoding="utf-8") as file:
        for i, text in enumerate(texts):
            file.write(json.dumps({"id": str(i), "text": text}, ensure_ascii=False) + "\n")
    table = Table(
        f"{len(texts):,} {name}",
        ["", "CPU s", "× rensa on the same features", "peak memory, MB", "recall", "precision"],
    )
    for kind in features:
        duplicates = _duplicates(texts, planted, CUTS[kind])
        contenders = {
            f"rensa, {kind}": ("rensa", "0"),
            f"rensa with {MORE_BANDS} bands, {kind}": (f"rensa {MORE_BANDS}", "0"),
            f"gaoya, {kind}": ("gaoya", "0"),
            f"datasketch, {kind}": ("datasketch", "0"),
            f"es_simhash, {kind}, without numba": ("es_simhash", "0"),
            f"es_simhash, {kind}, with numba": ("es_simhash", ""),
            f"es_simhash, {kind}, with numba from the start": ("es_simhash", "1"),
        }
        runs: dict[str, list[dict[str, Any]]] = {label: [] for label in contenders}
        for number in range(ROUNDS):
            for label, (contender, native) in contenders.items():
                if number and contender == ONCE:
                    continue
                runs[label].append(_in_a_process([contender, kind, str(path)], native))
        peer = statistics.median(run["cpu"] for run in runs[f"rensa, {kind}"])
        for label, results in runs.items():
            cpu = statistics.median(run["cpu"] for run in results)
            found = set(results[0]["removed"])
            right = len(found & duplicates)
            table.add(
                label,
                f"{cpu:.2f}",
                f"{cpu / peer:.2f}",
                f"{max(run['peak'] for run in results) / 1000:.0f}",
                f"{right / len(duplicates):.4f}",
                f"{right / len(found):.4f}",
            )
    return table


def _in_a_process(arguments: list[str], native: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.dedup", *arguments]
    environment = os.environ | {"ES_SIMHASH_NATIVE": native}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _duplicates(texts: list[str], planted: list[tuple[int, int]], cut: Cut) -> set[int]:
    """The later document of each planted pair that is similar enough."""
    found = set()
    for a, b in planted:
        left, right = set(cut(texts[a])), set(cut(texts[b]))
        if len(left & right) >= THRESHOLD * len(left | right):
            found.add(max(a, b))
    return found


def _characters(text: str) -> list[str]:
    return [text[i : i + 5] for i in range(len(text) - 4)]


CUTS: dict[str, Cut] = {"chars": _characters, "words": str.split}


# --- texts ---


def _english(count: int) -> tuple[list[str], list[tuple[int, int]]]:
    texts = [text.lower().replace(".", "").strip() for text in english(count * 5 // 6)]
    return _with_near_copies([text.split(" ") for text in texts], " ", count)


def _chinese(count: int) -> tuple[list[str], list[tuple[int, int]]]:
    texts = chinese(count * 5 // 6)
    return _with_near_copies([[text[i : i + 2] for i in range(0, len(text), 2)] for text in texts], "", count)


def _with_near_copies(originals: list[list[str]], space: str, count: int) -> tuple[list[str], list[tuple[int, int]]]:
    """The texts of these words with near copies among them, ``count`` in all, and the pairs of these."""
    rng = np.random.default_rng(count)
    words = originals[0] + originals[1]
    texts = [space.join(original) for original in originals]
    sources = rng.choice(len(originals), count - len(originals), replace=False).tolist()
    for source in sources:
        edited = list(originals[source])
        for place in rng.choice(len(edited), max(int(rng.uniform(0.01, 0.1) * len(edited)), 1), replace=False).tolist():
            edited[place] = words[int(rng.integers(len(words)))]
        texts.append(space.join(edited))
    order = rng.permutation(count).tolist()
    places = {source: place for place, source in enumerate(order)}
    pairs = [(places[source], places[len(originals) + i]) for i, source in enumerate(sources)]
    return [texts[source] for source in order], pairs


# --- growth ---


def _growth(gigabytes: tuple[float, ...]) -> Table:
    table = Table(
        "Time and memory as texts grow",
        ["", "documents", "CPU s", "µs a document", "wall s", "peak memory, MB"],
        f"English documents of 1.5 kB, made on the fly, default scheme, memory={GROWTH_MEMORY >> 20} MiB. The peak is "
        "that of the parent process, with all that it imports.",
    )
    for size in gigabytes:
        count = int(size * 1e9 / 1500)
        done = _in_a_process(["growth", str(count)], "1")
        cpu, wall, peak = done["cpu"], done["wall"], done["peak"]
        row = (f"{count:,}", f"{cpu:.1f}", f"{cpu / count * 1e6:.1f}", f"{wall:.1f}", f"{peak / 1000:.0f}")
        table.add(f"{size:g} GB", *row)
    return table


def _made_on_the_fly(count: int) -> Iterator[tuple[str, str]]:
    """Each document is made of thirds of three others, so that it resembles many and is like none."""
    thirds = [text[i : i + 500] for text in english(3_000) for i in (0, 500, 1_000)]
    rng = np.random.default_rng(0)
    made = 0
    while made < count:
        for places in islice(rng.integers(0, len(thirds), (1_000, 3)).tolist(), count - made):
            yield str(made), "".join(thirds[place] for place in places)
            made += 1


# --- in a process of its own ---


def _documents(path: str) -> Iterator[tuple[str, str]]:
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            document = json.loads(line)
            yield document["id"], document["text"]


def _by_es_simhash(kind: str, path: str) -> list[int]:
    from es_simhash import Chars, Scheme, Words
    from es_simhash.dedup.deduplicator import Deduplicator

    # As the others compare: features that all weigh the same.
    scheme = Scheme(tokens=Words(1) if kind == "words" else Chars(5), verification=None)
    with Deduplicator(scheme, similarity=THRESHOLD).run(_documents(path)) as found:
        removed: list[int] = np.flatnonzero(~found.kept).tolist()
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


def _grow(count: str) -> list[int]:
    from es_simhash import Scheme
    from es_simhash.dedup.deduplicator import Deduplicator

    deduplicator = Deduplicator(Scheme.preset("default"), similarity=THRESHOLD, memory=GROWTH_MEMORY)
    with deduplicator.run(_made_on_the_fly(int(count))) as found:
        return [len(found.groups)]


CONTENDERS: dict[str, Callable[..., list[int]]] = {
    "es_simhash": _by_es_simhash,
    "rensa": _by_rensa,
    f"rensa {MORE_BANDS}": partial(_by_rensa, bands=MORE_BANDS),
    "gaoya": _by_gaoya,
    "datasketch": _by_datasketch,
    "growth": _grow,
}


def _main(contender: str, *arguments: str) -> None:
    start, cpu = time.perf_counter(), -_cpu()
    removed = CONTENDERS[contender](*arguments)
    cpu += _cpu()
    print(json.dumps({"cpu": cpu, "wall": time.perf_counter() - start, "peak": peak(), "removed": removed}))


def _cpu() -> float:
    """The CPU time of this process and of those that it has started and that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


if __name__ == "__main__":
    _main(*sys.argv[1:])
