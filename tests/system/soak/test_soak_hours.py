"""The soak of hours finds what is broken, and nothing where all is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.index import Index
from tests.support.pytest_nodes import SMALL, own_node
from tests.system.histories.embedded import Directory
from tests.system.soak.hours import checkpoint
from tests.system.soak.hours.actors import Scene
from tests.system.soak.hours.clock import Clock
from tests.system.soak.hours.ledger import Entry, Ledger
from tests.system.soak.hours.place import FIELDS, Place
from tests.system.soak.hours.programs import Programs
from tests.system.soak.hours.report import grown, page
from tests.system.soak.hours.running import Length, Soak
from tests.system.soak.hours.tally import Sample, Tally
from tests.system.soak.hours.texts import text
from tests.system.soak.hours.writers import Adder


@contextmanager
def place_on(kind: str, folder: Path) -> Iterator[Place]:
    """An index in a directory of the embedded engine, or on a node of its own, which may be killed."""
    if kind == "embedded":
        yield Place(Directory(folder / "index"), Tally(kind, 1))
        return
    with own_node(kind, settings=SMALL) as node:
        yield Place(node, Tally(kind, 1))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """An index with some acknowledged documents that have their fingerprints."""
    place = Place(Directory(tmp_path / "index"), Tally("embedded", 1))
    place.create()
    with Index(place.index, place.url, fields=FIELDS) as index:
        index.init()
    scene = Scene(place, Ledger(), Programs(place, tmp_path, Clock(tmp_path), place.tally), place.tally)
    Adder(scene).step(Random(1))
    checkpoint.hold_documents(scene, place.hits())
    assert place.tally.is_right
    return scene


def some(scene: Scene) -> Entry:
    return min(scene.ledger.entries().values(), key=lambda entry: entry.id)


def remove(scene: Scene) -> None:
    scene.place.ask("DELETE", f"/_doc/{some(scene).id}")


def write_another(scene: Scene) -> None:
    scene.place.ask("PUT", "/_doc/nobody", text(0))


def repeat(scene: Scene) -> None:
    scene.place.ask("PUT", "/_doc/again", some(scene).source)


def change_a_field(scene: Scene) -> None:
    scene.place.ask("POST", f"/_update/{some(scene).id}", {"doc": {"tag": "another"}})


def write_without_fingerprint(scene: Scene) -> None:
    scene.place.ask("PUT", f"/_doc/{some(scene).id}", some(scene).source)


def accept_two(scene: Scene) -> None:
    scene.ledger.acknowledge([Entry(each.id, each.source, 1, "gate") for each in scene.ledger.entries().values()])


@pytest.mark.parametrize(
    ("plant", "invariant"),
    [
        (remove, checkpoint.THERE),
        (write_another, checkpoint.THERE),
        (repeat, checkpoint.ONCE),
        (change_a_field, checkpoint.FOREIGN),
        (write_without_fingerprint, checkpoint.FINGERPRINTS),
        (accept_two, checkpoint.ACCEPTED),
    ],
)
def test_a_planted_fault_is_found(scene: Scene, plant: object, invariant: str) -> None:
    assert callable(plant)
    plant(scene)
    checkpoint.hold_documents(scene, scene.place.hits())
    assert any(invariant in problem for problem in scene.tally.broken), scene.tally.broken


@pytest.mark.parametrize(
    ("kind", "length"),
    [
        ("embedded", Length(2, fault=1, checkpoint=9, pace=0.1)),
        pytest.param("opensearch", Length(90, fault=15, checkpoint=40, pace=0.5), marks=pytest.mark.nightly),
        pytest.param("elasticsearch", Length(90, fault=15, checkpoint=40, pace=0.5), marks=pytest.mark.nightly),
    ],
)
def test_a_soak_finds_nothing_where_all_is_right(kind: str, length: Length, tmp_path: Path) -> None:
    with place_on(kind, tmp_path) as place:
        tally = Soak(place, tmp_path, length).run()
    assert (tally.broken, tally.failures) == ([], [])
    assert tally.faults
    unchecked = {checkpoint.THERE, checkpoint.FINGERPRINTS, checkpoint.GROUPS, checkpoint.FAMILIES} - {*tally.checked}
    assert not unchecked


@pytest.mark.parametrize(
    ("memory", "handles", "problems"),
    [
        ([70, 71, 72, 72], [10, 10, 12, 11], 0),
        ([70, 71, 90, 120], [10, 10, 10, 10], 1),
        ([70, 70, 70, 70], [10, 10, 20, 40], 1),
    ],
)
def test_what_grows_is_found(memory: Sequence[float], handles: Sequence[int], problems: int) -> None:
    samples = [Sample(at, 1, memory[at // 15], handles[at // 15]) for at in range(60)]
    assert len(list(grown("gate", samples))) == problems


def test_a_report_names_what_was_broken_and_what_was_left_undone(tmp_path: Path) -> None:
    tally = Tally("opensearch (3.8.0)", 1)
    tally.did("documents loaded", 1_200)
    tally.hold(checkpoint.THERE, ["1 is lost"])
    tally.saw("load: no answer")
    tally.sample("gate", 1, 70, 10)
    soak: Json = tally.as_json()
    written = page([soak], "make soak-hours")
    assert "| written | 1,200 |" in written
    assert f"OpenSearch 3.8.0: 0 s: {checkpoint.THERE}: 1 is lost" in written
    assert "it did not come to its end" in written
    assert "| no answer | 1 |" in written
