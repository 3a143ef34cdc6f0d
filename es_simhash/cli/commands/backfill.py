"""``es-simhash backfill``: give the documents that an index has their fingerprints."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.environment import STATE_HOME
from es_simhash.cli.options.connection import Target
from es_simhash.cli.options.index import filter_option, index_argument, index_options, wanted_documents
from es_simhash.cli.options.places import is_server
from es_simhash.cli.options.run import accept_option, patience_option
from es_simhash.cli.options.shared import EngineVerb
from es_simhash.cli.show.backfill import Report
from es_simhash.cli.show.exits import FINE, SOME_FAILED, saying_if_interrupted
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.documents.documents import Documents
    from es_simhash.engines.base import Engine
    from es_simhash.live.backfill.checkpoint import Checkpoint
    from es_simhash.live.backfill.options import BackfillOptions
    from es_simhash.live.sweep.survey import Survey


@click.command(name="backfill", cls=EngineVerb)
@index_argument
@filter_option("Only documents that this query, as JSON, selects.")
@click.option("--since", metavar="FIELD:TIME", help="Only documents whose date in a field is not before this.")
@click.option("--refresh-stale", "stale", is_flag=True, help="Also look whether texts changed after their fingerprint.")
@click.option("--parallel", type=click.IntRange(1), default=1, show_default=True, help="Work on so many parts at once.")
@click.option("--shard", metavar="I/N", help="Do part I of N, as one of N machines.")
@click.option("--max-rate", type=float, metavar="N", help="Write at most N documents a second.")
@click.option("--no-refresh", is_flag=True, help="Stop the index's own refreshes meanwhile.")
@click.option("--no-replicas", is_flag=True, help="Drop its replicas meanwhile: quicker, but with one copy only.")
@patience_option
@click.option(
    "--rejects",
    type=click.Path(dir_okay=False),
    default="rejected.jsonl",
    show_default=True,
    help="Where to append what could not be done, with its id and the reason.",
)
@accept_option
@click.option("--dry-run", is_flag=True, help="Show what there is to do, and do nothing.")
@index_options
def command(
    index: str,
    known: dict[str, Any],
    rejects: str,
    dry_run: bool,
    target: Target,
    output: Output,
    **given: Any,
) -> int:
    """Give the documents that INDEX has their fingerprints.

    Only what has none yet is done, so a run that was stopped is gone on with by running the same command again. With
    --field the index is first given the fields, as by init. Documents are updated in place, in these fields only, and
    never if somebody else has changed them since they were read. What doctor would tell is looked at first: an index in
    which something stops the backfill is left out if there are others, and the exit code is 1.

    Example: es-simhash backfill articles --field title --field body
    """
    from es_simhash.documents.files import RejectFile
    from es_simhash.live.backfill.run import Backfill

    options = _options(given)
    with target.opened(output) as engine, RejectFile(rejects) as undone:
        documents = wanted_documents(engine, index, known)
        report = Report(output, _checkpoint(target, index, documents, options))
        backfill = Backfill(engine, index, documents, options, brings_fields=bool(known["fields"]))
        report.begin(backfill.survey, dry_run)
        if dry_run:
            return SOME_FAILED if backfill.survey.left_out else FINE
        backfill.survey.check()
        if known["fields"]:
            _add_fields(engine, backfill.survey, known)
        with (
            report.telling(backfill.progress.total) as tell,
            saying_if_interrupted(lambda: f"{report.so_far(backfill.progress)}. Run the command again for the rest."),
        ):
            try:
                progress = backfill.run(tell, undone)
            finally:
                if not backfill.is_set_back:
                    output.warn(f"Settings of {index} may not be set back. Run the command again: it does that first.")
        report.end(progress, rejects)
    if undone.count:
        output.note(f"{undone.count:,} could not be done; {rejects} tells which, and why.")
    return SOME_FAILED if undone.count or progress.left_out or progress.unsettled else FINE


def _add_fields(engine: Engine, survey: Survey, known: dict[str, Any]) -> None:
    """Give the fields to the indices that can be done."""
    from es_simhash.index import Index

    for part in survey.parts:
        Index(part.index, engine, **known).init()


def _options(given: dict[str, Any]) -> BackfillOptions:
    from es_simhash.live.backfill.options import BackfillOptions

    since = given["since"]
    return BackfillOptions(
        filter=given["filter"],
        since=None if since is None else _since(since),
        refresh_stale=given["stale"],
        parallel=given["parallel"],
        shard=(0, 1) if given["shard"] is None else _shard(given["shard"]),
        max_rate=given["max_rate"],
        patience=given["patience"],
        without_refresh=given["no_refresh"],
        without_replicas=given["no_replicas"],
        accept=frozenset(given["accept"]),
    )


def _since(text: str) -> tuple[str, str]:
    field, _, moment = text.partition(":")
    if not (field and moment):
        raise click.UsageError(f"--since cannot be {text!r}. Write, say, --since published:2026-11-01.")
    return field, moment


def _shard(text: str) -> tuple[int, int]:
    """Read the number of a shard, from 0, and how many there are."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match:
        raise click.UsageError(f"--shard cannot be {text!r}. Write, say, --shard 3/8.")
    return int(match[1]) - 1, int(match[2])


def _checkpoint(target: Target, index: str, documents: Documents, options: BackfillOptions) -> Checkpoint:
    """The totals of the backfill with these aims, under the user's state directory."""
    from es_simhash.live.backfill.checkpoint import Checkpoint

    place = target.place if is_server(target.place) else str(Path(target.place).resolve())
    aims = (place, index, documents.prefix, documents.scheme.id, options.filter, options.since, options.shard)
    name = hashlib.sha256(repr(aims).encode()).hexdigest()[:16]
    state = os.environ.get(STATE_HOME) or Path.home() / ".local" / "state"
    return Checkpoint(Path(state) / "es-simhash" / "backfill" / f"{name}.json", repr(aims))
