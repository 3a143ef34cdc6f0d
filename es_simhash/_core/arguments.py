"""Arguments of public functions: wrong names, and values of a wrong type, are refused in the words of the caller."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from numbers import Integral, Real
from types import ModuleType, NoneType
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin

from es_simhash.errors import ArgumentError, InputError

Options = TypeVar("Options")
Given = TypeVar("Given")

_SHOWN = 60
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "int": ((Integral,), "a whole number"),
    "float": ((Real,), "a number"),
    "bool": ((bool,), "True or False"),
    "str": ((str,), "a string"),
    "None": ((NoneType,), "None"),
    "Json": ((Mapping,), "a dict"),
    "Sequence": ((Sequence,), "a list"),
}


class _Expected(NamedTuple):
    name: str
    kinds: tuple[type, ...]
    words: str


def options_from(kind: type[Options], given: Mapping[str, Any]) -> Options:
    """Return an options value made of the keywords of a call."""
    names = [each.name for each in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in names:
            from difflib import get_close_matches

            near = get_close_matches(name, names, 1)
            advice = f"Did you mean {near[0]!r}?" if near else f"Choose from: {', '.join(names)}."
            raise ArgumentError(f"There is no argument {name!r} here. {advice}")
    return kind(**given)


def check_types(options: Any) -> None:
    """Raise `ArgumentError` if a field of an options value is not of the type that it is annotated with."""
    for name, kinds, words in _expected(type(options)):  # type: ignore[arg-type]
        value = getattr(options, name)
        # A string is a sequence of its characters, and True is a number, but nobody means that.
        strange = isinstance(value, str | bool) and not {str, bool} & {*kinds} & {type(value)}
        if strange or not isinstance(value, kinds):
            raise wrong_type(name, value, words)


def check_many(name: str, given: Given) -> Given:
    """Return what has many items; refuse a single one, whose parts would be taken for items."""
    is_many = hasattr(given, "__iter__") or hasattr(given, "__aiter__")
    if not is_many or isinstance(given, str | bytes | Mapping):
        raise wrong_type(name, given, "a list")
    return given


def wrong_type(name: str, value: object, words: str) -> ArgumentError:
    """Return the error that names an argument, its value, and what is expected."""
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    return ArgumentError(f"The argument {name} cannot be {shown} ({type(value).__name__}). Give {words}.")


@cache
def _expected(kind: type) -> list[_Expected]:
    """Return the types of the fields, as far as their annotations name plain ones."""
    found = []
    for each in fields(kind):
        owner = next(base for base in kind.__mro__ if each.name in getattr(base, "__annotations__", ()))
        parts = [_part(part, sys.modules[owner.__module__]) for part in str(each.type).split(" | ")]
        known = [part for part in parts if part]
        if len(known) == len(parts):
            kinds = tuple(one for some, _ in known for one in some)
            found.append(_Expected(each.name, kinds, " or ".join(words for _, words in known)))
    return found


def _part(text: str, module: ModuleType) -> tuple[tuple[type, ...], str] | None:
    """Return the types that a part of an annotation stands for, with words for them; None if it names none."""
    name = text.partition("[")[0]
    if name in _KINDS:
        return _KINDS[name]
    value = getattr(module, name, None)
    if get_origin(value) is Literal:
        return (str,), " or ".join(map(repr, get_args(value)))
    return ((value,), f"a {name}") if isinstance(value, type) and not getattr(value, "_is_protocol", False) else None


def check_shard(shard: tuple[int, int]) -> None:
    """Raise an `InputError` unless there is this shard: its number from 0, and their count."""
    number, count = shard
    if not 0 <= number < count:
        raise InputError(f"Part {number + 1} of {count} does not exist. Choose one from 1 to {max(1, count)}.")
