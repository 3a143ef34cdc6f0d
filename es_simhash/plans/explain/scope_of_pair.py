"""Whether two documents are in scope, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from es_simhash._core.json_paths import values_at
from es_simhash.scheme.scope import Scope, duration_text, moment_in, values_in

Document: TypeAlias = Mapping[str, Any]
Demand: TypeAlias = Literal["within", "across", "window"]


@dataclass(frozen=True)
class ScopeField:
    """A field of a scope: what is demanded of it, the values of both documents, and whether these meet the demand.

    The ``window`` is the one of dates.
    """

    field: str
    demand: Demand
    a: tuple[str, ...]
    b: tuple[str, ...]
    is_met: bool
    window: str | None = None

    @property
    def demanded(self) -> str:
        """What is demanded of the values, in words."""
        words = {"within": "the same", "across": "different", "window": f"at most {self.window} apart"}
        return words[self.demand]

    @property
    def sentence(self) -> str:
        """What the two have there, and what is demanded."""
        shown = " and ".join(", ".join(values) or "nothing" for values in (self.a, self.b))
        return f"{self.field} is {shown}, and must be {self.demanded}"


def compare_scopes(scope: Scope, a: Document, b: Document) -> tuple[ScopeField, ...]:
    """Compare two documents in each field of a scope."""
    found = [_compared("within", path, a, b) for path in scope.within]
    found += [_compared("across", path, a, b) for path in scope.across]
    if scope.date is not None and scope.window is not None:
        first, second = moment_in(a, scope.date), moment_in(b, scope.date)
        is_met = first is not None and second is not None and abs(first - second) <= scope.milliseconds
        dates = _dates(a, scope.date), _dates(b, scope.date)
        found.append(ScopeField(scope.date, "window", *dates, is_met, duration_text(scope.window)))
    return tuple(found)


def _compared(demand: Demand, path: str, a: Document, b: Document) -> ScopeField:
    own, other = values_in(a, path), values_in(b, path)
    meets = own == other if demand == "within" else own.isdisjoint(other)
    return ScopeField(path, demand, tuple(sorted(own)), tuple(sorted(other)), bool(own and other) and meets)


def _dates(document: Document, path: str) -> tuple[str, ...]:
    return tuple(str(value) for value in values_at(document, path) if value is not None)
