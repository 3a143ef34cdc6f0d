"""The mapping of an index: its fields, and its treatment of unmapped fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote

from es_simhash._core.json_codec import Json, is_true
from es_simhash.engines.embedded.mapping import definitions, values


@dataclass(frozen=True)
class Field:
    """One field with values, or one sub-field; ``source`` is where its values are in documents."""

    path: str
    source: str
    kind: str
    indexed: bool
    analyzer: str | None
    ignore_above: int | None
    subfields: tuple[Field, ...]

    @cached_property
    def term_prefix(self) -> str:
        """The beginning of all terms of the field, which no other field shares."""
        return self.presence + "="

    @cached_property
    def presence(self) -> str:
        """The term of documents that have a value in the field."""
        return quote(self.path, safe="")

    @property
    def column(self) -> str:
        """The field of the store that holds the terms."""
        return "words" if self.analyzer else "exact"

    @cached_property
    def opaque(self) -> bool:
        """Whether the engine only stores values of this type, without looking at them."""
        return self.kind not in definitions.KNOWN_TYPES

    @cached_property
    def write(self) -> Callable[[object], str]:
        """The function that writes a value as a term; an opaque field has none."""
        return values.writer(self.kind)

    @cached_property
    def with_subfields(self) -> tuple[Field, ...]:
        """The field and its sub-fields."""
        return (self, *self.subfields)


class IndexMapping:
    """A checked, immutable mapping with its fields by path."""

    def __init__(self, body: Json) -> None:
        self.body = body
        self.fields: dict[str, Field] = {}
        self.objects: dict[str, str] = {}
        self._add_object("", body, "true")
        for field in list(self.fields.values()):
            self.fields.update({sub.path: sub for sub in field.subfields})

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> IndexMapping:
        """Return the mapping in a request for a new index."""
        return cls(definitions.checked_mapping(body))

    def merged(self, body: Mapping[str, Any]) -> IndexMapping:
        """Return the mapping with more fields; a given ``_meta`` replaces the present one."""
        return IndexMapping(definitions.merged_mapping(self.body, definitions.checked_mapping(body)))

    def owner(self, path: str) -> Field | str:
        """Return the nearest mapped ancestor of a path: a field, or the ``dynamic`` setting of an object."""
        above = path.rpartition(".")[0]
        if above in self.objects:
            return self.objects[above]
        return self.fields.get(above) or self.owner(above)

    def below(self, path: str) -> Iterator[Field]:
        """Yield the field at this path, or those in the object at this path."""
        if field := self.fields.get(path):
            yield field
        elif path in self.objects:
            yield from (field for name, field in self.fields.items() if name.startswith(path + "."))

    def _add_object(self, path: str, body: Json, inherited: str) -> None:
        dynamic = str(body.get("dynamic", inherited)).lower()
        self.objects[path] = dynamic
        for name, definition in body.get("properties", {}).items():
            full_name = f"{path}.{name}" if path else name
            if definitions.is_object(definition):
                self._add_object(full_name, definition, dynamic)
            else:
                self.fields[full_name] = _field(full_name, definition)


def _field(path: str, definition: Json, source: str | None = None) -> Field:
    kind = definition["type"]
    source = source or path
    return Field(
        path,
        source,
        kind,
        kind in definitions.KNOWN_TYPES and is_true(definition.get("index", True)),
        definition.get("analyzer", "standard") if kind == "text" else None,
        definition.get("ignore_above"),
        tuple(_field(f"{path}.{name}", sub, source) for name, sub in definition.get("fields", {}).items()),
    )
