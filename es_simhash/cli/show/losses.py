"""What commands say of documents that go: how many, and of what implausibly many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from es_simhash.groups.losses import Alarm, Losses

_MOST = 5


def show_alarms(output: Output, alarms: Sequence[Alarm], of: str = "") -> None:
    """Print some alarms, each after what it is ``of``."""
    for alarm in alarms[:_MOST]:
        output.warn(f"{of}{alarm.sentence}")
    if len(alarms) > _MOST:
        output.warn(f"{len(alarms) - _MOST:,} more like this: --json shows all.")


def show_losses(output: Output, losses: Losses | None, most: float | None, *, with_total: bool) -> None:
    """Print alarms; stop before anything is written if more than the share ``most`` would go."""
    if losses is None:
        return
    from es_simhash.groups.loss_counts import percent

    if with_total and losses.duplicates:
        output.note(losses.sentence)
    show_alarms(output, losses.alarms)
    if most is not None and (found := losses.over(most)):
        of, loss = found
        raise click.ClickException(
            f"{percent(loss.share)} of {of} would go ({loss.duplicates:,} of {loss.documents:,}), more than --max-loss "
            f"{percent(most)}. Nothing was written. Look at these duplicates, or allow more."
        )
