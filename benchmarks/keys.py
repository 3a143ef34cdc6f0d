"""Several shared keys compared with one and with others: what they find, and how many documents by chance.

*Recall by similarity* and *by change*: pairs of a passage and an edited one, {passages} passages each in English,
Japanese, Chinese, Russian and Hindi ({edits}), by the exact Jaccard similarity of the features that the keys are made
of; records are their first {short} characters, texts of 40 kB several passages in a row, at most {long} a language.
*Labelled sets*: the pairs that the rule calls near-duplicates at `near` and at `versions`, of unequal texts, the
mean of all sets and the worst one. *By chance*: documents among 100,000 that share enough keys with a text though their
signatures are estimated at less than {unrelated}, the mean of {queries} texts: film reviews, Japanese literature,
Chinese laws. "2 of 36 × 3, 24 bits" are 36 bands of 3 rows, in keys of 24 bits; 2 must be shared.

"× 4 from {long_from} characters" has bands of 4 rows for longer texts, which shorter ones never share. *Folding*: F1 of
the pairs that `dedup` finds in labelled sets of Chinese and Japanese, Han folded or not, all else by default.

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
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.corpora import CORPORA_VARIABLE
from benchmarks.labelled import judged, labelled_sets
from benchmarks.planted import edited
from benchmarks.quality_contenders import deduplicated
from benchmarks.tables import Table
from es_simhash import GroupOptions, Layout, MinHash, Scheme
from es_simhash._core.arrays import Integers
from es_simhash.quality.scores import script_of
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Verifier
from es_simhash.sketches.keys import Bands
from es_simhash.text import Chars, Normalisation, Runs
from es_simhash.text.tokens import RunsAndNumbers

LANGUAGES = ("reviews", "passages_ja", "passages_zh", "passages_ru", "passages_hi")
LARGE = LANGUAGES[:3]
PASSAGES, LABELLED_LEAST, QUERIES, UNRELATED = 1_000, 0.10, 300, 0.35
SHORT, LONG, LONG_PASSAGES, LONG_FROM = 80, 40_000, 100, 2_000
LEVELS = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 1.01)

Signatures = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.bool_]
Tokens: TypeAlias = Chars | Runs | RunsAndNumbers


class Texts(NamedTuple):
    """Signatures and lengths of texts."""

    signatures: Signatures
    lengths: Integers


@dataclass(frozen=True)
class Keys:
    """Bands of the signature of some features, those of long texts if they differ, and how many must be shared."""

    tokens: Tokens
    bands: Bands
    shared: int
    of_long: Bands | None = None

    @property
    def name(self) -> str:
        """What they are, in short."""
        bands = f"{self.shared} of {self.bands.count} × {self.bands.rows}, {self.bands.key_bits} bits"
        longer = f", × {self.of_long.rows} from {LONG_FROM:,} characters" if self.of_long else ""
        return f"{bands}{longer}; {_in_words(self.tokens)}"

    def met(self, first: Texts, second: Texts) -> Flags:
        """Return which pairs share enough keys."""
        same: Flags = (self.values(first) == self.values(second)).sum(axis=1) >= self.shared
        return same

    def values(self, texts: Texts) -> npt.NDArray[np.uint64]:
        """Return the keys of texts as numbers, a row for each text."""
        values = self.bands.values(texts.signatures)
        if self.of_long is None:
            return values
        longer = self.of_long.values(texts.signatures) | np.uint64(1 << 63)
        return np.where((texts.lengths >= LONG_FROM)[:, None], longer, values)


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
    Keys(_RUNS, Bands(32, 3, 24), 2, of_long=Bands(32, 4, 24)),
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
__doc__ = __doc__.format(
    passages=f"{PASSAGES:,}", edits=", ".join(EDITS), unrelated=UNRELATED, queries=QUERIES,
    short=SHORT, long=LONG_PASSAGES, long_from=f"{LONG_FROM:,}",
)  # fmt: skip


def run() -> Iterator[Table]:
    """Measure all keys."""
    if not texts_of(LANGUAGES[0]):
        print(f"No texts: {CORPORA_VARIABLE} names no folder that has them.", flush=True)
        return
    yield _by_similarity()
    yield _by_change("Recall by change, mean of the languages", None)
    yield _by_change(f"Recall by change of records of {SHORT} characters", SHORT)
    yield _by_change(f"Recall by change of texts of {LONG // 1000} kB", LONG)
    yield _labelled_and_by_chance()
    yield _folding()


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


def chance(keys: Keys, texts: Texts) -> float:
    """Return how many of 100,000 documents share enough keys with another by chance."""
    values, made = keys.values(texts), texts.signatures
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
def _passages(name: str, length: int | None) -> tuple[str, ...]:
    """Return passages of a language: as they are, their beginnings, or several in a row."""
    texts = texts_of(name)
    if length == LONG:
        joined, starts = "\n".join(texts[: 20 * LONG_PASSAGES * LONG // 1_000]), range(0, LONG_PASSAGES * LONG, LONG)
        return tuple(joined[start : start + LONG] for start in starts if start + LONG <= len(joined))
    if length:
        texts = [text[:length] for text in texts if len(text) >= length]
    return tuple(random.Random(3).sample(texts, min(PASSAGES, len(texts))))


def _edited_pairs(name: str, edit: str, length: int | None = None) -> tuple[list[str], list[str]]:
    chosen, texts = random.Random(9), _passages(name, length)
    others = [EDITS[edit](text, texts[place - 1], chosen) for place, text in enumerate(texts)]
    return list(texts), others


def _texts(tokens: Tokens, texts: Sequence[str]) -> Texts:
    return Texts(signatures(tokens, texts), np.array([len(text) for text in texts]))


@cache
def _made(tokens: Tokens, name: str, edit: str, length: int | None = None) -> tuple[Texts, Texts]:
    first, second = _edited_pairs(name, edit, length)
    return _texts(tokens, first), _texts(tokens, second)


@cache
def _similarities(tokens: Tokens, name: str, edit: str) -> npt.NDArray[np.float64]:
    texts, others = _edited_pairs(name, edit)
    verifier = Verifier(scheme_of(tokens), Verification.of_fingerprints(0.01))
    pairs = np.stack([np.arange(len(texts)), np.arange(len(texts)) + len(texts)])
    return verifier.similarities([*texts, *others], pairs)


def _by_similarity() -> Table:
    heads = [f"{low:g}–{min(high, 1):g}" for low, high in pairwise(LEVELS)]
    table, edits = Table("Recall by similarity", ("", *heads)), [(name, edit) for name in LANGUAGES for edit in EDITS]
    for keys in CONTENDERS:
        found = np.concatenate([keys.met(*_made(keys.tokens, *each)) for each in edits])
        exact = np.concatenate([_similarities(keys.tokens, *each) for each in edits])
        cells = [found[(exact >= low) & (exact < high)] for low, high in pairwise(LEVELS)]
        table.add(keys.name, *(f"{cell.mean():.3f}" for cell in cells))
    return table


def _by_change(title: str, length: int | None) -> Table:
    table = Table(title, ("", *EDITS))
    for keys in CONTENDERS:
        found = [
            fmean(keys.met(*_made(keys.tokens, name, edit, length)).mean() for name in LANGUAGES) for edit in EDITS
        ]
        table.add(keys.name, *(f"{each:.3f}" for each in found))
    rare = [fmean(_rare(name, edit, length) for name in LANGUAGES) for edit in EDITS]
    table.add("4 of 16 rare features", *(f"{each:.3f}" for each in rare))
    return table


# ---- rare features


def _rare(name: str, edit: str, length: int | None, index: int = 16, asked: int = 32, needed: int = 4) -> float:
    """Return the share of the pairs that rare features find, one side in the index and the other as the query."""
    texts, others = _edited_pairs(name, edit, length)
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
                keys.met(_at(own, pairs[0]), _at(own, pairs[1]))[similar >= least].mean()
                for own, (pairs, similar) in zip(made, _all_near(), strict=True)
                if np.count_nonzero(similar >= least) >= 10
            ]
            cells += [f"{fmean(shares):.4f}", f"{min(shares):.3f}"]
        cells += [f"{chance(keys, _of_large(keys.tokens, name)):.1f}" for name in LARGE]
        table.add(keys.name, *cells)
    return table


def _at(texts: Texts, places: Integers) -> Texts:
    return Texts(texts.signatures[places], texts.lengths[places])


@cache
def _all_near() -> tuple[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]], ...]:
    return tuple(_near_pairs(on.texts) for on in labelled_sets())


@cache
def _of_sets(tokens: Tokens) -> tuple[Texts, ...]:
    return tuple(_texts(tokens, on.texts) for on in labelled_sets())


@cache
def _of_large(tokens: Tokens, name: str) -> Texts:
    return _texts(tokens, texts_of(name))


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


# ---- folding


def _folding() -> Table:
    table = Table("Folding", ("", "not folded", "folded"))
    plain = replace(Scheme(), normalisation=Normalisation())
    for on in labelled_sets():
        if [script_of(text) for text in on.texts[:100]].count("Latin") < 50:
            scores = [judged(on, deduplicated(scheme, GroupOptions(), on)).f1.value for scheme in (plain, Scheme())]
            table.add(on.name, *("–" if score is None else f"{score:.3f}" for score in scores))
    return table


def _in_words(tokens: Tokens) -> str:
    if isinstance(tokens, Chars):
        return f"{tokens.n}-grams"
    return f"runs of 5, CJK {tokens.dense}" if isinstance(tokens, Runs) else "runs of 5, CJK 2, and numbers"
