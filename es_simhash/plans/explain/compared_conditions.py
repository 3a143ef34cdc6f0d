"""The conditions that are on, and how far two texts agree in each (see `es_simhash.scheme.verdict.conditions`)."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np

from es_simhash._core.humanize import counted
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.conditions import condition_values, traits_of
from es_simhash.scheme.verdict.verification import Verification

# How the sentences on the other conditions begin.
_OTHERS = {
    "lengths": "the shorter text has a share of the longer one's characters of",
    "first_lines": "the first lines have a similarity of",
}


@dataclass(frozen=True)
class ComparedCondition:
    """How far two texts agree in what a condition compares, how far they must, and the ``problem`` if they do not."""

    name: str
    least: float
    value: float
    problem: str | None


def compare_conditions(
    settings: Settings, verification: Verification, texts: tuple[str, str], names: tuple[str, str]
) -> tuple[ComparedCondition, ...]:
    """Compare two texts, whose documents have these ``names``, by each condition that is on."""
    wanted = verification.conditions
    traits = traits_of(settings, wanted, texts)
    return tuple(_compared(name, least, traits[name], names) for name, least in wanted.items())


def _compared(name: str, least: float, traits: Sequence[Any], names: tuple[str, str]) -> ComparedCondition:
    value = float(condition_values(name, traits, np.array([[0], [1]]))[0])
    if value >= least:
        return ComparedCondition(name, least, value, None)
    said = _OTHERS[name] if name in _OTHERS else _of_numbers(traits, names)
    return ComparedCondition(name, least, value, f"{said} {value:.2f}, below {least:g}")


def _of_numbers(numbers: Sequence[AbstractSet[str]], names: tuple[str, str]) -> str:
    """Begin the sentence by how many numbers of the text with fewer the other has."""
    first, second = numbers
    fewer = int(len(second) < len(first))
    own = counted(len(numbers[fewer]), "number")
    return f"{names[1 - fewer]!r} has {len(first & second):,} of {own} of {names[fewer]!r}, a share of"
