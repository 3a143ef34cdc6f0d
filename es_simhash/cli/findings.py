"""How the doctor's findings are told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from es_simhash.cli.output import Output

if TYPE_CHECKING:
    from es_simhash.live.doctor.finding import Finding

accept_option = click.option(
    "--accept", multiple=True, metavar="CODE", help="Go on in spite of what doctor finds by this code; repeat for more."
)


def tell_findings(output: Output, findings: Iterable[Finding]) -> None:
    """Tell them beside the results of a command: what is as it should be not at all, what stops it in any case."""
    for finding in findings:
        text = f"{finding.level.capitalize()} ({finding.code}): {finding.message} {finding.remedy}"
        if finding.level == "stop":
            output.warn(text)
        elif finding.level != "ok":
            output.note(text)
