"""``es-simhash find``: the near-duplicates of texts and documents."""

from __future__ import annotations

from typing import Any

import click

from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import text_file_option, text_in
from es_simhash.cli.options.index import (
    estimate_option,
    fields_option,
    index_argument,
    match_options,
    near_options,
    scope_value_option,
    warn_of_indices_without_fields,
)
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output


@click.command(name="find", cls=EngineVerb)
@index_argument
@click.option("--text", help="Text to find near-duplicates of.")
@click.option("--id", "id_", metavar="ID", help="Document in the index to find near-duplicates of.")
@text_file_option
@click.option("--containing", is_flag=True, help="Find the documents that contain the text.")
@click.option("--contained", is_flag=True, help="Find the documents that the text contains.")
@click.option("--preview", is_flag=True, help="Search an index without fingerprints, with more_like_this.")
@near_options
@estimate_option
@match_options
@scope_value_option
@click.option("--source", multiple=True, metavar="PATH", help="Field of the matches to show; repeatable.")
@fields_option("With --preview, or of another cluster: text field of documents; repeatable.")
def command(
    index: str,
    text: str | None,
    id_: str | None,
    file: str | None,
    containing: bool,
    contained: bool,
    preview: bool,
    fields: tuple[str, ...],
    prefix: str,
    target: Target,
    output: Output,
    **wanted: Any,
) -> None:
    """Find the near-duplicates of a text, or of a document, in INDEX.

    With --preview the index needs no fingerprints: name its text fields by --field. With --containing or --contained,
    --similarity is the minimum containment: the share of the contained text's words in passages that both have. The
    index needs keys of passages, as in the preset passages.

    Example: es-simhash find articles --id 42 --similarity 0.5 --source title
    """
    from es_simhash.plans.operations import is_remote

    if sum(given is not None for given in (text, id_, file)) != 1:
        raise click.UsageError("Give one of --text, --id and --file.")
    if file is not None:
        text = text_in(file)
    fields = tuple(filter(str.strip, fields))
    if fields and not preview and not is_remote(index):
        raise click.UsageError("An index with fingerprints has its own fields. Drop --field, or add --preview.")
    if containing and contained:
        raise click.UsageError("--containing and --contained are two searches. Give one of them.")
    wanted["relation"] = "containing" if containing else "contained" if contained else None
    wanted["candidates"] = "more_like_this" if preview else "keys"
    with target.index(output, index, fields=fields or None, prefix=prefix) as opened:
        matches = opened.find(text, id=id_, **wanted)
        if not preview:
            warn_of_indices_without_fields(output, opened)
    output.show(matches)
