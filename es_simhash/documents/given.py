"""Documents as people have them: texts, rows, pairs of ids and texts, frames, files; read, and given back in part."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from es_simhash._core.arguments import check_many, wrong_type
from es_simhash._core.arrow import pyarrow_module, read_frame
from es_simhash._core.json_codec import Json, value_at
from es_simhash.documents.files import FileDocument, read_documents
from es_simhash.documents.files.data_file import format_by_name
from es_simhash.documents.frame import IDS, AnyFrame, Frame, frame_of
from es_simhash.documents.guess import SAMPLE, only_text
from es_simhash.documents.sources import OnReject, Rejected, as_id, check_sources, text_of, with_some_text
from es_simhash.errors import DocumentError, InputError

# An id and a text; where the options name fields, an object with their values as well.
Document: TypeAlias = tuple[str, str] | tuple[str, str, Mapping[str, Any]]
AnyPath: TypeAlias = str | os.PathLike[str]
Documents: TypeAlias = (
    "Iterable[Document | str | Mapping[str, Any] | os.PathLike[str]] | AnyFrame | AnyPath | GivenDocuments"
)
Wanted: TypeAlias = npt.NDArray[np.bool_]

Item = TypeVar("Item")


class GivenDocuments(ABC):
    """Documents that were given, to be read once."""

    @abstractmethod
    def each(self, paths: Sequence[str] | bool = ()) -> Iterator[Any]:
        """Yield each document as an id, a text, and an object with the values at the paths; True for all values."""

    @abstractmethod
    def only(self, wanted: Wanted) -> Any:
        """Return some of the documents, in the form that they were given in."""


def given_documents(
    documents: Documents,
    fields: str | Sequence[str] = (),
    id_field: str | None = None,
    on_reject: OnReject | None = None,
) -> GivenDocuments:
    """Return documents of any form, by what the first one is."""
    if isinstance(documents, GivenDocuments):
        return documents
    if frame := frame_of(documents):
        if (fields or id_field) and frame is documents:
            raise InputError("The Frame has its fields, and that of the ids. Name them there, and not here.")
        return _OfFrame(Frame(frame.frame, fields, id_field) if fields or id_field else frame)
    chosen = check_sources(fields) if fields else ()
    if isinstance(documents, str | os.PathLike):
        return _OfFiles([documents], chosen, id_field, on_reject)
    if not hasattr(check_many("documents", documents), "__iter__"):
        raise wrong_type("documents", documents, "a list, a frame, or the path of a file")
    return _of_many(documents, chosen, id_field, on_reject)


def _of_many(documents: Any, fields: Sequence[str], id_field: str | None, on_reject: OnReject | None) -> GivenDocuments:
    rest = iter(documents)
    head = list(islice(rest, 1))
    items, again = chain(head, rest), None if rest is documents else documents
    first = head[0] if head else None
    if isinstance(first, os.PathLike):
        return _OfFiles(list(items), fields, id_field, on_reject)
    if isinstance(first, Mapping):
        return _OfRows(items, again, fields, id_field, on_reject)
    if head and (fields or id_field):
        raise InputError(f"A {type(first).__name__} has no fields. Leave out fields and id_field, or give rows.")
    return (_OfTexts if isinstance(first, str) else _OfItems)(items, again)


class _OfItems(GivenDocuments):
    """Pairs of ids and texts; ``again`` are the same once more, unless they can be read only once."""

    def __init__(self, items: Iterator[Any], again: Any) -> None:
        self._items = items
        self._again = again
        self._left_out: list[int] = []

    def each(self, paths: Sequence[str] | bool = ()) -> Iterator[Any]:
        return self._items

    def only(self, wanted: Wanted) -> list[Any]:
        if self._again is None:
            raise InputError(
                "The documents came from an iterator, which is at its end. Give a list to get back what is kept of it."
            )
        return list(_paired(self._again, with_others(wanted, self._left_out)))


class _OfTexts(_OfItems):
    """Texts, known by their positions."""

    def each(self, paths: Sequence[str] | bool = ()) -> Iterator[Any]:
        for position, text in enumerate(self._items):
            if not position and format_by_name(text) and os.path.isfile(text):
                raise InputError(f"{text!r} is the name of a file. Give files as Path({text!r}), or one by its name.")
            yield str(position), text, {}


class _OfRows(_OfItems):
    """Objects with fields."""

    def __init__(
        self, items: Iterator[Any], again: Any, fields: Sequence[str], id_field: str | None, on_reject: OnReject | None
    ) -> None:
        super().__init__(items, again)
        self._fields = fields
        self._id_field = id_field
        self._on_reject = on_reject

    def each(self, paths: Sequence[str] | bool = ()) -> Iterator[Any]:
        rows = _checked(self._items)
        sample = list(islice(rows, SAMPLE))
        ids = self._id_field or next((name for name in IDS if name in sample[0]), None)
        fields = self._fields or only_text(sample)
        for position, row in enumerate(with_some_text(chain(sample, rows), fields, lambda row: row)):
            id = str(position) if ids is None else as_id(value_at(row, ids))
            try:
                if id is None:
                    problem = f"has no id in the field {ids!r}, neither a whole number nor a text"
                    raise DocumentError(f"{problem}. Name another field by id_field=…, or drop the row.")
                yield id, text_of(row, fields), row
            except DocumentError as error:
                Rejected.given(id, position, error.problem).hand_to(self._on_reject)
                self._left_out.append(position)


class _OfFiles(GivenDocuments):
    """Documents in files of any known format."""

    def __init__(
        self, paths: Sequence[AnyPath], fields: Sequence[str], id_field: str | None, on_reject: OnReject | None
    ) -> None:
        self._paths = paths
        self._fields = fields
        self._id_field = id_field
        self._on_reject = on_reject or _raise

    def each(self, paths: Sequence[str] | bool = ()) -> Iterator[Any]:
        return ((each.id, text, each.document) for each, text in self._read(self._on_reject))

    def only(self, wanted: Wanted) -> Iterator[Json]:
        """Yield documents, which are read again, each with its ``_id`` unless its id is among its fields."""
        again = self._read(lambda rejected: None)  # which was handed over before
        return (each.whole for each in _paired((each for each, _ in again), wanted))

    def _read(self, on_reject: OnReject) -> Iterator[tuple[FileDocument, str]]:
        found = read_documents(self._paths, id_field=self._id_field, on_reject=on_reject)
        if not self._fields:
            sample = list(islice(found, SAMPLE))
            self._fields = only_text(each.document for each in sample) if sample else ()
            found = chain(sample, found)
        for each in with_some_text(found, self._fields, lambda each: each.document):
            try:
                yield each, each.text_of(self._fields)
            except DocumentError as error:
                on_reject(each.rejected(f"Document {each.id!r} {error.problem}"))


class _OfFrame(GivenDocuments):
    """The rows of a frame, or of a column."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def each(self, paths: Sequence[str] | bool = ()) -> Iterator[Any]:
        if paths is True:
            raise InputError(
                "Of a frame, only some columns are read. Name those of the order: Canonical.by(rank, fields)."
            )
        return self._frame.pairs_with(paths or ())

    def only(self, wanted: Wanted) -> Any:
        frame: Any = self._frame.frame
        library = type(frame).__module__.partition(".")[0]
        if library not in ("pandas", "polars"):
            frame = frame if hasattr(frame, "filter") and library == "pyarrow" else read_frame(frame).read_all()
        if len(frame) != len(wanted):
            raise InputError(
                f"The frame has {len(frame):,} rows now, and had {len(wanted):,}. Give one that can be read again."
            )
        if library == "pandas":
            return frame[wanted]
        return frame.filter(wanted if library == "polars" else pyarrow_module().array(wanted))


def with_others(wanted: Wanted, left_out: Sequence[int]) -> Wanted:
    """Return the same for all documents, with those that were left out as not wanted."""
    places = np.array(left_out, dtype=np.int64)
    return np.insert(wanted, places - np.arange(len(places)), False) if left_out else wanted


def _paired(items: Iterable[Item], wanted: Wanted) -> Iterator[Item]:
    """Yield the wanted ones of as many items."""
    flags, count = wanted.tolist(), 0
    for count, item in enumerate(items, 1):
        if count <= len(flags) and flags[count - 1]:
            yield item
    if count != len(flags):
        raise InputError(f"{len(flags):,} documents were read, and now there are {count:,}. Group them again.")


def _checked(rows: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for position, row in enumerate(rows):
        if not isinstance(row, Mapping):
            problem = f"is a {type(row).__name__}, but the first one is an object with fields. Give only such objects."
            raise DocumentError(problem, position)
        yield row


def _raise(rejected: Rejected) -> None:
    raise DocumentError(f"{rejected.file}, line {rejected.line:,}: {rejected.reason}")
