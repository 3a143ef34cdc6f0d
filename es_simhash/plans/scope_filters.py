"""The fields of a scope in the mappings of indices: whether documents can have them, and what a server filters by them.

A filter leaves out only documents that are out of scope; the exact comparison of what is left decides. So a filter may
be missing, but is never stricter than the scope.

For numbers that is not what an index does by itself. In a keyword field, 7 is found as "7", and 7.0 and 70e-1 as other
words; to a scope, all are the number 7. So a filter by a number also lets through what was written with a fraction
or an exponent and begins with the same digits: a pattern finds it. Only a number of more characters than
``ignore_above`` is in no index.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Context, Decimal
from typing import Any

from es_simhash._core.json_codec import Json, is_false, is_true, splits
from es_simhash.documents.sources import SourceFilter
from es_simhash.errors import EngineError, MappingError, UnavailableError, UnreachableError
from es_simhash.plans.operations import Plan, Search
from es_simhash.plans.text_fields import derived, field_at, is_searchable
from es_simhash.scheme.scope import Scope, ScopeValues, number_in

# Longer values may not be in the index, whatever ignore_above says.
_LONGEST = 1000
# Engines take a limited number of clauses; these leave out enough.
_MOST_VALUES = 50
_KEYWORDS = ("keyword", "constant_keyword")
# Numbers with a fraction or an exponent, as both servers and the embedded engine understand patterns.
_REST = "[-+.eE0-9]*"
_FRACTION = f"-?[0-9]+[.eE]{_REST}"
# The first digits, which a pattern compares. More make it slower than what they leave out.
_DIGITS = 3
# Between these, numbers are rounded by a part of themselves, less than this.
_LEAST_NORMAL, _LARGEST, _EXACT = Decimal("3e-308"), Decimal("1.7e308"), Context(prec=40)
_ROUNDED = (Decimal(1 - 2**-52), Decimal(1 + 2**-52))
# Numbers are written with fewer characters.
_LONGEST_WRITTEN = 64
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


def check_scope(mappings: Mapping[str, Json], scope: Scope) -> None:
    """Raise a `MappingError` for a field of a scope that cannot be read from the documents of an index."""
    for index, there in mappings.items():
        for path in scope.paths:
            if problem := unreadable(there, path, is_date=path == scope.date):
                raise MappingError(f"The field {path!r} of the scope cannot be read in the index {index!r}: {problem}")


def unreadable(mapping: Json, path: str, *, is_date: bool) -> str | None:
    """Return why a field, or a date, cannot be read from the documents of an index; None if it can."""
    if (there := derived(mapping, path)) and there.always:
        return f"it is {there.what}. Name the field that documents have."
    source = mapping.get("_source") or {}
    kept = SourceFilter.of({name: source[name] for name in ("includes", "excludes") if source.get(name)})
    nested: Any = None
    for name in reversed(path.split(".")):
        nested = {name: nested}
    if is_false(source.get("enabled")) or kept.part_of(nested) != nested:
        return "its _source leaves it out. Name another field, or reindex with it."
    if is_date and "epoch_second" in str(field_at(mapping, path).get("format")):
        return "it holds seconds, where milliseconds or ISO 8601 are read. Name another field of dates."
    return None


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
    """The filters of a scope over some indices, given by their mappings.

    Without ``patterns``, no expensive queries are made, which a cluster may refuse.
    """

    def __init__(self, mappings: Mapping[str, Json], scope: Scope, patterns: bool = True) -> None:
        self._scope = scope
        self._patterns = patterns
        self._mapped: dict[str, list[_Mapped]] = {}
        for path in scope.paths:
            found: list[_Mapped] = []
            for mapping in mappings.values():
                if (mapped := _Mapped.of(mapping, path)) not in found:
                    found.append(mapped)
            self._mapped[path] = found

    @classmethod
    def tried(cls, index: str, mappings: Mapping[str, Json], scope: Scope) -> Plan[ScopeFilters]:
        """Return the filters, having tried whether the cluster takes patterns, if these make any."""
        filters = cls(mappings, scope)
        clauses = [clause for path in scope.within for clause in filters._same(path, ["0"]) if "bool" in clause]
        if clauses:
            try:
                yield Search(index, {"query": {"bool": {"filter": clauses}}, "size": 0, "track_total_hits": False})
            except (UnreachableError, UnavailableError):
                raise
            except EngineError:
                return cls(mappings, scope, patterns=False)
        return filters

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
            clauses = [_finding(each, path, text, self._patterns) for each in self._mapped[path]]
            # One query must do for all indices.
            if clauses and clauses[0] and all(clause == clauses[0] for clause in clauses):
                yield clauses[0]

    def _other(self, path: str, texts: frozenset[str]) -> Iterator[Json]:
        excluded: dict[str, list[str]] = defaultdict(list)
        for text in sorted(texts):
            names = {_field_with(each, path, text) for each in self._mapped[path]}
            if len(names) == 1 and (name := names.pop()):
                excluded[name].append(text)
        for name, some in excluded.items():
            yield {"bool": {"must_not": [{"terms": {name: some}}]}}

    def _near(self, path: str, first: int, last: int) -> Iterator[Json]:
        mapped, is_usual = self._mapped[path], first >= _FIRST_MOMENT and last <= _LAST_MOMENT
        if is_usual and mapped and all(_has_dates(each.field) for each in mapped):
            # A moment that is read as a date is within a millisecond of it.
            yield {"range": {path: {"gte": _iso(first - 1), "lte": _iso(last + 1)}}}


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds // 1000, timezone.utc)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def _has_dates(field: Json) -> bool:
    """Return whether a field holds all dates that documents have there."""
    is_default = "format" not in field and not is_true(field.get("ignore_malformed"))
    return field.get("type") in ("date", "date_nanos") and is_default and is_searchable(field)


def _finding(mapped: _Mapped, path: str, text: str, patterns: bool) -> Json | None:
    """Return a query for all documents with a value, and perhaps for more; None if an index has none."""
    for name, held in _fields(mapped, path):
        kind = held.get("type")
        if kind in _KEYWORDS and _holds(held, text):
            if number_in(text) != text:
                return {"term": {name: text}}
            return _number_in_keywords(name, held, text) if patterns else None
        if kind == "boolean" and text in ("true", "false"):
            return {"term": {name: text}}
        if _NUMBER.fullmatch(text) and abs(int(text)) <= _WHOLE_NUMBERS.get(str(kind), -1) and not _drops(held):
            # A number may be held rounded, so documents with another one may be found. Zeros have signs.
            zeros = int(text) == 0 and kind in ("float", "double")
            return {"terms": {name: ["0", "-0"]}} if zeros else {"term": {name: text}}
    return None


def _number_in_keywords(name: str, field: Json, text: str) -> Json | None:
    """Return a query for the documents that have a number in a keyword field, which holds it as it is written."""
    if "normalizer" in field or _longest(field) < _LONGEST_WRITTEN:
        return None
    written = [text, "-0"] if text == "0" else [text]
    should: list[Json] = [{"terms": {name: written}}, {"regexp": {name: _written_otherwise(text)}}]
    return {"bool": {"should": should, "minimum_should_match": 1}}


def _written_otherwise(number: str) -> str:
    """Return a pattern for all ways to write a number with a fraction or an exponent, which finds few others."""
    value = Decimal(number)
    size = value.copy_abs()
    if not _LEAST_NORMAL < size < _LARGEST:
        return _FRACTION
    # 7 is also 6.99999999999999999999, as numbers are read.
    low, high = (_EXACT.multiply(size, factor) for factor in _ROUNDED)
    starts = {_start(low, low), _start(high, low)}
    pointed = {f"{start[:k]}[.]{start[k:]}" for start in starts for k in range(1, len(start))}
    whole = "|".join(sorted(starts))
    point = "|".join(sorted({*pointed, f"0[.]0*({whole})", f"({whole})[0-9]*[.eE]"}))
    return f"{'-' if value < 0 else ''}({point}){_REST}"


def _start(number: Decimal, least: Decimal) -> str:
    """Return the first digits of a number, without the zeros that may be left out from the ``least`` number on."""
    digits, _, exponent = f"{number:.23e}".replace(".", "").partition("e")
    start = digits[:_DIGITS]
    return start.rstrip("0") if Decimal(f"{start}e{int(exponent) - _DIGITS + 1}") >= least else start


def _field_with(mapped: _Mapped, path: str, text: str) -> str | None:
    """Return the field by which an index finds documents with a value, and no others; None if it has none."""
    if not mapped.is_own:
        return None
    for name, held in _fields(mapped, path):
        kind = held.get("type")
        # An empty text counts as false in a field of booleans.
        if kind == "boolean" and text == "true":
            return name
        # A number there has another value if it would be written otherwise.
        if kind in _KEYWORDS and "normalizer" not in held and _holds(held, text) and number_in(text) in (None, text):
            return name
    return None


def _fields(mapped: _Mapped, path: str) -> Iterator[tuple[str, Json]]:
    """Yield the fields that can be searched for the values at a path, by name."""
    if is_searchable(mapped.field):
        yield path, mapped.field
    for name, sub in (mapped.field.get("fields") or {}).items():
        if sub.get("type") == "keyword" and is_searchable(sub):
            yield f"{path}.{name}", sub


def _holds(field: Json, text: str) -> bool:
    """Return whether a field of keywords has a text in its index, and can be asked for it."""
    # Servers count UTF-16 units; what cannot be sent is not searched for.
    length = len(text.encode("utf-16-le", "surrogatepass")) // 2
    return length <= _longest(field) and not any("\ud800" <= character <= "\udfff" for character in text)


def _longest(field: Json) -> int:
    return min(int(field.get("ignore_above", _LONGEST)), _LONGEST)


def _drops(field: Json) -> bool:
    """Return whether a field of numbers may leave out a value that is the number in another form."""
    return is_true(field.get("ignore_malformed")) and is_false(field.get("coerce"))
