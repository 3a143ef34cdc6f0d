"""What a gate does with duplicates, and how much it remembers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args

from es_simhash.errors import InputError
from es_simhash.plans.find_options import FindOptions, MatchOptions

Mode: TypeAlias = Literal["refuse", "advise", "tag", "divert"]

# Seconds: for as long as a queue before the index may hold a document back.
REMEMBERED = 900.0
# About as many as fit 300 MB with texts of 1.3 kB.
MOST_PENDING = 50_000


@dataclass(frozen=True)
class GateOptions:
    """How a gate works.

    - ``mode``: what becomes of a duplicate that is to be written. ``refuse`` leaves it out; ``advise`` writes it all
      the same; ``tag`` writes it with the id of its original (``duplicate_of``) and in its group; ``divert`` writes it
      to the index ``divert_to``.
    - ``remember``: seconds for which a document is remembered that was accepted, and that the index does not show.
    - ``most_pending``: how many of these there may be; then nothing is accepted until the index shows some.
    - ``syncs``: each yes is safe from the end of the machine, too, not only from that of the process.
    - ``patience``: seconds to wait for an engine that is away or overloaded.
    - ``find``: what makes a near-duplicate: the fields of `MatchOptions`, and ``idf``, as `Index.find` takes them.
    """

    mode: Mode = "refuse"
    divert_to: str | None = None
    remember: float = REMEMBERED
    most_pending: int = MOST_PENDING
    syncs: bool = True
    patience: float = 5.0
    find: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise InputError(f"A gate has no mode {self.mode!r}. Choose from: {', '.join(get_args(Mode))}.")
        if (self.mode == "divert") != (self.divert_to is not None):
            raise InputError("The mode divert, and no other, needs the name of another index. Give both or neither.")
        if not self.remember > 0 or self.most_pending < 1:
            raise InputError("A gate must remember what it accepts. Give a time and a number above 0.")
        known = {each.name for each in fields(MatchOptions)} | {"idf"}
        if unknown := sorted(set(self.find) - known):
            raise InputError(f"A gate cannot find by {', '.join(unknown)}. Leave it out.")

    def request(self, source: list[str]) -> FindOptions:
        """Return how near-duplicates are found."""
        return FindOptions(**self.find, source=source)
