"""``es-simhash doctor``: problems of a backfill, before it begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.index import index_argument, index_options
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import FINE, SOME_FAILED, Output

if TYPE_CHECKING:
    from es_simhash.engines.base import Engine
    from es_simhash.live.doctor.facts import Finding

# The order in which findings are shown.
_LEVELS = ("stop", "warning", "note", "ok")


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
    with target.index(output, index, **known) as opened:
        findings = sorted(opened.doctor(), key=lambda each: _LEVELS.index(each.level))
        command = _next_command(opened.engine, index, known)
    _show(output, findings)
    stops = [each.code for each in findings if each.level == "stop"]
    if stops:
        keep = "keeps" if len(stops) == 1 else "keep"
        output.report(f"Not ready: {counted(len(stops), 'stop')} {keep} the backfill from running.")
    else:
        output.report("Ready for a backfill.")
    # Without fields that are named, the command names those that there are.
    is_done_by_command = set(stops) <= {"no-fields"}
    if is_done_by_command:
        output.next_step(*command)
    else:
        output.note("Next: do what the table says, and run doctor again.")
    return SOME_FAILED if stops else FINE


def _show(output: Output, findings: Sequence[Finding]) -> None:
    """Show the findings, with those that are fine in one line, unless all are asked for."""
    levels = _LEVELS[:2] if output.quiet else _LEVELS if output.is_verbose else _LEVELS[:3]
    shown = [each for each in findings if each.level in levels]
    for each in findings if not output.quiet else shown:
        output.result(each)
    if shown:
        rows = [[each.level, each.code, each.message, each.remedy] for each in shown]
        output.table(["level", "code", "what was found", "what to do"], rows)
    fine = sum(each.level == "ok" for each in findings)
    if fine and not output.is_verbose:
        output.report(f"{counted(fine, 'check')} passed; --verbose lists {'it' if fine == 1 else 'them'}.")


def _next_command(engine: Engine, index: str, known: dict[str, Any]) -> list[str]:
    """Return the verb to run if nothing else stops it: a backfill, once the text fields are known."""
    from es_simhash.engines.base import run
    from es_simhash.plans.text_fields import readable, text_fields
    from es_simhash.scheme.mapping import DEFAULT_PREFIX, entries

    mappings = run(readable(index), engine)
    has_fields = any(entries(mappings, known["prefix"]).values())
    fields: Iterable[str] = known["fields"] or ()
    if not fields and not has_fields:
        fields = dict.fromkeys(path for there in mappings.values() for path in text_fields(there)) or ["FIELD"]
    scheme = click.get_current_context().params.get("scheme")
    prefix = known["prefix"] if known["prefix"] != DEFAULT_PREFIX else None
    given = [("--field", each) for each in fields]
    given += [(name, each) for name, each in (("--scheme", scheme), ("--prefix", prefix)) if each]
    verb = "backfill" if known["fields"] or has_fields else "doctor"
    return [verb, index, *(part for option in given for part in option)]
