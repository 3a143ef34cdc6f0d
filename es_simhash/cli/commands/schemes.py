"""``es-simhash schemes``: the presets."""

from __future__ import annotations

import click

from es_simhash.cli.output import Output, output_options


@click.command(name="schemes")
@output_options
def command(output: Output) -> None:
    """List the presets, and what each is good for.

    Example: es-simhash schemes
    """
    from es_simhash.presets import PRESETS
    from es_simhash.scheme import Scheme

    rows = []
    for name, preset in PRESETS.items():
        scheme = Scheme.preset(name)
        simhash, minhash = scheme.simhash, scheme.minhash
        found = [f"{simhash.bits} bits, {simhash.blocks} blocks, within {simhash.distance}"] if simhash else []
        found += [f"{minhash.bands}×{minhash.rows} bands, from {minhash.similarity}"] if minhash else []
        rows.append([name, scheme.id, "; ".join(found), preset.use])
        output.result({"name": name, "id": scheme.id, "use": preset.use})
    output.table(["preset", "id", "finds by", "use"], rows)
