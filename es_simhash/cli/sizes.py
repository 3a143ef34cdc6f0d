"""Sizes in bytes as people write them: ``64MB``, ``1.5GiB``, ``500000``."""

from __future__ import annotations

import re

import click

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}


class Size(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.2
    """A number of bytes."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes that a text stands for."""
        if isinstance(value, int):
            return value
        read = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]i?)?b?", value.strip().lower())
        if not read:
            self.fail(f"{value!r} is no size. Write it as 64MB, 1.5GiB or 500000.", param, ctx)
        return int(float(read[1]) * _UNITS[read[2] or ""])


SIZE = Size()
