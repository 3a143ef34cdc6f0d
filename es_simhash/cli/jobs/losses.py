"""What ``dedup`` and ``group`` count before documents go (see `es_simhash.groups.losses`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

import click

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json
from es_simhash._core.stages import counted_each
from es_simhash.documents.files import FileDocument
from es_simhash.groups.groups import Groups
from es_simhash.groups.losses import NONE, Losses, Values, losses_of, wanted
from es_simhash.groups.of_index.corpus import IndexCorpus
from es_simhash.groups.of_texts import TextCorpus

# Documents from which fields are guessed, and those that are read at once.
_GUESSED, _AT_ONCE = 200, 1_000


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
        self._fields = wanted((each.document for each, _ in head), self._per, self._date)
        for each, text in chain(head, found):
            for values in self._fields:
                values.add(each.document)
            yield each, text

    def losses(self, groups: Groups[TextCorpus]) -> Losses | None:
        """Count losses by these values; None unless that is wanted."""
        return losses_of(groups, self._fields) if self._is_wanted else None


def losses_in_index(groups: Groups[IndexCorpus], prefix: str, per: str | None, date: str | None) -> Losses:
    """Count losses by the values of all documents in the fields that were named, and by those of a sample."""
    corpus = groups.corpus
    fields = [each for each in (Values("field", per), Values("year", date)) if each.path]
    if fields:
        paths = [each.path for each in fields if each.path]
        parts = (range(start, min(start + _AT_ONCE, len(corpus))) for start in range(0, len(corpus), _AT_ONCE))
        hits = chain.from_iterable(corpus.hits(some, paths) for some in parts)
        for hit in counted_each("Reading values", hits, len(corpus)):
            for values in fields:
                values.add((hit or {}).get("_source") or {})
    if per and [*fields[0].names] == [NONE]:
        raise click.UsageError(f"None of {counted(len(corpus), 'document')} has the field {per}. Check the spelling.")

    def fetch(positions: Sequence[int]) -> list[Json | None]:
        sources = ((hit or {}).get("_source") for hit in corpus.hits(positions, True))
        return [source and {name: value for name, value in source.items() if name != prefix} for source in sources]

    return losses_of(groups, fields, fetch)
