"""The part of a document that ``_source`` of a request selects, in all its forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from es_simhash._core.json_codec import parse_json
from es_simhash._core.json_paths import Json
from es_simhash.errors import EngineError

_FORMS = "Give true, false, a path, a list of paths, or an object with includes and excludes."


@dataclass(frozen=True)
class SourceFilter:
    """The paths to include and to exclude; ``*`` in them matches any characters."""

    wanted: bool
    includes: re.Pattern[str] | None = None
    above_includes: re.Pattern[str] | None = None
    excludes: re.Pattern[str] | None = None

    @classmethod
    def of(cls, source: Any) -> SourceFilter:
        """Parse ``_source`` of a request."""
        if isinstance(source, bool):
            return cls(source)
        if isinstance(source, str | list | tuple):
            source = {"includes": source}
        if not isinstance(source, dict) or set(source) - {"includes", "excludes"}:
            raise EngineError(f"_source cannot be {source!r}. {_FORMS}")
        return _of_paths(_paths(source.get("includes")), _paths(source.get("excludes")))

    def apply(self, source: bytes) -> Json | None:
        """Return the part of a document, given as JSON, that passes; None if no source is wanted."""
        # Of bytes, the reader would look for their encoding first.
        return self.part_of(parse_json(source.decode())) if self.wanted else None

    def part_of(self, document: Json) -> Json:
        """Return the part of a document that passes the paths."""
        if self.includes is None and self.excludes is None:
            return document
        return self._part(document, "", self.includes is None)

    def _part(self, value: Json, above: str, included: bool) -> Json:
        part: Json = {}
        for name, inner in value.items():
            path = f"{above}{name}"
            if self.excludes and self.excludes.fullmatch(path):
                continue
            inside = included or bool(self.includes and self.includes.fullmatch(path))
            if inside or (self.above_includes and self.above_includes.fullmatch(path)):
                part |= self._kept(name, inner, path, inside)
        return part

    def _kept(self, name: str, value: Any, path: str, included: bool) -> Json:
        """Return the value under its name, or nothing if no part of it passes."""
        if isinstance(value, dict):
            kept: Any = self._part(value, path + ".", included)
            return {name: kept} if kept or included else {}
        if isinstance(value, list):
            parts = [self._kept(name, inner, path, included) for inner in value]
            kept = [part[name] for part in parts if part]
            return {name: kept} if kept or included else {}
        return {name: value} if included else {}


def _paths(paths: Any) -> tuple[str, ...]:
    paths = [paths] if isinstance(paths, str) else paths or []
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str) for path in paths):
        raise EngineError(f"_source cannot have the paths {paths!r}. {_FORMS}")
    return tuple(paths)


@lru_cache
def _of_paths(includes: tuple[str, ...], excludes: tuple[str, ...]) -> SourceFilter:
    return SourceFilter(
        True,
        _matching(includes, and_below=True) if includes else None,
        _leading_to(includes) if includes else None,
        _matching(excludes, and_below=True) if excludes else None,
    )


def _matching(patterns: Sequence[str], and_below: bool) -> re.Pattern[str]:
    below = r"(?:\..*)?" if and_below else ""
    return re.compile("|".join(_regex(pattern) + below for pattern in patterns), re.DOTALL)


def _leading_to(patterns: Sequence[str]) -> re.Pattern[str]:
    """Match the paths of objects that may hold a path matching one of the patterns."""
    starts = []
    for pattern in patterns:
        for i, character in enumerate(pattern):
            if character == ".":
                starts.append(_regex(pattern[:i]))
            elif character == "*":
                starts.append(_regex(pattern[: i + 1]))
    return re.compile("|".join(starts) or r"(?!)", re.DOTALL)


def _regex(pattern: str) -> str:
    return ".*".join(map(re.escape, pattern.split("*")))
