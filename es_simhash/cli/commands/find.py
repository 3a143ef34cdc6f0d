"""``es-simhash find``: the near-duplicates of texts and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import text_file_option, text_in
from es_simhash.cli.options.index import (
    estimate_option,
    fields_option,
    filter_option,
    index_argument,
    near_options,
    scope_value_option,
    source_option,
    warn_of_indices_without_fields,
)
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.index import Index


@click.command(name="find", cls=EngineVerb)
@index_argument
@click.option("--text", help="Text to find near-duplicates of.")
@click.option("--id", "id_", metavar="ID", help="Document in the index to find near-duplicates of.")
@text_file_option
@click.option("--containing", is_flag=True, help="Find the documents that contain the text.")
@click.option("--contained", is_flag=True, help="Find the documents that the text contains.")
@near_options
@estimate_option
@filter_option("Only matches that fit this query (JSON).")
@click.option("--size", type=click.IntRange(1), default=10, metavar="N", help="Number of matches.")
@scope_value_option
@source_option("matches")
@fields_option("Text field of an index without fingerprints, or of another cluster; repeatable.")
def command(
    index: str,
    text: str | None,
    id_: str | None,
    file: str | None,
    containing: bool,
    contained: bool,
    fields: tuple[str, ...],
    prefix: str,
    target: Target,
    output: Output,
    **wanted: Any,
) -> None:
    """Find the near-duplicates of a text, or of a document, in INDEX.

    An index without fingerprints is searched, too, if you name its text fields by --field. With --containing or
    --contained, --similarity is the share of the contained text that is in the other one; the index needs the preset
    passages, or a scheme like it.

    Example: es-simhash find articles --id 42 --similarity 0.5 --source title
    """
    if sum(given is not None for given in (text, id_, file)) != 1:
        raise click.UsageError("Give one of --text, --id and --file.")
    if file is not None:
        text = text_in(file)
    fields = tuple(filter(str.strip, fields))
    if containing and contained:
        raise click.UsageError("--containing and --contained are two searches. Give one of them.")
    wanted["relation"] = "containing" if containing else "contained" if contained else None
    with target.index(output, index, fields=fields or None, prefix=prefix) as opened:
        is_plain = bool(fields) and _is_plain(opened, prefix)
        matches = opened.find(text, id=id_, candidates="more_like_this" if is_plain else "keys", **wanted)
        if not is_plain:
            warn_of_indices_without_fields(output, opened)
    output.show(matches)


def _is_plain(index: Index, prefix: str) -> bool:
    """Return whether an index, whose fields are named, has no fingerprints; one that has knows its fields."""
    from es_simhash.plans.operations import GetMappings, is_remote
    from es_simhash.scheme.mapping import entries

    if is_remote(index.name):
        return False
    mappings = index.engine.perform(GetMappings(index.name))
    if any(entries(mappings, prefix).values()):
        raise click.UsageError("An index with fingerprints has its own fields. Drop --field.")
    return True
