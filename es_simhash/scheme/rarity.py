"""How rare features are among the documents of a collection, in a table of fixed size.

A feature that n of N documents have weighs ln((N + 101) / (n + 1)): an idf (Spärck Jones, "A statistical interpretation
of term specificity", 1972), but as if a hundred more documents lacked it. So in a small collection, where a pair of
near-duplicates is a good part of all documents, what these two share still counts. Features that fewer than one in
`COMMON` documents have all weigh as if that many had them: a sample says nothing of rarer ones, and a few odd words
would outweigh the rest of a text.

The table is learnt from the documents with the `SAMPLE` lowest content hashes (`own_fields.content_hash`), each text
once. That is a random sample, and the same one wherever the documents lie and in whatever order they come: an index, a
file and Spark learn the same table. It keeps the `MOST` features that the most documents have; among equally frequent
ones, those with the lowest keys. All others weigh as rare ones.

A feature is known by its key, the first 24 bits of its hash. Its number of documents is rounded to a level:
n ≈ 2^(level / 1.5). So a table takes 34 kB, which a mapping can hold. Its bytes, in base64: for each level from 1 to 15
the number of its features in 2 bytes, little-endian; then, level by level, their keys in ascending order, each as its
difference from the key before it (from -1 for the first), in LEB128.

Each table has an id, so that a verdict can name the table that it went by: a hash of all that it says, or the name that
it was given.

Without a learnt table the built-in one counts: that of general documentation in English, Chinese and Japanese.
``python -m tools.builtin_rarity`` makes its file, and says from what. The file has counts of hashed features, and no
text.
"""

from __future__ import annotations

import binascii
import json
import math
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Codes, Integers
from es_simhash._core.json_codec import Json
from es_simhash.errors import FormatError
from es_simhash.text.features import FeatureBatch, counted_documents

# The built-in table, and its file.
NAME = "builtin-2"
FILE = "builtin_rarity.json"

SAMPLE = 1_000
MOST = 1 << 14
COMMON = 50
# Weights are whole multiples of 1 / UNIT, so that their sums are exact.
UNIT = 256

KEY_BITS = 24
_LEVELS = 15
_LEVELS_A_DOUBLING = 1.5
_OTHERS = 100  # assumed documents without any feature of the sample
_ID_DIGITS = 8


@dataclass(frozen=True, eq=False)
class Rarity:
    """The keys of frequent features in ascending order, with the levels of their frequency among ``documents``.

    A table that comes with the library has a ``name``.
    """

    documents: int
    keys: npt.NDArray[np.uint32]
    levels: npt.NDArray[np.uint8]
    name: str | None = None

    @classmethod
    def learn(cls, batches: Iterable[FeatureBatch]) -> Rarity:
        """Learn from the features of the documents of a sample; documents without features do not count."""
        by_key = (FeatureBatch(_keys(batch.first_words), batch.offsets) for batch in batches)
        _, documents, keys, counts = counted_documents(by_key)
        is_frequent = counts > max(1, documents // COMMON)
        keys, frequencies = keys[is_frequent], counts[is_frequent]
        # Of equally frequent ones, the lowest keys come first.
        order = np.argsort(frequencies.max(initial=0) - frequencies, kind="stable")
        most = np.sort(order[:MOST])
        return cls(documents, keys[most].astype(np.uint32), _level(frequencies[most]))

    @classmethod
    def joined(cls, tables: Sequence[Rarity], most: int, name: str) -> Rarity:
        """Join tables of several languages: a feature is as frequent as where it is the most frequent.

        A page is in one language, so its features are not the rarer for the pages in others. The ``most`` frequent ones
        are kept.
        """
        keys = np.unique(np.concatenate([table.keys for table in tables]))
        shares = np.zeros(len(keys), dtype=np.float64)
        for table in tables:
            places = np.searchsorted(keys, table.keys)
            own = 2.0 ** (table.levels / _LEVELS_A_DOUBLING) / table.documents
            shares[places] = np.maximum(shares[places], own)
        kept = np.sort(np.argsort(-shares, kind="stable")[:most])
        return cls(SAMPLE, keys[kept], _level(np.minimum(shares[kept], 1.0) * SAMPLE), name)

    @classmethod
    def given(cls, table: Rarity | Json | None) -> Rarity | None:
        """Return a table that is given, maybe by its JSON form."""
        return table if isinstance(table, Rarity | None) else cls.from_json(table)

    def weights_of(self, hashes: Codes) -> npt.NDArray[np.int64]:
        """Return the weights of features by their 64-bit hashes, in units of 1 / `UNIT`."""
        levels = np.zeros(len(hashes), dtype=np.uint8)
        if len(self.keys):
            keys = _keys(hashes).astype(np.uint32)
            places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            levels = np.where(self.keys[places] == keys, self.levels[places], levels)
        return self.weights[levels]

    @cached_property
    def id(self) -> str:
        """What names the table: equal tables have the same id wherever they were learnt."""
        if self.name:
            return self.name
        return sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:_ID_DIGITS]

    @property
    def columns(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32], int]:
        """The keys, the weights of their features, and the weight of all others."""
        return self.keys.astype(np.uint64), self.weights[self.levels].astype(np.uint32), self.unseen

    @property
    def unseen(self) -> int:
        """The weight of the features that are not in the table."""
        return int(self.weights[0])

    @cached_property
    def weights(self) -> npt.NDArray[np.int64]:
        """The weight of each level; level 0 has the rare features."""
        frequencies = [0.0, *(2 ** (level / _LEVELS_A_DOUBLING) for level in range(1, _LEVELS + 1))]
        counted = [max(each, self.documents / COMMON) for each in frequencies]
        rounded = [round(UNIT * math.log((self.documents + _OTHERS + 1) / (each + 1))) for each in counted]
        # A level may be rounded to more documents than there are, but no weight is below the least.
        return np.maximum(rounded, 1).astype(np.int64)

    def __eq__(self, other: object) -> bool:
        """Compare tables, which are equal if all features weigh the same."""
        return isinstance(other, Rarity) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        """Hash equal tables equally."""
        return hash(self.to_json()["features"])

    def to_json(self) -> Json:
        """Write the table for a mapping or a file."""
        by_level = [self.keys[self.levels == level] for level in range(1, _LEVELS + 1)]
        counts = np.array([len(keys) for keys in by_level], dtype="<u2").tobytes()
        differences = [np.diff(keys.astype(np.int64), prepend=-1) for keys in by_level]
        return {
            **({"id": self.name} if self.name else {}),
            "documents": self.documents,
            "features": b64encode(counts + b"".join(map(_leb128, np.concatenate(differences).tolist()))).decode(),
        }

    @classmethod
    def from_json(cls, form: Json) -> Rarity:
        """Read the table that `to_json` wrote."""
        try:
            documents, data = form["documents"], b64decode(form["features"], validate=True)
            counts = np.frombuffer(data, "<u2", _LEVELS).astype(np.int64)
            differences = np.fromiter(_from_leb128(data[2 * _LEVELS :]), np.int64)
            starts = np.cumsum(counts) - counts
            parts = [differences[start : start + count] for start, count in zip(starts, counts, strict=True)]
            keys = np.concatenate([np.cumsum(part) - 1 for part in parts])
            levels = np.repeat(np.arange(1, _LEVELS + 1, dtype=np.uint8), counts)
            order = np.argsort(keys)
            is_sound = len(differences) == counts.sum() and isinstance(documents, int) and documents >= 0
            is_sound = is_sound and isinstance(form.get("id"), str | None)
            if not is_sound or np.any(np.diff(keys[order]) <= 0) or keys.max(initial=0) >> KEY_BITS:
                raise ValueError
        except (KeyError, TypeError, ValueError, binascii.Error):
            raise FormatError("Not a rarity table, or a damaged one. Learn it again: es-simhash learn.") from None
        return cls(documents, keys[order].astype(np.uint32), levels[order], form.get("id"))


@cache
def builtin() -> Rarity:
    """Return the built-in table, which is read once."""
    return Rarity.from_json(json.loads(Path(__file__).with_name(FILE).read_bytes()))


def _keys(hashes: Codes) -> Codes:
    """Return the keys of features."""
    return hashes >> np.uint64(64 - KEY_BITS)


def _level(counts: Integers | npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    levels = np.round(_LEVELS_A_DOUBLING * np.log2(np.maximum(counts, 1)))
    return np.clip(levels, 1, _LEVELS).astype(np.uint8)


def _leb128(number: int) -> bytes:
    """Write a number seven bits at a time, the lowest first; all bytes but the last have the highest bit."""
    found = bytearray()
    while number >> 7:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _from_leb128(data: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number = shift = 0
    if shift:
        raise ValueError
