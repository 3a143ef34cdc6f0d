"""The texts of documents in files, and the fields that an option names and no document has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import sets_value_at
from es_simhash.documents.files import FileDocument
from es_simhash.documents.rejected import OnReject
from es_simhash.documents.sources import TextSought, WithoutText, what_there_is
from es_simhash.errors import DocumentError
from es_simhash.groups.canonical import Canonical
from es_simhash.scheme.scope import Scope

Item = TypeVar("Item")

# Names of fields that an error may show.
_NAMES = 100


class NamedFields:
    """The fields that options name: of the texts, of the scope, of the canonical document, of dates, and those shown.

    A mistyped name would otherwise be an empty text, or a scope that no document is in. Without ``texts``, all strings
    of a document are its text.
    """

    def __init__(
        self,
        texts: Sequence[str],
        scope: Scope | None = None,
        canonical: Canonical | None = None,
        date: str | None = None,
        shown: Sequence[str] = (),
    ) -> None:
        self._sought = TextSought(texts)
        self._texts = list(texts)
        chosen = canonical.fields if canonical and not isinstance(canonical.fields, bool) else ()
        self._others = {*(scope.paths if scope else ()), *chosen, *([date] if date else []), *shown} - {*texts}
        self._has_some = not texts
        self._names: dict[str, None] = {}
        self.count = 0
        self.without_text = WithoutText()

    def check(self, found: FileDocument) -> None:
        """Look for the fields in a document; raise `DocumentError` if none so far has a text."""
        self.count += 1
        if self._texts or self._others:
            document = found.document
            self._has_some = self._has_some or self._sought.is_in(document)
            self._texts = [path for path in self._texts if not (path and sets_value_at(document, path))]
            self._others = {path for path in self._others if not sets_value_at(document, path)}
            if len(self._names) < _NAMES:
                self._names |= dict.fromkeys(document)

    def check_text(self, found: FileDocument, text: str) -> None:
        """Count a document whose text is empty."""
        if not text or text.isspace():
            self.without_text.add(f"{found.file}:{found.line}")

    def checked(self, documents: Iterable[Item]) -> Iterator[Item]:
        """Yield what was made of the documents, and in the end raise unless something can be concluded from them."""
        yield from documents
        self.check_all()

    def check_all(self) -> None:
        """Raise `DocumentError` if nothing can be concluded from the documents read."""
        if not self.count:
            raise DocumentError("No document could be read, so there is nothing to compare. Look at what was rejected.")
        if not self._has_some:
            self._sought.check()
        if self.without_text.count == self.count:
            raise DocumentError(f"{self.without_text.sentence} Name the fields that hold their texts by --field.")
        if self._others:
            names = ", ".join(sorted(self._others))
            there = what_there_is(self._names, sorted(self._others))
            raise DocumentError(f"None of {counted(self.count, 'document')} has the field {names}. {there}")

    @property
    def warning(self) -> str:
        """What to say of a field that no document has, while others have their texts in another one; often nothing."""
        if not (self._texts and self.count):
            return ""
        there = what_there_is(self._names, self._texts)
        return f"Warning: no document has the field {', '.join(self._texts)}. {there}"


def read_texts(
    found: Iterable[FileDocument],
    fields: Sequence[str],
    on_reject: OnReject,
    named: NamedFields | None = None,
    strip: Sequence[re.Pattern[str]] = (),
) -> Iterator[tuple[FileDocument, str]]:
    """Yield each document with the text of its fields; without fields, of all strings at its top level.

    What the patterns of ``strip`` match is removed from the text.
    """
    there = list(filter(None, fields))  # an empty name is one that no document has
    for each in found:
        if named:
            named.check(each)
        try:
            text = each.text_of(there)
        except DocumentError as error:
            on_reject(each.rejected(f"Document {each.id!r} {error.problem}"))
            continue
        for pattern in strip:
            text = pattern.sub("", text)
        if named:
            named.check_text(each, text)
        yield each, text
