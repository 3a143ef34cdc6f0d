"""Arrays of numbers written as texts of a fixed number of digits."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from es_simhash.errors import FormatError

if TYPE_CHECKING:
    import numpy.typing as npt

HEX = "0123456789abcdef"
BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def code_points(values: npt.NDArray[np.uint64], digits: int, alphabet: str) -> npt.NDArray[np.uint32]:
    """Write the last ``digits`` digits of each value, most significant first, as code points on a new last axis.

    The alphabet's length is a power of two (`HEX` or `BASE64URL`).
    """
    places = (values[..., np.newaxis] >> _shifts(digits, len(alphabet))) & np.uint64(len(alphabet) - 1)
    return _points(alphabet)[places.view(np.intp)]


def values_of(text: str, digits: int, alphabet: str) -> npt.NDArray[np.uint64]:
    """Read the numbers that `code_points` wrote with ``digits`` digits each, one after the other."""
    # What is not ASCII becomes a question mark, which is no digit.
    read = _places(alphabet)[np.frombuffer(text.encode("ascii", "replace"), dtype=np.uint8)]
    if len(read) % digits or (len(read) and read.max() == len(alphabet)):
        raise FormatError(f"These are no numbers of {digits} digits of {alphabet!r}. Read them again.")
    return np.bitwise_or.reduce(read.reshape(-1, digits) << _shifts(digits, len(alphabet)), axis=1)


@cache
def _shifts(digits: int, base: int) -> npt.NDArray[np.uint64]:
    """Return how far to shift a number so that each of its digits comes last."""
    bits = base.bit_length() - 1
    return np.arange((digits - 1) * bits, -1, -bits, dtype=np.uint64)


@cache
def _points(alphabet: str) -> npt.NDArray[np.uint32]:
    """Return the code point of each digit."""
    return np.array([ord(digit) for digit in alphabet], dtype=np.uint32)


@cache
def _places(alphabet: str) -> npt.NDArray[np.uint64]:
    """Return the value of each byte as a digit; of no digit, one more than the largest."""
    places = np.full(256, len(alphabet), dtype=np.uint64)
    places[_points(alphabet)] = np.arange(len(alphabet), dtype=np.uint64)
    return places


def strings(points: npt.NDArray[np.uint32]) -> npt.NDArray[np.str_]:
    """Return the texts whose code points lie along the last axis."""
    texts: npt.NDArray[np.str_] = np.ascontiguousarray(points).view(f"U{points.shape[-1]}")[..., 0]
    return texts


def joined(points: npt.NDArray[np.uint32]) -> list[str]:
    """Join each row of texts, whose code points lie along the last axis, with spaces."""
    spaced = np.insert(points, 0, ord(" "), axis=-1)
    rows: list[str] = strings(spaced.reshape(len(points), -1)[:, 1:]).tolist()
    return rows


def base36(value: int, digits: int) -> str:
    """Write ``value`` in lower-case base 36, padded with zeros to ``digits`` digits."""
    return np.base_repr(value, 36).lower().zfill(digits)
