"""Numbers as people read them."""

from __future__ import annotations


def counted(count: int, what: str) -> str:
    """A number of things: ``1 group``, ``2 groups``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def with_error(value: float, standard_error: float | None, digits: int) -> str:
    """A value, and how far off it may be where it is estimated: ``0.81 ± 0.03``."""
    return f"{value:.{digits}f}" + ("" if standard_error is None else f" ± {standard_error:.{digits}f}")
