"""The texts of documents in files, and a warning about source fields that no document has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from es_simhash._core.json_paths import sets_value_at
from es_simhash.documents.files import FileDocument
from es_simhash.documents.rejected import OnReject
from es_simhash.errors import DocumentError


class AbsentFields:
    """The ``paths`` that no document has had so far: a mistyped name would otherwise be an empty text."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = list(paths)
        self._none_seen = True

    def check(self, found: FileDocument) -> None:
        """Drop the paths that a document has."""
        self._none_seen = False
        if self.paths:
            self.paths = [path for path in self.paths if not sets_value_at(found.document, path)]

    @property
    def warning(self) -> str:
        """The warning about these paths; empty if there are none, or no documents at all."""
        if not self.paths or self._none_seen:
            return ""
        names = ", ".join(self.paths)
        return f"Warning: no document has the field {names}. Check how it is written in the files."


def read_texts(
    found: Iterable[FileDocument],
    fields: Sequence[str],
    on_reject: OnReject,
    absent: AbsentFields | None = None,
    strip: Sequence[re.Pattern[str]] = (),
) -> Iterator[tuple[FileDocument, str]]:
    """Yield each document with the text of its fields; without fields, of all strings at its top level.

    What the patterns of ``strip`` match is removed from the text.
    """
    for each in found:
        if absent:
            absent.check(each)
        try:
            text = each.text_of(fields)
        except DocumentError as error:
            on_reject(each.rejected(f"Document {each.id!r} {error.problem}"))
            continue
        for pattern in strip:
            text = pattern.sub("", text)
        yield each, text
