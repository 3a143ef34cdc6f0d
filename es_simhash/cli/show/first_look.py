"""What ``try`` prints: what was read, what was found, and the command that goes on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import astuple
from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted, with_unit
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.cli.jobs.first_look import FirstLook


def show_first_look(output: Output, look: FirstLook, follow_up: str) -> None:
    """Print a first look; ``follow_up`` is the verb that goes on, and what it works on."""
    output.result(look)
    if output.as_json:
        return
    for sentence in _read(look):
        output.line(sentence)
    output.line()
    output.line(_found(look))
    if look.largest:
        output.line()
        columns, rows = ("documents", "lowest similarity", "text"), look.shown().rows
        output.table(columns, list(rows))
    if look.sources:
        output.line()
        sources = [(*astuple(each), _share(each.duplicates, each.documents)) for each in look.sources]
        output.table((look.fields.source or "source", "documents", "duplicates", "share"), sources)
        if more := look.of_sources - len(look.sources):
            output.line(f"and {more:,} more")
    output.line()
    output.line(f"Report: {look.report}")
    output.line(f"Next: es-simhash {follow_up}{''.join(_options(look, follow_up))}")


def _read(look: FirstLook) -> Iterator[str]:
    fields = look.fields
    read = counted(look.documents, "document")
    if look.of and look.of > look.documents:
        read = f"the first {look.documents:,} of {counted(look.of, 'document')}"
    language = f", {fields.language}" if fields.language else ""
    yield f"{look.name}: {read}{language}"
    named = {"Text": ", ".join(fields.texts), "Id": fields.id, "Date": fields.date, "Source": fields.source}
    yield " ".join(f"{name}: {path}." for name, path in named.items() if path)


def _found(look: FirstLook) -> str:
    if not look.duplicates:
        return f"No near-duplicates among {counted(look.documents, 'document')}."
    are, take = ("is a duplicate", "It takes") if look.duplicates == 1 else ("are duplicates", "They take")
    return (
        f"{look.duplicates:,} of {counted(look.documents, 'document')} {are} "
        f"({_share(look.duplicates, look.documents)}), in {counted(look.groups, 'group')}. "
        f"{take} {with_unit(look.duplicate_bytes)} of {with_unit(look.bytes)} of text."
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if part == whole or part / whole >= 0.01 else f"{part / whole:.1%}"


def _options(look: FirstLook, follow_up: str) -> Iterator[str]:
    from es_simhash.documents.frame import IDS

    for path in look.fields.texts:
        yield f" --field {shlex.quote(path)}"
    if look.preset != "default":
        yield f" --scheme {look.preset}"
    if follow_up.startswith("dedup"):
        if look.fields.id not in (None, *IDS):
            yield f" --id-field {shlex.quote(look.fields.id)}"
        tables = (each for each in ("csv", "tsv") if f".{each}" in look.name or f"--format {each}" in follow_up)
        if look.name != "-":  # which can be read only once
            yield f" --canonical-only unique.{next(tables, 'jsonl')}"
