"""Fields that were asked for and that no document has: a name that is mistyped would else be an empty text."""

from __future__ import annotations

from collections.abc import Iterable

from es_simhash._core.json_paths import Json, sets_value_at


class AbsentFields:
    """The ``paths`` that no document had so far."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = list(paths)
        self._none_seen = True

    def look_at(self, document: Json) -> None:
        """Take out those that a document has."""
        self._none_seen = False
        if self.paths:
            self.paths = [path for path in self.paths if not sets_value_at(document, path)]

    @property
    def warning(self) -> str:
        """What to say of them; nothing if there are none, or no documents at all."""
        if not self.paths or self._none_seen:
            return ""
        names = ", ".join(self.paths)
        return f"Warning: no document has the field {names}. Check how it is written in the files."
