"""The presets, for people who choose one."""

from __future__ import annotations

from typing import Any

from es_simhash.cli.show.output import Output
from es_simhash.cli.show.trade_offs import SIMILARITIES, TradeOffs, trade_offs

_LEGEND = """\
sure: SimHashes that differ in at most this many bits are always found.
near: the default minimum of the Jaccard similarity J.
J=: the share of pairs with this similarity that is found.
keys: the number of keys of a document in the index, and of look-ups of a query.
bytes: the size of the fields in a document's JSON; keys of passages add about 0.8 bytes a word.
docs/benchmarks.md shows the size in an index."""


def show_presets(output: Output) -> None:
    """Print each preset with its use; also what it finds and costs, for experts."""
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.settings import PRESETS

    uses, numbers = [], []
    for name, preset in PRESETS.items():
        scheme = Scheme.preset(name)
        found = trade_offs(scheme)
        output.result({"name": name, "id": scheme.id, "use": preset.use}, found)
        uses.append([name, preset.use])
        numbers.append([name, *_cells(found), scheme.id])
    output.table(["preset", "use"], uses)
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
