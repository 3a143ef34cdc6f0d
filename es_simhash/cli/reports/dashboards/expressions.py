"""Expressions of Vega: https://vega.github.io/vega/docs/expressions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class Expression(str):
    """An expression among the values of a literal."""


def literal(value: Any) -> str:
    """Write JSON values, with expressions among them, as an expression."""
    match value:
        case Expression():
            return value
        case Mapping():
            return f"{{{','.join(f'{literal(key)}:{literal(each)}' for key, each in value.items())}}}"
        case list():
            return f"[{','.join(map(literal, value))}]"
    # Escaped, so that no line separator of Unicode ends a text of JavaScript.
    return json.dumps(value)


def formatted(value: str, form: str = ",d") -> str:
    """Return the expression that formats a number."""
    return f"format({value}, {literal(form)})"
