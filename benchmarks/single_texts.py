"""What one call costs for one text, as an application makes it: microseconds, the median of {calls} calls.

Every call is of another text. Rarity is learned from {sample:,} texts.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from unittest.mock import patch

from benchmarks.corpora import chinese, topical
from benchmarks.fingerprint_contenders import installed
from benchmarks.tables import Table
from es_simhash import Documents, Scheme
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Verifier

CALLS, ROUNDS, SAMPLE = 200, 7, 5_000
MOST = 100  # texts to compare with
__doc__ = __doc__.format(calls=CALLS * ROUNDS, sample=SAMPLE)
CORPORA = {"English, 1,500 characters": (topical, 1_500), "Chinese, 650 characters": (chinese, 650)}

# Gets the place of a text.
Call = Callable[[int], object]


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure all calls with numpy and with the compiled kernels, in turns."""
    for name, (make, length) in CORPORA.items():
        texts = make(max(int(SAMPLE * share), 2 * MOST), length)
        times = _times(texts, max(int(CALLS * share), 5))
        table = Table(name, ["", *(f"{way}, µs" for way in times), "× as fast"])
        for call in times["numpy"]:
            medians = [statistics.median(found[call]) for found in times.values()]
            table.add(call, *(f"{median:,.0f}" for median in medians), f"{medians[0] / medians[-1]:.1f}")
        yield table


def _calls(texts: Sequence[str]) -> dict[str, Call]:
    scheme = Scheme.preset("default")
    documents = Documents(scheme, ["text"])
    compare = Verifier(scheme, Verification(), builtin())

    def compared_with(others: int) -> Call:
        return lambda place: compare.to_others(texts[place], [texts[place - i] for i in range(1, others + 1)])

    return {
        "`Scheme.fingerprint`": lambda place: scheme.fingerprint(texts[place]),
        "`Documents.add_fields`": lambda place: documents.add_fields({"text": texts[place]}),
        "compared with 3 texts": compared_with(3),
        f"compared with {MOST} texts": compared_with(MOST),
    }


def _times(texts: Sequence[str], count: int) -> dict[str, dict[str, list[float]]]:
    ways = {"numpy": "0", "compiled": "1"} if installed("es_simhash_native") else {"numpy": "0"}
    calls, times = dict[str, dict[str, Call]](), {way: dict[str, list[float]]() for way in ways}
    for _ in range(ROUNDS):
        for way, native in ways.items():
            with patch.dict(os.environ, {"ES_SIMHASH_NATIVE": native}):
                # A way's own objects, since some keep the kernels that they found.
                if way not in calls:
                    calls[way] = _calls(texts)
                for name, call in calls[way].items():
                    times[way].setdefault(name, []).extend(_time(call, place) for place in range(count))
    return times


def _time(call: Call, place: int) -> float:
    start = time.perf_counter()
    call(place)
    return (time.perf_counter() - start) * 1e6
