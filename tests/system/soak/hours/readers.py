"""Users who find, and who search for distinct hits."""

from __future__ import annotations

import random
from collections.abc import Sequence

from es_simhash._core.json_codec import Json
from es_simhash.errors import EngineError
from tests.support.commands import lines
from tests.system.soak.hours.actors import Actor, Scene
from tests.system.soak.hours.finder import Finder
from tests.system.soak.hours.ledger import Family
from tests.system.soak.hours.programs import kind_of
from tests.system.soak.hours.texts import text

FOUND = "`find` exact"
DISTINCT = "distinct search"
# Which copy of a family a text is that nobody has written.
_UNWRITTEN = 100


def _is_settled(family: Family) -> bool:
    return family.is_current and family.age > 3


class Reader(Actor):
    """Asks one `Index` that is open for hours, and now and then the command line."""

    pause = 0.7

    def __init__(self, scene: Scene, finder: Finder) -> None:
        super().__init__(scene)
        self._finder = finder

    def step(self, rng: random.Random) -> None:
        kind = rng.choices([self._find, self._find_new, self._distinct, self._by_command], [10, 5, 2, 0.3])[0]
        kind(rng)

    def _find(self, rng: random.Random) -> None:
        [*some] = self._settled(rng, 1)
        for family in some:
            asked = rng.choice(family.members).id
            answer = self._answer(family, {"id": asked}, family.ids - {asked})
            self._hold_found(family, answer, family.ids - {asked})

    def _find_new(self, rng: random.Random) -> None:
        """Find a text that is in no document yet."""
        for family in self._settled(rng, 1):
            new = text(family.number, _UNWRITTEN)
            self._hold_found(family, self._answer(family, {"document": new}, family.ids), family.ids)

    def _by_command(self, rng: random.Random) -> None:
        for family in self._settled(rng, 1):
            asked = rng.choice(family.members).id
            expected = family.ids - {asked}
            found = self._found_by_command(asked)
            if found is not None and found != expected:
                self._refresh()
                found = self._found_by_command(asked)
            self._hold_found(family, None if found is None else {"ids": sorted(found)}, expected)

    def _found_by_command(self, asked: str) -> set[str] | None:
        run = self.scene.programs.once("find", self.scene.place.index, "--id", asked, "--size", "100")
        return {each["id"] for each in lines(run)[-1]["matches"]} if run and run.code == 0 else None

    def _hold_found(self, family: Family, answer: Json | None, expected: set[str]) -> None:
        if answer is None or not self.scene.ledger.is_as(family):
            return
        self.scene.tally.did("finds")
        found = set(answer["ids"])
        problem = f"{sorted(found)} instead of {sorted(expected)} of family {family.number}"
        self.scene.tally.hold(FOUND, [problem] if found != expected else [])

    def _answer(self, family: Family, question: Json, expected: set[str]) -> Json | None:
        """Ask; if something is shown as it was before, once more after a refresh."""
        answer = self._asked(question)
        if answer and set(answer["ids"]) != expected and self.scene.ledger.is_as(family):
            self._refresh()
            answer = self._asked(question)
        return answer

    def _distinct(self, rng: random.Random) -> None:
        families = self._settled(rng, 5)
        if not families:
            return
        tags = [f"family {family.number}" for family in families]
        body = {"query": {"terms": {"tag": tags}}, "size": 100, "sort": ["number"]}
        answer = self._asked({"distinct": body})
        if answer and _folded(answer) != _families(families):
            self._refresh()
            answer = self._asked({"distinct": body})
        if answer and all(map(self.scene.ledger.is_as, families)):
            self.scene.tally.did("distinct searches")
            shown, expected = _folded(answer), _families(families)
            self.scene.tally.hold(DISTINCT, [f"{shown} instead of {expected}"] if shown != expected else [])

    def _refresh(self) -> None:
        self.scene.tally.did("refreshes")
        with self.scene.place.turn():
            self._asked({"refresh": True})

    def _settled(self, rng: random.Random, count: int) -> list[Family]:
        with self.scene.ledger.lent(rng, count, _is_settled) as families:
            return families

    def _asked(self, question: Json) -> Json | None:
        answer = self._finder.ask(**question)
        if "error" in answer:
            is_unnamed = answer["error"] == EngineError.__name__
            self.scene.tally.saw(f"find: {kind_of(answer['message']) if is_unnamed else answer['error']}")
            return None
        return answer


def _folded(answer: Json) -> list[list[str]]:
    return sorted(sorted([shown, *similar]) for shown, similar in answer["shown"])


def _families(families: Sequence[Family]) -> list[list[str]]:
    return sorted(sorted(family.ids) for family in families)
