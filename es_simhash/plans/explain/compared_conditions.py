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
    found = {
        "lengths": "the shorter text has a share of the longer one's characters of",
        "first_lines": "the first lines have a similarity of",
    }
    said = found[name] if name in found else _of_numbers(*traits, *names)
    return ComparedCondition(name, least, value, f"{said} {value:.2f}, below {least:g}")


def _of_numbers(a: AbstractSet[str], b: AbstractSet[str], name_a: str, name_b: str) -> str:
    """Begin the sentence by how many numbers of the text with fewer the other has."""
    fewer, one, other = (len(a), name_a, name_b) if len(a) <= len(b) else (len(b), name_b, name_a)
    return f"{other!r} has {len(a & b):,} of {counted(fewer, 'number')} of {one!r}, a share of"
