"""The presets, for people who choose one: the recall and the cost of each scheme, computed from its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from es_simhash.cli.show.output import Output
from es_simhash.scheme.own_fields import json_bytes
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS
from es_simhash.sketches.keys import sharing

SIMILARITIES = (0.2, 0.4, 0.5, 0.6, 0.8)

_LEGEND = """\
sure: SimHashes that differ in at most this many bits are always found.
near: the default minimum of the Jaccard similarity J.
J=: the share of pairs with this similarity that is found.
keys: the number of keys of a document in the index, and of look-ups of a query.
bytes: the size of the fields in a document's JSON; keys of passages add about 0.8 bytes a word.
docs/benchmarks.md shows the size in an index."""


def show_presets(output: Output) -> None:
    """Print each preset with its use; also what it finds and costs, for experts."""
    numbers = []
    for name, preset in PRESETS.items():
        scheme = Scheme.preset(name)
        found = trade_offs(scheme)
        output.result({"name": name, "id": scheme.id, "use": preset.use}, found)
        numbers.append([name, *_cells(found), scheme.id])
    shown = PRESETS.shown()
    output.table(shown.columns, list(shown.rows))
    if output.is_verbose:
        output.line()
        similarities = (f"J={each}" for each in SIMILARITIES)
        output.table(["preset", "sure", "near", *similarities, "keys", "bytes", "id"], numbers)
        output.line(_LEGEND)
    output.note("Choose one with --scheme. Next: es-simhash tune FILE --histogram")


def _cells(found: TradeOffs) -> list[Any]:
    sure = None if found.distance is None else f"{found.distance} bits"
    near = None if found.similarity is None else str(found.similarity)
    shares: list[Any] = [f"{share:.1%}" for share in found.recall.values()] or [None] * len(SIMILARITIES)
    return [sure, near, *shares, found.keys, found.json_bytes]


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
