"""``es-simhash search``: a search of the user's own, whose hits are shown without near-duplicates."""

from __future__ import annotations

from typing import Any

import click

from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import json_object, text_file_option, text_in
from es_simhash.cli.options.index import (
    index_argument,
    similarity_option,
    source_option,
    warn_of_indices_without_fields,
)
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output
from es_simhash.scheme.verification import Level


@click.command(name="search", cls=EngineVerb)
@index_argument
@click.option("--query", metavar="WORDS|QUERY", help="Words for the text fields, or a query as JSON.")
@text_file_option
@click.option("--by-groups", is_flag=True, help="Leave out hits of a stored group that a hit before is in.")
@similarity_option
@click.option("--size", type=click.IntRange(1), metavar="N", help="Number of hits.  [default: of the request, or 10]")
@source_option("hits")
def command(
    index: str,
    query: str | None,
    file: str | None,
    by_groups: bool,
    similarity: float | Level | None,
    size: int | None,
    source: tuple[str, ...],
    prefix: str,
    target: Target,
    output: Output,
) -> None:
    """Search INDEX, and show its hits without the near-duplicates of a hit before.

    A --file has a whole search request, as JSON.

    Example: es-simhash search articles --query 'storm coast' --source title
    """
    if (query is None) == (file is None):
        raise click.UsageError("Give one of --query and --file.")
    with target.index(output, index, prefix=prefix) as opened:
        if file is not None:
            body = json_object(text_in(file), "--file", '{"query": {"match_all": {}}}')
        else:
            # People do not read what a fingerprint is made of.
            body = {"query": _query(query or "", opened), "_source": {"excludes": [prefix]}}
        if size is not None:
            body["size"] = size
        if source:
            body["_source"] = list(source)
        page = opened.search(body, distinct=not by_groups, by_groups=by_groups, similarity=similarity)
        warn_of_indices_without_fields(output, opened)
    output.show(page)


def _query(given: str, index: Any) -> dict[str, Any]:
    """Return the query that is given as JSON, or one for the words in the text fields."""
    if given.lstrip().startswith("{"):
        return json_object(given, "--query", '{"match": {"title": "storm"}}')
    return {"bool": {"should": [{"match": {field: given}} for field in index.documents.fields]}}
