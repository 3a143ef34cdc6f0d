"""What ``group`` writes: groups, the pairs that link them, and requests that delete duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import chain
from typing import IO, Any, TypeAlias

from es_simhash._core.harmless import json_text
from es_simhash.cli.jobs.dedup_output import COLUMNS, nearness_of
from es_simhash.documents.files.csv_tables import write_rows
from es_simhash.groups.of_index.result import Group, Grouped
from es_simhash.groups.pairs.result import MEMBER_COLUMNS

# Returns the address of a page about the group of that name.
Link: TypeAlias = Callable[[str], str]

_COLUMNS = ("index", "id", *MEMBER_COLUMNS)
_ENDS = ("first_index", "first_id", "second_index", "second_id")


def write_groups(grouped: Grouped, format: str, out: IO[str], link: Link | None = None) -> None:
    """Write the groups, with links if there are any: as JSON lines, or as CSV with a row for each member."""
    if format == "csv":
        write_rows([("group", *_COLUMNS, *(["link"] if link else []))], out)
        for group in grouped:
            last = (link(group.id),) if link else ()
            write_rows((row + last for row in _rows(group)), out)
    else:
        for group in grouped:
            more = {"link": link(group.id)} if link else {}
            out.write(json_text({**group_json(group), **more}) + "\n")


def group_json(group: Group) -> dict[str, Any]:
    """Return a group as JSON, each canonical member before its duplicates."""
    members = [asdict(member) for member in group.members]
    return {"group": group.id, "size": len(members), "diameter": asdict(group.diameter), "members": members}


def _rows(group: Group) -> Iterator[tuple[Any, ...]]:
    for member in group.members:
        values = {**asdict(member), "is_canonical": int(member.is_canonical)}
        yield (group.id, *(values[name] for name in _COLUMNS))


def write_pairs(grouped: Grouped, format: str, out: IO[str]) -> None:
    """Write the pairs that link documents: each of equal texts with the one before, and all other near pairs."""
    if format == "csv":
        columns = (*_ENDS, *COLUMNS)
        write_rows(chain([columns], ([pair.get(name) for name in columns] for pair in _pairs(grouped))), out)
        return
    for pair in _pairs(grouped):
        out.write(json_text(pair) + "\n")


def _pairs(grouped: Grouped) -> Iterator[dict[str, Any]]:
    for pairs in grouped.pairs():
        sides = [grouped.keys(pairs[side].tolist()) for side in ("first", "second")]
        for first, second, values in zip(*sides, nearness_of(pairs), strict=True):
            yield dict(zip(_ENDS, (*first, *second), strict=True)) | values


def write_deletes(grouped: Grouped, out: IO[str]) -> int:
    """Write the body of a bulk request that deletes all duplicates; return how many.

    A document is deleted only if nobody has changed it since it was read.
    """
    count = 0
    for place in grouped.duplicates():
        action = {"_index": place.index, "_id": place.id, **(place.metadata or {})}
        out.write(json_text({"delete": action}) + "\n")
        count += 1
    return count
