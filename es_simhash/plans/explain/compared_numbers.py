"""How many numbers two texts share, where they must (see `es_simhash.scheme.verdict.shared_numbers`)."""

from __future__ import annotations

from dataclasses import dataclass

from es_simhash._core.humanize import counted
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.shared_numbers import numbers_in, shared


@dataclass(frozen=True)
class ComparedNumbers:
    """The share of numbers that two texts have in common, the least one, and the ``problem`` if it is not reached."""

    least: float
    value: float
    problem: str | None


def compare_numbers(
    settings: Settings, least: float, texts: tuple[str, str], names: tuple[str, str]
) -> ComparedNumbers | None:
    """Compare the numbers of two texts, whose documents have these ``names``; None if none need be shared."""
    if not least:
        return None
    numbers = first, second = [numbers_in(settings, text) for text in texts]
    value = shared(first, second)
    if value >= least:
        return ComparedNumbers(least, value, None)
    fewer = int(len(second) < len(first))
    own = counted(len(numbers[fewer]), "number")
    has = f"{names[1 - fewer]!r} has {len(first & second):,} of {own} of {names[fewer]!r}"
    return ComparedNumbers(least, value, f"{has}, a share of {value:.2f}, below {least:g}")
