"""Signatures as compact bytes, and as text for JSON.

The lowest ``value_bits`` bits of the values follow one another without gaps: with all bits counted from the
lowest, bit k of value i is bit ``i * value_bits + k`` of the whole, and bit n of the whole is bit ``n % 8``
of byte ``n // 8``. Bits left over at the end are 0. So values of 32 bits are little-endian words. The text is
the bytes in base64url without padding (RFC 4648, section 5).

With fewer bits these are the b-bit signatures of Li and König; `es_simhash.sketches.minhash.common` compares them.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from es_simhash.errors import FormatError
from es_simhash.sketches.minhash.common import VALUE_BITS, check_size, check_value_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from es_simhash.sketches.minhash.common import Signatures

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
