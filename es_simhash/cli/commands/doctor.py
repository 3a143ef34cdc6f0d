"""``es-simhash doctor``: what would go wrong with a backfill."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from es_simhash.cli.options.connection import Target
from es_simhash.cli.options.index import index_argument, index_options
from es_simhash.cli.options.shared import EngineVerb
from es_simhash.cli.show.exits import FINE, SOME_FAILED
from es_simhash.cli.show.output import Output


@click.command(name="doctor", cls=EngineVerb)
@index_argument
@index_options
def command(index: str, known: dict[str, Any], target: Target, output: Output) -> int:
    """Tell what would go wrong if the documents of INDEX were given fingerprints, and what to do about it.

    Nothing is changed. Before the fields are in the index, name those with text by --field: then it also tells whether
    the fields of fingerprints can be added. A backfill looks at the same before it begins. With --quiet only warnings
    and stops are told; the exit code is 1 if there is a stop.

    Example: es-simhash doctor articles --field title --field body
    """
    from es_simhash.index import Index

    with target.opened(output) as engine:
        findings = Index(index, engine, **known).doctor()
    told = [each for each in findings if not output.quiet or each.level in ("warning", "stop")]
    for each in told:
        output.result(asdict(each))
    if told:
        rows = [[each.level, each.code, each.message, each.remedy] for each in told]
        output.table(["level", "code", "what was found", "what to do"], rows)
    return SOME_FAILED if any(each.level == "stop" for each in findings) else FINE
