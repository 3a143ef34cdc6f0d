"""A small file that adds up the runs of one backfill; the documents themselves record what is done."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from es_simhash._core.json_codec import parse_json
from es_simhash.live.sweep.progress import Progress

_SECONDS_BETWEEN_WRITES = 2.0


@dataclass
class Totals:
    """The totals of all runs so far."""

    runs: int = 0
    written: int = 0
    seconds: float = 0.0


class TotalsFile:
    """The totals of one backfill, whose ``key`` names index, scheme and shard; a file with another key is ignored."""

    def __init__(self, path: Path, key: str) -> None:
        self._path = path
        self._key = key
        self.before = self._read()
        self.before.runs += 1
        self._written = float("-inf")

    def _read(self) -> Totals:
        try:
            found = parse_json(self._path.read_bytes())
            kept = Totals(**found["totals"])
            is_sound = all(isinstance(each, int | float) and 0 <= each < float("inf") for each in vars(kept).values())
            return kept if found["key"] == self._key and is_sound else Totals()
        except (OSError, ValueError, KeyError, TypeError):
            # Only rates and totals are lost.
            return Totals()

    def totals(self, progress: Progress) -> Totals:
        """Add this run to the earlier ones."""
        before = self.before
        return Totals(before.runs, before.written + progress.written, before.seconds + progress.seconds)

    def update(self, progress: Progress) -> None:
        """Write the file, if the last time is a while ago."""
        if time.monotonic() - self._written >= _SECONDS_BETWEEN_WRITES:
            self.write(progress)

    def write(self, progress: Progress) -> None:
        """Write the file."""
        self._written = time.monotonic()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_name(self._path.name + ".new")
        draft.write_text(json.dumps({"key": self._key, "totals": asdict(self.totals(progress))}), encoding="utf-8")
        os.replace(draft, self._path)

    def remove(self) -> None:
        """Delete the file of a complete backfill."""
        self._path.unlink(missing_ok=True)
