"""``es-simhash load``: write the documents of files to an index."""

from __future__ import annotations

from time import monotonic
from typing import Any, Literal

import click

from es_simhash.cli.exits import FINE, SOME_FAILED
from es_simhash.cli.index_options import index_options
from es_simhash.cli.inputs import Files, file_options
from es_simhash.cli.output import Output, output_options
from es_simhash.cli.target import Target, target_options


@click.command(name="load")
@click.argument("index")
@file_options
@click.option("--create-only", is_flag=True, help="Refuse documents whose id is there already.")
@index_options
@target_options
@output_options
def command(index: str, files: Files, create_only: bool, known: dict[str, Any], target: Target, output: Output) -> int:
    """Write the documents of FILEs (- is standard input) to INDEX, with their fingerprints.

    With --field the index is first given the fields, as by init.

    Example: es-simhash load articles news.jsonl.gz --field title --field body --id url
    """
    from es_simhash.index import Index
    from es_simhash.jobs.load import Loader

    op_type: Literal["index", "create"] = "create" if create_only else "index"
    started = monotonic()
    with target.opened(output) as engine:
        opened = Index(index, engine, **known)
        if known["fields"]:
            opened.init()
        with files.opened(output, "Loading") as (found, rejects, advance):
            loader = Loader(opened, rejects, lambda now: advance(now.done, rejects.count), op_type)
            try:
                loader.load(found)
            finally:
                done = loader.written.done
                opened.refresh()
                output.note(f"{done:,} documents written to {index} in {monotonic() - started:.1f} s.")
    output.result({"index": index, "written": done, "rejected": rejects.count, "rejects": files.rejects})
    output.line(f"{index}: {done:,} written, {rejects.count:,} rejected")
    return SOME_FAILED if rejects.count else FINE
