"""``es-simhash load``: write the documents of files to an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

import click

from es_simhash._core.batches import stage
from es_simhash._core.humanize import counted, counted_parts
from es_simhash.cli.options.connection import JOB, EngineVerb
from es_simhash.cli.options.files import Files, input_options
from es_simhash.cli.options.index import dry_run_option, index_argument, index_options, wanted_documents
from es_simhash.cli.options.target import Target, is_server
from es_simhash.cli.show import output as log
from es_simhash.cli.show.output import Interrupted, Output, after, saying_if_interrupted, show_learnt

if TYPE_CHECKING:
    from es_simhash.cli.jobs.load import Loader
    from es_simhash.plans.add import WriteCounts


@click.command(name="load", cls=EngineVerb, more=JOB)
@index_argument
@input_options
@click.option("--create-only", is_flag=True, help="Reject documents whose id exists already.")
@dry_run_option
@index_options
def command(
    index: str,
    files: Files,
    create_only: bool,
    patience: float,
    dry_run: bool,
    known: dict[str, Any],
    target: Target,
    output: Output,
) -> int:
    """Write the documents of FILEs (- is standard input) to INDEX, with their fingerprints.

    With --field, the index first gets the fields, as with init.

    Example: es-simhash load articles news.jsonl.gz --field title --field body --id-field url
    """
    from es_simhash._core.batches import begun, in_a_moment
    from es_simhash.cli.jobs.load import DryRun, Loader, make_visible
    from es_simhash.documents.sources import with_some_text
    from es_simhash.engines.base import run
    from es_simhash.index import Index
    from es_simhash.live.learning import learn_once, now

    op_type: Literal["index", "create"] = "create" if create_only else "index"
    started, learnt = monotonic(), None
    with target.opened(output) as engine, files.opened(output, "Loading") as (read, rejects, advance):
        # An index gets no fields that none of its documents has.
        sought = begun(with_some_text(read, known["fields"], lambda each: each.document)) if known["fields"] else read
        described = Index(index, engine, **known)
        brings_fields = known["fields"] and described.init(dry_run=dry_run).bodies
        documents = wanted_documents(engine, index, known) if brings_fields and dry_run else described.documents
        opened = Index(index, engine, prefix=known["prefix"])
        there = DryRun(index, documents) if dry_run else opened

        def on_progress(written: WriteCounts) -> None:
            output.run.count({"written": written.done, "rejected": rejects.count})
            advance(written.done, rejects.count)

        loader = Loader(there, rejects, on_progress, op_type, patience)
        if dry_run:
            loader.load(sought)
        else:
            # Only a server may keep one waiting.
            refresh = partial(in_a_moment, opened.refresh) if is_server(target.place) else opened.refresh
            with stage("documents"), _reporting_failure(loader, index, refresh):
                loader.load(sought)
                make_visible(opened, output)
            with stage("learn"):
                # From what was just written, if that is all there is, and only where nothing was learnt before.
                learnt = run(learn_once(index, opened.documents, now(), patience, loader.lowest), engine)
    done = loader.written.done
    output.warn(loader.named.warning)
    without_text = loader.named.without_text
    if not dry_run:
        output.detail(f"It took {monotonic() - started:.1f} s.")
        show_learnt(output, learnt)
    if loader.ids.replaced:
        again = counted(loader.ids.replaced, "document has", "documents have")
        became = "the last one is kept" if op_type == "index" else "the first one is kept"
        output.warn(f"{again} the id of an earlier one in the same file: {became}.")
    if without_text.count:
        output.note(without_text.sentence)
    counts = {"index": index, "written": done, "rejected": rejects.count, "rejects": files.rejects}
    output.result({**counts, "no_text": without_text.count, "learnt": learnt, "dry_run": dry_run})
    say = output.line if dry_run else output.report
    written = "can be written" if dry_run else "written"
    say(f"{index}: {counted_parts({written: done, 'rejected': rejects.count}) or 'no documents'}.")
    if done and not dry_run:
        output.next_step("group", index, prefix=known["prefix"])
    return after(rejects.count, rejects.may_pass)


@contextmanager
def _reporting_failure(loader: Loader, index: str, refresh: Callable[[], object]) -> Iterator[None]:
    """If loading fails, report how many documents were loaded, and make them visible."""

    def so_far() -> str:
        again = "replaced" if loader.op_type == "index" else "refused"
        # An alias or a data stream that has rolled over knows nothing of the ids in older indices.
        until = f", before {index} rolls over and takes them a second time" if loader.rolls else ""
        return (
            f"{_so_far(_saved(loader, refresh), index)}, and possibly a few more. Run the command again for the "
            f"rest{until}: documents with the same ids are {again}."
        )

    try:
        with saying_if_interrupted(so_far):
            yield
    except Interrupted:
        raise
    except BaseException as error:
        saved = _saved(loader, refresh, error)
        if loader.written.done:
            log.write("warning", "warning", f"{_so_far(saved, index)} before the error.")
        raise


def _saved(loader: Loader, refresh: Callable[[], object], error: BaseException | None = None) -> int:
    """Count the documents that were written and survived the error, after one more refresh."""
    from es_simhash.errors import EngineError, WritesLostError

    try:
        refresh()
    except EngineError as another:
        error = another if isinstance(another, WritesLostError) else error
    return loader.written.done - (error.lost if isinstance(error, WritesLostError) else 0)


def _so_far(count: int, name: str) -> str:
    return f"{counted(count, 'document')} written to {name}"
