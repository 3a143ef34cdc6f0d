"""Batches of weighted, hashed features: made of tokens, and condensed to SimHash and MinHash."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Codes, Integers, distinct_numbers, offsets_from_counts, rows_of
from es_simhash._core.json_codec import parse_json
from es_simhash.errors import FormatError, InputError, TextError, WeightError

Weights: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]

# Up to this floor, the first features of a document are counted before all of them.
_GLANCE = 64
# Float weights that are whole numbers below this are kept as integers, whose sums are exact.
_LARGEST_WHOLE = 1 << 31


@dataclass(frozen=True, eq=False)
class FeatureBatch:
    """The hashed features of many documents, one document after the other.

    ``hashes`` are codes (see `es_simhash._core.arrays`); document ``i`` owns those from ``offsets[i]`` up to
    ``offsets[i + 1]``. ``weights`` has one number a hash; ``None`` means that each weighs 1.
    """

    hashes: Codes
    offsets: Integers
    weights: Weights | None = None

    def __post_init__(self) -> None:
        if self.weights is None:
            return
        if self.weights.dtype not in (np.int64, np.float64) or len(self.weights) != len(self.hashes):
            raise WeightError(
                f"{len(self.weights)} weights of {self.weights.dtype} do not fit {len(self.hashes)} hashes. "
                "Give an array of int64 or float64 with one weight a hash."
            )

    @classmethod
    def of(cls, documents: Iterable[Iterable[int]]) -> FeatureBatch:
        """Return a batch of documents, each given by hashes of 64 bits.

        >>> len(FeatureBatch.of([[1, 2, 3], [2]]))
        2
        """
        lists = [list(document) for document in documents]
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        return cls(np.array([value for each in lists for value in each], dtype=np.uint64), offsets)

    @property
    def first_words(self) -> Codes:
        """The first 64 bits of each hash, which distinguish features."""
        return self.hashes if self.hashes.ndim == 1 else np.ascontiguousarray(self.hashes[:, 0])

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.offsets) - 1


def distinct(features: FeatureBatch) -> FeatureBatch:
    """Return each feature of a document once, in any order, with the sum of its weights.

    Features are the same if the first 64 bits of their hashes are.
    """
    if features.weights is None and features.hashes.ndim == 1:
        hashes = _sorted_in_documents(features.hashes, features.offsets)
        positions = np.flatnonzero(_is_first(hashes, features.offsets))
        return FeatureBatch(hashes[positions], np.searchsorted(positions, features.offsets))
    order = np.lexsort((features.first_words, rows_of(features.offsets)))
    hashes = features.hashes[order]
    firsts = np.flatnonzero(_is_first(features.first_words[order], features.offsets))
    weights = features.weights
    if weights is not None:
        weights = np.add.reduceat(weights[order], firsts) if len(firsts) else weights[:0]
    return FeatureBatch(hashes[firsts], np.searchsorted(firsts, features.offsets), weights)


def distinct_counts(features: FeatureBatch, enough: int) -> Integers:
    """Count the distinct features of each document, or return any number from ``enough`` on if there are that many."""
    narrow = FeatureBatch(features.first_words, features.offsets)
    if enough > _GLANCE:
        return np.diff(distinct(narrow).offsets)
    counts = np.diff(features.offsets)
    filled = np.flatnonzero(counts)
    counts[filled] = _distinct_among_first(2 * enough, narrow, filled)
    bounds = features.offsets.tolist()
    for document in filled[counts[filled] < enough].tolist():
        counts[document] = len(np.unique(narrow.hashes[bounds[document] : bounds[document + 1]]))
    return counts


def _distinct_among_first(first: int, features: FeatureBatch, documents: Integers) -> Integers:
    """Count how many of each document's ``first`` features are distinct: nearly always these suffice."""
    places = features.offsets[documents, np.newaxis] + np.arange(first)
    glance = features.hashes[np.minimum(places, features.offsets[documents + 1, np.newaxis] - 1)]
    glance.sort(axis=1)
    changes: Integers = (glance[:, 1:] != glance[:, :-1]).sum(axis=1)
    return changes + 1


def check_weights(weights: Iterable[float]) -> Weights:
    """Return the weights as an array; NaN, infinite and non-numeric ones are a `WeightError`."""
    listed = list(weights)
    for weight in listed:
        if not _is_finite(weight):
            shown = repr(weight)[:40]
            raise WeightError(f"A weight is {shown}. Weights must be finite numbers: remove or replace it.")
    array = np.array(listed, dtype=np.float64)
    whole = not len(array) or (np.abs(array).max() < _LARGEST_WHOLE and not np.any(array % 1))
    return array.astype(np.int64) if whole else array


def _is_finite(weight: object) -> bool:
    try:
        return not isinstance(weight, str | bytes) and math.isfinite(weight)  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        return False


def _sorted_in_documents(hashes: Codes, offsets: Integers) -> Codes:
    ordered = hashes.copy()
    for start, end in pairwise(offsets.tolist()):
        ordered[start:end].sort()
    return ordered


def _is_first(ordered: Codes, offsets: Integers) -> npt.NDArray[np.bool_]:
    """Return whether each hash is the first of its value in its document, the hashes being in order."""
    first = np.empty(len(ordered) + 1, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
    first[offsets] = True
    return first[:-1]


# One byte a unit where all texts are ASCII, two otherwise.
Units = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

_LOW_SURROGATES = (0xDC00, 0xDFFF)


@dataclass(frozen=True, eq=False)
class TextBatch:
    """Texts one after the other; text ``i`` is ``units[offsets[i]:offsets[i + 1]]``."""

    units: Units
    offsets: Integers

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.offsets) - 1

    def texts(self) -> list[str]:
        """Return the texts as strings."""
        data = self.units.astype("<u2").tobytes()
        spans = zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)
        return [data[2 * start : 2 * end].decode("utf-16-le") for start, end in spans]


def batch(texts: Sequence[str]) -> TextBatch:
    """Return a batch of ``texts`` as they are; a lone surrogate or a non-string is a `TextError`."""
    return TextBatch(*encode(texts))


def check_texts(texts: Sequence[str]) -> None:
    """Refuse what is not a string, and lone surrogates, by a `TextError`."""
    encode(texts)


def encode(texts: Sequence[str]) -> tuple[Units, Integers]:
    """Return the UTF-16 units of ``texts`` one after the other, and the offsets at which each begins and ends."""
    joined = join(texts)
    if joined.isascii():
        return np.frombuffer(joined.encode("ascii"), dtype=np.uint8), offsets_of(texts)
    try:
        units = np.frombuffer(joined.encode("utf-16-le"), dtype="<u2").astype(np.uint16, copy=False)
    except UnicodeEncodeError:
        raise _lone_surrogate(texts) from None
    if len(units) == len(joined):
        return units, offsets_of(texts)
    offsets = offsets_of([text if text.isascii() else text.encode("utf-16-le")[::2] for text in texts])
    return units, offsets


def join(texts: Sequence[str]) -> str:
    """Join the texts to one string."""
    try:
        return "".join(texts)
    except TypeError:
        raise _not_a_string(texts) from None


def strip(texts: Sequence[str]) -> list[str]:
    """Strip the white space at the beginning and end of each text."""
    try:
        return list(map(str.strip, texts))
    except TypeError:
        raise _not_a_string(texts) from None


def offsets_of(items: Sequence[Sized]) -> Integers:
    """Return where each of ``items`` begins and ends when they stand one after the other."""
    return offsets_from_counts(np.fromiter(map(len, items), dtype=np.int64, count=len(items)))


def is_continuation(units: Units) -> npt.NDArray[np.bool_]:
    """Return whether each unit is the second half of a code point beyond U+FFFF (a low surrogate)."""
    low, high = _LOW_SURROGATES
    if units.dtype == np.uint8:
        return np.zeros(len(units), dtype=np.bool_)
    return (units >= low) & (units <= high)


def _not_a_string(texts: Sequence[object]) -> TextError:
    position, wrong = next((i, text) for i, text in enumerate(texts) if not isinstance(text, str))
    return TextError(
        f"is a {type(wrong).__name__}, not a string. Give strings; turn missing values into the empty string.",
        position,
    )


def _lone_surrogate(texts: Sequence[str]) -> TextError:
    for position, text in enumerate(texts):
        try:
            text.encode("utf-16-le")
        except UnicodeEncodeError as error:
            return TextError(
                f"has the lone surrogate U+{ord(text[error.start]):04X} at character {error.start}: it is not valid "
                "Unicode. Decode the source with the right encoding, or with errors='replace'.",
                position,
            )
    raise AssertionError("one of the texts cannot be encoded")


UNIT = 256
MAGIC = b"es_simhash idf 1\n"

_MERGED_AT_LEAST = 1 << 20


@dataclass(frozen=True, eq=False)
class IdfTable:
    """The weights of features, by their 64-bit hashes; ``unseen`` is the weight of all others."""

    documents: int
    hashes: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.uint32]
    unseen: int

    def __post_init__(self) -> None:
        hashes, weights = np.array(self.hashes), np.array(self.weights)
        if hashes.dtype != np.uint64 or weights.dtype != np.uint32 or len(hashes) != len(weights):
            raise InputError("An idf table needs uint64 hashes and as many uint32 weights. Learn it, or load it.")
        if np.any(hashes[1:] <= hashes[:-1]):
            raise InputError("The hashes of an idf table must be in ascending order. Learn it, or load it.")
        for name, values in (("hashes", hashes), ("weights", weights)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @classmethod
    def learn(cls, batches: Iterable[FeatureBatch], min_documents: int = 2) -> IdfTable:
        """Learn from the features of a corpus or a sample of it.

        Features in fewer than ``min_documents`` documents are left out: they weigh as much as unseen ones.
        """
        documents, _, hashes, counts = counted_documents(batches)
        if not documents:
            raise InputError("An idf table cannot be learnt from no document. Give it at least a few hundred texts.")
        kept = counts >= min_documents
        frequencies = counts[kept]
        levels = distinct_numbers(frequencies)
        by_level = np.array([_weight(documents, level) for level in levels.tolist()], dtype=np.uint32)
        weights = by_level[np.searchsorted(levels, frequencies)]
        return cls(documents, hashes[kept], weights, _weight(documents, 0))

    @property
    def columns(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32], int]:
        """The hashes of features, their weights, and the weight of all others."""
        return self.hashes, self.weights, self.unseen

    @cached_property
    def name(self) -> str:
        """The SHA-256, in hexadecimal, of all weights: the bytes after the line of JSON, then ``unseen`` in 8 bytes."""
        return sha256(self._arrays() + self.unseen.to_bytes(8, "little")).hexdigest()

    def __eq__(self, other: object) -> bool:
        """Compare tables, which are equal if all features have the same weights."""
        return isinstance(other, IdfTable) and self.name == other.name

    def __hash__(self) -> int:
        """Hash equal tables equally."""
        return hash(self.name)

    def weights_of(self, hashes: Codes) -> npt.NDArray[np.int64]:
        """Return the weights of features by their 64-bit hashes, in units of 1 / `UNIT`."""
        found = np.full(len(hashes), self.unseen, dtype=np.int64)
        if len(self.hashes):
            order = np.argsort(hashes)  # in order they are found several times as fast
            places = np.empty(len(hashes), dtype=np.int64)
            places[order] = np.minimum(np.searchsorted(self.hashes, hashes[order]), len(self.hashes) - 1)
            known = self.hashes[places] == hashes
            found[known] = self.weights[places[known]]
        return found

    def to_bytes(self) -> bytes:
        """Write the table as bytes, which `from_bytes` reads."""
        header = {"documents": self.documents, "features": len(self.hashes), "unseen": self.unseen}
        return MAGIC + json.dumps(header).encode() + b"\n" + self._arrays()

    def _arrays(self) -> bytes:
        return self.hashes.astype("<u8").tobytes() + self.weights.astype("<u4").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> IdfTable:
        """Read the table from its bytes; damaged ones are a `FormatError`."""
        try:
            if not data.startswith(MAGIC):
                raise ValueError
            line, arrays = data[len(MAGIC) :].split(b"\n", 1)
            header = parse_json(line)
            documents, features, unseen = (int(header[key]) for key in ("documents", "features", "unseen"))
            hashes = np.frombuffer(arrays, "<u8", features).astype(np.uint64)
            weights = np.frombuffer(arrays, "<u4", features, offset=8 * features).astype(np.uint32)
            if len(arrays) != 12 * features or documents < 0 or not 0 <= unseen < 1 << 63:
                raise ValueError
            return cls(documents, hashes, weights, unseen)
        except (ValueError, KeyError, TypeError, OverflowError):
            raise FormatError(
                "These bytes are not an idf table, or a damaged one. Save the table again with IdfTable.save."
            ) from None

    def save(self, path: str | Path) -> None:
        """Write the table to a file."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> IdfTable:
        """Read a table from a file."""
        try:
            return cls.from_bytes(Path(path).read_bytes())
        except OSError as error:
            raise FormatError(f"The idf table {path} cannot be read: {error.strerror}. Give its path.") from error


def _weight(documents: int, frequency: int) -> int:
    return round(UNIT * (math.log((documents + 1) / (frequency + 1)) + 1))


def counted_documents(batches: Iterable[FeatureBatch]) -> tuple[int, int, Codes, Integers]:
    """Count documents, those with features, and those that have each feature, in ascending order of the features."""
    documents = filled = 0
    hashes, counts, waiting = np.empty(0, np.uint64), np.empty(0, np.int64), list[Codes]()
    for batch in batches:
        documents += len(batch)
        filled += int(np.count_nonzero(np.diff(batch.offsets)))
        waiting.append(distinct(FeatureBatch(batch.first_words, batch.offsets)).hashes)
        # Merge once as much is waiting as is merged already, so that there are few merges.
        if sum(map(len, waiting)) > max(len(hashes), _MERGED_AT_LEAST):
            hashes, counts = _add_counts(hashes, counts, waiting)
            waiting = []
    return documents, filled, *_add_counts(hashes, counts, waiting)


def _add_counts(hashes: Codes, counts: Integers, seen: Sequence[Codes]) -> tuple[Codes, Integers]:
    """Add one to the count of a hash for each time that it was seen."""
    together = np.concatenate((hashes, *seen))
    order = np.argsort(together, kind="stable")
    ordered = together[order]
    firsts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    ones = np.ones(len(together) - len(counts), dtype=np.int64)
    sums = np.concatenate((counts, ones))[order]
    return ordered[firsts], np.add.reduceat(sums, firsts) if len(firsts) else sums


_COMMENT = "#"


def load_stop_words(path: str | os.PathLike[str]) -> frozenset[str]:
    """Read a UTF-8 file with one word a line; skip blank lines and those that begin with ``#``.

    White space around a word is not part of it.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(
            f"The stop words {path} cannot be read: {error.strerror}. Give the path of a text file."
        ) from error
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"Line {line} of the stop words {path} is not valid UTF-8 (byte 0x{data[error.start]:02X} at "
            f"position {error.start} of the file). Convert the file to UTF-8."
        ) from error
    words = map(str.strip, lines)
    return frozenset(word for word in words if word and not word.startswith(_COMMENT))
