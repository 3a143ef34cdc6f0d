"""Documents without any of the text fields: if all are, a name is mistyped, and nothing may be concluded."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from es_simhash._core.batched import Items
from es_simhash._core.humanize import counted
from es_simhash._core.json_length import json_length
from es_simhash._core.json_paths import sets_value_at
from es_simhash.errors import DocumentError

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
        if any(sets_value_at(document, path) for path in self.fields):
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
        return DocumentError(f"None of {count} has the {_named(self.fields)}, so there is no text to compare. {there}")


def what_there_is(names: Iterable[str], fields: Iterable[str]) -> str:
    """Return a sentence with the names of the fields that there are, and one with those that may be meant."""
    names = list(names)
    near = {each: get_close_matches(each, names, 1) for each in fields}
    meant = [f"{found[0]!r} for {each!r}" for each, found in near.items() if found]
    advice = f"Was {' and '.join(meant)} meant?" if meant else "Check how it is written."
    more = ", …" if len(names) > _SHOWN else ""
    return f"They have: {', '.join(names[:_SHOWN]) or 'no fields'}{more}. {advice}"


def _named(fields: Sequence[str]) -> str:
    return f"field {fields[0]}" if len(fields) == 1 else f"fields {' or '.join(fields)}"


@dataclass
class _Held(Generic[Item]):
    """Items held back until one of them has a text; ``body_of`` returns None for one that is no document."""

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
    sought = TextSought(fields)
    if not any(map(sought.is_in, documents)):
        sought.check()


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
        """What is said of them; nothing if there are none."""
        if not self.count:
            return ""
        named = f": {', '.join(self.ids)}{', …' if self.count > len(self.ids) else ''}" if self.ids else ""
        return f"{counted(self.count, 'document has', 'documents have')} no text to compare{named}."
