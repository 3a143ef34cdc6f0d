"""``es-simhash find``: the near-duplicates of texts and documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.humanize import counted, with_error
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import text_file_option, text_in
from es_simhash.cli.options.index import (
    fields_option,
    find_options,
    index_argument,
    warn_of_indices_without_fields,
)
from es_simhash.cli.options.scope import scope_value_option
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output
from es_simhash.cli.show.refused import note_refused

if TYPE_CHECKING:
    from es_simhash.scheme.rerank import Match, Matches

_SHOWN = 60


@click.command(name="find", cls=EngineVerb)
@index_argument
@click.option("--text", help="Text to find near-duplicates of.")
@click.option("--id", "id_", metavar="ID", help="Document in the index to find near-duplicates of.")
@text_file_option
@click.option("--containing", is_flag=True, help="Find the documents that contain the text.")
@click.option("--contained", is_flag=True, help="Find the documents that the text contains.")
@click.option("--preview", is_flag=True, help="Search an index without fingerprints, with more_like_this.")
@find_options
@scope_value_option
@click.option("--source", multiple=True, metavar="PATH", help="Field of the matches to show; repeatable.")
@fields_option("With --preview: text field of documents; repeatable.")
def command(
    index: str,
    text: str | None,
    id_: str | None,
    file: str | None,
    containing: bool,
    contained: bool,
    preview: bool,
    scope_values: dict[str, list[str]],
    source: tuple[str, ...],
    wanted: dict[str, Any],
    fields: tuple[str, ...],
    prefix: str,
    target: Target,
    output: Output,
) -> None:
    """Find the near-duplicates of a text, or of a document, in INDEX.

    With --preview the index needs no fingerprints: name its text fields by --field. With --containing or --contained,
    --similarity is the minimum containment: the share of the contained text's words in passages that both have. The
    index needs keys of passages, as in the preset passages.

    Example: es-simhash find articles --id 42 --similarity 0.5 --source title
    """
    from es_simhash.index import Index

    if sum(given is not None for given in (text, id_, file)) != 1:
        raise click.UsageError("Give one of --text, --id and --file.")
    if file is not None:
        text = text_in(file)
    if fields and not preview:
        raise click.UsageError("An index with fingerprints has its own fields. Drop --field, or add --preview.")
    if containing and contained:
        raise click.UsageError("--containing and --contained are two searches. Give one of them.")
    wanted["relation"] = "containing" if containing else "contained" if contained else None
    wanted["source"] = list(source)
    wanted["scope_values"] = scope_values
    wanted["candidates"] = "more_like_this" if preview else "keys"
    with target.opened(output) as engine:
        opened = Index(index, engine, fields=fields or None, prefix=prefix)
        matches = opened.find(text, id=id_, **wanted)
        if not preview:
            warn_of_indices_without_fields(output, opened)
    (_show_passages if containing or contained else _show)(output, matches)


def match_as_json(match: Match) -> dict[str, Any]:
    """Return a match as commands print it."""
    form = {
        "index": match.index,
        "id": match.id,
        "distance": match.distance,
        "similarity": match.similarity,
        "standard_error": match.standard_error,
        "is_exact": match.is_exact,
        "same_text": match.same_text,
        "clause": match.clause,
    }
    if match.containment is not None:
        form["containment"] = match.containment
    return form if match.source is None else form | {"source": match.source}


def similarity_of(match: Match) -> str:
    """Format a similarity, with its standard error if it is an estimate."""
    if match.similarity is None:
        return ""
    return with_error(match.similarity, match.standard_error, 3)


def beginning_of(source: dict[str, Any] | None) -> str:
    """Return the beginning of what was fetched of a document, for a table."""
    return " ".join(str(value) for value in (source or {}).values())[:_SHOWN]


def matches_as_json(matches: Matches) -> dict[str, Any]:
    """Return the matches of one text as commands print them."""
    return {
        "matches": [match_as_json(match) for match in matches],
        "candidates": matches.candidates,
        "complete": matches.complete,
        "foreign": matches.foreign,
        "status": matches.status,
        "refused": matches.refused,
        "unscoped": matches.unscoped,
    }


def _show(output: Output, matches: Matches) -> None:
    output.result(matches_as_json(matches))
    if matches:
        output.table(["index", "id", "similarity", "bits", "text", "source"], list(_rows(matches)))
    else:
        output.line("No near-duplicates.")
    output.note(f"{len(matches)} shown of {matches.candidates} candidates compared.")
    note_refused(output, matches.refused)
    if any(match.standard_error is not None for match in matches):
        output.note("Similarities with ± are estimates, by fingerprints alone.")
    if not matches.complete and matches and all(match.same_text for match in matches):
        output.note(
            "There are more candidates than were compared, but these have exactly this text: show more with --size."
        )
    elif not matches.complete:
        output.note("There are more candidates than were compared: raise --similarity, or use --filter.")
    _note_left_out(output, matches)
    if matches.status == "short":
        output.note("The text is short: only a comparison of texts is reliable.")


def _show_passages(output: Output, matches: Matches) -> None:
    output.result(matches_as_json(matches))
    if matches:
        rows = [[match.index, match.id, f"{match.containment:.3f}", beginning_of(match.source)] for match in matches]
        output.table(["index", "id", "containment", "source"], rows)
    else:
        output.line("None found.")
    output.note(f"{len(matches)} shown of {matches.candidates} candidates.")
    if not matches.complete and matches and all(match.containment == 1.0 for match in matches):
        output.note("There are more candidates than were compared, but nothing is contained more: use --size.")
    elif not matches.complete:
        output.note("There are more candidates, with commoner passages, than were compared: use --filter.")
    _note_left_out(output, matches)
    if matches.status == "short":
        output.note("The text has too few words for a passage.")


def _note_left_out(output: Output, matches: Matches) -> None:
    """Say which candidates did not count."""
    if matches.foreign:
        output.note(f"{matches.foreign} candidates have fingerprints of another scheme and were not compared.")
    if matches.unscoped:
        count = counted(matches.unscoped, "candidate")
        output.note(f"{count} had no value in a field of the scope, and did not count.")


def _rows(matches: Matches) -> Iterator[list[Any]]:
    for match in matches:
        same = "same text" if match.same_text else ""
        yield [match.index, match.id, similarity_of(match), match.distance, same, beginning_of(match.source)]
