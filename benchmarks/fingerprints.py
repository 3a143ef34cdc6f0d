"""Documents fingerprinted per second, compared with other libraries.

One process, one thread, CPU time, medians of {rounds} turns; slow libraries get fewer documents. A library that only
has an index is queried on an empty one, which costs little more than the fingerprint. es_simhash normalises the texts,
the others take them as they are.
"""

from __future__ import annotations

import importlib
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.corpora import chinese, english
from benchmarks.tables import Table, side_by_side
from es_simhash import Chars, MinHash, Scheme, Words

ROUNDS = 7
__doc__ = __doc__.format(rounds=ROUNDS)
SIZE = 128

Run = Callable[[Sequence[str]], object]


@dataclass
class Contender:
    """A library to measure: ``run`` fingerprints the share ``share`` of the documents."""

    name: str
    run: Run
    share: float = 1.0
    times: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Documents per second of CPU time."""
        return 1 / statistics.median(self.times)


def run(documents_in_english: int = 50_000, documents_in_chinese: int = 20_000) -> list[Table]:
    """Measure everything."""
    corpora = {"English": english(documents_in_english), "Chinese": chinese(documents_in_chinese)}
    sketches = {
        "SimHash-64": (_simhash_of_characters, _simhash_of_words),
        "MinHash-128": (_minhash_of_characters, _minhash_of_words),
    }
    tables = []
    for title, (of_characters, of_words) in sketches.items():
        labelled = [
            (f"{language}, character 3-grams", _table(documents, of_characters()))
            for language, documents in corpora.items()
        ]
        words = _table(corpora["English"], of_words())
        tables.append(side_by_side(title, [*labelled, ("English, words", words)]))
    lists = _table(corpora["English"], _given_tokens())
    presets = [(language, _table(documents, _presets())) for language, documents in corpora.items()]
    return [
        *tables,
        side_by_side("Tokens given as Python lists", [("English words, SimHash-64", lists)]),
        side_by_side("Whole presets", presets),
    ]


def _table(documents: Sequence[str], contenders: list[Contender]) -> Table:
    for contender in contenders:
        contender.run(documents[: min(200, len(documents))])
    for _ in range(ROUNDS):
        for contender in contenders:
            few = documents[: max(int(len(documents) * contender.share), 1)]
            start = time.process_time()
            contender.run(few)
            contender.times.append((time.process_time() - start) / len(few))
    peers = [contender for contender in contenders if not contender.name.startswith("es_simhash")]
    best = max((peer.rate for peer in peers), default=0.0)
    columns = ["", "documents a second", *(["× the best peer"] if peers else [])]
    table = Table("", columns)
    for contender in contenders:
        ratio = [f"{contender.rate / best:.2f}"] if peers else []
        table.add(contender.name, f"{contender.rate:,.0f}", *ratio)
    return table


# --- es_simhash ---


def ours(label: str, scheme: Scheme, share: float = 1.0) -> list[Contender]:
    """Measure es_simhash with numpy alone, and with the compiled kernels where they are installed."""

    def fingerprint(documents: Sequence[str]) -> None:
        for _ in scheme.fingerprint_batches(documents):
            pass

    return _with_and_without_native(label, fingerprint, share)


def _with_and_without_native(label: str, fingerprint: Run, share: float = 1.0) -> list[Contender]:
    def run_with(wanted: bool) -> Run:
        def run(documents: Sequence[str]) -> None:
            os.environ["ES_SIMHASH_NATIVE"] = str(int(wanted))
            fingerprint(documents)

        return run

    contenders = [Contender(f"es_simhash {label}, numpy", run_with(False), share)]
    if _installed("es_simhash_native"):
        contenders.append(Contender(f"es_simhash {label}, compiled", run_with(True), share))
    return contenders


def _presets() -> list[Contender]:
    return [contender for name in ("default", "short", "strict") for contender in ours(name, Scheme.preset(name), 0.4)]


def _given_tokens() -> list[Contender]:
    scheme = Scheme(tokens=Words(1), weights="tf", minhash=None)

    def of_lists(documents: Sequence[str]) -> None:
        for _ in scheme.fingerprint_batches_of_tokens(document.split() for document in documents):
            pass

    return [*_with_and_without_native("lists", of_lists, 0.4), *ours("texts", scheme, 0.4)]


# --- SimHash ---


def _simhash_of_characters() -> list[Contender]:
    return [
        *ours("each occurrence", Scheme(tokens=Chars(3), weights="tf", minhash=None)),
        *ours("each feature once", Scheme(tokens=Chars(3), minhash=None)),
        *_gaoya_simhash("char", 3),
        *_simhash_package(lambda text: [text[i : i + 3] for i in range(len(text) - 2)]),
    ]


def _simhash_of_words() -> list[Contender]:
    return [
        *ours("each occurrence", Scheme(tokens=Words(1), weights="tf", minhash=None)),
        *ours("each feature once", Scheme(tokens=Words(1), minhash=None)),
        *_gaoya_simhash("word", 1),
        *_simhash_package(str.split),
    ]


def _gaoya_simhash(analyzer: str, n: int) -> list[Contender]:
    module = _installed("gaoya.simhash")
    if module is None:
        return []
    index = module.SimHashStringIndex(64, 6, 3, analyzer, False, (n, n))
    return [Contender("gaoya", lambda documents: [index.query(document) for document in documents], 0.1)]


def _simhash_package(cut: Callable[[str], list[str]]) -> list[Contender]:
    module = _installed("simhash")
    if module is None:
        return []
    return [Contender("simhash", lambda documents: [module.Simhash(cut(text)) for text in documents], 0.005)]


# --- MinHash ---


def _minhash_of_characters() -> list[Contender]:
    return [
        *_our_minhash(Chars(3)),
        *_gaoya_minhash("char", 3),
        *_rensa(lambda text: [text[i : i + 3] for i in range(len(text) - 2)]),
        *_datasketch(lambda text: [text[i : i + 3].encode() for i in range(len(text) - 2)]),
    ]


def _minhash_of_words() -> list[Contender]:
    return [
        *_our_minhash(Words(1)),
        *_gaoya_minhash("word", 1),
        *_rensa(str.split),
        *_datasketch(lambda text: [word.encode() for word in text.split()]),
    ]


def _our_minhash(tokens: Any) -> list[Contender]:
    # MinHash does not look at the weights: with "tf" nothing is spent on them.
    one_permutation = Scheme(tokens=tokens, weights="tf", simhash=None)
    k_hash = Scheme(tokens=tokens, weights="tf", simhash=None, minhash=MinHash("k-hash"))
    return [*ours("one-permutation", one_permutation), *ours("k-hash", k_hash, 0.1)]


def _gaoya_minhash(analyzer: str, n: int) -> list[Contender]:
    module = _installed("gaoya.minhash")
    if module is None:
        return []
    index = module.MinHashStringIndex(32, 0.8, SIZE // 4, 4, None, analyzer, False, (n, n))
    return [Contender("gaoya", lambda documents: [index.query(document) for document in documents], 0.04)]


def _rensa(cut: Callable[[str], list[str]]) -> list[Contender]:
    module = _installed("rensa")
    if module is None:
        return []

    def digest(documents: Sequence[str]) -> None:
        for document in documents:
            minhash = module.RMinHash(SIZE, 42)
            minhash.update(cut(document))
            minhash.digest()

    return [Contender("rensa RMinHash", digest, 0.04)]


def _datasketch(cut: Callable[[str], list[bytes]]) -> list[Contender]:
    module = _installed("datasketch")
    xxhash = _installed("xxhash")
    if module is None or xxhash is None:
        return []

    def digest(documents: Sequence[str]) -> None:
        for document in documents:
            module.MinHash(SIZE, hashfunc=xxhash.xxh32_intdigest).update_batch(cut(document))

    return [Contender("datasketch, xxh32", digest, 0.02)]


def _installed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None
