"""What a gate is to do, and what it answers about a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args

from es_simhash.errors import InputError
from es_simhash.plans.find_options import FindOptions, MatchOptions
from es_simhash.scheme.rerank import Match

# ``new``: nothing like it is known. ``equal``: its very text is. ``out of scope``: it has no value in a field of the
# scope, so it is compared with nothing. ``no text``: none of the text fields has one, so nothing is known of it.
# ``rejected``: it cannot be read, or the engine refused it. ``unknown``: the engine failed, so nobody knows.
Kind: TypeAlias = Literal["new", "near-duplicate", "equal", "out of scope", "no text", "rejected", "unknown"]


@dataclass(frozen=True)
class Verdict:
    """The answer about a document with this ``id``, which the gate made if the document had none.

    ``accepted`` is the gate's yes, by which it remembers the document. ``written_to`` is the index that the document
    was written to, if it was. ``duplicates`` are those that it is like, nearest first; unless they are ``complete``
    there are more. ``missing`` are the fields of the scope without a value. A
    document that is rejected, or has no text, has a ``reason``.
    """

    JSON = ("id", "verdict", "accepted", "written_to", "duplicates", "complete", "missing", "reason")

    id: str | None
    kind: Kind
    accepted: bool = False
    written_to: str | None = None
    duplicates: tuple[Match, ...] = ()
    complete: bool = True
    missing: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def verdict(self) -> Kind:
        """What it is, as answers over a wire call it."""
        return self.kind


Mode: TypeAlias = Literal["refuse", "advise"]

# Seconds: for as long as a queue before the index may hold a document back.
REMEMBERED = 900.0
# About as many as fit 300 MB with texts of 1.3 kB.
MOST_PENDING = 50_000


@dataclass(frozen=True)
class GateOptions:
    """How a gate works.

    - ``mode``: what becomes of a duplicate that is to be written. ``refuse`` leaves it out; ``advise`` writes it all
      the same.
    - ``remember``: seconds for which a document is remembered that was accepted, and that the index does not show.
    - ``most_pending``: how many of these there may be; then nothing is accepted until the index shows some.
    - ``syncs``: each yes is safe from the end of the machine, too, not only from that of the process.
    - ``patience``: seconds to wait for an engine that is away or overloaded.
    - ``find``: what makes a near-duplicate: the fields of `MatchOptions`, and ``idf``, as `Index.find` takes them.
    """

    mode: Mode = "refuse"
    remember: float = REMEMBERED
    most_pending: int = MOST_PENDING
    syncs: bool = True
    patience: float = 5.0
    find: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise InputError(f"Unknown mode {self.mode!r}. Choose from: {', '.join(get_args(Mode))}.")
        if not self.remember > 0 or self.most_pending < 1:
            raise InputError("A gate must remember what it accepts. Give a time and a number above 0.")
        known = {each.name for each in fields(MatchOptions)} | {"idf"}
        if unknown := sorted(set(self.find) - known):
            raise InputError(f"A gate cannot find by {', '.join(unknown)}. Leave it out.")

    def request(self) -> FindOptions:
        """Return how near-duplicates are found."""
        return FindOptions(**self.find, source=[])
