"""The default fingerprints in many scripts, and what one odd character costs, compared with other libraries.

Documents a second, by the characters of the made-up texts; the speed of a character relative to English; and what is
left of the compiled speed with `ES_SIMHASH_CPU=avx2`. Peers make one of the two, of the same n-grams: rensa from texts
that Python cuts, gaoya by querying an empty index. CPU time of one thread, medians of {rounds} turns.
"""

from __future__ import annotations

import os
import statistics
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from functools import cache, lru_cache
from multiprocessing import get_context

from benchmarks.fingerprint_contenders import Contender, gaoya_minhash, gaoya_simhash, n_grams, ours, rensa
from benchmarks.scripts import TEXTS
from benchmarks.tables import Table
from es_simhash import Scheme
from es_simhash.text import Chars, Words

ROUNDS, SECONDS = 7, 0.25
__doc__ = __doc__.format(rounds=ROUNDS)
# Texts are taken again and again where there are not enough characters for a turn.
CHARACTERS = 4_000_000
N = Chars().n

# The contender of each column, and the instructions that it may use.
COLUMNS = {
    "numpy": ("es_simhash default, numpy", ""),
    "compiled": ("es_simhash default, compiled", ""),
    "AVX2": ("es_simhash default, compiled", "avx2"),
    "rensa": ("rensa RMinHash", ""),
    "gaoya SimHash": ("gaoya SimHash", ""),
    "gaoya MinHash": ("gaoya MinHash", ""),
}
WAYS, PEERS = tuple(COLUMNS)[:2], tuple(COLUMNS)[3:]

# Documents a second, per kind of texts and column.
Rates = dict[str, dict[str, float]]


def run(share: float = 1.0) -> list[Table]:
    """Measure all texts in turns, on each level of instructions in a process of its own."""
    with ExitStack() as stack:
        processes = {level: stack.enter_context(_process(level)) for level in {level for _, level in COLUMNS.values()}}
        rates = {texts: _rates(processes, texts, share) for texts in TEXTS}
    return [_table(rates)]


def _process(level: str) -> Executor:
    """Start a process whose compiled kernels use at most these instructions."""
    return ProcessPoolExecutor(1, get_context("spawn"), _allow, (level,))


def _allow(level: str) -> None:
    os.environ["ES_SIMHASH_CPU"] = level


def _rates(processes: dict[str, Executor], texts: str, share: float) -> dict[str, float]:
    times: dict[str, list[float]] = {column: [] for column in COLUMNS}
    for _ in range(ROUNDS):
        for column, (contender, level) in COLUMNS.items():
            time = processes[level].submit(_time, texts, contender, SECONDS * share).result()
            if time is not None:
                times[column].append(time)
    return {column: 1 / statistics.median(found) for column, found in times.items() if found}


# --- tables ---


def _table(rates: Rates) -> Table:
    by_character = [f"{way} by character" for way in WAYS]
    table = Table("Texts", ["", *WAYS, *PEERS, *by_character, "AVX2"])
    english = rates["English"]
    for texts, found in rates.items():
        length = TEXTS[texts].length
        longer = length / TEXTS["English"].length
        documents = [f"{found[each]:,.0f}" if each in found else "–" for each in (*WAYS, *PEERS)]
        ratios = [f"{found[way] * longer / english[way]:.2f}" if way in found else "–" for way in WAYS]
        avx2 = f"{found['AVX2'] / found['compiled']:.2f}" if "AVX2" in found else "–"
        table.add(f"{texts}, {length:,}", *documents, *ratios, avx2)
    return table


# --- in the process ---


def _time(texts: str, contender: str, seconds: float) -> float | None:
    """Return the CPU time a document, of as many documents as take about that long; None without the contender."""
    measured = contenders(TEXTS[texts].tokens).get(contender)
    if measured is None:
        return None
    documents = _made(texts)
    first = documents[: max(len(documents) // 100, 1)]
    measured.measure(first)
    count = max(int(seconds / max(measured.times[-1], 1e-7)), 1)
    measured.measure((documents * (count // len(documents) + 1))[:count])
    return measured.times[-1]


@cache
def contenders(tokens: str) -> dict[str, Contender]:
    """Make all that are installed, by their names."""
    n = N if tokens == "chars" else 1
    cut, analyzer = (n_grams(n), "char") if tokens == "chars" else (str.split, "word")
    scheme = Scheme(tokens=Chars(n) if tokens == "chars" else Words(n))
    named = {contender.name: contender for contender in (*ours("default", scheme), *rensa(cut))}
    for kind, made in {"SimHash": gaoya_simhash(analyzer, n), "MinHash": gaoya_minhash(analyzer, n)}.items():
        named |= {f"{contender.name} {kind}": contender for contender in made}
    return named


@lru_cache(maxsize=1)
def _made(texts: str) -> list[str]:
    kind = TEXTS[texts]
    return kind.make(max(CHARACTERS // kind.length, 1), kind.length)
