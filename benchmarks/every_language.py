"""The default fingerprints in many scripts, and what one odd character costs, compared with other libraries.

Made-up texts of syllables as those of real languages are built; by words the scheme is `Words(1)`, else that of the
preset `default`: SimHash and MinHash of character 5-grams. Peers make one of the two, of the same n-grams: rensa from
texts that Python cuts, or given the n-grams, which is not counted then; gaoya by querying an empty index.
CPU time of one thread, medians of {rounds} turns, of {seconds} seconds each.

"By character" is the speed of a character relative to one of English, for each of the two ways; "AVX2" and "no AVX" are
what is left of the compiled speed with `ES_SIMHASH_CPU=avx2` and `baseline`.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from functools import cache, lru_cache
from multiprocessing import get_context

from benchmarks.fingerprint_contenders import Contender, gaoya_minhash, gaoya_simhash, n_grams, ours, rensa
from benchmarks.scripts import TEXTS
from benchmarks.tables import Table
from es_simhash import Chars, Scheme, Words

ROUNDS, SECONDS = 7, 0.25
__doc__ = __doc__.format(rounds=ROUNDS, seconds=SECONDS)
# Texts are taken again and again where there are not enough characters for a turn.
CHARACTERS = 4_000_000
N = Chars().n

# The contender of each column, and the instructions that it may use.
COLUMNS = {
    "numpy": ("es_simhash default, numpy", ""),
    "compiled": ("es_simhash default, compiled", ""),
    "AVX2": ("es_simhash default, compiled", "avx2"),
    "no AVX": ("es_simhash default, compiled", "baseline"),
    "rensa": ("rensa RMinHash", ""),
    "rensa, given n-grams": ("rensa RMinHash, given tokens", ""),
    "gaoya SimHash": ("gaoya SimHash", ""),
    "gaoya MinHash": ("gaoya MinHash", ""),
}
PEERS = tuple(COLUMNS)[4:]

# Documents a second, by the texts and the column.
Rates = dict[str, dict[str, float]]


def run(share: float = 1.0) -> list[Table]:
    """Measure all texts in turns, on each level of instructions in a process of its own."""
    with ExitStack() as stack:
        processes = {level: stack.enter_context(_process(level)) for level in {level for _, level in COLUMNS.values()}}
        rates = {texts: _rates(processes, texts, share) for texts in TEXTS}
    return [_documents(rates), _ratios(rates)]


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


def _documents(rates: Rates) -> Table:
    columns = ("numpy", "compiled", *PEERS)
    table = Table("Documents a second", ["", "characters", *columns])
    for texts, found in rates.items():
        table.add(texts, f"{TEXTS[texts].length:,}", *_cells(columns, {each: f"{found[each]:,.0f}" for each in found}))
    return table


def _ratios(rates: Rates) -> Table:
    columns = ("numpy by character", "compiled by character", "AVX2", "no AVX", *(f"× {peer}" for peer in PEERS))
    table = Table("Relative speed", ["", *columns])
    english = rates["English"]
    for texts, found in rates.items():
        longer = TEXTS[texts].length / TEXTS["English"].length
        compiled = found.get("compiled", found["numpy"])
        ratios = {
            f"{way} by character": found[way] * longer / english[way] for way in ("numpy", "compiled") if way in found
        }
        ratios |= {level: found[level] / compiled for level in ("AVX2", "no AVX") if level in found}
        ratios |= {f"× {peer}": compiled / found[peer] for peer in PEERS if peer in found}
        table.add(texts, *_cells(columns, {name: f"{ratio:.2f}" for name, ratio in ratios.items()}))
    return table


def _cells(columns: Iterable[str], found: dict[str, str]) -> list[str]:
    return [found.get(column, "–") for column in columns]


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
