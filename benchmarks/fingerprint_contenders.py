"""What makes fingerprints of texts: es_simhash and its peers, each as it is quickest, and how fast it is."""

from __future__ import annotations

import importlib
import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from es_simhash import Scheme

SIZE = 128  # of a MinHash

Run = Callable[[Sequence[str]], object]
Cut = Callable[[str], list[str]]


@dataclass
class Contender:
    """A library to measure: ``run`` fingerprints the share ``share`` of the documents.

    ``prepare`` makes of the documents what ``run`` takes, before the time is taken.
    """

    name: str
    run: Callable[[Any], object]
    share: float = 1.0
    prepare: Callable[[Sequence[str]], Any] | None = None
    times: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Documents per second of CPU time."""
        return 1 / statistics.median(self.times)

    def measure(self, documents: Sequence[str]) -> None:
        """Note the CPU time a document."""
        given = self.prepare(documents) if self.prepare else documents
        start = time.process_time()
        self.run(given)
        self.times.append((time.process_time() - start) / len(documents))


def in_turns(contenders: Iterable[Contender], documents: Sequence[str], rounds: int) -> None:
    """Measure contenders on the same documents, one after the other, after a warm-up."""
    for contender in contenders:
        contender.run(contender.prepare(documents[:200]) if contender.prepare else documents[:200])
    for _ in range(rounds):
        for contender in contenders:
            contender.measure(documents[: max(int(len(documents) * contender.share), 1)])


# --- es_simhash ---


def ours(label: str, scheme: Scheme, share: float = 1.0) -> list[Contender]:
    """Measure es_simhash with numpy alone, and with the compiled kernels where they are installed."""

    def run_with(wanted: bool) -> Run:
        def run(documents: Sequence[str]) -> None:
            with patch.dict(os.environ, {"ES_SIMHASH_NATIVE": str(int(wanted))}):
                for _ in scheme.fingerprint_batches(documents):
                    pass

        return run

    contenders = [Contender(f"es_simhash {label}, numpy", run_with(False), share)]
    if installed("es_simhash_native"):
        contenders.append(Contender(f"es_simhash {label}, compiled", run_with(True), share))
    return contenders


# --- peers ---


def n_grams(n: int) -> Cut:
    """Cut into character n-grams, as a user of a library that takes tokens would."""
    return lambda text: [text[i : i + n] for i in range(len(text) - n + 1)]


def gaoya_simhash(analyzer: str, n: int) -> Iterator[Contender]:
    if module := installed("gaoya.simhash"):
        index = module.SimHashStringIndex(64, 6, 3, analyzer, False, (n, n))
        yield Contender("gaoya", lambda documents: [index.query(document) for document in documents], 0.1)


def simhash_package(cut: Cut) -> Iterator[Contender]:
    if module := installed("simhash"):
        yield Contender("simhash", lambda documents: [module.Simhash(cut(text)) for text in documents], 0.005)


def gaoya_minhash(analyzer: str, n: int) -> Iterator[Contender]:
    if module := installed("gaoya.minhash"):
        index = module.MinHashStringIndex(32, 0.8, SIZE // 4, 4, None, analyzer, False, (n, n))
        yield Contender("gaoya", lambda documents: [index.query(document) for document in documents], 0.04)


def rensa(cut: Cut) -> Iterator[Contender]:
    """From texts, which Python cuts, and from tokens that were cut before the time is taken."""
    module = installed("rensa")
    if module is None:
        return

    def digest(tokens: Iterable[list[str]]) -> None:
        for each in tokens:
            minhash = module.RMinHash(SIZE, 42)
            minhash.update(each)
            minhash.digest()

    yield Contender("rensa RMinHash", lambda documents: digest(map(cut, documents)), 0.04)
    yield Contender(f"rensa RMinHash{GIVEN_TOKENS}", digest, 0.04, lambda documents: list(map(cut, documents)))


# Such contenders begin later than all others.
GIVEN_TOKENS = ", given tokens"


def datasketch(cut: Cut) -> Iterator[Contender]:
    module, xxhash = installed("datasketch"), installed("xxhash")
    if module is None or xxhash is None:
        return

    def digest(documents: Sequence[str]) -> None:
        for document in documents:
            tokens = [token.encode() for token in cut(document)]
            module.MinHash(SIZE, hashfunc=xxhash.xxh32_intdigest).update_batch(tokens)

    yield Contender("datasketch, xxh32", digest, 0.02)


def installed(name: str) -> Any:
    """Return a module, or None without it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None
