"""The keys of a document's passages, by which texts are found that contain one another, and how much they do.

This is a stored format. The words of the normalised text, as Unicode divides it (`es_simhash.text.words`: an
ideograph or Hiragana is a word), are hashed by poly64 with 64 bits, whatever the tokens and the hash of the scheme.
Each run of ``words`` words has a hash, and of every ``window`` runs the smallest hash is chosen. A key is the lowest
``key_bits`` bits of a chosen hash, in base64url digits. A document has each of its keys once, in ascending order of the
numbers: where they stand in the text is not stored. A text of fewer words has none.

How much of a text stands in another is the share of its words that lie in passages which both have. With w the words of
a text A, n the ``words`` of a passage, and B another text::

    containment of A in B = |{ i : some n consecutive words of A, w_i among them, stand in B }| / |A|

A text of fewer words is one passage as a whole; an empty one stands in no other. The containment is 1 if A stands in B,
whatever else does. Containment by features (Broder, "On the resemblance and containment of documents", 1997; see
`es_simhash.sketches.similarity`) counts what long texts share by chance, and a changed word removes many
features at once. Here it takes away that word alone, unless another one is changed within n words of it.

Of each window of w consecutive n-grams, the smallest hash is chosen (Schleimer, Wilkerson, Aiken, "Winnowing: Local
Algorithms for Document Fingerprinting", SIGMOD 2003). A run of w + n - 1 tokens is a window of w n-grams. Two texts
that have it in common choose the same hash of it, whatever surrounds it. Of random hashes, 2 / (w + 1) are chosen.
If a text has fewer than w n-grams, these are one window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Codes, Integers, distinct_numbers, select
from es_simhash._core.json_codec import Json
from es_simhash.errors import SchemeError
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.settings import Passages, Settings, by_fingerprinter
from es_simhash.text.hashing import BASE, fmix64

if TYPE_CHECKING:
    from es_simhash_native import Fingerprinter


FIELD = "passages"
# A search for what contains a text asks for all of its runs, if there are no more.
MOST_RUNS = 128


def passages_of(settings: Settings) -> Passages:
    """Return how passages are found; a scheme without them is a `SchemeError`."""
    if settings.passages is None:
        raise SchemeError(
            "The scheme has no keys of passages, so what contains a text cannot be found. Make an index with "
            "--scheme passages, or with passages=Passages() in its scheme."
        )
    return settings.passages


def words_of(settings: Settings, texts: Sequence[str]) -> tuple[Codes, Integers]:
    """Return the hashes of the words of texts, in order, and the texts' offsets."""
    features = fingerprinting.features_of_texts(settings.by_words, texts)
    return features.hashes, features.offsets


def add_keys(settings: Settings, texts: Sequence[str], made: Sequence[Json]) -> None:
    """Add the keys of each text to its fields, if the scheme has passages, and the text any."""
    if settings.passages is None:
        return
    for fields, keys in zip(made, keys_of_texts(settings, texts), strict=True):
        if keys:
            fields[FIELD] = keys if settings.layout.keys == "text" else keys.split()


def keys_of_texts(settings: Settings, texts: Sequence[str]) -> list[str]:
    """Return the keys of each text as a document has them, with spaces between them."""
    passages = passages_of(settings)

    def by_kernels(kernels: Fingerprinter) -> list[str]:
        plain = fingerprinting.stripped(settings, texts)
        return kernels.passages(plain, passages.words, passages.window, passages.key_bits)

    made = by_fingerprinter(settings.by_words, by_kernels)
    if made is not None:
        return made
    runs = grams(*words_of(settings, texts), passages.words)
    return _written(passages, *minima(*runs, passages.window))


def keys_in(stored: Json) -> set[str]:
    """Return the keys in the fields of a document."""
    keys = stored.get(FIELD)
    if isinstance(keys, list):
        keys = " ".join(key for key in keys if isinstance(key, str))
    return set(keys.split()) if isinstance(keys, str) else set()


def query_keys(settings: Settings, words: Codes, most: int) -> tuple[list[str], bool]:
    """Return the keys to find documents by that have passages of a text, given its words, and whether they are chosen.

    Up to ``most`` they are the keys of all its runs, since a document may have chosen any of them.
    """
    passages = passages_of(settings)
    runs, offsets = grams(words, np.array([0, len(words)]), passages.words)
    are_chosen = len(runs) > most
    if are_chosen:
        runs, offsets = minima(runs, offsets, passages.window)
    return _written(passages, runs, offsets)[0].split(), are_chosen


def _written(passages: Passages, hashes: Codes, offsets: Integers) -> list[str]:
    """Write the keys of each text in ascending order, each once."""
    numbers, bounds = hashes & np.uint64((1 << passages.key_bits) - 1), offsets.tolist()
    for start, end in pairwise(bounds):
        numbers[start:end].sort()
    is_new = np.ones(len(numbers), dtype=np.bool_)
    is_new[1:] = numbers[1:] != numbers[:-1]
    is_new[offsets[:-1][np.diff(offsets) > 0]] = True
    numbers, offsets = select(numbers, offsets, is_new)
    text = _spaced(arrays.code_points(numbers, passages.key_digits, arrays.BASE64URL))
    bounds = (offsets * (passages.key_digits + 1)).tolist()
    return [text[start : end - 1] if end > start else "" for start, end in pairwise(bounds)]


def _spaced(points: npt.NDArray[np.uint32]) -> str:
    """Return the keys, given by their code points, with a space after each."""
    spaced = np.full((len(points), points.shape[1] + 1), ord(" "), dtype=np.uint8)
    spaced[:, :-1] = points
    return spaced.tobytes().decode("ascii")


@dataclass(frozen=True)
class Containment:
    """The share of the first text that stands in the second, and the other way round."""

    of_first: float
    of_second: float


@dataclass(frozen=True, eq=False)
class WordsOfText:
    """The words of a text, by their hashes, in order; what was asked of their runs is kept."""

    hashes: Codes
    _kept: dict[int, Codes] = field(default_factory=dict, repr=False)

    def share_in(self, other: WordsOfText, n: int) -> float:
        """Return the share of the words that lie in passages of ``n`` words or more which the other text has."""
        count = len(self.hashes)
        n = min(n, count)
        if not n or n > len(other.hashes):
            return 0.0
        runs, there = runs_of(self.hashes, n), other.distinct_runs(n)
        places = np.minimum(np.searchsorted(there, runs), len(there) - 1)
        starts = np.flatnonzero(there[places] == runs)
        change = np.zeros(count + 1, dtype=np.int64)
        change[starts] += 1
        change[starts + n] -= 1
        return int(np.count_nonzero(np.cumsum(change[:-1]))) / count

    def distinct_runs(self, n: int) -> Codes:
        """Return the runs of ``n`` words, each once, in the order of their hashes."""
        if n not in self._kept:
            self._kept[n] = distinct_numbers(runs_of(self.hashes, n))
        return self._kept[n]


def words_of_texts(settings: Settings, texts: Sequence[str]) -> Iterator[WordsOfText]:
    """Yield the words of each text."""
    for text in texts:
        yield WordsOfText(words_of(settings, [text])[0])


def containment(settings: Settings, first: str, second: str, n: int) -> Containment:
    """Return how much of each text stands in the other, in passages of ``n`` words or more."""
    a, b = words_of_texts(settings, [first, second])
    return Containment(a.share_in(b, n), b.share_in(a, n))


def runs_of(hashes: Codes, n: int) -> Codes:
    """Return the hash of the run of ``n`` words from each place on."""
    return grams(hashes, np.array([0, len(hashes)]), n)[0]


def grams(hashes: Codes, offsets: Integers, n: int) -> tuple[Codes, Integers]:
    """Return the hashes of each text's n-grams, in order, and the texts' offsets, given those of its tokens.

    With h1 … hn the hashes of the tokens, the hash of the n-gram is ``fmix64(p)`` of the polynomial
    ``p = (…((n · BASE + h1) · BASE + h2)…) · BASE + hn`` modulo 2**64 (see `es_simhash.text.hashing`).
    """
    values, size = hashes, 1
    for bit in bin(n)[3:]:  # two runs of a length make one of twice that length, and a token more the next one
        values = _joined(values, size, values[size:])
        size *= 2
        if bit == "1":
            values = _joined(values, 1, hashes[size:])
            size += 1
    values = values + _power(n, n)
    return select(fmix64(values), offsets, _is_followed(offsets, n)[: len(values)])


def _joined(values: Codes, size: int, others: Codes) -> Codes:
    """Return the polynomials of runs that go on with the ``others``, which are of this size."""
    joined = values[: len(others)] * _power(1, size)
    joined += others
    return joined


def minima(hashes: Codes, offsets: Integers, window: int) -> tuple[Codes, Integers]:
    """Return the smallest hash of each window of a text's n-grams, in order, and the texts' offsets.

    The same one as in the window before is left out.
    """
    counts = np.diff(offsets)
    smallest, kept = _of_windows(hashes, window), _is_followed(offsets, window)
    few = np.flatnonzero((counts > 0) & (counts < window))
    if len(few):
        bounds = np.column_stack([offsets[few], offsets[few + 1]]).ravel()
        smallest[offsets[few]] = np.minimum.reduceat(np.append(hashes, np.uint64(0)), bounds)[::2]
    kept[1:] &= smallest[1:] != smallest[:-1]
    kept[offsets[:-1][counts > 0]] = True
    return select(smallest, offsets, kept)


def _power(factor: int, exponent: int) -> np.uint64:
    """Return a multiple of a power of the base of the polynomials."""
    return np.uint64(factor * pow(BASE, exponent, 1 << 64) % (1 << 64))


def _is_followed(offsets: Integers, length: int) -> npt.NDArray[np.bool_]:
    """Return the places from which on a text has as many elements."""
    followed = np.ones(offsets[-1], dtype=np.bool_)
    # Beyond the beginning of a short text are the last places of the one before.
    last = (offsets[1:, np.newaxis] - np.arange(1, length)).ravel()
    followed[last[last >= 0]] = False
    return followed


def _of_windows(hashes: Codes, window: int) -> Codes:
    """Return the smallest of the ``window`` hashes from each place on; where fewer follow, of any of them."""
    smallest, size = hashes.copy(), 1
    while size < window and size < len(hashes):
        step = min(size, window - size)
        np.minimum(smallest[:-step], smallest[step:], out=smallest[:-step])
        size += step
    return smallest
