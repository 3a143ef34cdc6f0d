"""What a server is asked to leave out by a scope, as far as the mappings of the indices let it.

A filter leaves out only documents that are out of scope; the exact comparison of what is left decides. So a filter may
be missing, but is never stricter than the scope.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from es_simhash._core.json_paths import Json, is_true, splits
from es_simhash.plans.derived_fields import derived, field_at, is_searchable
from es_simhash.scheme.scope import Scope, ScopeValues

# Longer values may not be in the index, whatever ignore_above says.
_LONGEST = 1000
# Engines take a limited number of clauses; these leave out enough.
_MOST_VALUES = 50
# What a field of a type holds exactly, and may be searched for without an error.
_WHOLE_NUMBERS = {
    "byte": 2**7 - 1,
    "short": 2**15 - 1,
    "integer": 2**31 - 1,
    "long": 2**53,
    "float": 2**24,
    "double": 2**53,
}
_NUMBER = re.compile("-?(?:0|[1-9][0-9]{0,17})")
# Numbers of fewer milliseconds may be years to a server; later ones are not in a field of nanoseconds.
_FIRST_MOMENT, _LAST_MOMENT = 10**10, 9 * 10**12


@dataclass(frozen=True)
class _Mapped:
    """How an index maps a field; it ``is_own`` unless values of other fields come there as well."""

    field: Json
    is_own: bool

    @classmethod
    def of(cls, mapping: Json, path: str) -> _Mapped:
        """Return how a mapping has a field; as without one where queries do not look at what documents have there."""
        computed = {**(mapping.get("runtime") or {}), **(mapping.get("derived") or {})}
        above = (field_at(mapping, name).get("type") for name, rest in splits(path) if rest)
        return cls({} if path in computed or "nested" in above else field_at(mapping, path), not derived(mapping, path))


class ScopeFilters:
    """The filters of a scope over some indices, given by their mappings."""

    def __init__(self, mappings: Mapping[str, Json], scope: Scope) -> None:
        self._scope = scope
        self._mapped: dict[str, list[_Mapped]] = {}
        for path in scope.paths:
            found: list[_Mapped] = []
            for mapping in mappings.values():
                if (mapped := _Mapped.of(mapping, path)) not in found:
                    found.append(mapped)
            self._mapped[path] = found

    def of(self, values: ScopeValues) -> list[Json]:
        """Return queries that every document in scope with these values matches, in all of the indices."""
        scope = self._scope
        found: list[Json] = []
        for path, texts in zip(scope.within, values.within, strict=True):
            found += self._same(path, texts)
        for path, others in zip(scope.across, values.across, strict=True):
            found += self._other(path, others)
        if scope.date is not None and values.date is not None:
            found += self._near(scope.date, values.date - scope.milliseconds, values.date + scope.milliseconds)
        return found

    def _same(self, path: str, texts: Sequence[str]) -> Iterator[Json]:
        for text in texts[:_MOST_VALUES]:
            if name := self._searched(path, text, exactly=False):
                yield {"term": {name: text}}

    def _other(self, path: str, texts: frozenset[str]) -> Iterator[Json]:
        excluded: dict[str, list[str]] = defaultdict(list)
        for text in sorted(texts):
            if name := self._searched(path, text, exactly=True):
                excluded[name].append(text)
        for name, some in excluded.items():
            yield {"bool": {"must_not": [{"terms": {name: some}}]}}

    def _near(self, path: str, first: int, last: int) -> Iterator[Json]:
        mapped, is_usual = self._mapped[path], first >= _FIRST_MOMENT and last <= _LAST_MOMENT
        if is_usual and mapped and all(_has_dates(each.field) for each in mapped):
            # A moment that is read as a date is within a millisecond of it.
            yield {"range": {path: {"gte": _iso(first - 1), "lte": _iso(last + 1)}}}

    def _searched(self, path: str, text: str, exactly: bool) -> str | None:
        """Return the one field by which all indices find the documents with a value; None if one does not.

        With ``exactly``, it must find no others.
        """
        names = {_field_finding(each, path, text, exactly) for each in self._mapped[path]}
        return names.pop() if len(names) == 1 else None


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds // 1000, timezone.utc)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def _has_dates(field: Json) -> bool:
    """Return whether a field holds all dates that documents have there."""
    is_default = "format" not in field and not is_true(field.get("ignore_malformed"))
    return field.get("type") in ("date", "date_nanos") and is_default and is_searchable(field)


def _field_finding(mapped: _Mapped, path: str, text: str, exactly: bool) -> str | None:
    if exactly and not mapped.is_own:
        return None
    if _finds(mapped.field, text, exactly):
        return path
    for name, sub in (mapped.field.get("fields") or {}).items():
        if sub.get("type") == "keyword" and _finds(sub, text, exactly):
            return f"{path}.{name}"
    return None


def _finds(field: Json, text: str, exactly: bool) -> bool:
    """Return whether a field finds documents by a value."""
    kind = field.get("type")
    if not is_searchable(field):
        return False
    if kind in ("keyword", "constant_keyword"):
        longest = min(int(field.get("ignore_above", _LONGEST)), _LONGEST)
        # Servers count UTF-16 units; what cannot be sent is not searched for.
        length = len(text.encode("utf-16-le", "surrogatepass")) // 2
        is_sendable = not any("\ud800" <= character <= "\udfff" for character in text)
        return length <= longest and is_sendable and not (exactly and "normalizer" in field)
    if kind == "boolean":
        # An empty text counts as false there.
        return text == "true" or (text == "false" and not exactly)
    # A number may be held rounded, so documents with another one may be found.
    most = _WHOLE_NUMBERS.get(str(kind), -1)
    return not exactly and bool(_NUMBER.fullmatch(text)) and abs(int(text)) <= most
