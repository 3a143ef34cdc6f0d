"""``es-simhash info``: what an index holds."""

from __future__ import annotations

from dataclasses import asdict

import click

from es_simhash.cli.index_options import index_argument
from es_simhash.cli.output import Output, output_options
from es_simhash.cli.target import Target, target_options


@click.command(name="info")
@index_argument
@click.option("--prefix", default="dedup", show_default=True, metavar="NAME", help="The object of the fields.")
@target_options
@output_options
def command(index: str, prefix: str, target: Target, output: Output) -> None:
    """Show what INDEX holds: its scheme, its fields, and how many documents have fingerprints.

    Example: es-simhash info articles
    """
    from es_simhash.index import Index

    with target.opened(output) as engine:
        info = Index(index, engine, prefix=prefix).info()
    output.result(asdict(info) | {"without": info.without})
    rows = [
        ["engine", info.engine],
        ["indices", ", ".join(info.indices)],
        *([["without fields", ", ".join(info.without_fields)]] if info.without_fields else []),
        ["scheme", f"{info.scheme} ({info.preset})"],
        ["source fields", ", ".join(info.fields)],
        ["fields under", info.prefix],
        ["documents", f"{info.documents:,}"],
        ["with fingerprints", f"{info.fingerprinted:,}"],
        ["without", f"{info.without:,}"],
        *([f"status {status}", f"{count:,}"] for status, count in info.statuses.items() if count),
    ]
    output.table(["", index], rows)
