"""What ``dedup`` and ``group`` say before documents go: how many, and of what implausibly many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.groups.losses import Losses

_MOST = 5


def show_losses(output: Output, losses: Losses | None, most: float | None, *, with_total: bool) -> None:
    """Print alarms; stop before anything is written if more than the share ``most`` would go."""
    if losses is None:
        return
    from es_simhash.groups.losses import percent

    if with_total and losses.duplicates:
        output.note(losses.sentence)
    for alarm in losses.alarms[:_MOST]:
        output.warn(alarm.sentence)
    if len(losses.alarms) > _MOST:
        output.warn(f"{len(losses.alarms) - _MOST:,} more like this: --json shows all.")
    if most is not None and (found := losses.over(most)):
        of, loss = found
        raise click.ClickException(
            f"{percent(loss.share)} of {of} would go ({loss.duplicates:,} of {loss.documents:,}), more than --max-loss "
            f"{percent(most)}. Nothing was written. Look at these duplicates, or allow more."
        )
