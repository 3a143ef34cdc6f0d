"""What the kinds of MinHash share: checks, the walk through a batch, estimates, and signatures as bytes.

The lowest ``value_bits`` bits of the values follow one another without gaps: with all bits counted from the
lowest, bit k of value i is bit ``i * value_bits + k`` of the whole, and bit n of the whole is bit ``n % 8``
of byte ``n // 8``. Bits left over at the end are 0. So values of 32 bits are little-endian words. The text is
the bytes in base64url without padding (RFC 4648, section 5).

With fewer bits these are the b-bit signatures of Li and König; `estimate` compares them.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from es_simhash.errors import FormatError, HashError, SchemeError
from es_simhash.text.hashing import fmix64

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from es_simhash.text.features import FeatureBatch


Signatures = npt.NDArray[np.uint32]
"""One row of ``size`` values a document. A document without features has a row of nothing but `EMPTY`."""

EMPTY = np.uint32(0xFFFFFFFF)
# The tables of `one_permutation` take 4 * size**2 bytes; the standard error is below 0.008 by then.
MAX_SIZE = 4096
VALUE_BITS = 32


def check_size(size: int) -> int:
    """Return ``size`` if signatures can have that many values."""
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= MAX_SIZE:
        raise SchemeError(f"A signature cannot have {size!r} values. Choose a whole number from 1 to {MAX_SIZE}.")
    return size


def check_value_bits(bits: int) -> int:
    """Return ``bits`` if values can be cut to that many."""
    if not isinstance(bits, int) or isinstance(bits, bool) or not 1 <= bits <= VALUE_BITS:
        raise SchemeError(f"A value cannot have {bits!r} bits. Choose a whole number from 1 to {VALUE_BITS}.")
    return bits


def feature_hashes(batch: FeatureBatch) -> npt.NDArray[np.uint64]:
    """Return the hashes of a batch, which must be single words."""
    if batch.hashes.ndim != 1 or batch.hashes.dtype != np.uint64:
        raise HashError(
            f"MinHash cannot use feature hashes of type {batch.hashes.dtype} and shape {batch.hashes.shape}. "
            "Hash the features to 64 bits."
        )
    return batch.hashes


def runs(offsets: npt.NDArray[np.int64], features: int) -> Iterator[slice]:
    """Yield slices of consecutive documents, of about ``features`` features together, so that they fit a cache.

    A document is never divided: a longer one makes a longer run.
    """
    targets = np.arange(0, offsets[-1], features)
    cuts = np.unique(np.append(np.searchsorted(offsets, targets), [0, len(offsets) - 1]))
    for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        yield slice(first, last)


def filled(offsets: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the documents that have features, and where their features start."""
    documents = np.flatnonzero(np.diff(offsets))
    return documents, offsets[documents]


def constants(count: int) -> npt.NDArray[np.uint64]:
    """Return a pseudo-random word for each of ``count`` hash functions: fmix64(1), fmix64(2) and so on."""
    return fmix64(np.arange(1, count + 1, dtype=np.uint64))


def shuffle_keys(number: int, rows: int) -> npt.NDArray[np.uint64]:
    """Return distinct pseudo-random words, one a row, that sort the rows into permutation ``number``.

    The word of a row is fmix64(number * 2**32 + row).
    """
    return fmix64(np.arange(rows, dtype=np.uint64) + np.uint64(number << 32))


def estimate(a: Signatures, b: Signatures, value_bits: int = VALUE_BITS) -> float:
    """Estimate the similarity of two documents by their signatures (see `estimates`)."""
    return float(estimates(a, b, value_bits))


def estimates(a: Signatures, b: Signatures, value_bits: int = VALUE_BITS) -> npt.NDArray[np.float64]:
    """Estimate the similarities of signatures; shapes broadcast, so one signature may meet many.

    Only the lowest ``value_bits`` bits of both sides count, so whole signatures can be compared with stored ones that
    were cut. There is no bias, except that an estimate below 0 becomes 0. A document without features has the
    similarity 1 to another such document and 0 to any other; if values are cut, it cannot be distinguished from others,
    and must be left out by its status.
    """
    check_value_bits(value_bits)
    if a.shape[-1:] != b.shape[-1:]:
        raise FormatError(
            f"Signatures of {a.shape[-1:]} and {b.shape[-1:]} values cannot be compared. "
            "Give signatures of the same kind and size."
        )
    mask = np.uint32((1 << value_bits) - 1)
    agreeing = np.add.reduce((a ^ b) & mask == 0, axis=-1, dtype=np.float64)
    similarities = similarities_of_shares(agreeing / a.shape[-1], value_bits)
    if value_bits < VALUE_BITS:
        return similarities
    return np.where((a == EMPTY).all(axis=-1) != (b == EMPTY).all(axis=-1), 0.0, similarities)


def similarities_of_shares(shares: npt.NDArray[np.float64], value_bits: int) -> npt.NDArray[np.float64]:
    """Estimate similarities from the shares of positions whose values agree in the lowest ``value_bits`` bits."""
    chance = _chance(value_bits)
    return np.maximum((shares - chance) / (1 - chance), 0.0)


def standard_error(similarity: float, size: int, value_bits: int = VALUE_BITS) -> float:
    """Return the standard deviation of an estimate of ``similarity`` by signatures of ``size`` values."""
    return float(standard_errors(np.asarray(similarity), size, value_bits))


def standard_errors(
    similarities: npt.NDArray[np.float64], size: int, value_bits: int = VALUE_BITS
) -> npt.NDArray[np.float64]:
    """Return the standard deviations of estimates of ``similarities`` by signatures of ``size`` values.

    This is for independent positions. Those of `es_simhash.sketches.minhash.one_permutation` do a little better on
    documents of more features than ``size``, and up to 1.4 times worse on shorter ones.
    """
    chance = _chance(value_bits)
    agreement = chance + (1 - chance) * similarities
    return np.asarray(np.sqrt(agreement * (1 - agreement) / check_size(size)) / (1 - chance))


def _chance(value_bits: int) -> float:
    """Return the probability that unequal values agree; whole ones do not."""
    return 0.0 if check_value_bits(value_bits) == VALUE_BITS else 2.0**-value_bits


Packed = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class SignatureCodec:
    """The stored form of signatures of ``size`` values with ``value_bits`` bits each."""

    size: int
    value_bits: int = VALUE_BITS

    def __post_init__(self) -> None:
        check_size(self.size)
        check_value_bits(self.value_bits)

    @property
    def byte_length(self) -> int:
        """The number of bytes of a signature."""
        return -(-self.size * self.value_bits // 8)

    @property
    def text_length(self) -> int:
        """The number of characters of a signature's text."""
        return -(-self.byte_length * 4 // 3)

    def pack(self, signatures: Signatures) -> Packed:
        """Return the bytes of many signatures, one row each."""
        if signatures.ndim != 2 or signatures.dtype != np.uint32 or signatures.shape[1] != self.size:
            raise FormatError(
                f"An array of {signatures.dtype} of shape {signatures.shape} does not hold signatures of "
                f"{self.size} values. Give what the kernel returned, or a codec of its size."
            )
        lanes = signatures.astype("<u4", order="C").view(np.uint8)
        if self.value_bits == VALUE_BITS:
            return lanes
        bits = np.unpackbits(lanes.reshape(len(signatures), self.size, 4), axis=2, bitorder="little")
        kept = bits[:, :, : self.value_bits].reshape(len(signatures), self.size * self.value_bits)
        return np.packbits(kept, axis=1, bitorder="little")

    def unpack(self, packed: Packed) -> Signatures:
        """Return the signatures whose bytes are the rows of ``packed``; bits that were cut off are 0."""
        if packed.ndim != 2 or packed.dtype != np.uint8 or packed.shape[1] != self.byte_length:
            raise FormatError(
                f"An array of {packed.dtype} of shape {packed.shape} does not hold packed signatures of "
                f"{self.byte_length} bytes. Give them as they were packed, or the codec that packed them."
            )
        if self.value_bits == VALUE_BITS:
            return np.ascontiguousarray(packed).view("<u4").astype(np.uint32)
        bits = np.unpackbits(packed, axis=1, bitorder="little")
        used = self.size * self.value_bits
        if bits[:, used:].any():
            raise FormatError("A packed signature has bits after its end. Read it from where it was stored again.")
        lanes = np.zeros((len(packed), self.size, VALUE_BITS), dtype=np.uint8)
        lanes[:, :, : self.value_bits] = bits[:, :used].reshape(len(packed), self.size, self.value_bits)
        words = np.packbits(lanes, axis=2, bitorder="little").view("<u4")
        return words.reshape(len(packed), self.size).astype(np.uint32)

    def to_text(self, signature: Signatures) -> str:
        """Return the text of one signature."""
        return self.to_texts(signature[np.newaxis])[0]

    def from_text(self, text: str) -> Signatures:
        """Return the signature that `to_text` made this text of."""
        signature: Signatures = self.from_texts([text])[0]
        return signature

    def to_texts(self, signatures: Signatures) -> list[str]:
        """Return the texts of many signatures."""
        return [_to_base64url(row.tobytes()) for row in self.pack(signatures)]

    def from_texts(self, texts: Sequence[str]) -> Signatures:
        """Return the signatures that `to_texts` made these texts of."""
        stored = b"".join(self._decoded(text) for text in texts)
        return self.unpack(np.frombuffer(stored, dtype=np.uint8).reshape(len(texts), self.byte_length))

    def _decoded(self, text: str) -> bytes:
        try:
            stored = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (binascii.Error, ValueError, TypeError):
            stored = b""
        # The decoder skips unknown characters, so only what the encoder writes counts as well-formed.
        if len(stored) != self.byte_length or _to_base64url(stored) != text:
            raise FormatError(
                f"{text!r} is not a signature of {self.size} values of {self.value_bits} bits, "
                f"which has {self.text_length} base64url characters. Check with which scheme it was stored."
            )
        return stored


def _to_base64url(stored: bytes) -> str:
    return base64.urlsafe_b64encode(stored).rstrip(b"=").decode("ascii")
