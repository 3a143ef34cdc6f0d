"""``es-simhash schemes``: the presets."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from es_simhash.cli.options.shared import Verb
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.cli.show.trade_offs import TradeOffs

_LEGEND = """\
sure: SimHashes that differ in up to so many bits are always found.
near: the Jaccard similarity J from which texts match, unless another is asked for.
J=: the share of the pairs of this similarity that are found; below "near" they are compared in vain, which takes time.
keys: how many of them a document has in the index, and a query looks up.
bytes: what the fields add to a document's JSON. What they add to an index is measured in docs/benchmarks.md."""


@click.command(name="schemes", cls=Verb)
def command(output: Output) -> None:
    """List the presets: what each is good for, what it finds, and what it costs.

    Example: es-simhash schemes
    """
    from es_simhash.cli.show.trade_offs import SIMILARITIES, trade_offs
    from es_simhash.scheme.presets import PRESETS
    from es_simhash.scheme.scheme import Scheme

    uses, numbers = [], []
    for name, preset in PRESETS.items():
        scheme = Scheme.preset(name)
        found = trade_offs(scheme)
        output.result({"name": name, "id": scheme.id, "use": preset.use, **asdict(found)})
        uses.append([name, scheme.id, preset.use])
        numbers.append([name, *_cells(found)])
    output.table(["preset", "id", "use"], uses)
    output.line()
    output.table(["preset", "sure", "near", *(f"J={each}" for each in SIMILARITIES), "keys", "bytes"], numbers)
    output.line(_LEGEND)


def _cells(found: TradeOffs) -> list[Any]:
    from es_simhash.cli.show.trade_offs import SIMILARITIES

    sure = None if found.distance is None else f"{found.distance} bits"
    near = None if found.similarity is None else str(found.similarity)
    shares = [f"{found.recall[str(each)]:.1%}" if found.recall else None for each in SIMILARITIES]
    return [sure, near, *shares, found.keys, found.json_bytes]
