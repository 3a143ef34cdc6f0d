"""Two SimHashes compared bit by bit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.scheme import own_fields
from es_simhash.scheme.settings import Settings
from es_simhash.sketches import hamming


@dataclass(frozen=True)
class Bits:
    """Two SimHashes of ``size`` bits as hexadecimal digits, and the positions at which they differ.

    Position 0 is the most significant bit. ``expected`` is the distance expected from the features' cosine similarity;
    ``threshold`` is the distance within which a search matches, None where it does not compare distances.
    """

    a: str
    b: str
    size: int
    differing: list[int]
    distance: int
    expected: float
    threshold: int | None

    @property
    def is_met(self) -> bool:
        """Whether the distance is small enough for a search that compares distances."""
        return self.threshold is not None and self.distance <= self.threshold


def compare_bits(settings: Settings, held: tuple[Json, Json], cosine: float, threshold: int | None) -> Bits | None:
    """Compare the SimHashes in the fields of both; return None if one has none."""
    first, second = (own_fields.read_simhash(settings, fields) for fields in held)
    simhash = settings.simhash
    if simhash is None or first is None or second is None:
        return None
    return Bits(
        own_fields.hexadecimal(simhash, first),
        own_fields.hexadecimal(simhash, second),
        simhash.bits,
        [place for place in range(simhash.bits) if (first ^ second) >> (simhash.bits - 1 - place) & 1],
        hamming.distance(first, second),
        expected_distance(cosine, simhash.bits),
        threshold,
    )


def expected_distance(cosine: float, bits: int) -> float:
    """Return the mean number of differing bits: each has probability arccos(cosine) / π (Charikar, STOC 2002)."""
    return bits * math.acos(max(-1.0, min(1.0, cosine))) / math.pi
