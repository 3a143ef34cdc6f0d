"""Deduplicating the documents of files: what is read, and what is written of the result."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from es_simhash.cli.jobs.absent_fields import AbsentFields
from es_simhash.cli.jobs.compared_pairs import compared
from es_simhash.documents.files import FileDocument
from es_simhash.documents.files.tables import write_rows
from es_simhash.documents.rejected import OnReject
from es_simhash.documents.sources import text_of
from es_simhash.errors import DocumentError
from es_simhash.groups.pairs.result import Duplicates


def texts(
    found: Iterable[FileDocument],
    fields: Sequence[str],
    on_reject: OnReject,
    absent: AbsentFields | None = None,
    strip: Sequence[re.Pattern[str]] = (),
) -> Iterator[tuple[FileDocument, str]]:
    """Each document with the text of its fields; without fields, of all strings that it holds itself.

    What the patterns of ``strip`` find is left out of it.
    """
    for each in found:
        if absent:
            absent.look_at(each.document)
        paths = fields or [name for name, value in each.document.items() if isinstance(value, str) and value != each.id]
        try:
            text = text_of(each.document, paths)
        except DocumentError as error:
            on_reject(each.rejected(f"Document {each.id!r} {error.problem}"))
            continue
        for pattern in strip:
            text = pattern.sub("", text)
        yield each, text


def write_groups(duplicates: Duplicates, format: str, out: IO[str]) -> None:
    """The groups: as JSON lines with ``keep`` and ``duplicates``, or as CSV with a row for each document of a group."""
    if format == "csv":
        write_rows([("group", "id", "keep")], out)
    for number, group in enumerate(duplicates.groups_of_ids()):
        if format == "csv":
            write_rows(((number, id_, int(place == 0)) for place, id_ in enumerate(group)), out)
        else:
            out.write(json.dumps({"keep": group[0], "duplicates": group[1:]}, ensure_ascii=False) + "\n")


def write_pairs(duplicates: Duplicates, out: IO[str]) -> None:
    """The pairs by which documents are linked, as JSON lines."""
    for pairs in duplicates.pairs():
        sides = (duplicates.ids_of(pairs[side].tolist()) for side in ("first", "second"))
        for first, second, values in zip(*sides, compared(pairs), strict=True):
            out.write(json.dumps({"first": first, "second": second, **values}, ensure_ascii=False) + "\n")


def write_kept(found: Iterable[tuple[FileDocument, str]], duplicates: Duplicates, out: IO[str]) -> None:
    """The documents without their duplicates, as JSON lines, to be loaded as they are.

    With ``_id`` where the document does not hold its id itself, and with its routing.
    """
    for (each, _), is_kept in zip(found, duplicates.kept.tolist(), strict=True):
        if is_kept:
            own = each.document if each.id in map(str, each.document.values()) else {"_id": each.id, **each.document}
            routed = own if each.routing is None else {"_routing": each.routing, **own}
            out.write(json.dumps(routed, ensure_ascii=False) + "\n")
