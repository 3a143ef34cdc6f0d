"""``es-simhash search``: a search of the user's own, whose hits are shown without near-duplicates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from es_simhash.cli.commands.find import beginning_of, match_as_json
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import json_object, text_file_option, text_in
from es_simhash.cli.options.index import (
    estimate_option,
    index_argument,
    near_options,
    warn_of_indices_without_fields,
)
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.plans.distinct.pages import DistinctHit, DistinctPage


@click.command(name="search", cls=EngineVerb)
@index_argument
@click.option("--query", metavar="WORDS|QUERY", help="Words for the text fields, or a query as JSON.")
@text_file_option
@click.option("--distinct", is_flag=True, help="Leave out hits that are near-duplicates of a hit before.")
@click.option("--by-groups", is_flag=True, help="Leave out hits of a group that a hit before is in; see group --write.")
@near_options
@estimate_option
@click.option("--size", type=click.IntRange(1), metavar="N", help="Number of hits.  [default: of the request, or 10]")
@click.option("--source", multiple=True, metavar="PATH", help="Field of the hits to show; repeatable.")
def command(
    index: str,
    query: str | None,
    file: str | None,
    size: int | None,
    source: tuple[str, ...],
    prefix: str,
    target: Target,
    output: Output,
    **wanted: Any,
) -> None:
    """Search INDEX, and show its hits without their near-duplicates.

    A --file has a whole search request, as JSON.

    Example: es-simhash search articles --query 'storm coast' --distinct --source title
    """
    from es_simhash.index import Index

    if (query is None) == (file is None):
        raise click.UsageError("Give one of --query and --file.")
    with target.opened(output) as engine:
        opened = Index(index, engine, prefix=prefix)
        if file is not None:
            body = json_object(text_in(file), "--file", '{"query": {"match_all": {}}}')
        else:
            body = {"query": _query(query or "", opened)}
        if size is not None:
            body["size"] = size
        if source:
            body["_source"] = list(source)
        page = opened.search(body, **wanted)
        warn_of_indices_without_fields(output, opened)
    _show(output, page)


def _query(given: str, index: Any) -> dict[str, Any]:
    """Return the query that is given as JSON, or one for the words in the text fields."""
    if given.lstrip().startswith("{"):
        return json_object(given, "--query", '{"match": {"title": "storm"}}')
    return {"bool": {"should": [{"match": {field: given}} for field in index.documents.fields]}}


def _hit_as_json(hit: DistinctHit) -> dict[str, Any]:
    return {"hit": hit.hit, "similar": [match_as_json(match) for match in hit.similar]}


def _show(output: Output, page: DistinctPage) -> None:
    output.result(
        {
            "hits": [_hit_as_json(hit) for hit in page],
            "read": page.read,
            "at_end": page.at_end,
            "apart": dict(page.apart),
            "limit": page.limit,
            "cursor": page.cursor,
            "reply": page.reply,
        }
    )
    if page:
        output.table(["index", "id", "score", "similar", "source"], list(_rows(page)))
    else:
        output.line("No hits.")
    more = "" if page.at_end else f" No more can be read: {page.limit}." if page.limit else " There are more."
    output.note(f"{len(page)} shown of {page.read} hits read.{more}")
    for reason, count in page.apart.items():
        output.note(f"{count} not compared with others: {reason}.")


def _rows(page: DistinctPage) -> Iterator[list[Any]]:
    for each in page:
        similar = f"+{len(each.similar)}" if each.similar else ""
        yield [
            each.hit["_index"],
            each.hit["_id"],
            each.hit.get("_score"),
            similar,
            beginning_of(each.hit.get("_source")),
        ]
