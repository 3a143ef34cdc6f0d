"""The filters that an agent may give: literal queries, which look at the documents of the one index and nowhere else.

The query language of the servers reaches further: a ``terms`` query takes its values from any index that the login may
read, ``more_like_this`` its texts, ``geo_shape`` its shapes, and scripts, templates and models run what they are given.
So a filter is copied piece by piece from what is known here. Anything unknown is refused, wherever it stands, also
what servers will learn later.

Dates may be relative to now (``now-7d``): a server computes them from its clock. ``wildcard``, ``regexp``, ``fuzzy``
and ``query_string`` are left out, since one of them can take a server as long as all other tools together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from es_simhash._core.json_codec import Json
from es_simhash.errors import InputError

# Maximum depth of queries in one another, number of queries and of values, lengths in characters, and of all in bytes.
MOST_DEPTH = 8
MOST_QUERIES = 100
MOST_VALUES = 1000
MOST_FIELD_CHARACTERS = 512
MOST_VALUE_CHARACTERS = 1000
MOST_FILTER_BYTES = 64 << 10
_LARGEST = 2**64

_BOUNDS = ("gt", "gte", "lt", "lte")
_CLAUSES = ("must", "filter", "should", "must_not")
_LEAST = re.compile("-?[0-9]{1,3}%?")


def literal(filter: Any) -> Json | None:
    """Return a filter that an agent gave, made of literal queries only; None if it gave none."""
    if filter is None:
        return None
    found = _Reader().query(filter, 1)
    if len(json.dumps(found, ensure_ascii=False).encode()) > MOST_FILTER_BYTES:
        raise InputError(f"The filter has more than {MOST_FILTER_BYTES:,} bytes. Give a shorter one.")
    return found


class _Reader:
    """Reads one filter; counts its queries and values."""

    def __init__(self) -> None:
        self._queries = 0
        self._values = 0
        self._kinds: dict[str, Callable[[str, Any, int], Json]] = {
            "term": self._term,
            "terms": self._terms,
            "range": self._range,
            "exists": self._exists,
            "prefix": self._term,
            "match": self._match,
            "ids": self._ids,
            "bool": self._bool,
        }

    def query(self, given: Any, depth: int) -> Json:
        """Copy one query."""
        self._queries += 1
        if depth > MOST_DEPTH or self._queries > MOST_QUERIES:
            raise InputError(
                f"The filter has more than {MOST_QUERIES} queries, or more than {MOST_DEPTH} in one another. "
                "Give a simpler one."
            )
        kind, body = _only_entry("The filter", given, "kind of query")
        if kind not in self._kinds:
            raise InputError(f"A filter here cannot have the query {kind!r:.100}. Use only: {', '.join(self._kinds)}.")
        return {kind: self._kinds[kind](kind, body, depth)}

    def _term(self, kind: str, body: Any, _: int) -> Json:
        path, options = self._field(kind, body, "value", ())
        if kind == "prefix" and not isinstance(options["value"], str):
            raise InputError(f"The query {kind!r} takes a text. Give the beginning of a value.")
        return {path: {"value": self._value(kind, options["value"])}}

    def _terms(self, kind: str, body: Any, _: int) -> Json:
        path, values = _only_entry(f"The query {kind!r}", body, "field")
        if not isinstance(values, list):
            raise InputError(
                f"The query {kind!r} takes a list of values here, not {type(values).__name__}: values from other "
                "documents or indices are refused. Give the values themselves."
            )
        return {_path(kind, path): [self._value(kind, value) for value in values]}

    def _range(self, kind: str, body: Any, _: int) -> Json:
        path, options = self._field(kind, body, None, (*_BOUNDS, "format", "time_zone"))
        for name in ("format", "time_zone"):
            if not isinstance(options.get(name, ""), str):
                raise InputError(f"The {name} of the query {kind!r} is a text. Correct it, or leave it out.")
        return {path: {name: self._value(kind, value) for name, value in options.items()}}

    def _exists(self, kind: str, body: Any, _: int) -> Json:
        return {"field": _path(kind, _options(kind, body, ("field",), "field")["field"])}

    def _match(self, kind: str, body: Any, _: int) -> Json:
        path, options = self._field(kind, body, "query", ("operator", "minimum_should_match"))
        found: Json = {"query": self._value(kind, options["query"])}
        if "operator" in options:
            if options["operator"] not in ("and", "or"):
                raise InputError(f"The operator of the query {kind!r} is either 'and' or 'or'. Choose one.")
            found["operator"] = options["operator"]
        return {path: {**found, **_least(kind, options)}}

    def _ids(self, kind: str, body: Any, _: int) -> Json:
        values = _options(kind, body, ("values",), "values")["values"]
        listed = values if isinstance(values, list) else [values]
        return {"values": [str(self._value(kind, value)) for value in listed]}

    def _bool(self, kind: str, body: Any, depth: int) -> Json:
        options = _options(kind, body, (*_CLAUSES, "minimum_should_match"), None)
        found: Json = {}
        for name in _CLAUSES:
            if name in options:
                given = options[name] if isinstance(options[name], list) else [options[name]]
                found[name] = [self.query(each, depth + 1) for each in given]
        return {**found, **_least(kind, options)}

    def _field(self, kind: str, body: Any, main: str | None, more: tuple[str, ...]) -> tuple[str, Mapping[str, Any]]:
        """Return the field of a query and its options; ``{field: value}`` means ``{field: {main: value}}``."""
        path, options = _only_entry(f"The query {kind!r}", body, "field")
        if main is not None and not isinstance(options, Mapping):
            options = {main: options}
        names = more if main is None else (main, *more)
        return _path(kind, path), _options(f"{kind}' on '{path:.100}", options, names, main)

    def _value(self, kind: str, value: Any) -> str | int | float | bool:
        self._values += 1
        if self._values > MOST_VALUES:
            raise InputError(f"The filter has more than {MOST_VALUES:,} values. Give fewer.")
        if isinstance(value, str):
            return _text(f"A value of the query {kind!r}", value, MOST_VALUE_CHARACTERS)
        is_number = (isinstance(value, int) and abs(value) < _LARGEST) or (isinstance(value, float) and isfinite(value))
        if not is_number:
            raise InputError(
                f"The query {kind!r} takes texts, truth values and numbers of up to 64 bits, not {_kind_of(value)}. "
                "Give such a value."
            )
        return value


def _only_entry(what: str, given: Any, entry: str) -> tuple[str, Any]:
    if not isinstance(given, Mapping) or len(given) != 1:
        raise InputError(f"{what} is an object with one {entry}, not {_kind_of(given)}. Correct it.")
    [(name, value)] = given.items()
    return str(name), value


def _options(kind: str, body: Any, names: tuple[str, ...], needed: str | None) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise InputError(f"The query '{kind}' is an object with {', '.join(names)}. Correct it.")
    if unknown := sorted(str(name) for name in body if name not in names):
        raise InputError(f"The query '{kind}' cannot have {unknown[0]!r:.100} here. Use only: {', '.join(names)}.")
    if needed is not None and needed not in body:
        raise InputError(f"The query '{kind}' lacks {needed!r}. Add it.")
    return body


def _path(kind: str, path: Any) -> str:
    if not isinstance(path, str) or not path:
        raise InputError(f"The query {kind!r} needs the name of a field, which is a text. Give one.")
    return _text(f"The field of the query {kind!r}", path, MOST_FIELD_CHARACTERS)


def _least(kind: str, options: Mapping[str, Any]) -> Json:
    name = "minimum_should_match"
    if name not in options:
        return {}
    least = options[name]
    is_number = isinstance(least, int) and not isinstance(least, bool) and abs(least) <= MOST_QUERIES
    if not is_number and not (isinstance(least, str) and _LEAST.fullmatch(least)):
        raise InputError(f"The {name} of the query {kind!r} is a number, or a share such as '75%'. Correct it.")
    return {name: least}


def _text(what: str, text: str, most: int) -> str:
    if len(text) > most:
        raise InputError(f"{what} has {len(text):,} characters. Give at most {most:,}.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{what} has a lone surrogate, which no index can store. Remove it.")
    return text


def _kind_of(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"an object with {', '.join(map(repr, list(value)[:3])) or 'nothing'}"[:200]
    return {"list": "a list", "NoneType": "null", "str": "a text"}.get(type(value).__name__, "another number")
