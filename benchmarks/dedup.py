"""From a file of texts to the documents without near-duplicates, compared with other tools.

One document in six is a near copy of another, with 1 to 10% of its words replaced. A duplicate has a Jaccard similarity
of at least {threshold} of the same features, character 5-grams or words; the texts are cleaned so that all contenders
cut them alike (gaoya cuts them itself). A pair is found if one of the two is removed; precision is the share of removed
documents that are duplicates. Each run is its own process; CPU time includes imports and workers: medians of
{rounds} runs, one run for datasketch, datatrove and text-dedup. Memory is that of the process without its workers.

datasketch compares estimates. datatrove and text-dedup compare nothing: documents that share a bucket are duplicates.
Both use single words, one worker and their own environments, and write files between their steps. datatrove has its 14
buckets of 8 hashes of 64 bits and cuts at spaces; text-dedup chooses the buckets of its 128 hashes (xxh3) for the
threshold.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import chinese, english
from benchmarks.dedup_contenders import CUTS, GROWTH_MEMORY, MORE_BANDS, THRESHOLD, Cut
from benchmarks.peers import PEERS
from benchmarks.tables import Table

ROUNDS = 3
ONCE = {"datasketch", *PEERS}  # take long
__doc__ = __doc__.format(threshold=THRESHOLD, rounds=ROUNDS)
IN_ENGLISH, IN_CHINESE, GIGABYTES = 50_000, 20_000, (0.5, 1)

Pairs = list[tuple[int, int]]


def run(share: float = 1.0) -> list[Table]:
    """Measure everything."""
    with tempfile.TemporaryDirectory() as folder:
        tables = []
        for name, texts, features in (
            ("English texts of 1.5 kB", _english(int(IN_ENGLISH * share)), ("chars", "words")),
            ("Chinese texts of 650 characters", _chinese(int(IN_CHINESE * share)), ("chars",)),
        ):
            tables.append(_compare(name, Path(folder) / "texts.jsonl", texts, features))
    return [*tables, _growth([size * share for size in GIGABYTES])]


def briefly() -> list[Table]:
    """Measure es_simhash and rensa only, on English characters."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        return [_compare("English texts of 1.5 kB", path, _english(IN_ENGLISH), ("chars",), {"rensa", "es_simhash"})]


# --- peers ---


def _compare(
    name: str, path: Path, corpus: tuple[list[str], Pairs], features: tuple[str, ...], only: Collection[str] = ()
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
        contenders = {label: each for label, each in _contenders(kind).items() if not only or each[0] in only}
        runs: dict[str, list[dict[str, Any]]] = {label: [] for label in contenders}
        for number in range(ROUNDS):
            for label, (contender, native) in contenders.items():
                if number and contender in ONCE:
                    continue
                runs[label].append(_in_a_process([contender, kind, str(path)], native))
        peer = statistics.median(run["cpu"] for run in runs[f"rensa, {kind}"])
        for label, results in runs.items():
            cpu = statistics.median(run["cpu"] for run in results)
            recall, precision = scores(set(results[0]["removed"]), duplicates)
            table.add(
                label,
                f"{cpu:.2f}",
                f"{cpu / peer:.2f}",
                f"{max(run['peak'] for run in results) / 1000:.0f}",
                f"{recall:.4f}",
                f"{precision:.4f}",
            )
    return table


def _contenders(kind: str) -> dict[str, tuple[str, str]]:
    """List the contenders by their labels, with the use of the compiled kernels. Peers cut by words only."""
    return {
        f"rensa, {kind}": ("rensa", "0"),
        f"rensa with {MORE_BANDS} bands, {kind}": (f"rensa {MORE_BANDS}", "0"),
        f"gaoya, {kind}": ("gaoya", "0"),
        f"datasketch, {kind}": ("datasketch", "0"),
        **({f"{peer}, {kind}": (peer, "0") for peer in PEERS} if kind == "words" else {}),
        f"es_simhash, {kind}, numpy": ("es_simhash", "0"),
        f"es_simhash, {kind}, compiled": ("es_simhash", "1"),
    }


def _in_a_process(arguments: list[str], native: str) -> dict[str, Any]:
    peer = PEERS.get(arguments[0])
    command = [peer.python() if peer else sys.executable, "-m", "benchmarks.dedup_contenders", *arguments]
    environment = os.environ | {"ES_SIMHASH_NATIVE": native}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _duplicates(texts: list[str], planted: Pairs, cut: Cut) -> Pairs:
    """Keep the planted pairs that are similar enough."""
    found = []
    for a, b in planted:
        left, right = set(cut(texts[a])), set(cut(texts[b]))
        if len(left & right) >= THRESHOLD * len(left | right):
            found.append((a, b))
    return found


def scores(removed: set[int], duplicates: Pairs) -> tuple[float, float]:
    """Compute recall and precision; a pair is found if either of its documents is removed."""
    found = sum(a in removed or b in removed for a, b in duplicates)
    return found / len(duplicates), found / len(removed)


# --- texts ---


def _english(count: int) -> tuple[list[str], Pairs]:
    texts = [text.lower().replace(".", "").strip() for text in english(count * 5 // 6)]
    return with_near_copies([text.split(" ") for text in texts], " ", count)


def _chinese(count: int) -> tuple[list[str], Pairs]:
    texts = chinese(count * 5 // 6)
    return with_near_copies([[text[i : i + 2] for i in range(0, len(text), 2)] for text in texts], "", count)


def with_near_copies(originals: list[list[str]], space: str, count: int) -> tuple[list[str], Pairs]:
    """Generate ``count`` texts of these words, near copies among them, and list the pairs."""
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


def _growth(gigabytes: Sequence[float]) -> Table:
    table = Table(
        "Time and memory as texts grow",
        ["", "documents", "CPU s", "µs a document", "wall s", "peak memory, MB"],
        f"Default scheme, memory={GROWTH_MEMORY >> 20} MiB, English documents of 1.5 kB. The peak is "
        "that of the parent process, with all that it imports.",
    )
    for size in gigabytes:
        count = int(size * 1e9 / 1500)
        done = _in_a_process(["growth", str(count)], "1")
        cpu, wall, peak = done["cpu"], done["wall"], done["peak"]
        row = (f"{count:,}", f"{cpu:.1f}", f"{cpu / count * 1e6:.1f}", f"{wall:.1f}", f"{peak / 1000:.0f}")
        table.add(f"{size:g} GB", *row)
    return table
