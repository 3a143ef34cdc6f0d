"""The copies of a document: what is reviewed before anything is deleted, and written to a file that may be edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Any, Literal, TypeAlias
from unicodedata import normalize

import numpy as np

from es_simhash._core.arguments import check_types
from es_simhash._core.environment import PATIENCE
from es_simhash._core.humanize import counted, share
from es_simhash._core.json_codec import Json, parse_json
from es_simhash._core.rows import Result, as_json, json_record
from es_simhash.documents.documents import Documents, fingerprinted
from es_simhash.errors import FormatError, InputError
from es_simhash.live.sweep.reading import DocumentRef
from es_simhash.plans.open_index import IndicesBehind
from es_simhash.plans.operations import Count, Plan, attempt
from es_simhash.plans.scope_filters import ScopeFilters, check_scope
from es_simhash.plans.text_fields import field_at, is_searchable
from es_simhash.scheme import passages, query
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import MAX_KEYS
from es_simhash.text.features import batch
from es_simhash.text.words import word_spans

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


# The words of half a part, which is also the first half of the next; those of a long text are longer.
_HALF, _MOST_PARTS = 13, 200
# The beginning of a text that is sent as a whole; of more, a server would choose hardly other words.
_WHOLE = 50_000
_OF_WHOLE: Json = {"max_query_terms": 50, "minimum_should_match": "20%"}
# All words of a part: what stands in half of it has half of them, however common each is.
_OF_PART: Json = {"max_query_terms": 2 * _HALF, "minimum_should_match": "30%"}
# The full-width forms of printable ASCII.
_WIDE = {point: point - 0x20 + 0xFF00 for point in range(0x21, 0x7F)}


def by_keys(documents: Iterable[Documents], text: str) -> Iterator[Json]:
    """Yield the queries for the keys of a text in indices whose documents are made in one of these ways."""
    ways = {(own.scheme.id, own.prefix): own for own in documents}
    for own in ways.values():
        yield from _by_keys(own, text)
        yield from _by_passages(own, text)


def by_words(fields: Sequence[str], text: str) -> Iterator[Json]:
    """Yield the queries for the words of a text, and of its parts, in any of these fields."""
    if fields:
        yield _by_words(fields, text[:_WHOLE], _OF_WHOLE)
        for part in parts(text):
            yield _by_words(fields, part, _OF_PART)


def has_words(mapping: Json, path: str) -> bool:
    """Return whether a field of an index can be searched for words; Elasticsearch refuses it for any other."""
    field = field_at(mapping, path)
    return field.get("type") in ("text", "keyword") and is_searchable(field)


def parts(text: str) -> list[str]:
    """Cut a text into parts that overlap by half; none of a text that is one itself."""
    spans, units = word_spans(batch([text])), text.encode("utf-16-le")
    count = len(spans.starts)
    half = max(_HALF, -(-count // _MOST_PARTS))
    if count <= 2 * half:
        return []
    starts, ends = spans.starts[: count - half : half], np.append(spans.ends[2 * half - 1 :: half], spans.ends[-1])
    edges = zip(starts.tolist(), ends.tolist(), strict=False)
    return [units[2 * start : 2 * end].decode("utf-16-le") for start, end in edges]


def _forms(text: str) -> list[str]:
    """Return a text as it is, and with letters of the other width, which are other letters to a server."""
    return list(dict.fromkeys((text, normalize("NFKC", text), text.translate(_WIDE))))


def _by_keys(documents: Documents, text: str) -> Iterator[Json]:
    [(fingerprint, fields)] = fingerprinted(documents, [text])
    scheme = documents.scheme
    if fingerprint.status != "empty":
        # The farthest distance at which two SimHashes are sure to share a block, and the lowest similarity.
        criteria = Criteria(scheme.simhash.blocks - 1 if scheme.simhash else None, 0.0 if scheme.minhash else None)
        yield query.clause(scheme, fingerprint, criteria, documents.prefix, shared=1, fields=fields)


def _by_passages(documents: Documents, text: str) -> Iterator[Json]:
    """Find documents that contain the text, or parts of it, by the keys that they store of their passages."""
    if documents.scheme.passages is None:
        return
    words, _ = passages.words_of(documents.scheme, [text])
    keys, _ = passages.query_keys(documents.scheme, words, most=passages.MOST_RUNS)
    terms = [{"term": {f"{documents.prefix}.{passages.FIELD}": key}} for key in keys]
    for start in range(0, len(terms), MAX_KEYS):
        yield {"bool": {"should": terms[start : start + MAX_KEYS], "minimum_should_match": 1}}


def _by_words(fields: Sequence[str], text: str, settings: Json) -> Json:
    chosen = {"min_term_freq": 1, "min_doc_freq": 1, "include": True, **settings}
    should = [
        {"more_like_this": {"fields": [field], "like": [form], **chosen}} for field in fields for form in _forms(text)
    ]
    return {"bool": {"should": should, "minimum_should_match": 1}}


@dataclass(frozen=True)
class Tenants:
    """Documents that differ in the fields of a ``scope`` are apart; None if nothing is."""

    scope: Scope | None
    mappings: Mapping[str, Json]

    @classmethod
    def of(cls, behind: IndicesBehind) -> Tenants:
        """Return what the policy of indices keeps apart."""
        paths = behind.policy.scope.within if behind.policy.scope else ()
        scope = Scope(within=paths) if paths else None
        if scope:
            check_scope(behind.mappings, scope)
        return cls(scope, behind.mappings)

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields to read of documents."""
        return self.scope.paths if self.scope else ()

    def check_given(self, options: EraseOptions, texts: Sequence[str]) -> None:
        """Refuse texts without a value in these fields, and values that nothing reads."""
        given = options.scope_values or {}
        if unread := sorted(set(given) - set(self.paths if texts else ())):
            raise InputError(f"No text needs a value in {', '.join(unread)}. Leave it out of the scope values.")
        if texts and self.scope and (missing := self.scope.missing(given)):
            raise InputError(
                f"A text has no value in {', '.join(missing)}, which keeps texts apart. Give it in the scope values."
            )

    def are_together(self, source: Source, document: Json) -> bool:
        """Return whether a document may be a copy of a source."""
        if self.scope is None:
            return True
        return self.scope.in_scope(self.scope.values_of(source.document), self.scope.values_of(document))

    def filters(self, index: str, sources: Sequence[Source]) -> Plan[list[list[Json] | None]]:
        """Return for each source queries that all documents match that may be its copies; None if there are none."""
        if self.scope is None:
            return [[] for _ in sources]
        filters = yield from ScopeFilters.tried(index, self.mappings, self.scope)
        known = [self.scope.values_of(source.document) for source in sources]
        return [None if values is None else filters.of(values) for values in known]

    def unknown(self, index: str) -> Plan[list[str]]:
        """Say how many documents have no value in one of the fields: they are copies of nothing."""
        found = []
        for path in self.paths:
            count = yield from attempt(Count(index, {"bool": {"must_not": [{"exists": {"field": path}}]}}))
            if count:
                found.append(f"{count:,} documents have no value in {path}, so they count as copies of nothing")
        return found


# Why a document is left: the reviewer dropped it; it appeared after the review, or changed, and nobody has confirmed
# its text; it has changed, and is not a copy any more; the engine refused to delete it; others write copies faster than
# these can be deleted.
Reason: TypeAlias = Literal["dropped", "appeared", "changed", "no copy now", "refused", "too many rounds"]


@dataclass(frozen=True)
class Deleted:
    """A copy that was deleted, when, and in which round; it ``appeared`` if no review or earlier round had it."""

    copy: Copy
    round: int
    time: str
    appeared: bool


@dataclass(frozen=True)
class LeftCopy:
    """A document that was not deleted, and why; ``detail`` is what the engine said."""

    copy: Copy
    reason: Reason
    detail: str = ""


@dataclass
class Erased(Result):
    """The result of an erasure: the documents deleted and left, and the login that did it.

    ``gone`` confirmed documents were deleted by others. The ``decisions`` of people on deleted ones were deleted as
    well. ``incomplete`` says where copies may have been missed. Until
    the erasure is over, ``finished`` is None.
    """

    JSON = ("*", "is_complete")

    index: str
    by: str
    started: str
    sources: Sequence[Source]
    options: EraseOptions
    within: Sequence[str] = ()
    finished: str | None = None
    rounds: int = 0
    deleted: list[Deleted] = field(default_factory=list)
    left: list[LeftCopy] = field(default_factory=list)
    gone: int = 0
    conflicts: int = 0
    decisions: int = 0
    incomplete: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether no copies are left, apart from those that the reviewer dropped, and none may have been missed."""
        is_over = self.finished is not None and not self.incomplete
        return is_over and all(each.reason == "dropped" for each in self.left)

    def to_text(self) -> str:
        """Return the report for people."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"Erasure in {self.index}, by {self.by}"
        yield f"Started {self.started}, {'finished ' + self.finished if self.finished else 'not finished'}"
        criteria = f"Jaccard similarity from {self.options.similarity}, or containment from {self.options.containment}"
        yield f"{counted(self.rounds, 'round')}; copies by {criteria}"
        for source in self.sources:
            yield f"Copies of {source.name}, SHA-256 {source.sha256}"
        yield f"{counted(len(self.deleted), 'document')} deleted, {len(self.left)} left, {self.gone} gone before"
        if self.decisions:
            yield f"{counted(self.decisions, 'decision')} on these documents deleted"
        for deleted in self.deleted:
            when = f"round {deleted.round}, {deleted.time}{', appeared during the run' if deleted.appeared else ''}"
            yield f"  deleted  {_line(deleted.copy)}, {when}"
        for left in self.left:
            detail = f": {left.detail}" if left.detail else ""
            yield f"  left     {_line(left.copy)}, {left.reason}{detail}"
        for where in self.incomplete:
            yield f"Copies may have been missed: {where}"


def _line(copy: Copy) -> str:
    shares = f"similarity {share(copy.similarity)}, containment {share(copy.containment)}"
    version = f"sequence number {copy.seq_no}, term {copy.primary_term}"
    return f"{copy.index} {copy.id!r}: {copy.kind}, {shares}, {version}, SHA-256 {copy.sha256}"


@dataclass(frozen=True)
class EraseOptions:
    """What a copy is, and how copies are found.

    - ``similarity``: the minimum Jaccard similarity of a near copy.
    - ``containment``: the minimum share of one text's words in passages that the other has.
    - ``keep_original``: the documents whose ids are given stay; only their copies are erased.
    - ``scope_values``: the values of texts that are given in the fields that the index keeps apart.
    - ``scan``: compare every document of the index, not only those that searches find.
    - ``patience``: seconds to wait for an engine that is away or overloaded.

    >>> [copy.id for copy in index.copies(["1"], similarity=0.5, keep_original=True)]
    ['2']
    """

    JSON = ("similarity", "containment", "keep_original", "scan")

    similarity: float = 0.5
    containment: float = 0.9
    keep_original: bool = False
    scope_values: Mapping[str, Any] | None = None
    scan: bool = False
    patience: float = PATIENCE

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("similarity", "containment"):
            value = getattr(self, name)
            if not 0 < value <= 1:
                raise InputError(f"The {name} of a copy cannot be {value!r}. Choose a share above 0, up to 1.")
