"""The text of a document: the values of its source fields, joined; its id; and documents that were rejected.

A source field is a dotted path. ``a.b`` is read from ``{"a": {"b": …}}``, from ``{"a.b": …}``, and from every element
of an array on the way. The strings found are joined by line feeds, in the order of the fields, of the spellings of a
field (the shorter first name first), and of arrays. A number or a boolean counts as JSON writes it; null and missing
values do not count.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from os import PathLike
from types import TracebackType
from typing import IO, Any, Generic, TypeAlias, TypeVar

from es_simhash._core.batches import Items
from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json, json_length, parse_json, sets_value_at, values_at
from es_simhash._core.rows import json_record
from es_simhash.errors import DocumentError, EngineError, InputError

# Numbers of a thousand digits have fewer; Python refuses to write some that have more.
_MOST_BITS = 1 << 12


def check_sources(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the source fields as a tuple, if they can be read."""
    paths = (paths,) if isinstance(paths, str) else tuple(paths or ())
    if not paths or not all(isinstance(path, str) and all(path.split(".")) for path in paths):
        raise InputError(f"Texts cannot be read from the fields {paths!r}. Give the names of one or more text fields.")
    return paths


def text_of(document: Mapping[str, Any], paths: Sequence[str]) -> str:
    """Return the text of a document."""
    strings: list[str] = []
    for path in paths:
        plain = document.get(path)
        if type(plain) is str and "." not in path:
            strings.append(plain)  # as nearly always
        else:
            strings += _strings(document, path)
    text = "\n".join(strings)
    if text.isascii():  # which costs no look at the text
        return text
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DocumentError(
            f"has a lone surrogate (U+{ord(text[error.start]):04X}) in its text, so it is not Unicode text. "
            "Decode it again, with the right encoding."
        ) from None
    return text


def as_id(value: Any) -> str | None:
    """Return a text as an id, or the digits of a whole number, up to a thousand; None for anything else."""
    # Not as str() has them: that of an enumeration's member is its name.
    if isinstance(value, str):
        return str.__str__(value) or None
    if isinstance(value, int) and not isinstance(value, bool) and int.bit_length(value) <= _MOST_BITS:
        return int.__repr__(value)
    return None


def patterns(expressions: Iterable[str]) -> list[re.Pattern[str]]:
    """Compile regular expressions whose matches are left out of texts."""
    found = []
    for expression in expressions:
        try:
            found.append(re.compile(expression))
        except re.error as error:
            raise InputError(f"{expression!r} is not a regular expression: {error}. Correct it.") from error
    return found


def _written(value: float, path: str) -> str:
    try:
        return json.dumps(value)
    except ValueError:  # Python refuses to write them
        problem = f"has a number of thousands of digits in the source field {path!r}. Give it as a text."
        raise DocumentError(problem) from None


def _strings(document: Mapping[str, Any], path: str) -> Iterator[str]:
    for value in values_at(document, path):
        if isinstance(value, str):
            yield value
        elif isinstance(value, bool | int | float):
            yield _written(value, path)
        elif value is not None:
            raise DocumentError(
                f"has a value of type {type(value).__name__} in the source field {path!r}. Choose a field of text."
            )


_FORMS = "Give true, false, a path, a list of paths, or an object with includes and excludes."


@dataclass(frozen=True)
class SourceFilter:
    """The paths to include and to exclude; ``*`` in them matches any characters."""

    wanted: bool
    includes: re.Pattern[str] | None = None
    above_includes: re.Pattern[str] | None = None
    excludes: re.Pattern[str] | None = None

    @classmethod
    def of(cls, source: Any) -> SourceFilter:
        """Parse ``_source`` of a request."""
        if isinstance(source, bool):
            return cls(source)
        if isinstance(source, str | list | tuple):
            source = {"includes": source}
        if not isinstance(source, dict) or set(source) - {"includes", "excludes"}:
            raise EngineError(f"_source cannot be {source!r}. {_FORMS}")
        return _of_paths(_paths(source.get("includes")), _paths(source.get("excludes")))

    def apply(self, source: bytes) -> Json | None:
        """Return the part of a document, given as JSON, that passes; None if no source is wanted."""
        # Of bytes, the reader would look for their encoding first.
        return self.part_of(parse_json(source.decode())) if self.wanted else None

    def part_of(self, document: Json) -> Json:
        """Return the part of a document that passes the paths."""
        if self.includes is None and self.excludes is None:
            return document
        return self._part(document, "", self.includes is None)

    def _part(self, value: Json, above: str, included: bool) -> Json:
        part: Json = {}
        for name, inner in value.items():
            path = f"{above}{name}"
            if self.excludes and self.excludes.fullmatch(path):
                continue
            inside = included or bool(self.includes and self.includes.fullmatch(path))
            if inside or (self.above_includes and self.above_includes.fullmatch(path)):
                part |= self._kept(name, inner, path, inside)
        return part

    def _kept(self, name: str, value: Any, path: str, included: bool) -> Json:
        """Return the value under its name, or nothing if no part of it passes."""
        if isinstance(value, dict):
            kept: Any = self._part(value, path + ".", included)
            return {name: kept} if kept or included else {}
        if isinstance(value, list):
            parts = [self._kept(name, inner, path, included) for inner in value]
            kept = [part[name] for part in parts if part]
            return {name: kept} if kept or included else {}
        return {name: value} if included else {}


def _paths(paths: Any) -> tuple[str, ...]:
    paths = [paths] if isinstance(paths, str) else paths or []
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str) for path in paths):
        raise EngineError(f"_source cannot have the paths {paths!r}. {_FORMS}")
    return tuple(paths)


@lru_cache
def _of_paths(includes: tuple[str, ...], excludes: tuple[str, ...]) -> SourceFilter:
    return SourceFilter(
        True,
        _matching(includes) if includes else None,
        _leading_to(includes) if includes else None,
        _matching(excludes) if excludes else None,
    )


def _matching(patterns: Sequence[str]) -> re.Pattern[str]:
    """Match the paths that match one of the patterns, and those below them."""
    return re.compile("|".join(rf"{_regex(pattern)}(?:\..*)?" for pattern in patterns), re.DOTALL)


def _leading_to(patterns: Sequence[str]) -> re.Pattern[str]:
    """Match the paths of objects that may hold a path matching one of the patterns."""
    starts = []
    for pattern in patterns:
        for i, character in enumerate(pattern):
            if character == ".":
                starts.append(_regex(pattern[:i]))
            elif character == "*":
                starts.append(_regex(pattern[: i + 1]))
    return re.compile("|".join(starts) or r"(?!)", re.DOTALL)


def _regex(pattern: str) -> str:
    return ".*".join(map(re.escape, pattern.split("*")))


Item = TypeVar("Item")

# Documents, and characters of them, that may come before the first with one of the text fields.
MOST_WITHOUT_TEXT, MOST_CHARACTERS = 1_000, 8 << 20
_NAMES, _SHOWN = 100, 12


@dataclass
class TextSought:
    """Looks for a document that has one of the ``fields``; an empty one will do, or one that cannot be read."""

    fields: Sequence[str]
    _count: int = 0
    _characters: int = 0
    _names: dict[str, None] = field(default_factory=dict)

    def is_in(self, document: Mapping[str, Any]) -> bool:
        """Return whether a document has one of the fields; raise `DocumentError` if too many in turn have none."""
        if any(path and sets_value_at(document, path) for path in self.fields):
            return True
        self._count += 1
        self._characters += json_length(document)
        if len(self._names) < _NAMES:
            self._names.update(dict.fromkeys(map(str, document)))
        if self._count >= MOST_WITHOUT_TEXT or self._characters >= MOST_CHARACTERS:
            raise self.error(so_far=True)
        return False

    def check(self) -> None:
        """Raise `DocumentError` if there were documents; to be called where none had one of the fields."""
        if self._count:
            raise self.error()

    def error(self, so_far: bool = False) -> DocumentError:
        """Return the error that names the fields wanted, and those that there are."""
        count = f"the first {counted(self._count, 'document')}" if so_far else counted(self._count, "document")
        there = what_there_is(self._names, self.fields)
        return DocumentError(f"None of {count} has the {_named(self.fields)}, so no text can be compared. {there}")


class PathsSought:
    """Looks for the fields at some ``paths`` in documents; those that no document has are ``missing``."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.missing = list(dict.fromkeys(paths))
        self.count = 0
        self._names: dict[str, None] = {}

    def look_in(self, document: Mapping[str, Any]) -> None:
        """Look for the fields in a document."""
        self.count += 1
        if self.missing:
            self.missing = [path for path in self.missing if not (path and sets_value_at(document, path))]
            if len(self._names) < _NAMES:
                self._names |= dict.fromkeys(map(str, document))

    @property
    def there(self) -> str:
        """A sentence with the fields that documents have, and one with those that may be meant."""
        return what_there_is(self._names, self.missing)

    def check(self) -> None:
        """Raise `DocumentError` if there were documents, and none has one of the fields."""
        if self.missing and self.count:
            names = ", ".join(self.missing)
            raise DocumentError(f"None of {counted(self.count, 'document')} has the field {names}. {self.there}")


def what_there_is(
    names: Iterable[str],
    fields: Iterable[str],
    they: str = "They have:",
    advice: str = "Check the spelling.",
) -> str:
    """Return a sentence with the names of the fields that there are, and one with those that may be meant."""
    names = list(names)
    near = {each: get_close_matches(each, names, 1) for each in fields}
    meant = [f"{found[0]!r} instead of {each!r}" for each, found in near.items() if found]
    advice = f"Did you mean {' and '.join(meant)}?" if meant else advice
    more = ", …" if len(names) > _SHOWN else ""
    return f"{they} {', '.join(names[:_SHOWN]) or 'no fields'}{more}. {advice}"


def _named(fields: Sequence[str]) -> str:
    names = [each or "''" for each in fields]  # what was given as an empty text
    return f"field {names[0]}" if len(names) == 1 else f"fields {' or '.join(names)}"


@dataclass
class _Held(Generic[Item]):
    """Items held back until one of them has a text; ``body_of`` returns None for one that is not a document."""

    sought: TextSought
    body_of: Callable[[Item], Mapping[str, Any] | None]
    items: list[Item] = field(default_factory=list)
    _others: int = 0

    def is_over(self, item: Item) -> bool:
        """Hold an item; return whether no more need be held."""
        self.items.append(item)
        if (body := self.body_of(item)) is not None:
            return self.sought.is_in(body)
        self._others += json_length(item)
        return len(self.items) >= MOST_WITHOUT_TEXT or self._others >= MOST_CHARACTERS


def with_some_text(
    items: Iterable[Item], fields: Sequence[str], body_of: Callable[[Item], Mapping[str, Any] | None]
) -> Iterator[Item]:
    """Yield items, from the first that has one of the fields on with those before it; raise if none has."""
    held, rest = _Held(TextSought(fields), body_of), iter(items)
    if not any(map(held.is_over, rest)):
        held.sought.check()
    yield from held.items
    held.items.clear()
    yield from rest


def check_some_text(documents: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> None:
    """Raise `DocumentError` if there are documents, and none of them has one of the fields."""
    next(with_some_text(documents, fields, lambda document: document), None)


async def async_with_some_text(
    items: Items[Item], fields: Sequence[str], body_of: Callable[[Item], Mapping[str, Any] | None]
) -> AsyncIterator[Item]:
    """Yield the same of items that may come asynchronously."""
    if not isinstance(items, AsyncIterable):
        for item in with_some_text(items, fields, body_of):
            yield item
        return
    held, is_over = _Held(TextSought(fields), body_of), False
    async for item in items:
        if is_over:
            yield item
        elif is_over := held.is_over(item):
            for each in held.items:
                yield each
            held.items.clear()
    if not is_over:
        held.sought.check()
        for each in held.items:
            yield each


def body_of_action(action: Any) -> Mapping[str, Any] | None:
    """Return the document of an action that indexes a whole one; None for another action."""
    if not isinstance(action, Mapping) or action.get("_op_type", "index") not in ("index", "create"):
        return None
    body = action.get("_source", action)
    if not isinstance(body, Mapping):
        return None
    return body if body is not action else {name: value for name, value in action.items() if name[:1] != "_"}


@dataclass
class WithoutText:
    """Counts documents without a text to compare, and names the first of them."""

    count: int = 0
    ids: list[str] = field(default_factory=list)

    def add(self, id_: str | None) -> None:
        """Count a document."""
        self.count += 1
        if id_ is not None and len(self.ids) < _SHOWN:
            self.ids.append(id_)

    @property
    def sentence(self) -> str:
        """A sentence about them; empty if there are none."""
        if not self.count:
            return ""
        named = f": {', '.join(self.ids)}{', …' if self.count > len(self.ids) else ''}" if self.ids else ""
        return f"{counted(self.count, 'document has', 'documents have')} no text to compare{named}."


_EXCERPT = 200


@dataclass(frozen=True, kw_only=True)
class Rejected:
    """A document that could not be processed: its id, if it is known, the reason, and its place.

    The place is the ``position`` among documents that were given, the ``line`` of a ``file`` (with an ``excerpt``, cut
    and safe to print on a terminal), or an ``index``. It ``may_pass`` where the reason may be gone the next time.

    >>> index.add([{"_id": "7", "title": {"an": "object"}}]).rejected[0].id
    '7'
    """

    id: str | None = None
    reason: str
    position: int = 0
    index: str = ""
    file: str = ""
    line: int = 0
    excerpt: str = ""
    may_pass: bool = False

    def __post_init__(self) -> None:
        if self.excerpt:
            object.__setattr__(self, "excerpt", printable(self.excerpt[:_EXCERPT])[:_EXCERPT])

    @classmethod
    def given(cls, id: str | None, position: int, problem: str) -> Rejected:
        """Reject a document that was given; the reason names it by its id, or else by its position.

        >>> Rejected.given("7", 0, "has no text.").reason
        "Document '7' has no text."
        """
        return cls(id=id, position=position, reason=f"Document {position if id is None else repr(id)} {problem}")

    def hand_to(self, on_reject: OnReject | None) -> None:
        """Call ``on_reject`` with it; without one, raise a `DocumentError`.

        >>> reasons = []
        >>> Rejected(reason="It has no text.").hand_to(lambda rejected: reasons.append(rejected.reason))
        >>> reasons
        ['It has no text.']
        """
        if on_reject is None:
            raise DocumentError(self.reason) from None
        on_reject(self)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON; the parts of its place that it has not are None.

        >>> Rejected(id="7", reason="It has no text.").to_json()["id"]
        '7'
        """
        place = {"file": self.file or None, "line": self.line or None, "index": self.index or None}
        position = None if self.file or self.index else self.position
        said = {"reason": self.reason, "excerpt": self.excerpt or None, "may_pass": self.may_pass}
        return {**place, "position": position, "id": self.id, **said}


def printable(text: str) -> str:
    """Escape all that a terminal would act on: control, format and surrogate characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


OnReject: TypeAlias = Callable[[Rejected], object]


class RejectFile:
    """Appends rejections to a file of JSON lines, each with its place and reason, and counts them.

    ``may_pass`` counts those that may not be rejected the next time.

        with RejectFile("rejected.jsonl") as rejects:
            for found in read_documents(paths, on_reject=rejects):
                ...

    The file is created with the first rejection, so there is none if all went well.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path
        self.count = self.may_pass = 0
        self._file: IO[str] | None = None

    def __call__(self, rejected: Rejected) -> None:
        """Append a rejection."""
        if self._file is None:
            # By the line, so that nothing is lost should the process be killed. A lone surrogate, as in the name of a
            # file, becomes its escape, which is right in JSON too.
            self._file = open(self.path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
        self._file.write(json_record(rejected))
        self.count += 1
        self.may_pass += rejected.may_pass

    def __enter__(self) -> RejectFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def decoded_excerpt(raw: bytes, encoding: str) -> str:
    """Decode the beginning of a line that may be invalid."""
    # Four bytes are the longest character; the line may be megabytes long.
    return raw[: 4 * _EXCERPT].decode(encoding, errors="backslashreplace").strip()
