"""Whole arrays of numbers written as texts of a fixed number of digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from es_simhash.errors import FormatError

if TYPE_CHECKING:
    import numpy.typing as npt

HEX = "0123456789abcdef"
BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def code_points(values: npt.NDArray[np.uint64], digits: int, alphabet: str) -> npt.NDArray[np.uint32]:
    """The last ``digits`` digits of each value, most significant first, as code points on a new last axis.

    The alphabet's length is a power of two (`HEX` or `BASE64URL`).
    """
    bits = len(alphabet).bit_length() - 1
    shifts = np.arange((digits - 1) * bits, -1, -bits, dtype=np.uint64)
    places = (values[..., np.newaxis] >> shifts) & np.uint64(len(alphabet) - 1)
    return np.array([ord(digit) for digit in alphabet], dtype=np.uint32)[places.astype(np.intp)]


def values_of(text: str, digits: int, alphabet: str) -> npt.NDArray[np.uint64]:
    """The numbers that `code_points` wrote with ``digits`` digits each, one after the other."""
    bits = len(alphabet).bit_length() - 1
    places = np.full(128, len(alphabet), dtype=np.uint64)
    places[[ord(digit) for digit in alphabet]] = np.arange(len(alphabet), dtype=np.uint64)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    read = places[np.minimum(points, 127)]
    if len(points) % digits or (read == len(alphabet)).any():
        raise FormatError(f"These are no numbers of {digits} digits of {alphabet!r}. Read them again.")
    shifts = np.arange((digits - 1) * bits, -1, -bits, dtype=np.uint64)
    return np.bitwise_or.reduce(read.reshape(-1, digits) << shifts, axis=1)


def strings(points: npt.NDArray[np.uint32]) -> npt.NDArray[np.str_]:
    """The texts whose code points lie along the last axis."""
    texts: npt.NDArray[np.str_] = np.ascontiguousarray(points).view(f"U{points.shape[-1]}")[..., 0]
    return texts


def base36(value: int, digits: int) -> str:
    """``value`` in lower-case base 36, filled with zeros to ``digits`` digits."""
    return np.base_repr(value, 36).lower().zfill(digits)
