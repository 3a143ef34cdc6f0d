"""Several options as one decorator of commands, and values that commands get in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce, wraps
from typing import Any, TypeVar

Command = TypeVar("Command", bound=Callable[..., Any])


def all_of(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds options, which help lists in this order."""

    def add(command: Any) -> Any:
        return reduce(lambda made, option: option(made), reversed(options), command)

    return add


def as_one(
    name: str, make: Callable[..., Any], names: Sequence[str], *options: Callable[[Any], Any]
) -> Callable[[Command], Command]:
    """Return a decorator that adds options; as ``name`` the command gets what ``make`` makes of some values."""

    def add(command: Command) -> Any:
        @wraps(command)
        def with_one(**given: Any) -> Any:
            taken = {each: given.pop(each) for each in names}
            return command(**{name: make(**taken)}, **given)

        return all_of(*options)(with_one)

    return add
