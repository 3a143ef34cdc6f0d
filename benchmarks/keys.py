"""Several shared keys compared with one and with others: what they find, and how many documents by chance.

*Recall by similarity* and *by change*: pairs of a passage and an edited one, {passages} passages each in English,
Japanese, Chinese, Russian and Hindi ({edits}), by the exact Jaccard similarity of the features that the keys are made
of. *Labelled sets*: the pairs that the rule calls near-duplicates at `near` and at `versions`, of unequal texts, the
mean of all sets and the worst one. *By chance*: documents among 100,000 that share enough keys with a text though their
signatures are estimated at less than {unrelated}, the mean of {queries} texts: film reviews, Japanese literature,
Chinese laws. "2 of 36 × 3, 24 bits" are 36 bands of 3 rows, in keys of 24 bits; 2 must be shared.

"4 of 16 rare features" index the 16 features with the smallest hashes of those that at most .5% of the passages have,
and are asked for 32; each pair counts in both directions.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.corpora import CORPORA_VARIABLE
from benchmarks.labelled import labelled_sets
from benchmarks.planted import edited
from benchmarks.tables import Table
from es_simhash import Layout, MinHash, Scheme
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.verdict.builtin import builtin
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier
from es_simhash.sketches.bands import Bands
from es_simhash.text import Chars, Normalisation, Runs
from es_simhash.text.tokens.kinds import RunsAndNumbers

LANGUAGES = ("reviews", "passages_ja", "passages_zh", "passages_ru", "passages_hi")
LARGE = LANGUAGES[:3]
PASSAGES, LABELLED_LEAST, QUERIES, UNRELATED = 1_000, 0.10, 300, 0.35
LEVELS = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 1.01)

Signatures = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.bool_]
Tokens: TypeAlias = Chars | Runs | RunsAndNumbers


@dataclass(frozen=True)
class Keys:
    """Bands of the signature of some features, and how many must be shared."""

    tokens: Tokens
    bands: Bands
    shared: int

    @property
    def name(self) -> str:
        """What they are, in short."""
        bands = f"{self.shared} of {self.bands.count} × {self.bands.rows}, {self.bands.key_bits} bits"
        return f"{bands}; {_in_words(self.tokens)}"

    def met(self, first: Signatures, second: Signatures) -> Flags:
        """Return which pairs share enough keys."""
        same: Flags = (self.bands.values(first) == self.bands.values(second)).sum(axis=1) >= self.shared
        return same


_RUNS = Runs(dense=3)
_SHAPES = (
    *(Bands(count, 3, 24) for count in (28, 32, 36, 42)),
    Bands(36, 3, 18),
    Bands(42, 3, 18),
)
CONTENDERS = (
    Keys(Chars(5), Bands(32, 4, 30), 1),
    *(Keys(_RUNS, bands, 2) for bands in _SHAPES),
    *(Keys(_RUNS, bands, 3) for bands in (Bands(36, 3, 24), Bands(42, 3, 24))),
    Keys(_RUNS, Bands(32, 4, 30), 1),
    Keys(_RUNS, Bands(25, 5, 30), 1),
    *(Keys(_RUNS, Bands(64, 2, 18), shared) for shared in (4, 6)),
    *(Keys(tokens, Bands(36, 3, 24), 2) for tokens in (Chars(5), Chars(4), Chars(3), Runs(), RunsAndNumbers())),
)


def _replaced(share: float) -> Callable[[str, str, random.Random], str]:
    return lambda text, other, chosen: edited(text, share, _words(other), chosen)


def _misread(share: float) -> Callable[[str, str, random.Random], str]:
    def misread(text: str, other: str, chosen: random.Random) -> str:
        return "".join(chosen.choice(other) if chosen.random() < share else each for each in text)

    return misread


EDITS: dict[str, Callable[[str, str, random.Random], str]] = {
    "5% replaced": _replaced(0.05),
    "10%": _replaced(0.1),
    "20%": _replaced(0.2),
    "30%": _replaced(0.3),
    "a third cut off": lambda text, _, __: text[: len(text) * 2 // 3],
    "half more added": lambda text, other, _: text + other[: len(text) // 2],
    "misread 5%": _misread(0.05),
    "misread 8%": _misread(0.08),
}
__doc__ = __doc__.format(passages=f"{PASSAGES:,}", edits=", ".join(EDITS), unrelated=UNRELATED, queries=QUERIES)


def run() -> Iterator[Table]:
    """Measure all keys."""
    if not texts_of(LANGUAGES[0]):
        print(f"No texts: {CORPORA_VARIABLE} names no folder that has them.", flush=True)
        return
    pairs = [(name, edit, *_edited_pairs(name, edit)) for name in LANGUAGES for edit in EDITS]
    yield _by_similarity(pairs)
    yield _by_change(pairs)
    yield _labelled_and_by_chance()


def texts_of(name: str) -> list[str]:
    """Return the texts of a set; none without the folder."""
    path = Path(os.environ.get(CORPORA_VARIABLE, "/dev/null")) / name / "docs.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def scheme_of(tokens: Tokens) -> Scheme:
    """Return a scheme whose signatures all keys are made of; the first default did not fold."""
    fold = Normalisation() if tokens == Chars(5) else Scheme().normalisation
    return Scheme(normalisation=fold, tokens=tokens, minhash=MinHash(), layout=Layout())


def signatures(tokens: Tokens, texts: Sequence[str]) -> Signatures:
    """Return the signatures of texts."""
    found = [batch.signatures for batch in scheme_of(tokens).fingerprint_batches(texts)]
    return np.concatenate([each for each in found if each is not None])


def chance(keys: Keys, made: Signatures) -> float:
    """Return how many of 100,000 documents share enough keys with another by chance."""
    values = keys.bands.values(made)
    order = np.argsort(values, axis=None, kind="stable")
    found, places = values.ravel()[order], order // keys.bands.count
    met = []
    for query in np.random.default_rng(1).choice(len(made), min(QUERIES, len(made)), replace=False):
        starts, ends = (np.searchsorted(found, values[query], side=side) for side in ("left", "right"))
        sharing = np.concatenate([places[start:end] for start, end in zip(starts, ends, strict=True)])
        others, counts = np.unique(sharing, return_counts=True)
        others = others[counts >= keys.shared]
        met.append(int(((made[others] == made[query]).mean(axis=1) < UNRELATED).sum()))
    return fmean(met) * 100_000 / len(made)


# ---- edited pairs


def _words(text: str) -> list[str]:
    return text.split() if " " in text else [text[i : i + 2] for i in range(0, len(text) - 1, 2)]


@cache
def _passages(name: str) -> tuple[str, ...]:
    texts = texts_of(name)
    return tuple(random.Random(3).sample(texts, min(PASSAGES, len(texts))))


def _edited_pairs(name: str, edit: str) -> tuple[list[str], list[str]]:
    chosen, texts = random.Random(9), _passages(name)
    others = [EDITS[edit](text, texts[place - 1], chosen) for place, text in enumerate(texts)]
    return list(texts), others


@cache
def _made(tokens: Tokens, name: str, edit: str) -> tuple[Signatures, Signatures, npt.NDArray[np.float64]]:
    """Return the signatures of both sides, and the exact similarity of each pair."""
    texts, others = _edited_pairs(name, edit)
    verifier = Verifier(scheme_of(tokens), Verification.of_fingerprints(0.01))
    pairs = np.stack([np.arange(len(texts)), np.arange(len(texts)) + len(texts)])
    return signatures(tokens, texts), signatures(tokens, others), verifier.similarities([*texts, *others], pairs)


def _by_similarity(pairs: Sequence[tuple[str, str, list[str], list[str]]]) -> Table:
    heads = [f"{low:g}–{min(high, 1):g}" for low, high in pairwise(LEVELS)]
    table = Table("Recall by similarity", ("", *heads))
    for keys in CONTENDERS:
        met, similarities = [], []
        for name, edit, *_ in pairs:
            first, second, exact = _made(keys.tokens, name, edit)
            met.append(keys.met(first, second))
            similarities.append(exact)
        found, exact = np.concatenate(met), np.concatenate(similarities)
        cells = [found[(exact >= low) & (exact < high)] for low, high in pairwise(LEVELS)]
        table.add(keys.name, *(f"{cell.mean():.3f}" for cell in cells))
    return table


def _by_change(pairs: Sequence[tuple[str, str, list[str], list[str]]]) -> Table:
    table = Table("Recall by change, mean of the languages", ("", *EDITS))
    for keys in CONTENDERS:
        cells = [fmean(keys.met(*_made(keys.tokens, name, edit)[:2]).mean() for name in LANGUAGES) for edit in EDITS]
        table.add(keys.name, *(f"{cell:.3f}" for cell in cells))
    table.add("4 of 16 rare features", *(f"{fmean(_rare(name, edit) for name in LANGUAGES):.3f}" for edit in EDITS))
    return table


# ---- rare features


def _rare(name: str, edit: str, index: int = 16, asked: int = 32, needed: int = 4) -> float:
    """Return the share of the pairs that rare features find, one side in the index and the other as the query."""
    texts, others = _edited_pairs(name, edit)
    frequent = _frequent(name)
    first, second = ([_smallest(frequent, some) for some in _features(side)] for side in (texts, others))
    met = [
        len(set(a[:index]) & set(b[:asked])) >= needed
        for a, b in [*zip(first, second, strict=True), *zip(second, first, strict=True)]
    ]
    return fmean(met)


@cache
def _frequent(name: str) -> frozenset[int]:
    texts = random.Random(4).sample(texts_of(name), min(5_000, len(texts_of(name))))
    counts = Counter(feature for some in _features(texts) for feature in some)
    return frozenset(feature for feature, count in counts.items() if count > 0.005 * len(texts))


def _features(texts: Sequence[str]) -> Iterator[set[int]]:
    made = fingerprinting.features_of_texts(scheme_of(_RUNS), texts)
    for start, end in zip(made.offsets[:-1].tolist(), made.offsets[1:].tolist(), strict=True):
        yield set(made.first_words[start:end].tolist())


def _smallest(frequent: frozenset[int], features: set[int]) -> list[int]:
    return sorted(features - frequent)[:32]


# ---- labelled sets, and unrelated texts


def _labelled_and_by_chance() -> Table:
    columns = ("", "near", "worst", "versions", "worst", *(f"by chance: {name}" for name in LARGE))
    table = Table("Labelled sets, and by chance", columns)
    for keys in CONTENDERS:
        made = _of_sets(keys.tokens)
        cells: list[str] = []
        for least in (0.63, 0.5):
            shares = [
                keys.met(own[pairs[0]], own[pairs[1]])[similar >= least].mean()
                for own, (pairs, similar) in zip(made, _all_near(), strict=True)
                if np.count_nonzero(similar >= least) >= 10
            ]
            cells += [f"{fmean(shares):.4f}", f"{min(shares):.3f}"]
        cells += [f"{chance(keys, _of_large(keys.tokens, name)):.1f}" for name in LARGE]
        table.add(keys.name, *cells)
    return table


@cache
def _all_near() -> tuple[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]], ...]:
    return tuple(_near_pairs(on.texts) for on in labelled_sets())


@cache
def _of_sets(tokens: Tokens) -> tuple[Signatures, ...]:
    return tuple(signatures(tokens, on.texts) for on in labelled_sets())


@cache
def _of_large(tokens: Tokens, name: str) -> Signatures:
    return signatures(tokens, texts_of(name))


def _near_pairs(texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the pairs of unequal texts that the rule calls versions, and their similarities."""
    scheme = replace(Scheme(), minhash=MinHash(size=256, bands=64, rows=4))
    low = np.concatenate(
        [each.signatures for each in scheme.fingerprint_batches(texts) if each.signatures is not None]
    ).astype(np.uint16)
    found = [np.empty((2, 0), dtype=np.int64)]
    for place in range(len(texts) - 1):
        near = np.flatnonzero((low[place + 1 :] == low[place]).mean(axis=1) >= LABELLED_LEAST) + place + 1
        found.append(np.stack([np.full(len(near), place), near]))
    pairs = np.concatenate(found, axis=1)
    pairs = pairs[:, [texts[a] != texts[b] for a, b in pairs.T.tolist()]]
    assert scheme.verification
    similar = Verifier(scheme, scheme.verification, builtin()).similarities(texts, pairs, 0.5)
    return pairs[:, similar >= 0.5], similar[similar >= 0.5]


def _in_words(tokens: Tokens) -> str:
    if isinstance(tokens, Chars):
        return f"{tokens.n}-grams"
    return f"runs of 5, CJK {tokens.dense}" if isinstance(tokens, Runs) else "runs of 5, CJK 2, and numbers"
