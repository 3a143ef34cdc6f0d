"""The hash functions by name. Each is byte-stable: the same token has the same hash on every machine, for ever.

All but poly64 hash a token's UTF-8 bytes. If a function has more bits than are asked for, its first (most significant)
ones are taken:

========  ===========================================================================================================
poly64    see `es_simhash.text.hashing.poly64`
murmur3   MurmurHash3: x86_32 for 32 bits, x64_128 for 64 (its first word) and 128, seed 0 (extra: murmur3 or native)
fnv1a     FNV-1a (RFC 9923) of 32, 64 or 128 bits
md5       MD5, read as a big-endian number
sha1      SHA-1, likewise
sha256    SHA-256, likewise
jenkins   lookup3, see `es_simhash.text.hashing.jenkins`
========  ===========================================================================================================
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from es_simhash._core import bit_codes
from es_simhash._core.bit_codes import Codes
from es_simhash._core.native import by_kernels
from es_simhash.errors import HashError, MissingExtraError, SchemeError
from es_simhash.text.hashing import poly64
from es_simhash.text.hashing.jenkins import lookup3

WIDTHS = (32, 64, 128)
DEFAULT = "poly64"

BytesHash = Callable[[bytes, int], int]
TokenHash = Callable[[str], int]

# Prime and offset basis of FNV-1a by width.
_FNV1A = {
    32: (0x01000193, 0x811C9DC5),
    64: (0x00000100000001B3, 0xCBF29CE484222325),
    128: (0x0000000001000000000000000000013B, 0x6C62272E07BB014262B821756295C58D),
}


@dataclass(frozen=True)
class HashFunction:
    """A named hash function; ``hash_tokens`` returns the codes of tokens, of the given number of bits.

    ``bits`` is the only width that a caller's own function has; the functions of this package have all `WIDTHS`.
    ``is_mixed`` means that every bit of a hash depends on all of the token, as MinHash requires: the high bits of
    FNV-1a hardly depend on the ends of short tokens, and a caller's function may be anything.
    """

    name: str
    hash_tokens: Callable[[Sequence[str], int], Codes]
    bits: int | None = None
    is_mixed: bool = True


def hash_function(name: str) -> HashFunction:
    """Return the hash function of that name; an unknown one is a `SchemeError`."""
    try:
        return HASH_FUNCTIONS[name]
    except (KeyError, TypeError):
        raise SchemeError(f"There is no hash function {name!r}. Choose from: {', '.join(HASH_FUNCTIONS)}.") from None


def custom_hash(name: str, function: TokenHash, bits: int = 64) -> HashFunction:
    """Wrap a caller's function from a token to an unsigned integer of ``bits`` bits (1 to 128).

    The name represents the function in a scheme's id: give a changed function another name.
    """
    if name in HASH_FUNCTIONS:
        raise SchemeError(f"{name!r} is the name of a built-in hash function. Choose another name for your own.")
    return HashFunction(name, _OfTokens(name, function, bit_codes.check_bits(bits)), bits, is_mixed=False)


@dataclass(frozen=True)
class _OfTokens:
    """A caller's function, whose values are moved to the most significant bits of whole words."""

    name: str
    function: TokenHash
    bits: int

    def __call__(self, tokens: Sequence[str], _: int) -> Codes:
        width = 64 * bit_codes.words_per_code(self.bits)
        return bit_codes.from_ints((value << (width - self.bits) for value in _memoised(tokens, self._value)), width)

    def _value(self, token: str) -> int:
        value = self.function(token)
        try:
            number = operator.index(value)
        except TypeError:
            number = -1
        if 0 <= number < 1 << self.bits and not isinstance(value, bool):
            return number
        raise HashError(
            f"The hash function {self.name!r} returned {value!r} for the token {token!r}. "
            f"It must return an integer from 0 to 2**{self.bits} - 1."
        )


@dataclass(frozen=True)
class _OfBytes:
    """A function of a token's UTF-8 bytes."""

    name: str
    function: BytesHash

    def __call__(self, tokens: Sequence[str], bits: int) -> Codes:
        made = by_kernels(lambda kernels: cast("Codes", kernels.hash_tokens(list(tokens), self.name, bits)))
        if made is not None:
            return made
        return bit_codes.from_ints(_memoised(tokens, lambda token: self.function(token.encode(), bits)), bits)


def _memoised(tokens: Sequence[str], function: Callable[[str], int]) -> list[int]:
    """Call the function once for each distinct token: texts repeat their tokens."""
    known = {token: function(token) for token in dict.fromkeys(tokens)}
    return [known[token] for token in tokens]


def _fnv1a(data: bytes, bits: int) -> int:
    prime, value = _FNV1A[bits]
    for byte in data:
        value = (value ^ byte) * prime % (1 << bits)
    return value


@dataclass(frozen=True)
class _Digest:
    """The first bits of a cryptographic digest."""

    algorithm: str

    def __call__(self, data: bytes, bits: int) -> int:
        digest = hashlib.new(self.algorithm, data, usedforsecurity=False).digest()
        return int.from_bytes(digest[: bits // 8], "big")


def _murmur3(data: bytes, bits: int) -> int:
    try:
        import mmh3
    except ImportError:
        raise MissingExtraError("mmh3, which computes MurmurHash3,", "murmur3") from None
    if bits == 32:
        return int(mmh3.hash(data, signed=False))
    first, second = mmh3.hash64(data, signed=False)
    return int(first) if bits == 64 else int(first) << 64 | int(second)


HASH_FUNCTIONS: dict[str, HashFunction] = {
    function.name: function
    for function in (
        HashFunction(DEFAULT, poly64.hash_tokens),
        HashFunction("murmur3", _OfBytes("murmur3", _murmur3)),
        HashFunction("fnv1a", _OfBytes("fnv1a", _fnv1a), is_mixed=False),
        HashFunction("md5", _OfBytes("md5", _Digest("md5"))),
        HashFunction("sha1", _OfBytes("sha1", _Digest("sha1"))),
        HashFunction("sha256", _OfBytes("sha256", _Digest("sha256"))),
        HashFunction("jenkins", _OfBytes("jenkins", lookup3)),
    )
}
