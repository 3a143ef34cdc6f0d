"""The command ``es-simhash backfill`` as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from es_simhash._core.json_codec import Json
from tests.support.commands import environment
from tests.system.soak.live_index import FIELDS, LiveIndex

_LIMIT_SECONDS = 3_600
_MOMENT_SECONDS = 0.05


class Command:
    """A backfill of an index that has begun; what it says goes to files in a folder."""

    def __init__(self, index: LiveIndex, folder: Path, *options: str) -> None:
        self._index = index
        self._out, self._err = folder / "out", folder / "err"
        fields = [each for field in FIELDS for each in ("--field", field)]
        given = [index.name, "--url", index.node.url, "--json", *fields, *options]
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "es_simhash", "backfill", *given],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=folder,
                env=environment({"XDG_STATE_HOME": str(folder / "state")}),
            )

    def is_running(self) -> bool:
        """Whether it has not ended within a moment."""
        try:
            self._process.wait(_MOMENT_SECONDS)
        except subprocess.TimeoutExpired:
            return True
        return False

    def await_written(self, changes: float) -> None:
        """Wait until the index has had this many changes."""
        while self._index.written < changes:
            assert self.is_running(), self.said

    def kill(self) -> None:
        """End it as a power failure does (``kill -9``); it must still have been at work."""
        self._process.kill()
        assert self._process.wait(_LIMIT_SECONDS) < 0, self.said

    def stop(self) -> None:
        """Leave nothing running."""
        self._process.kill()
        self._process.wait(_LIMIT_SECONDS)

    def ended(self, code: int | None = 0) -> Json:
        """The last event, if there was any, once it has ended by itself, with this exit code unless that is None."""
        found = self._process.wait(_LIMIT_SECONDS)
        assert code in (None, found), self.said
        assert "Traceback" not in self.said
        return (self.events or [{}])[-1]

    @property
    def events(self) -> list[Json]:
        """What it has printed."""
        return [json.loads(line) for line in self._out.read_text(encoding="utf-8").splitlines()]

    @property
    def said(self) -> str:
        """The messages next to its results."""
        return self._err.read_text(encoding="utf-8")
