"""Users who write: by the command line, by `Index.add`, and knowing nothing of us; and who delete."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from urllib.parse import quote

from es_simhash._core.json_codec import Json
from es_simhash.index import Index
from tests.support.commands import lines
from tests.system.soak.hours.actors import Actor
from tests.system.soak.hours.ledger import Entry, Family
from tests.system.soak.hours.programs import PATIENCE

# Above this, the oldest families are deleted.
_MOST_DOCUMENTS = 2_500
_ERASED = "`erase` exact"


class Loader(Actor):
    """Loads files of new documents by ``load``."""

    pause = 25.0

    def step(self, rng: random.Random) -> None:
        scene = self.scene
        made = _drawn(self, rng, rng.randint(10, 25))
        file = scene.programs.folder / "new.jsonl"
        file.write_text("".join(json.dumps(each.source) + "\n" for each in made), encoding="utf-8")
        load = ("load", scene.place.index, str(file), "--id-field", "id", "--patience", PATIENCE)
        while scene.programs.done(*load, rng=rng).code:
            scene.tally.saw("load: some were rejected")
        scene.ledger.acknowledge(made)
        scene.tally.did("documents loaded", len(made))


class Adder(Actor):
    """Adds documents by `Index.add`, and updates texts by it, whose fingerprints a backfill then makes."""

    pause = 8.0

    def step(self, rng: random.Random) -> None:
        made = _drawn(self, rng, rng.randint(2, 5))
        actions: list[Json] = [{"_id": each.id, "_source": each.source} for each in made]
        with self.scene.ledger.lent(rng, rng.randint(0, 2), _may_move) as families:
            moved = _moved(self, families)
            names = ("title", "body", "number", "tag")
            actions += [
                {"_op_type": "update", "_id": each.id, "doc": {name: each.source[name] for name in names}}
                for each in moved
            ]
            added(self, actions)
            self.scene.ledger.acknowledge([*made, *moved])
        self.scene.tally.did("documents added", len(made))
        self.scene.tally.did("texts updated", len(moved))


class Stranger(Actor):
    """Writes to the index as if there were no fingerprints: new documents, other texts, other fields."""

    pause = 6.0

    def step(self, rng: random.Random) -> None:
        scene, ask = self.scene, self.scene.place.ask
        [family] = scene.ledger.new_families(1)
        for copy in range(rng.randint(1, 2)):
            new = scene.ledger.made(family, copy, "stranger", is_current=False)
            ask("PUT", f"/_doc/{quote(new.id)}", new.source)
            scene.ledger.acknowledge([new])
            scene.tally.did("documents written by others")
        with scene.ledger.lent(rng, 1, _may_move) as families:
            for each in _moved(self, families):
                part = {name: each.source[name] for name in ("title", "body", "number", "tag")}
                ask("POST", f"/_update/{quote(each.id)}?retry_on_conflict=9", {"doc": part})
                scene.ledger.acknowledge([each])
                scene.tally.did("texts changed by others")
        with scene.ledger.lent(rng, 1) as families:
            for one in families:
                entry = rng.choice(one.members)
                number = {"number": scene.ledger.serial()}
                ask("POST", f"/_update/{quote(entry.id)}?retry_on_conflict=9", {"doc": number})
                kept = Entry(entry.id, {**entry.source, **number}, entry.family, entry.by, entry.is_current)
                scene.ledger.acknowledge([kept])
                scene.tally.did("other fields changed by others")


class Eraser(Actor):
    """Deletes the oldest families, so that the index does not grow, by `Index.delete` or ``erase``."""

    pause = 10.0

    def step(self, rng: random.Random) -> None:
        scene = self.scene
        with scene.ledger.lent(rng, 1, oldest=True) as families:
            if families and families[0].is_current and families[0].age > 5 and rng.random() < 0.2:
                self._erase(families[0])
        count = (len(scene.ledger) - _MOST_DOCUMENTS) // 2
        with scene.ledger.lent(rng, max(count, 0), oldest=True) as families:
            ids = [id_ for family in families for id_ in family.ids]
            if ids:
                added(self, [{"_op_type": "delete", "_id": id_} for id_ in ids])
                scene.ledger.forget(ids)
                scene.tally.did("documents deleted", len(ids))

    def _erase(self, family: Family) -> None:
        scene = self.scene
        scene.place.refresh()
        run = scene.programs.once("erase", scene.place.index, "--id", family.members[0].id, "--yes")
        deleted = {each["id"] for each in lines(run)[-1].get("deleted", ())} if run and run.out else set()
        left = family.ids - deleted
        problems = [f"{sorted(deleted)} instead of {sorted(family.ids)}"]
        is_wrong = deleted - family.ids or (run and run.code == 0 and left)
        scene.tally.hold(_ERASED, problems if is_wrong else [])
        if left:  # the server went away in the meantime
            added(self, [{"_op_type": "delete", "_id": id_} for id_ in left])
        scene.ledger.forget(family.ids)
        scene.tally.did("documents erased", len(deleted))


def added(actor: Actor, actions: Sequence[Json]) -> None:
    """Carry out actions by `Index.add` until all are done."""
    left = list(actions)

    def work(index: Index) -> bool | None:
        written = index.add(left, patience=float(PATIENCE), refresh=actor.scene.place.node is None)
        refused = [one for one in written.rejected if not one.reason.startswith("not_found")]
        left[:] = [left[one.position] for one in refused]
        for one in refused:
            actor.scene.tally.saw(f"add: refused, {one.reason[:60]}")
        return None if left else True

    actor.scene.by_index("add", work)


def _drawn(actor: Actor, rng: random.Random, count: int) -> list[Entry]:
    """Draw new families, most with copies."""
    ledger, by = actor.scene.ledger, actor.name.lower()
    families = ledger.new_families(count)
    return [ledger.made(family, copy, by) for family in families for copy in range(rng.choice([1, 2, 2, 3, 4]))]


def _may_move(family: Family) -> bool:
    return family.is_current and family.age > 1


def _moved(actor: Actor, families: Sequence[Family]) -> list[Entry]:
    """Give the last document of each family the text of a new one."""
    ledger = actor.scene.ledger
    return [ledger.moved(family.members[-1], ledger.new_families(1)[0]) for family in families]
