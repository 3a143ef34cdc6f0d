"""Jobs that operators run: backfills, groups, and fingerprints of other schemes."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from tests.support.commands import lines
from tests.system.soak.hours.actors import Actor, Scene
from tests.system.soak.hours.place import FIELDS
from tests.system.soak.hours.programs import PATIENCE

# How many of their runs are killed.
_KILLED = 0.15
_FIELD_OPTIONS = [each for field in FIELDS for each in ("--field", field)]


class Backfill(Actor):
    """Makes the fingerprints that others left out."""

    pause = 35.0

    def step(self, rng: random.Random) -> None:
        scene, before = self.scene, time.monotonic()
        backfill = ("backfill", scene.place.index, "--refresh-stale", "--patience", PATIENCE)
        run = scene.programs.done(*backfill, rng=rng, kills=_KILLED)
        last = lines(run)[-1]
        if run.code == 0 and not last["unsettled"]:
            scene.ledger.fingerprinted(before)
        scene.tally.did("documents backfilled", last["written"])


class Grouping(Actor):
    """Finds the groups of what is new, and stores them."""

    pause = 50.0

    def step(self, rng: random.Random) -> None:
        group(self.scene, "--incremental", "--write", rng=rng, kills=_KILLED)


def group(scene: Scene, *options: str, rng: random.Random | None = None, kills: float = 0.0) -> list[list[str]]:
    """Run ``group``; return the ids of each group that it found."""
    given = ("group", scene.place.index, *options, "--patience", PATIENCE)
    found = lines(scene.programs.done(*given, rng=rng, kills=kills))
    return [[member["id"] for member in each["members"]] for each in found if "members" in each]


@dataclass
class OtherScheme:
    """Fingerprints of another scheme alongside the first ones: none, those of all documents, or about to be removed."""

    preset: str | None = None
    is_verified: bool = False

    @property
    def prefix(self) -> str:
        return f"dedup_{self.preset}"


class SchemeChanger(Actor):
    """Backfills a scheme alongside the first one, and removes it once a checkpoint has seen it whole."""

    pause = 60.0
    _PRESETS = ("strict", "short", "passages")

    def __init__(self, scene: Scene, scheme: OtherScheme) -> None:
        super().__init__(scene)
        self._scheme = scheme
        self._turn = 0

    def step(self, rng: random.Random) -> None:
        index, scheme, done = self.scene.place.index, self._scheme, self.scene.programs.done
        if scheme.preset is None:
            scheme.preset = self._PRESETS[self._turn % len(self._PRESETS)]
            scheme.is_verified = False
            self._turn += 1
            done("init", index, "--scheme", scheme.preset, "--prefix", scheme.prefix, *_FIELD_OPTIONS)
            done("backfill", index, "--prefix", scheme.prefix, "--patience", PATIENCE, rng=rng, kills=0.3)
            self.scene.tally.did("backfills of another scheme")
        elif scheme.is_verified:
            # A run that was killed at the very end had nothing left to do.
            done("remove", index, "--prefix", scheme.prefix, "--yes", "--patience", PATIENCE)
            scheme.preset = None
