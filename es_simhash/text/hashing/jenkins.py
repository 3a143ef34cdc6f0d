"""Bob Jenkins' lookup3 hash (2006, public domain), on bytes: 32, 64 and 128 bits.

The 64-bit hash is c, b of ``hashlittle2`` with both seeds 0 (c being the upper half), the 32-bit hash is c. The
128-bit hash has the 64-bit one as its upper half and that with the seeds c and b as its lower half.
"""

from __future__ import annotations

_MASK = 0xFFFFFFFF
_MIX_ROTATIONS = (4, 6, 8, 16, 19, 4)
_FINAL_ROTATIONS = (14, 11, 25, 16, 4, 14, 24)


def lookup3(data: bytes, bits: int) -> int:
    """Return the hash of ``data``."""
    c, b = _hashlittle2(data, 0, 0)
    if bits == 32:
        return c
    high = c << 32 | b
    if bits == 64:
        return high
    second_c, second_b = _hashlittle2(data, c, b)
    return high << 64 | second_c << 32 | second_b


def _rotate(x: int, k: int) -> int:
    return (x << k | x >> (32 - k)) & _MASK


def _hashlittle2(data: bytes, seed_c: int, seed_b: int) -> tuple[int, int]:
    a = b = c = (0xDEADBEEF + len(data) + seed_c) & _MASK
    c = (c + seed_b) & _MASK
    if not data:
        return c, b
    full = (len(data) - 1) // 12 * 12
    for start in range(0, full, 12):
        a, b, c = _add_block(data[start : start + 12], a, b, c)
        a, b, c = _mix(a, b, c)
    a, b, c = _add_block(data[full:].ljust(12, b"\0"), a, b, c)
    return _final(a, b, c)


def _add_block(block: bytes, a: int, b: int, c: int) -> tuple[int, int, int]:
    x, y, z = (int.from_bytes(block[i : i + 4], "little") for i in (0, 4, 8))
    return (a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK


def _mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    for k in _MIX_ROTATIONS:
        a, b, c = b, (c + b) & _MASK, ((a - c) & _MASK) ^ _rotate(c, k)
    return a, b, c


def _final(a: int, b: int, c: int) -> tuple[int, int]:
    """Mix the last block; the two results are c and b."""
    for k in _FINAL_ROTATIONS:
        a, b, c = b, c, a
        b = ((b ^ a) - _rotate(a, k)) & _MASK
    return b, a
