"""Outputs of ``group`` and ``dedup``: groups, pairs, deletions, and what would be lost."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import click

from es_simhash._core.batches import counted_each
from es_simhash._core.humanize import counted, value_text
from es_simhash._core.json_codec import Json, values_at
from es_simhash._core.rows import json_record, write_csv
from es_simhash.documents.files import FileDocument
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Group, Groups, Member
from es_simhash.groups.loss_counts import NONE, Values, values_to_count
from es_simhash.groups.losses import Losses, losses_of
from es_simhash.groups.of_texts import TextCorpus
from es_simhash.groups.pairs.compare import Pairs

if TYPE_CHECKING:
    from es_simhash.groups.of_index.corpus import IndexCorpus


Format: TypeAlias = Literal["jsonl", "csv"]
# Returns the address of a page about the group of that name.
Link: TypeAlias = Callable[[str], str]

# Groups whose members are read together.
_AT_ONCE = 100
_MEASURES = ("similarity", "distance", "standard_error", "is_exact")


class MemberFields(NamedTuple):
    """The ``fields`` of members to show, and what reads the parts of their documents that have them."""

    fields: Sequence[str] = ()
    fetch: Callable[[Sequence[Member]], Sequence[Json | None]] = lambda members: [None] * len(members)


@dataclass(frozen=True)
class ShownMember(Member):
    """A member with the part of its document that was asked for; None if the document is gone."""

    JSON = (*Member.JSON, "source")

    source: Json | None = None


def write_groups(
    groups: Groups[Corpus], format: Format, out: IO[str], link: Link | None = None, asked: MemberFields | None = None
) -> None:
    """Write the groups, with links and the fields asked for: as JSON lines, or as CSV with a row for each member."""
    if format == "csv":
        names = list(groups.columns)[1:]
        linked = ([*row, *([link(row[0])] if link else [])] for row in member_rows(groups, names, asked))
        columns = ["group", *names, *(asked.fields if asked else ()), *(["link"] if link else [])]
        write_csv(columns, linked, out)
        return
    for group, parts in _with_parts(groups, asked):
        found: Json = {"link": link(group.id) if link else None}
        if asked:
            members = zip(group.members, parts, strict=True)
            found["members"] = [ShownMember(**vars(each), source=part) for each, part in members]
        out.write(json_record(group, found))


def member_rows(groups: Groups[Corpus], names: Sequence[str], asked: MemberFields | None) -> Iterator[list[Any]]:
    """Yield a row for each member: its group, the attributes with these names, and the fields asked for."""
    fields = asked.fields if asked else ()
    for group, parts in _with_parts(groups, asked):
        for member, part in zip(group.members, parts, strict=True):
            values = (list(values_at(part or {}, path)) for path in fields)
            cells = (value_text(each[0] if len(each) == 1 else each or None) for each in values)
            yield [group.id, *(getattr(member, name) for name in names), *cells]


def _with_parts(groups: Groups[Corpus], asked: MemberFields | None) -> Iterator[tuple[Group, Sequence[Json | None]]]:
    """Yield each group with the parts of its members' documents that are asked for."""
    asked, rest = asked or MemberFields(), iter(groups)
    while some := list(islice(rest, _AT_ONCE)):
        parts = iter(asked.fetch([member for group in some for member in group.members]))
        yield from ((group, list(islice(parts, group.size))) for group in some)


def write_pairs(groups: Groups[Corpus], format: Format, out: IO[str]) -> None:
    """Write the pairs that link documents: each of equal texts with the one before, and all other near pairs."""
    if format == "csv":
        sides = [f"{side}{part}" for side in ("first", "second") for part in _parts(groups)]
        write_csv([*sides, *_MEASURES], (pair.values() for pair in _pairs(groups)), out)
        return
    out.writelines(map(json_record, _pairs(groups)))


def _parts(groups: Groups[Corpus]) -> list[str]:
    return ["", "_index"] if groups.corpus.is_of_engine else [""]


def _pairs(groups: Groups[Corpus]) -> Iterator[dict[str, Any]]:
    names = [f"{side}{part}" for side in ("first", "second") for part in _parts(groups)]
    for pairs in groups.pairs():
        sides = [groups.corpus.keys(pairs[side].tolist()) for side in ("first", "second")]
        for (index, id_), (other, other_id), measures in zip(*sides, _measures(pairs), strict=True):
            ends = (id_, index, other_id, other) if groups.corpus.is_of_engine else (id_, other_id)
            yield dict(zip(names, ends, strict=True)) | measures


def _measures(pairs: Pairs) -> Iterator[dict[str, Any]]:
    """Yield how near each pair is: the differing bits, and the similarity with its error if it is an estimate."""
    names = [name for name in _MEASURES if name in (pairs.dtype.names or ())]
    for values in zip(*(pairs[name].tolist() for name in names), strict=True):
        near = {**dict.fromkeys(_MEASURES), **dict(zip(names, values, strict=True))}
        error = near["standard_error"]
        yield {**near, "standard_error": None if error is None or near["is_exact"] else round(error, 4)}


def format_of(path: str | None) -> Format:
    """Return the format of a file of groups or pairs, by its name.

    >>> format_of("groups.csv"), format_of("groups.jsonl"), format_of(None)
    ('csv', 'jsonl', 'jsonl')
    """
    return "csv" if delimiter_of(path) == "," else "jsonl"


def delimiter_of(path: str | None) -> str | None:
    """Return what separates the cells of a table that is named so; None for all other names."""
    return _DELIMITERS.get(PurePath(path or "").suffix.lower())


_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def write_canonical(
    groups: Groups[Corpus],
    found: Iterable[tuple[FileDocument, str]],
    out: IO[str],
    columns: Sequence[str] = (),
    delimiter: str | None = None,
) -> None:
    """Write the documents without their duplicates: as JSON lines that ``load`` takes, or as a table with ``columns``.

    A line has the document's routing, and its ``_id`` where the document does not hold its id itself.
    """
    stay = groups.is_canonical
    again = counted_each("Writing documents", zip(found, stay.tolist(), strict=True), len(stay))
    kept = (each for (each, _), is_canonical in again if is_canonical)
    if delimiter is None:
        out.writelines(f"{each.written()}\n" for each in kept)
        return
    table = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    table.writerow(columns)
    table.writerows(_cells(each, columns) for each in kept)


def _cells(each: FileDocument, columns: Sequence[str]) -> list[str]:
    """Return the values of a document as they were read: values other than texts as JSON."""
    values: dict[str, Any] = {"_id": each.id, "_routing": each.routing, **each.document}
    return [value_text(values.get(name)) for name in columns]


def write_deletes(groups: Groups[IndexCorpus], out: IO[str]) -> int:
    """Write the body of a bulk request that deletes all duplicates; return how many.

    A document is deleted only if nobody has changed it since it was read.
    """
    count, is_canonical = 0, groups.is_canonical
    for positions in counted_each("Reading duplicates", groups.positions(), len(groups), "groups"):
        for ref in groups.corpus.refs.take([each for each in positions if not is_canonical[each]]):
            action = {"_index": ref.index, "_id": ref.id, **(ref.metadata or {})}
            out.write(json_record({"delete": action}))
            count += 1
    return count


# Documents from which fields are guessed.
_GUESSED = 200


class NotedValues:
    """Notes the values of documents in the field ``per``, and in those that seem to hold their sources and dates."""

    def __init__(self, per: str | None, date: str | None, *, is_wanted: bool) -> None:
        self._per = per
        self._date = date
        self._is_wanted = is_wanted
        self._fields: list[Values] = []

    def noting(self, found: Iterator[tuple[FileDocument, str]]) -> Iterator[tuple[FileDocument, str]]:
        """Return the same documents."""
        return self._noting(found) if self._is_wanted else found

    def _noting(self, found: Iterator[tuple[FileDocument, str]]) -> Iterator[tuple[FileDocument, str]]:
        head = list(islice(found, _GUESSED))
        self._fields = values_to_count((each.document for each, _ in head), self._per, self._date)
        for each, text in chain(head, found):
            for values in self._fields:
                values.add(each.document)
            yield each, text

    def losses(self, groups: Groups[TextCorpus]) -> Losses | None:
        """Count losses by these values; None unless that is wanted."""
        return losses_of(groups, self._fields) if self._is_wanted else None


def losses_in_index(groups: Groups[IndexCorpus]) -> Losses:
    """Count losses by the values of all documents that were noted, and by those of a sample."""
    corpus = groups.corpus
    if (per := corpus.options.per) and [*corpus.noted[0].names] == [NONE]:
        raise click.UsageError(f"None of {counted(len(corpus), 'document')} has the field {per}. Check the spelling.")
    return losses_of(groups, corpus.noted, corpus.sources)
