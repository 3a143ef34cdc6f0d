"""A table of rarity with its origin, as it is noted in a mapping and written to a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from es_simhash._core.json_codec import Json
from es_simhash.errors import SchemeMismatchError
from es_simhash.scheme.rarity import Rarity
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verifier import are_runs


@dataclass(frozen=True)
class LearntRarity:
    """How rare features are, and ``when`` that was learnt, in ISO 8601.

    ``among`` is the number of documents that the sample was drawn from, as far as that is known. ``previous`` is the
    table that this one replaced.
    """

    JSON = ("table", "when", "sample", "among", "previous")

    rarity: Rarity
    when: str | None
    among: int | None = None
    previous: LearntRarity | None = None

    @property
    def table(self) -> str:
        """The id of the table."""
        return self.rarity.id

    @property
    def sample(self) -> int:
        """The number of documents that it was learnt from."""
        return self.rarity.documents

    def after(self, before: LearntRarity | None) -> LearntRarity:
        """Return what was learnt now, with the last other table before it; of one before that nothing is kept."""
        if before and before.rarity.id == self.rarity.id:
            before = before.previous
        return replace(self, previous=replace(before, previous=None) if before else None)

    def to_json(self, scheme: Scheme) -> Json:
        """Write what was learnt of the features that a scheme compares."""
        previous = self.previous.to_json(scheme) if self.previous else None
        known = {**_of(scheme), "among": self.among, "previous": previous}
        own = {name: value for name, value in known.items() if value}
        return {**own, "when": self.when, "id": self.rarity.id, "rarity": self.rarity.to_json()}

    @classmethod
    def from_json(cls, form: Any, scheme: Scheme) -> LearntRarity:
        """Read what was learnt; it must be of the features that the scheme compares."""
        if not is_of(form, scheme):
            known = form.get("scheme") if isinstance(form, dict) else None
            raise SchemeMismatchError(
                f"This rarity table is for the scheme {known}, not for {scheme.id}. "
                "Choose that scheme, or learn it again in another place."
            )
        before = form.get("previous")
        previous = cls.from_json(before, scheme) if is_of(before, scheme) else None
        return cls(Rarity.from_json(form.get("rarity")), form.get("when"), form.get("among"), previous)

    @property
    def day(self) -> str:
        """When it was learnt, without the time."""
        return str(self.when).partition("T")[0]


def is_of(form: Any, scheme: Scheme) -> bool:
    """Return whether the form is of the features that a scheme compares."""
    of = _of(scheme)
    return isinstance(form, dict) and {name: form.get(name) for name in of} == of


def is_of_scheme(form: Any, scheme: Scheme) -> bool:
    """Return whether the form is of the scheme, maybe of other features than it compares."""
    return isinstance(form, dict) and form.get("scheme") == scheme.id


def _of(scheme: Scheme) -> Json:
    """Return which features are learnt; without ``features``, those of the fingerprints."""
    return {"scheme": scheme.id, "features": "text" if are_runs(scheme, scheme.verification) else None}
