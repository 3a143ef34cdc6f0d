"""What ``dedup`` writes: groups, pairs, and the documents without their duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any

from es_simhash._core.harmless import json_text
from es_simhash._core.stages import counted_each
from es_simhash.documents.files import FileDocument
from es_simhash.documents.files.csv_tables import write_rows
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.groups.pairs.result import Duplicates

COLUMNS = ("distance", "similarity", "standard_error", "is_exact")


def write_groups(duplicates: Duplicates, format: str, out: IO[str]) -> None:
    """Write the groups: as JSON lines with ``keep`` and ``duplicates``, or as CSV with a row for each document."""
    if format == "csv":
        write_rows([("group", "id", "keep")], out)
    for number, group in enumerate(duplicates.groups_of_ids()):
        if format == "csv":
            write_rows(((number, id_, int(place == 0)) for place, id_ in enumerate(group)), out)
        else:
            out.write(json_text({"keep": group[0], "duplicates": group[1:]}) + "\n")


def write_pairs(duplicates: Duplicates, out: IO[str]) -> None:
    """Write the pairs that link documents, as JSON lines."""
    for pairs in duplicates.pairs():
        sides = (duplicates.ids_of(pairs[side].tolist()) for side in ("first", "second"))
        for first, second, values in zip(*sides, nearness_of(pairs), strict=True):
            out.write(json_text({"first": first, "second": second, **values}) + "\n")


def nearness_of(pairs: Pairs) -> Iterator[dict[str, Any]]:
    """Yield how near each pair is: the differing bits, and the similarity with its error if it is an estimate."""
    names = [name for name in COLUMNS if name in (pairs.dtype.names or ())]
    for values in zip(*(pairs[name].tolist() for name in names), strict=True):
        near = dict(zip(names, values, strict=True))
        if "standard_error" in near:
            near["standard_error"] = None if near["is_exact"] else round(near["standard_error"], 4)
        yield near


def write_canonical(found: Iterable[tuple[FileDocument, str]], duplicates: Duplicates, out: IO[str]) -> None:
    """Write the documents without their duplicates, as JSON lines that ``load`` takes.

    A line has the document's routing, and its ``_id`` where the document does not hold its id itself.
    """
    stay = duplicates.is_canonical
    again = counted_each("Writing documents", zip(found, stay.tolist(), strict=True), len(stay))
    for (each, _), is_canonical in again:
        if is_canonical:
            out.write(each.written() + "\n")
