"""Fields of canonical documents that duplicates carry. By dates, one query then says which site copies which.

The field ``site`` of the canonical document is stored as ``dedup.of.site`` on its duplicates, mapped as ``site`` is.
Of the first date among the fields, ``dedup.lag_days`` says how many days later the duplicate is dated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

from es_simhash._core.dates import timestamp
from es_simhash._core.json_codec import Json, values_at
from es_simhash.errors import MappingError
from es_simhash.plans.scope_filters import unreadable
from es_simhash.plans.text_fields import TEXTS, field_at
from es_simhash.scheme.mapping import LAG, LAG_PROPERTIES, OF

_NUMBERS = ("long", "integer", "short", "byte", "double", "float", "half_float", "scaled_float", "unsigned_long")
_DATES = ("date", "date_nanos")
_KEYWORDS = ("keyword", "constant_keyword", "wildcard")
# The longest keyword, in characters, that an index takes however many bytes each has; and the usual one of a text.
_LONGEST, _LONGEST_OF_TEXT = 8191, 256
# What decides which values a field takes: the copy must take them all.
_KEPT = ("format", "locale", "scaling_factor", "coerce", "ignore_malformed", "normalizer")
_FORMAT = "strict_date_optional_time||epoch_millis"
# The formats of dates that `timestamp` reads as a server does, if it reads them.
_ISO = re.compile(r"(strict_)?date(_optional_time|_time|_time_no_millis|_optional_time_nanos)?|epoch_millis|iso8601")
_WRITTEN_OUT = re.compile("[yu]{4}-MM-dd.*")
_DAY, _DIGITS = 86_400, 6
_SCALARS = (str, int, float, bool)


Key = TypeVar("Key", bound=Hashable)
Read = Callable[[Sequence[Key], Sequence[str]], Iterable[Json | None]]


@dataclass(frozen=True)
class CopiedFields:
    """The ``paths`` to copy, the path of the ``date`` that gives the lag, and the ``properties`` to map."""

    paths: tuple[str, ...] = ()
    date: str | None = None
    properties: Json | None = None

    @classmethod
    def of(cls, mappings: Mapping[str, Json], paths: Sequence[str]) -> CopiedFields:
        """Return the fields, mapped as these indices map them; raise `MappingError` for one that cannot be copied."""
        if not paths:
            return cls()
        own = {path: _as_mapped(mappings, path) for path in paths}
        date = next((path for path in paths if _gives_lag(own[path])), None)
        properties: Json = reduce(_with_path, own.items(), {})
        return cls(tuple(own), date, {OF: {"properties": properties}} | (LAG_PROPERTIES if date else {}))

    def add(self, duplicates: Mapping[Key, tuple[Json, Key]], read: Read[Key]) -> None:
        """Add the fields to those of duplicates, which come with their canonical documents; ``read`` returns hits."""
        canonicals = [canonical for _, canonical in duplicates.values()]
        keys = list(dict.fromkeys([*canonicals, *(duplicates if self.date else ())]))
        sources = {key: (hit or {}).get("_source") or {} for key, hit in zip(keys, read(keys, self.paths), strict=True)}
        for key, (own, canonical) in duplicates.items():
            own.update(self._fields(sources.get(key, {}), sources[canonical]))

    def _fields(self, own: Json, canonical: Json) -> Json:
        """Return the fields of a duplicate, given its source and that of its canonical document."""
        copied = {path: values for path in self.paths if (values := _values(canonical, path))}
        found: Json = {OF: {path: each if each[1:] else each[0] for path, each in copied.items()}} if copied else {}
        if self.date is not None:
            moments = [next(_moments(source, self.date), None) for source in (own, canonical)]
            if None not in moments:
                found[LAG] = round((moments[0] - moments[1]) / _DAY, _DIGITS)  # type: ignore[operator]
        return found


def _as_mapped(mappings: Mapping[str, Json], path: str) -> Json:
    """Return how to map the copy of a field."""
    found: dict[str, Json] = {}
    for index, mapping in mappings.items():
        if problem := unreadable(mapping, path, is_date=False):
            raise MappingError(f"The field {path!r} of the index {index!r} cannot be copied: {problem}")
        if there := field_at(mapping, path):
            found[index] = _copy_of(index, path, there)
    if not found:
        raise MappingError(
            f"The mapping of {', '.join(mappings)} has no field {path!r}, so its type is unknown. Correct the name "
            "after --copy (copy), or add the field to the mapping."
        )
    (first, own), *others = found.items()
    for index, there in others:
        if there["type"] != own["type"]:
            raise MappingError(
                f"The field {path!r} is copied as {own['type']} from the index {first!r}, and as {there['type']} from "
                f"{index!r}. Group these indices separately, or copy another field."
            )
        formats = (each.get("format", _FORMAT) for each in (own, there))
        own = {**there, **own} | ({} if there.get("format") == own.get("format") else {"format": "||".join(formats)})
    return own


def _copy_of(index: str, path: str, there: Json) -> Json:
    kind = there.get("type", "object")
    kept = {name: there[name] for name in _KEPT if name in there}
    if kind in _KEYWORDS:
        longest = min(int(there.get("ignore_above", _LONGEST)), _LONGEST)
        return {"type": "keyword", **kept, "ignore_above": longest}
    if kind in TEXTS:
        return {"type": "keyword", "ignore_above": _LONGEST_OF_TEXT}
    if kind == "boolean":
        return {"type": kind}
    if kind in (*_NUMBERS, *_DATES, "ip"):
        return {"type": kind, **kept}
    raise MappingError(
        f"The field {path!r} of the index {index!r} is of type {kind}, which cannot be copied. Copy a field of "
        "keywords, dates, numbers, booleans or text, such as one inside an object."
    )


def _gives_lag(own: Json) -> bool:
    formats = own.get("format", _FORMAT).split("||")
    return own["type"] in _DATES and all(_ISO.fullmatch(each) or _WRITTEN_OUT.fullmatch(each) for each in formats)


def _with_path(properties: Json, named: tuple[str, Json]) -> Json:
    """Add a field to properties, inside the objects that its path names."""
    path, own = named
    name, _, rest = path.partition(".")
    if not rest:
        return {**properties, name: own}
    inner = (properties.get(name) or {}).get("properties") or {}
    return {**properties, name: {"properties": _with_path(inner, (rest, own))}}


def _values(source: Json, path: str) -> list[str | float | bool]:
    return [value for value in values_at(source, path) if isinstance(value, _SCALARS)]


def _moments(source: Json, path: str) -> Iterator[float]:
    return (moment for value in values_at(source, path) if (moment := timestamp(value)) is not None)
