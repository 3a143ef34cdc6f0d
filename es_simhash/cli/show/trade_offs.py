"""The recall and the cost of a scheme, computed from its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from es_simhash.scheme.field_bytes import json_bytes
from es_simhash.sketches.tradeoffs import sharing

if TYPE_CHECKING:
    from es_simhash.scheme.scheme import Scheme

SIMILARITIES = (0.2, 0.4, 0.5, 0.6, 0.8)


@dataclass(frozen=True)
class TradeOffs:
    """The recall and the cost of a scheme.

    All SimHashes within ``distance`` bits are found, and of the pairs of each Jaccard similarity the share ``recall``.
    Pairs below ``similarity``, the default minimum, need no comparison. Each document has ``keys`` keys in the index,
    as many as a query looks up, and ``json_bytes`` bytes of fields.
    """

    distance: int | None
    similarity: float | None
    recall: dict[str, float]
    keys: int
    json_bytes: int


def trade_offs(scheme: Scheme) -> TradeOffs:
    """Compute the trade-offs of a scheme."""
    simhash, minhash = scheme.simhash, scheme.minhash
    recall = {str(each): sharing(each, minhash.layout, minhash.shared) for each in SIMILARITIES} if minhash else {}
    similarity = minhash.similarity if minhash else None
    return TradeOffs(
        distance=simhash.distance if simhash else None,
        similarity=scheme.verification.similarity if minhash and scheme.verification else similarity,
        recall=recall,
        keys=(simhash.blocks if simhash else 0) + (minhash.bands if minhash else 0),
        json_bytes=json_bytes(scheme),
    )
