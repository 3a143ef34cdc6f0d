"""Many texts as one array of UTF-16 code units, to normalise, cut and hash them at once."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import offsets_from_counts
from es_simhash.errors import TextError

# One byte a unit where all texts are ASCII, two otherwise.
Units = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Offsets = npt.NDArray[np.int64]

_LOW_SURROGATES = (0xDC00, 0xDFFF)


@dataclass(frozen=True, eq=False)
class TextBatch:
    """Texts one after the other; text ``i`` is ``units[offsets[i]:offsets[i + 1]]``."""

    units: Units
    offsets: Offsets

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
    """Refuse what is no string, and lone surrogates, by a `TextError`."""
    encode(texts)


def encode(texts: Sequence[str]) -> tuple[Units, Offsets]:
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


def offsets_of(items: Sequence[Sized]) -> Offsets:
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
