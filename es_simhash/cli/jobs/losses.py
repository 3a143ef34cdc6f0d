"""What ``dedup`` and ``group`` count before documents go (see `es_simhash.groups.losses`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

import click

from es_simhash._core.humanize import counted
from es_simhash.documents.files import FileDocument
from es_simhash.groups.groups import Groups
from es_simhash.groups.loss_counts import NONE, Values, wanted
from es_simhash.groups.losses import Losses, losses_of
from es_simhash.groups.of_index.corpus import IndexCorpus
from es_simhash.groups.of_texts import TextCorpus

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
        self._fields = wanted((each.document for each, _ in head), self._per, self._date)
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
