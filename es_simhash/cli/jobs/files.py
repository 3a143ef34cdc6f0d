"""Documents of files for commands: their texts and ids, and files of how rare features are.

What ``load`` writes keeps its ids, so a document must not replace one of an earlier file.
"""

from __future__ import annotations

import json
import os
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from pathlib import Path
from typing import TypeVar

import click
import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import parse_json
from es_simhash.documents.files import FileDocument, whole_file
from es_simhash.documents.files.data_file import as_text
from es_simhash.documents.sources import OnReject, PathsSought, TextSought, WithoutText
from es_simhash.errors import DocumentError, InputError, SchemeMismatchError
from es_simhash.groups.canonical import Canonical
from es_simhash.groups.of_texts import TextCorpus
from es_simhash.groups.pairs.stored_rows import repeated
from es_simhash.scheme.learnt_rarity import LearntRarity
from es_simhash.scheme.rarity import Rarity
from es_simhash.scheme.scheme import Scheme
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


# The line in a key, after the number of the file.
_LINE = re.compile(":[^:]*:")
FORMS = ("ID", "FILE:ID", "FILE:LINE:ID")


class FileIds:
    """What the ids of documents are written as: one of ``FORMS``, the same for all documents of a run.

    Until they are written, they are known by their keys (see `FileDocument`).
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._names = list(map(as_text, paths))
        self.form = FORMS[0]
        for one, other in permutations(self._names, 2):
            if other.startswith(f"{one}:"):
                raise click.UsageError(f"{one}:… may be in {one} or in {other}. Rename one of these files.")
        places = [os.path.realpath(path) for path in paths]
        for place, name in zip(places, self._names, strict=True):
            if places.count(place) > 1:
                raise click.UsageError(f"{name} is given twice, and would be all duplicates. Give it once.")

    def written(self, key: str) -> str:
        """Return what is written for a key."""
        number, line, id_ = key.split(":", 2)
        if self.form == FORMS[0]:
            return id_
        file = self._names[int(number)]
        return f"{file}:{id_}" if self.form == FORMS[1] else f"{file}:{line}:{id_}"

    def named(self, each: FileDocument) -> FileDocument:
        """Give a document the id that is written for it."""
        each.id = self.written(each.key)
        return each

    def give(self, corpus: TextCorpus) -> str:
        """Let documents have these ids, in the form that is chosen; return what is to be said of it."""
        said = self.choose(corpus)
        corpus.written = self.written
        return said

    def choose(self, corpus: TextCorpus) -> str:
        """Choose the shortest form in which ids are distinct; return what is to be said of it, which may be nothing."""
        clash = repeated(lambda: (key.split(":", 2)[2] for key in corpus.ids()))
        within = repeated(lambda: (_LINE.sub(":", key, 1) for key in corpus.ids())) if clash else None
        found = within or clash
        if found is None:
            return ""
        (first, line, id_), (second, other, _) = (key.split(":", 2) for key in corpus.ids_at(found))
        a, b = self._names[int(first)], self._names[int(second)]
        self.form = FORMS[2] if within else FORMS[1]
        where = f"on lines {line} and {other} of {a}" if within else f"in {a} and in {b}"
        shown = self.written(f"{first}:{line}:{id_}")
        return f"The id {id_!r} is {where}. So ids are written as {self.form}, such as {shown}"


class DistinctIds:
    """What the ids of documents are written as where each is printed as soon as it is read.

    The first document with an id keeps it; each later one is written as FILE:LINE:ID.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._later: dict[str, str] = {}

    def written(self, each: FileDocument) -> str:
        """Return what is written for a document; the same document is asked for once."""
        place = f"{each.file}:{each.key.split(':', 2)[1]}"
        if self._first.setdefault(each.id, place) is place:
            return each.id
        written = f"{place}:{each.id}"
        if written in self._first:
            raise DocumentError(f"The ids {each.id!r} and {written!r} become the same. Rename one of them.")
        self._first[written] = self._later[written] = each.id
        return written

    def problem(self, written: str) -> str | None:
        """Return why a document with a written id would replace another one; None if it would not."""
        id_ = self._later.get(written)
        return id_ and f"The id {id_!r} is that of {self._first[id_]}, too, which it would replace. Give it another."

    @property
    def note(self) -> str:
        """A sentence about ids that occur again, to follow another one; empty if none does."""
        if not self._later:
            return ""
        written, id_ = next(iter(self._later.items()))
        again = counted(len(self._later), "document has", "documents have")
        return (
            f" {again} the id of another one: the id {id_!r} is at {self._first[id_]}, too. So they are written as "
            f"{FORMS[2]}, such as {written}."
        )


class LoadedIds:
    """The ids of the documents so far, as hashes of 64 bits: eight bytes a document.

    The hash has another key in each process. Of a hundred million ids, two different ones have the same hash in one run
    of some thousand; the second is then rejected, and named.
    """

    def __init__(self) -> None:
        self._earlier: Integers = np.empty(0, dtype=np.int64)
        self._own = array("q")
        self._path: str | None = None
        self.replaced = 0

    def is_of_another_file(self, each: FileDocument) -> bool:
        """Note an id; return whether a document of an earlier file has it."""
        path = each.key.partition(":")[0]
        if path != self._path:
            self.end()
            self._path = path
        hashed = hash(each.id)
        if len(self._earlier):
            place = int(self._earlier.searchsorted(hashed))
            if place < len(self._earlier) and self._earlier[place] == hashed:
                return True
        self._own.append(hashed)
        return False

    def end(self) -> None:
        """Count the documents of a file that replaced an earlier one of the same file."""
        own = np.frombuffer(self._own, dtype=np.int64) if self._own else self._earlier[:0]
        distinct = np.unique(own)
        self.replaced += len(own) - len(distinct)
        self._earlier = np.union1d(self._earlier, distinct)
        self._own = array("q")


def rarity_in(path: str | None, scheme: Scheme) -> Rarity | None:
    """Read the table that a file keeps for a scheme; None without a path."""
    if path is None:
        return None
    try:
        return LearntRarity.from_json(parse_json(Path(path).read_bytes()), scheme).rarity
    except (InputError, SchemeMismatchError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def write_rarity(path: str, learnt: LearntRarity, scheme: Scheme) -> None:
    """Write what was learnt, as a mapping has it."""
    with whole_file(path) as out:
        json.dump(learnt.to_json(scheme), out)
