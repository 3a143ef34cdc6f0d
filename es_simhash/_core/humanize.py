"""Numbers as people read them."""

from __future__ import annotations


def counted(count: int, one: str, more: str | None = None) -> str:
    """A number of things: ``1 group was``, ``2 groups were``; ``more`` where that is not ``one`` and an s."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def with_error(value: float, standard_error: float | None, digits: int) -> str:
    """A value, and how far off it may be where it is estimated: ``0.81 ± 0.03``."""
    return f"{value:.{digits}f}" + ("" if standard_error is None else f" ± {standard_error:.{digits}f}")
