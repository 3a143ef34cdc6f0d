"""What ``dedup`` writes: groups, pairs, and the documents without their duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import IO, Any

from es_simhash._core.harmless import json_text
from es_simhash._core.stages import counted_each
from es_simhash.documents.files import FileDocument
from es_simhash.documents.files.csv_tables import write_rows
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.groups.pairs.result import Duplicates

COLUMNS = ("distance", "similarity", "standard_error", "is_exact")


def write_groups(duplicates: Duplicates, format: str, out: IO[str]) -> None:
    """Write which documents to ``keep``, each with its ``duplicates``, as JSON lines, or all groups as CSV."""
    if format == "csv":
        write_rows(chain([("group", "id", "keep", "canonical")], _rows(duplicates)), out)
        return
    for keep, *later in duplicates.standing_ids():
        out.write(json_text({"keep": keep, "duplicates": later}) + "\n")


def _rows(duplicates: Duplicates) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each document of a group."""
    number = 0
    for some in duplicates.groups_in_turn():
        members = list(chain.from_iterable(some))
        canonicals = duplicates.ids_of(duplicates.standing.firsts[members].tolist())
        rows = zip(duplicates.ids_of(members), canonicals, strict=True)
        for group in some:
            yield from ((number, id_, int(id_ == keep), keep) for id_, keep in islice(rows, len(group)))
            number += 1


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
