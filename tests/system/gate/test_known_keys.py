"""Keys in memory change no verdict of a gate before an embedded index, even if others write to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from es_simhash import Index
from es_simhash._core.json_codec import Json
from es_simhash.engines.embedded.engine import EmbeddedEngine
from es_simhash.gate import Gate, GateOptions
from es_simhash.live.measured_engine import WatchedEngine
from es_simhash.plans.operations import DeleteIndex, MultiSearch, Search
from es_simhash.scheme.scheme import Scheme
from tests.support.corpus import corpus, edited

TEXTS = corpus(12)


def document(id_: str, place: int, edits: int = 0) -> Json:
    return {"_id": id_, **(edited(TEXTS[place], edits, seed=edits) if edits else TEXTS[place])}


def opened(directory: Path, state: Path, engine: Any = None, **options: Any) -> Gate:
    gate = Gate("news", engine or str(directory), state=state, options=GateOptions(syncs=False, **options))
    gate.warm_up()
    return gate


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    with Index("news", tmp_path / "engine", fields=["title", "body"]) as index:
        index.init()
        index.add([document(f"r{place}", place) for place in range(4)])
        index.refresh()
        index.learn()
    return tmp_path / "engine"


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The searches for keys that there were."""
    counts: list[int] = []
    perform = EmbeddedEngine.perform

    def counted(self: EmbeddedEngine, operation: Any) -> Any:
        bodies = operation.bodies if isinstance(operation, MultiSearch) else [getattr(operation, "body", {})]
        if isinstance(operation, Search | MultiSearch):
            counts.extend(1 for body in bodies if "bands" in str(body.get("query")))
        return perform(self, operation)

    monkeypatch.setattr(EmbeddedEngine, "perform", counted)
    return counts


def test_the_engine_need_not_search_for_keys(directory: Path, tmp_path: Path, searched: list[int]) -> None:
    with opened(directory, tmp_path / "state") as gate:
        assert [each.kind for each in gate.check([document("a", 5), document("b", 6)])] == ["new", "new"]
        assert [each.kind for each in gate.check([document("c", 0), document("d", 1, 2)])] == [
            "equal",
            "near-duplicate",
        ]
        assert not searched


def test_what_the_gate_wrote_is_found_when_it_is_no_longer_remembered(
    directory: Path, tmp_path: Path, searched: list[int]
) -> None:
    with opened(directory, tmp_path / "state") as gate:
        gate.add([document("a", 5), document("b", 6)])
        gate.settle()
        assert gate.pending == 0
        searched.clear()
        assert [each.kind for each in gate.check([document("c", 5, 2), document("d", 7)])] == ["near-duplicate", "new"]
        assert not searched


def test_what_others_wrote_through_the_same_engine_is_found(directory: Path, tmp_path: Path) -> None:
    engine = EmbeddedEngine(directory)
    with opened(directory, tmp_path / "state", engine) as gate:
        Index("news", engine).add([document("a", 5)], refresh=True)
        assert gate.check([document("b", 5)])[0].kind == "equal"
        gate.warm_up()
        assert gate.check([document("c", 5, 2)])[0].kind == "near-duplicate"
    engine.close()


def test_what_another_process_wrote_is_found(directory: Path, tmp_path: Path) -> None:
    with opened(directory, tmp_path / "state") as gate:
        for place in (5, 6):
            with Index("news", directory) as other:
                other.add([document(f"a{place}", place)])
            assert gate.check([document(f"b{place}", place)])[0].kind == "equal"
            gate.warm_up()
        with Index("news", directory) as other:
            other.add([document("c", 8)])
        # The gate becomes the writer before it looks.
        assert gate.add([document("d", 9)])[0].kind == "new"
        assert gate.check([document("e", 8), document("f", 9)])[0].kind == "equal"


def test_what_changed_under_its_id_is_found_by_its_new_text_alone(
    directory: Path, tmp_path: Path, searched: list[int]
) -> None:
    with opened(directory, tmp_path / "state") as gate:
        gate.add([document("r0", 5)])
        gate.settle()
        found = gate.check([document("a", 0), document("b", 5)])
        assert [each.kind for each in found] == ["new", "equal"]
        assert not searched


def test_many_copies_are_left_to_the_engine(directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("es_simhash.gate.known_keys._MANY", 2)
    with opened(directory, tmp_path / "state", mode="advise") as gate:
        gate.add([document(f"c{n}", 5) for n in range(4)])
        gate.settle()
        found = gate.check([document("x", 5), document("y", 0), document("z", 6)])
        assert [len(each.duplicates) for each in found] == [4, 1, 0]


def test_an_index_that_was_made_again_is_searched(directory: Path, tmp_path: Path) -> None:
    engine = EmbeddedEngine(directory)
    with opened(directory, tmp_path / "state", engine) as gate:
        engine.perform(DeleteIndex("news"))
        index = Index("news", engine, fields=["title", "body"])
        index.init()
        index.add([document("a", 5)], refresh=True)
        assert [each.kind for each in gate.check([document("b", 5), document("c", 0)])] == ["equal", "new"]
    engine.close()


def test_what_was_written_but_not_shown_when_the_gate_opened_is_known(directory: Path, tmp_path: Path) -> None:
    engine = EmbeddedEngine(directory)
    Index("news", engine).add([document("a", 5)])
    with opened(directory, tmp_path / "state", engine) as gate:
        assert gate.check([document("b", 5)])[0].kind == "equal"
    engine.close()


@settings(max_examples=25, deadline=None)
@given(
    written=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 6)), min_size=1, max_size=10),
    asked=st.tuples(st.integers(0, 11), st.integers(0, 12)),
    keys=st.sampled_from(["text", "keyword", "fields"]),
)
def test_candidates_are_those_of_a_search_for_all_keys(
    tmp_path_factory: pytest.TempPathFactory,
    written: list[tuple[int, int]],
    asked: tuple[int, int],
    keys: str,
) -> None:
    """With any layout of the keys, and documents in the index from before and through the gate."""
    folder = tmp_path_factory.mktemp("keys")
    with Index("news", folder / "engine", scheme=layout_of(keys), fields=["title", "body"]) as index:
        index.init()
        index.add([document(f"r{n}", *each) for n, each in enumerate(written[::2])], refresh=True)
        index.learn()  # or else what is rare would change as the index grows
    wanted = document("q", *asked)
    with opened(folder / "engine", folder / "state", mode="advise") as gate:
        gate.add([document(f"w{n}", *each) for n, each in enumerate(written[1::2])])
        gate.settle()
        [found] = gate.check([wanted])
    with Index("news", folder / "engine") as index:
        [expected] = index.find_many(docs=[wanted])
    assert [(match.id, match.similarity, match.clause) for match in found.duplicates] == [
        (match.id, match.similarity, match.clause) for match in expected
    ]


def layout_of(keys: Any) -> Scheme:
    scheme = Scheme()
    return replace(scheme, layout=replace(scheme.layout, keys=keys))


def test_an_engine_that_is_watched_has_its_keys_in_memory_too(directory: Path, tmp_path: Path) -> None:
    """As that of every gate over HTTP with metrics is."""
    engine = EmbeddedEngine(directory)
    watched = WatchedEngine(engine, str(directory), None)
    with opened(directory, tmp_path / "state", watched) as gate:
        assert gate._keys is not None
        assert gate.check([document("x", 0)])[0].kind == "equal"
    engine.close()
