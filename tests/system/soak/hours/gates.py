"""Users of a gate, two at a time, who offer it near-duplicates at the same moment."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from es_simhash._core.json_codec import Json
from tests.support.gate_process import OUR_PROGRAM, GateProcess
from tests.system.soak.hours.actors import Actor, Scene
from tests.system.soak.hours.ledger import Entry, Family
from tests.system.soak.hours.texts import text
from tests.system.soak.hours.writers import added

ONE = "gate accepts one"
NAMED = "gate names copies"
KNOWN = "gate refuses indexed"
UNREADABLE = "gate rejects unreadable"
_AGAIN_SECONDS = 0.3


def gate_before(scene: Scene, folder: Path, program: Sequence[str] = OUR_PROGRAM) -> GateProcess:
    """Return a gate of its own before the index, with its journal in the folder."""
    folder.mkdir(exist_ok=True)
    gate = GateProcess(scene.place.index, "--url", scene.place.url, cwd=folder, program=program)
    gate.pause = _AGAIN_SECONDS
    return gate


class GateUser(Actor):
    """Offers documents to a gate that is before the index, and writes those itself that it only asks about."""

    pause = 3.0

    def __init__(self, scene: Scene, gate: GateProcess, called: str) -> None:
        super().__init__(scene)
        self._gate, self._called = gate, called

    @property
    def name(self) -> str:
        return self._called

    def step(self, rng: random.Random) -> None:
        if self.scene.place.node:
            self._ask_all(rng)
            return
        # An embedded index has one writer at a time.
        with self.scene.place.turn():
            self._gate.start()
            try:
                self._ask_all(rng)
            finally:
                self._gate.stop()

    def _ask_all(self, rng: random.Random) -> None:
        families = self.scene.ledger.new_families(2)
        offered = [self.scene.ledger.made(number, copy, self._called) for number in families for copy in range(3)]
        rng.shuffle(offered)
        if self.scene.place.node and rng.random() < 1 / 3:
            self._check(offered)
        else:
            self._add(offered)
        if rng.random() < 1 / 3:
            self._offer_known(rng)
        if rng.random() < 1 / 10:
            self._offer_unreadable()
        for refused in list(self._gate.refused.elements()):
            self.scene.tally.saw(f"gate: {refused}")
        self._gate.refused.clear()

    def _add(self, offered: Sequence[Entry]) -> None:
        """Have the gate write what it accepts; what the engine refused is offered again."""
        left, answers = list(offered), dict[str, Json]()
        while left:
            answers |= self._answers("/add", left)
            left = [each for each in left if answers[each.id]["verdict"] == "rejected"]
            for each in left:
                self.scene.tally.saw(f"gate: rejected, {answers[each.id].get('reason', '')[:40]}")
        accepted = self._accepted(offered, answers)
        self.scene.ledger.acknowledge(accepted)
        self.scene.tally.did("documents accepted by gates", len(accepted))

    def _check(self, offered: Sequence[Entry]) -> None:
        """Write what the gate accepts."""
        accepted = self._accepted(offered, self._answers("/check", offered))
        added(self, [{"_id": each.id, "_source": each.source} for each in accepted])
        self.scene.ledger.acknowledge(accepted)
        self.scene.tally.did("documents written after a check", len(accepted))

    def _answers(self, path: str, offered: Sequence[Entry]) -> dict[str, Json]:
        """Offer documents by two clients at the same time."""
        self.scene.tally.did("documents offered to gates", len(offered))
        half = len(offered) // 2

        def ask(some: Sequence[Entry]) -> list[Json]:
            _, answers = self._gate.ask(path, [each.source for each in some])
            return answers

        shares = [share for share in (offered[:half], offered[half:]) if share]
        with ThreadPoolExecutor(len(shares)) as pool:
            return {each["id"]: each for answers in pool.map(ask, shares) for each in answers}

    def _accepted(self, offered: Sequence[Entry], answers: Mapping[str, Json]) -> list[Entry]:
        accepted = [each for each in offered if answers[each.id]["accepted"]]
        counts = Counter(each.family for each in accepted)
        wrong = {each.family: counts[each.family] for each in offered if counts[each.family] != 1}
        self.scene.tally.hold(ONE, [f"{wrong} of {list(answers.values())}"] if wrong else [])
        by_id = {each.id: each.family for each in offered}
        for each in offered:
            others = [one["id"] for one in answers[each.id].get("duplicates", ())]
            foreign = [id_ for id_ in others if by_id.get(id_) != each.family]
            self.scene.tally.hold(NAMED, [f"{each.id}: {answers[each.id]}"] if foreign else [])
        return accepted

    def _offer_known(self, rng: random.Random) -> None:
        def is_settled(family: Family) -> bool:
            return family.is_current and family.age > 3

        with self.scene.ledger.lent(rng, 1, is_settled) as families:
            for family in families:
                # On a busy machine, no time is long enough for the index to have shown it by itself.
                self.scene.place.refresh()
                id_ = f"known {self.scene.ledger.serial()}"
                document = {"id": id_, **text(family.number, rng.choice([100, 102]))}
                _, [answer] = self._gate.ask("/check", [document])
                named = {each["id"] for each in answer.get("duplicates", ())}
                is_right = not answer["accepted"] and named and named <= family.ids
                self.scene.tally.hold(KNOWN, [] if is_right else [f"{answer} for {sorted(family.ids)}"])

    def _offer_unreadable(self) -> None:
        document = {"id": f"unreadable {self.scene.ledger.serial()}", "title": {"en": "a title"}, "body": "a body"}
        _, [answer] = self._gate.ask("/add", [document])
        is_right = answer["verdict"] == "rejected" and answer.get("reason")
        self.scene.tally.hold(UNREADABLE, [] if is_right else [str(answer)])
