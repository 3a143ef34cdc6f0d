"""The copies of a document: what is reviewed before anything is deleted, and written to a file that may be edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from es_simhash._core.json_codec import parse_json
from es_simhash._core.json_paths import Json
from es_simhash._core.rows import Result, as_json, json_record
from es_simhash.errors import FormatError
from es_simhash.live.erase.options import EraseOptions
from es_simhash.live.sweep.document_ref import DocumentRef

# The document whose copies are searched for; one with the same text, or a similar one; one that has that text as a
# part, or is a part of it.
Kind: TypeAlias = Literal["original", "equal", "near", "containing", "contained"]
KINDS: tuple[Kind, ...] = ("original", "equal", "near", "containing", "contained")
# The index, id and routing of a document.
Place: TypeAlias = tuple[str, str, str | None]

_HEADER = "copies_of"


def hash_of(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Source:
    """A text whose copies are searched for: that of a document, by its id, or one that was given.

    ``document`` has its values in the fields that the index keeps apart.
    """

    JSON = ("name", "index", "sha256")

    name: str
    text: str = field(repr=False)
    document: Json = field(repr=False)
    place: Place | None = None

    @property
    def index(self) -> str | None:
        """The index of the document; None for a text that was given."""
        return self.place[0] if self.place else None

    @property
    def sha256(self) -> str:
        """A hash of the text."""
        return hash_of(self.text)


@dataclass(frozen=True)
class Copy:
    """A document that is to be erased, in the version that was compared.

    ``similarity`` is the Jaccard similarity to the text of ``source``; ``source_in_copy`` and ``copy_in_source`` are
    the shares of one text's words in passages that the other has. The document stores a ``fingerprint`` that is
    ``current``, ``stale``, or of an ``other scheme``, or ``none``. Of its text it has a hash, and the beginning.
    """

    index: str
    id: str
    routing: str | None
    seq_no: int
    primary_term: int
    kind: Kind
    source: str
    similarity: float
    source_in_copy: float
    copy_in_source: float
    fingerprint: str
    sha256: str
    # A report on an erasure must not hold the text, so neither JSON nor repr do.
    text: str = field(repr=False)

    @property
    def place(self) -> Place:
        """The index, id and routing."""
        return self.index, self.id, self.routing

    @property
    def version(self) -> tuple[int, int]:
        """The sequence number and the primary term."""
        return self.seq_no, self.primary_term

    @property
    def containment(self) -> float:
        """The larger share of one text's words in passages that the other has."""
        return max(self.source_in_copy, self.copy_in_source)

    @property
    def ref(self) -> DocumentRef:
        """The document in the version that was compared."""
        return DocumentRef(
            self.index, self.id, self.routing, {"if_seq_no": self.seq_no, "if_primary_term": self.primary_term}
        )

    @property
    def reviewed(self) -> Json:
        """All of it, for a review."""
        return {**as_json(self), "text": self.text}


@dataclass(frozen=True)
class Copies(Result):
    """The copies that were found, the most alike first, of the texts ``sources`` in the indices behind a name.

    They agree with these in the fields ``within``. ``reviewed`` are the places of all that were found, also of those
    that have been dropped since. ``incomplete`` says where copies may have been missed.
    """

    JSON = ("index", "sources", "copies", "incomplete")

    index: str
    sources: tuple[Source, ...]
    options: EraseOptions
    within: tuple[str, ...]
    found: tuple[Copy, ...]
    reviewed: frozenset[Place]
    time: str
    incomplete: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of copies."""
        return len(self.found)

    def __iter__(self) -> Iterator[Copy]:
        """Yield the copies."""
        return iter(self.found)

    @property
    def copies(self) -> list[Json]:
        """The copies, for a review."""
        return [copy.reviewed for copy in self.found]

    def only(self, wanted: Callable[[Copy], object]) -> Copies:
        """Drop the copies that are not wanted: they stay in the index."""
        return replace(self, found=tuple(filter(wanted, self.found)))

    def to_lines(self) -> Iterator[str]:
        """Yield lines of JSON: what was searched for, then a line for each copy. Remove those of documents to keep."""
        found = sorted(self.reviewed, key=str)
        yield json_record({_HEADER: {"index": self.index, "time": self.time, "sources": self.sources, "found": found}})
        yield from map(json_record, self.copies)

    def confirmed_by(self, lines: Iterable[str]) -> Copies:
        """Return the copies that edited lines of `to_lines` still have, in the versions that were reviewed.

        Without the first line it is unknown which others were reviewed, so none of these is erased.
        """
        reviewed: frozenset[Place] | None = None
        listed: list[Copy] = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            form = _object(number, line)
            if _HEADER in form:
                reviewed = _reviewed(number, form[_HEADER], self.sources)
            else:
                listed.append(_copy(number, form))
        if reviewed is None:
            reviewed = frozenset(copy.place for copy in self.found)
        return replace(self, found=tuple(listed), reviewed=reviewed | {copy.place for copy in listed})


def _object(number: int, line: str) -> Json:
    try:
        form = parse_json(line)
    except ValueError:
        form = None
    if not isinstance(form, dict):
        raise FormatError(f"Line {number} of the list is not a JSON object. Remove it, or make the list again.")
    return form


def _reviewed(number: int, header: Any, sources: Iterable[Source]) -> frozenset[Place]:
    match header:
        case {"sources": list(listed), "found": list(found)}:
            there = {str(source.get("sha256")) for source in listed if isinstance(source, dict)}
            if there != {source.sha256 for source in sources}:
                raise FormatError(
                    "The list was made for another text, or the document has changed since. Make the list again."
                )
            return frozenset(map(_place, found))
    raise FormatError(f"Line {number} of the list does not say what was searched for. Make the list again.")


def _place(form: Any) -> Place:
    match form:
        case [str(index), str(id_), str() | None as routing]:
            return index, id_, routing
    raise FormatError("The first line of the list names something else than documents. Make the list again.")


_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "str | None": (str, type(None)),
    "int": (int,),
    "float": (int, float),
    "Kind": (str,),
}


def _copy(number: int, form: Json) -> Copy:
    given = {each.name: form.get(each.name) for each in fields(Copy)}
    for each in fields(Copy):
        if not isinstance(given[each.name], _TYPES[str(each.type)]) or isinstance(given[each.name], bool):
            raise FormatError(
                f"Line {number} of the list has no {each.name} of a copy. Keep lines as they are, or remove them whole."
            )
    return Copy(**given)  # type: ignore[arg-type]
