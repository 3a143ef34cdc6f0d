"""The texts of documents in files, and the fields that an option names and no document has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from es_simhash.documents.files import FileDocument
from es_simhash.documents.rejected import OnReject
from es_simhash.documents.sources import PathsSought, TextSought, WithoutText
from es_simhash.errors import DocumentError
from es_simhash.groups.canonical import Canonical
from es_simhash.scheme.scope import Scope

Item = TypeVar("Item")


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
        self._sought, self._texts = TextSought(texts), PathsSought(texts)
        chosen = canonical.fields if canonical and not isinstance(canonical.fields, bool) else ()
        others = {*(scope.paths if scope else ()), *chosen, *([date] if date else []), *shown} - {*texts}
        self._others = PathsSought(sorted(others))
        self._has_some = not texts
        self.without_text = WithoutText()

    @property
    def count(self) -> int:
        """The number of documents."""
        return self._texts.count

    def check(self, found: FileDocument) -> None:
        """Look for the fields in a document; raise `DocumentError` if none so far has a text."""
        document = found.document
        self._texts.look_in(document)
        self._others.look_in(document)
        self._has_some = self._has_some or self._sought.is_in(document)

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
        self._others.check()

    @property
    def warning(self) -> str:
        """What to say of a field that no document has, while others have their texts in another one; often nothing."""
        if not (self._texts.missing and self.count):
            return ""
        return f"Warning: no document has the field {', '.join(self._texts.missing)}. {self._texts.there}"


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
