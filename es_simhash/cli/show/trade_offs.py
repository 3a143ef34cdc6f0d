"""What a scheme finds, and what it costs, worked out from its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from es_simhash.live.doctor.disk import json_bytes
from es_simhash.sketches.tradeoffs import band_probability

if TYPE_CHECKING:
    from es_simhash.scheme.scheme import Scheme

SIMILARITIES = (0.2, 0.4, 0.5, 0.6, 0.8)


@dataclass(frozen=True)
class TradeOffs:
    """What is found, and what it costs.

    All SimHashes within ``distance`` bits are found, and of the pairs of each Jaccard similarity the share ``recall``.
    Those below ``similarity``, from which pairs match unless another is asked for, are compared in vain. There are so
    many ``keys`` in the index for each document, and in each query, and ``json_bytes`` of fields in each document.
    """

    distance: int | None
    similarity: float | None
    recall: dict[str, float]
    keys: int
    json_bytes: int


def trade_offs(scheme: Scheme) -> TradeOffs:
    """The trade-offs of a scheme."""
    simhash, minhash = scheme.simhash, scheme.minhash
    recall = (
        {str(each): band_probability(each, minhash.bands, minhash.rows) for each in SIMILARITIES} if minhash else {}
    )
    similarity = minhash.similarity if minhash else None
    return TradeOffs(
        distance=simhash.distance if simhash else None,
        similarity=scheme.verification.similarity if minhash and scheme.verification else similarity,
        recall=recall,
        keys=(simhash.blocks if simhash else 0) + (minhash.bands if minhash else 0),
        json_bytes=json_bytes(scheme),
    )
