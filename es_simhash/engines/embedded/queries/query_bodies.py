"""The bodies of queries, parsed: an unsupported part is an error, never ignored."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from sys import float_info
from typing import Any

from es_simhash.engines.embedded.mapping import values
from es_simhash.engines.embedded.mapping.analyzers import ANALYZERS
from es_simhash.engines.embedded.mapping.index_mapping import Field
from es_simhash.errors import EngineError


def check(kind: str, body: Any, known: Sequence[str], needed: str | None = None) -> Mapping[str, Any]:
    """Return the body of a query; raise if it lacks the ``needed`` key or has unknown ones."""
    if not isinstance(body, Mapping):
        raise EngineError(f"The query {kind!r} cannot be {body!r:.200}. Give an object with: {', '.join(known)}.")
    if unknown := set(body) - set(known):
        raise EngineError(
            f"The embedded engine does not support {sorted(unknown, key=str)!r} in the query {kind!r}. "
            f"Leave it out; supported: {', '.join(known)}."
        )
    if needed is not None and needed not in body:
        raise EngineError(f"The query {kind!r} lacks {needed!r}. Add it.")
    _check_boost(kind, body)
    return body


def field_and_parameters(
    kind: str, body: Any, main: str | None, known: Sequence[str] = ()
) -> tuple[str, Mapping[str, Any]]:
    """Return the field of a query's body and its parameters: ``{field: value}`` means ``{field: {main: value}}``."""
    if not isinstance(body, Mapping) or len(body) != 1:
        raise EngineError(f"The query {kind!r} cannot be {body!r:.200}. Give an object with one field.")
    [(path, parameters)] = body.items()
    if main is not None and not isinstance(parameters, Mapping):
        return path, {main: parameters}
    keys = (*((main,) if main else ()), *known, "boost")
    return path, check(kind, parameters, keys, needed=main)


def field_and_list(kind: str, body: Any) -> tuple[str, Sequence[Any], Mapping[str, Any]]:
    """Return the only field of a query's body, its list of values, and the whole body."""
    paths = [key for key in body if key != "boost"] if isinstance(body, Mapping) else []
    if len(paths) != 1 or not isinstance(body[paths[0]], list | tuple):
        raise EngineError(f"The query {kind!r} cannot be {body!r:.200}. Give one field with a list of values.")
    _check_boost(kind, body)
    return paths[0], body[paths[0]], body


def whole_number(body: Mapping[str, Any], key: str, default: int) -> int:
    """Return the number of a key, or its default."""
    value = body.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise EngineError(f"{key} cannot be {value!r}. Give a whole number, 0 or more.")
    return value


def path(kind: str, value: Any) -> str:
    """Return the name of a field; raise if it is not a text."""
    if not isinstance(value, str):
        raise EngineError(f"The query {kind!r} cannot look into the field {value!r}. Give its name.")
    return value


def listed(value: Any) -> Sequence[Any]:
    """Return a list of one value or several."""
    if value is None:
        return []
    return value if isinstance(value, list | tuple) else [value]


def exact_tokens(field: Field, wanted: Sequence[Any]) -> list[str]:
    """Return the tokens of unanalyzed values, without those that no document can have."""
    written = _written(field, wanted)
    if field.kind not in values.INTEGER_BITS:
        return written
    return [token for token, value in zip(written, wanted, strict=True) if values.is_whole(value)]


def token(field: Field, value: Any) -> str:
    """Return a value as an unanalyzed token of a field."""
    return _written(field, [value])[0]


def _written(field: Field, wanted: Sequence[Any]) -> list[str]:
    try:
        if field.kind in values.OF_STRINGS and {*map(type, wanted)} == {str}:
            values.unicode_text("".join(wanted))
            return list(wanted)
        return [field.write(value) for value in wanted]
    except (ValueError, OverflowError) as error:
        raise EngineError(
            f"The field {field.path!r} of type {field.kind} has no such value: {error}. Correct it."
        ) from None


def tokens(field: Field, value: Any) -> list[str]:
    """Return the tokens of a value in a field."""
    written = token(field, value)
    if field.analyzer is None:
        return [written]
    found = ANALYZERS[field.analyzer](written)
    return found.split(" ") if found else []


def _check_boost(kind: str, body: Mapping[str, Any]) -> None:
    boost = body.get("boost", 1)
    if isinstance(boost, bool) or not isinstance(boost, int | float) or not 0 <= boost <= float_info.max:
        raise EngineError(f"The query {kind!r} cannot have boost: {boost!r:.80}. Give a number, 0 or more.")


_FORM = re.compile(r"(-?\d+)(%?)")


def minimum_should_match(spec: object, clauses: int) -> int:
    """Return the number of clauses that must match: ``3``, all but one (``-1``), ``70%``, or all but ``-30%``.

    Percentages are rounded down, as in Elasticsearch.
    """
    form = _FORM.fullmatch(str(spec).strip())
    if isinstance(spec, bool) or not form:
        raise EngineError(
            f"The embedded engine cannot count minimum_should_match: {spec!r}. "
            "Give a number such as 3 or -1, or a percentage such as '70%' or '-30%'."
        )
    number = int(form[1])
    amount = clauses * abs(number) // 100 if form[2] else abs(number)
    return amount if number >= 0 else max(0, clauses - amount)
