"""The keys of two fingerprints, and those that agree: an index finds candidates by keys alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from es_simhash._core.json_paths import Json
from es_simhash.scheme.settings import Settings

Kind: TypeAlias = Literal["block", "band"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Term: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Keys:
    """The keys of both documents in order, and the positions of the first one's keys that the second shares.

    ``needed`` shared keys make a candidate; None where a search by these criteria ignores these keys. ``probability``
    is that of this many shared keys at the true similarity, if known. ``engine`` holds the positions that the engine
    reports, if it was asked.
    """

    a: list[str]
    b: list[str]
    agree: list[int]
    needed: int | None
    probability: float | None
    engine: list[int] | None

    @property
    def is_contradicted(self) -> bool:
        """Whether the engine reports other positions than the stored keys have."""
        return self.engine is not None and self.engine != self.agree

    @property
    def is_candidate(self) -> bool:
        """Whether a search finds one by the other; the engine's report counts, if there is one."""
        found = self.agree if self.engine is None else self.engine
        return self.needed is not None and len(found) >= self.needed

    @property
    def chance(self) -> str:
        """The probability as text; one close to 0 or 1 is not rounded to it."""
        if self.probability is None:
            return "unknown"
        if 0.01 <= self.probability <= 0.99:
            return f"{self.probability:.2f}"
        return "below 0.01" if self.probability < 0.01 else "above 0.99"


def compare_keys(
    settings: Settings,
    kind: Kind,
    held: tuple[Json, Json],
    *,
    needed: int | None,
    probability: float | None,
    named: Iterable[str] | None,
) -> Keys:
    """Compare the keys of a kind; ``named`` holds the names of `clauses` that the engine matched."""
    a, b = (terms(settings, kind, fields) for fields in held)
    others = set(b)
    places = [place for place, term in enumerate(a) if term in others]
    engine = None
    if named is not None:
        found = set(named)
        engine = [place for place in range(len(a)) if _name(kind, place) in found]
    return Keys([key for _, key in a], [key for _, key in b], places, needed, probability, engine)


def clauses(settings: Settings, held: Json, prefix: str) -> list[Json]:
    """Return a named clause for each key in a document's fields; the engine reports the names that match."""
    return [
        {"term": {f"{prefix}.{field}": {"value": key, "_name": _name(kind, place)}}}
        for kind in KINDS
        for place, (field, key) in enumerate(terms(settings, kind, held))
    ]


def terms(settings: Settings, kind: Kind, held: Json) -> list[Term]:
    """Return the (field, key) pairs in a document's fields, in the order of the keys (see `Layout`)."""
    count = _count(settings, kind)
    if settings.layout.keys == "fields":
        placed = [(f"{kind}{i}", held.get(f"{kind}{i}")) for i in range(count)]
        return [(field, key) for field, key in placed if isinstance(key, str)]
    keys: str | Sequence[str] = held.get(f"{kind}s") or []
    return [(f"{kind}s", key) for key in (keys.split() if isinstance(keys, str) else keys)]


def _count(settings: Settings, kind: Kind) -> int:
    if kind == "block":
        return settings.simhash.blocks if settings.simhash else 0
    return settings.minhash.bands if settings.minhash else 0


def _name(kind: Kind, place: int) -> str:
    return f"{kind} {place}"
