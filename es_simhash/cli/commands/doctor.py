"""``es-simhash doctor``: problems of a backfill, before it begins."""

from __future__ import annotations

from typing import Any

import click

from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.index import index_argument, index_options
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.exits import FINE, SOME_FAILED
from es_simhash.cli.show.output import Output


@click.command(name="doctor", cls=EngineVerb)
@index_argument
@index_options
def command(index: str, known: dict[str, Any], target: Target, output: Output) -> int:
    """Check what would go wrong if the documents of INDEX got fingerprints, and how to fix it.

    Nothing is changed. If the index has no fingerprint fields yet, name its text fields by --field: then doctor also
    checks whether the fields can be added. A backfill runs the same checks first. With --quiet, only warnings and stops
    are shown; the exit code is 1 if there is a stop.

    Example: es-simhash doctor articles --field title --field body
    """
    from es_simhash.index import Index

    with target.opened(output) as engine:
        findings = Index(index, engine, **known).doctor()
    shown = [each for each in findings if not output.quiet or each.level in ("warning", "stop")]
    for each in shown:
        output.result(each)
    if shown:
        rows = [[each.level, each.code, each.message, each.remedy] for each in shown]
        output.table(["level", "code", "what was found", "what to do"], rows)
    return SOME_FAILED if any(each.level == "stop" for each in findings) else FINE
