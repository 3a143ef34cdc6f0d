"""What the tantivy library says an index consists of, in the file that it replaces with every commit."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from es_simhash.engines.embedded.footers import DamagedError

META = "meta.json"
# The files that the library made, by which it knows which of them to take away.
LIST = ".managed.json"


def opstamp(directory: Path) -> int:
    """The number of the last commit: every commit has a higher one."""
    number: int = _meta(directory)["opstamp"]
    return number


def living_files(directory: Path) -> list[str]:
    """The files of all segments of the last commit; others are left from earlier ones, or belong to the next."""
    try:
        segments = [_names(segment) for segment in _meta(directory)["segments"]]
    except (KeyError, TypeError, AttributeError):
        raise DamagedError("it does not have the form of such a file") from None
    return sorted(
        name
        for name in os.listdir(directory)
        for stem, deletes in segments
        if name.startswith(stem) and (not name.endswith(".del") or name == deletes)
    )


def _names(segment: dict[str, Any]) -> tuple[str, str]:
    """What the names of a segment's files begin with, and that of the file with its deleted documents."""
    stem = segment["segment_id"].replace("-", "") + "."
    return stem, f"{stem}{segment['deletes']['opstamp']}.del" if segment["deletes"] else ""


def _meta(directory: Path) -> dict[str, Any]:
    try:
        meta = json.loads((directory / META).read_bytes())
    except ValueError as error:
        raise DamagedError(f"it is no JSON: {error}") from None
    if not isinstance(meta, dict) or not isinstance(meta.get("opstamp"), int):
        raise DamagedError("it has no opstamp")
    return meta
