"""The conditions that are on, and how far two texts agree in each (see `es_simhash.scheme.verdict.conditions`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.conditions import condition_values, traits_of
from es_simhash.scheme.verdict.verification import Verification

_SHOWN = 3


@dataclass(frozen=True)
class ComparedNumbers:
    """How many numbers each of two texts has, and those that only one of them has, in ascending order."""

    count_a: int
    count_b: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


@dataclass(frozen=True)
class ComparedCondition:
    """How far two texts agree in what a condition compares, how far they must, and the ``problem`` if they do not.

    ``numbers`` are those of the condition on numbers.
    """

    name: str
    least: float
    value: float
    problem: str | None
    numbers: ComparedNumbers | None = None


def compare_conditions(
    settings: Settings, verification: Verification, texts: tuple[str, str], names: tuple[str, str]
) -> tuple[ComparedCondition, ...]:
    """Compare two texts, whose documents have these ``names``, by each condition that is on."""
    wanted = verification.conditions
    traits = traits_of(settings, wanted, texts)
    return tuple(_compared(name, least, traits[name], names) for name, least in wanted.items())


def _compared(name: str, least: float, traits: Sequence[Any], names: tuple[str, str]) -> ComparedCondition:
    value = float(condition_values(name, traits, np.array([[0], [1]]))[0])
    numbers = _numbers(*traits) if name == "numbers" else None
    problem = None if value >= least else f"{_difference(name, numbers, names)} {value:.2f}, below {least:g}"
    return ComparedCondition(name, least, value, problem, numbers)


def _numbers(a: AbstractSet[str], b: AbstractSet[str]) -> ComparedNumbers:
    return ComparedNumbers(len(a), len(b), _ascending(a - b), _ascending(b - a))


def _ascending(numbers: AbstractSet[str]) -> tuple[str, ...]:
    return tuple(sorted(numbers, key=lambda number: (len(number), number)))


def _difference(name: str, numbers: ComparedNumbers | None, names: tuple[str, str]) -> str:
    """Begin the sentence that ends with how far two texts agree."""
    if numbers:
        return f"their numbers differ: {'; '.join(_apart(numbers, names))}; the share in both is"
    if name == "lengths":
        return "their lengths differ: the shorter has a share of the longer one's characters of"
    return "their first lines differ: the similarity of these is"


def _apart(numbers: ComparedNumbers, names: tuple[str, str]) -> Iterator[str]:
    """Yield which numbers only one of two texts has, first of the text with fewer."""
    a, b = names
    sides = [(numbers.count_a, numbers.only_a, a, b), (numbers.count_b, numbers.only_b, b, a)]
    for count, only, one, other in sorted(sides, key=itemgetter(0)):
        if only:
            shown = ", ".join(only[:_SHOWN]) + (" …" if len(only) > _SHOWN else "")
            are = "is" if len(only) == 1 else "are"
            yield f"{len(only):,} of {count:,} in {one!r} {are} not in {other!r} ({shown})"
