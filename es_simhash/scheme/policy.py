"""What an index demands of every command: kept in its mapping, beside the scheme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from es_simhash._core.json_paths import Json
from es_simhash.errors import InputError
from es_simhash.scheme.scope import Scope

# Groups are made by `group` alone, or for each new document as well.
WhenGrouped: TypeAlias = Literal["batch", "online"]


@dataclass(frozen=True)
class Policy:
    """The ``scope`` of all pairs of documents, and whether ``groups`` are made in batches or as documents come."""

    scope: Scope | None = None
    groups: WhenGrouped = "batch"

    def __post_init__(self) -> None:
        if not isinstance(self.scope, Scope | None):
            raise InputError(f"A policy cannot have the scope {self.scope!r}. Make one by Scope.of.")
        if self.groups not in get_args(WhenGrouped):
            raise InputError(f"Groups cannot be made {self.groups!r}. Choose from: {', '.join(get_args(WhenGrouped))}.")

    def __str__(self) -> str:
        """Write the policy in words."""
        return "; ".join([*([str(self.scope)] if self.scope else []), f"groups {self.groups}"])

    def to_json(self) -> Json:
        """Return the policy as JSON, without what is as by default."""
        scope: Json = {} if self.scope is None else {"scope": self.scope.to_json()}
        return scope | ({} if self.groups == "batch" else {"groups": self.groups})

    @classmethod
    def from_json(cls, form: Any) -> Policy:
        """Read what `to_json` returns."""
        if not isinstance(form, dict) or set(form) - {"scope", "groups"}:
            raise InputError(f"{form!r} is no policy. Give an object with scope and groups.")
        scope = None if form.get("scope") is None else Scope.from_json(form["scope"])
        return cls(scope, form.get("groups", "batch"))
