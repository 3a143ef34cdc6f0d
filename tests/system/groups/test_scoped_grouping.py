"""Groups of an index in a scope, on every engine, alongside a reference that compares all documents with all others."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from es_simhash import GroupOptions, Index, Policy, Scheme, Scope
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.groups.of_index import reading_new
from es_simhash.plans.operations import Action, Bulk, CreateIndex, OpenReader
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler, once
from tests.support.scoped import SCOPES, connected, documents, in_scope
from tests.support.whole_indices import contents, fill, servers

SCHEME = Scheme()
NEAR: dict[str, Any] = {"by": "simhash", "distance": 5}
TENANT = Scope(("tenant",))
KEYWORD = {"type": "keyword"}
MAPPING: Json = {
    "properties": {
        "body": {"type": "text"},
        # Not all dates here can be read.
        **dict.fromkeys(("tenant", "source", "author", "at"), KEYWORD),
        "team": {"properties": {"name": KEYWORD}},
    }
}
STORY = corpus(1)[0]["body"]
POOL = [edited(text, count, seed=seed)["body"] for seed, text in enumerate(corpus(4)) for count in (1, 3, 6)]
COPIES = [edited(corpus(1)[0], 1, seed=seed)["body"] for seed in range(4)]


@pytest.fixture
def index(engine: Engine, meddler: Meddler, names: Callable[[], str]) -> Index:
    """An index without documents."""
    name = names()
    engine.perform(CreateIndex(name, {"mappings": MAPPING}))
    Index(name, engine, fields=["body"]).init()
    return Index(name, meddler)


def filled(engine: Engine, index: Index, known: list[tuple[str, str, Json]]) -> list[tuple[str, str, Json]]:
    """Index documents; return those that have a fingerprint."""
    fill(engine, index.name, {id_: index.documents.add_fields({"body": text, **own}) for id_, text, own in known})
    return [each for each in known if SCHEME.fingerprint(each[1]).simhash is not None]


def groups_of(index: Index, options: GroupOptions) -> set[frozenset[str]]:
    with index.group(**vars(options)) as grouped:
        return {frozenset(member.id for member in group.members) for group in grouped}


@pytest.mark.parametrize("scope", SCOPES)
def test_groups_are_what_all_pairs_in_scope_connect(engine: Engine, index: Index, scope: Scope) -> None:
    known = filled(engine, index, documents(17) + [(f"more {id_}", text, own) for id_, text, own in documents(4)])
    prints = [SCHEME.fingerprint(text) for _, text, _ in known]
    near = [
        (known[a][0], known[b][0])
        for a, b in in_scope(scope, known)
        if known[a][1] == known[b][1] or SCHEME.distance(prints[a], prints[b]) <= 5
    ]
    with index.group(scope=scope, **NEAR) as grouped:
        assert {frozenset(member.id for member in group.members) for group in grouped} == connected(near)
        assert grouped.counts.unscoped == sum(scope.values_of(own) is None for _, _, own in known)
    assert near


def test_documents_of_several_tenants_are_grouped_and_written_apart(engine: Engine, index: Index) -> None:
    own = {f"{tenant}{number}": {"tenant": tenant} for tenant in "abc" for number in range(4)}
    filled(engine, index, [(id_, COPIES[int(id_[1])], values) for id_, values in own.items()])
    filled(engine, index, [("none", STORY, {})])
    with index.group(scope=TENANT) as grouped:
        index.write_groups(grouped)
    found = contents(engine, index.name, [*own, "none"])
    groups = {id_: source["dedup"].get("group") for id_, source in found.items()}
    assert groups.pop("none") is None
    assert len(set(groups.values())) == 3
    assert all(groups[id_] == groups[f"{id_[0]}0"] for id_ in groups)


def test_a_document_that_changes_its_tenant_in_the_meantime_is_in_no_group(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    filled(engine, index, [(str(number), COPIES[number], {"tenant": "a"}) for number in range(4)])

    def move(_: object) -> None:
        engine.perform(Bulk(index.name, [Action("update", "2", {"doc": {"tenant": "b"}})], refresh=True))

    with index.group(scope=TENANT) as grouped:
        meddler.before = once(Bulk, move)
        assert index.write_groups(grouped).lost == 1
    found = contents(engine, index.name, list("0123"))
    assert [source["dedup"].get("group_size") for source in found.values()] == [3, 3, None, 3]


@pytest.mark.parametrize("text", [0, 1])
@pytest.mark.parametrize("change", [{"source": "s1"}, {"at": "2026-04-01"}, {"at": None}])
def test_what_a_document_linked_falls_apart_when_it_is_in_scope_no_more(
    engine: Engine, meddler: Meddler, index: Index, change: Json, text: int
) -> None:
    """Documents of one source stay apart, also if their texts are equal."""
    own = [{"source": source, "at": "2026-03-01"} for source in ("s1", "s2", "s1")]
    filled(engine, index, [(str(place), COPIES[place * text], values) for place, values in enumerate(own)])

    def move(_: object) -> None:
        engine.perform(Bulk(index.name, [Action("update", "1", {"doc": change})], refresh=True))

    with index.group(scope=Scope((), ("source",), timedelta(days=2), "at")) as grouped:
        assert [len(group.members) for group in grouped] == [3]
        meddler.before = once(Bulk, move)
        assert index.write_groups(grouped).lost == 1
        assert len(grouped) == 0
    found = contents(engine, index.name, list("012"))
    assert [source["dedup"].get("group") for source in found.values()] == [None] * 3


@servers
def test_an_incremental_run_takes_apart_what_no_longer_agrees(engine: Engine, index: Index) -> None:
    filled(engine, index, [(str(number), COPIES[number], {"tenant": "a"}) for number in range(3)])
    options = GroupOptions(scope=TENANT, incremental=True)
    with index.group(**vars(options)) as grouped:
        index.write_groups(grouped)
    filled(engine, index, [("3", COPIES[3], {"tenant": "b"})])
    engine.perform(Bulk(index.name, [Action("update", "2", {"doc": {"tenant": "b"}})], refresh=True))
    with index.group(**vars(options)) as grouped:
        assert grouped.counts.new is not None
        index.write_groups(grouped)
        assert {frozenset(member.id for member in group.members) for group in grouped} == {
            frozenset("01"),
            frozenset("23"),
        }
    with index.group(scope=None, incremental=True) as grouped:
        assert grouped.counts.new is None  # those groups were of another scope


@servers
@pytest.mark.parametrize("how", [NEAR, {"estimate": True}], ids=["simhash", "minhash"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))])
def test_an_incremental_run_reads_what_may_change_in_a_scope(
    engine: Engine, names: Callable[[], str], how: Json, seed: int
) -> None:
    """It leaves what a run that reads everything does, also where documents change their tenants."""
    part, whole = (Index(names(), engine, fields=["body"]) for _ in range(2))
    for index in (part, whole):
        engine.perform(CreateIndex(index.name, {"mappings": MAPPING}))
        index.init(policy=Policy(TENANT))
    rng, ids = random.Random(seed), [f"{number:02}" for number in range(40)]

    def changed(count: int) -> tuple[list[tuple[str, str, Json]], list[Action]]:
        written = [(rng.choice(ids), rng.choice(POOL), {"tenant": rng.choice("ab")}) for _ in range(count)]
        moved = rng.sample(ids, count)
        updates = [Action("update", id_, {"doc": {"tenant": rng.choice(["a", "b", None])}}) for id_ in moved]
        return written, updates

    for number in range(4):
        written, updates = changed(4) if number else ([(id_, rng.choice(POOL), {"tenant": "a"}) for id_ in ids], [])
        outcomes = []
        for index, most in ((part, 1.0), (whole, -1.0)):
            filled(engine, index, written)
            engine.perform(Bulk(index.name, updates, refresh=True))
            with (
                patch.object(reading_new, "MOST_NEW", most),
                index.group(incremental=True, **how) as found,
            ):
                assert (found.corpus.part is not None) == (number > 0 and index is part)
                index.write_groups(found)
            own = {id_: source["dedup"] for id_, source in contents(engine, index.name, ids).items()}
            outcomes.append((_members(own), {id_: each.get("group_size") for id_, each in own.items()}))
        assert outcomes[0] == outcomes[1]


def _members(stored: dict[str, Json]) -> set[tuple[str, ...]]:
    """Return the members of each group, the canonical one first."""
    groups: dict[str, list[str]] = defaultdict(list)
    for id_ in sorted(stored, key=lambda each: (not stored[each].get("is_canonical"), each)):
        if "group" in stored[id_]:
            groups[stored[id_]["group"]].append(id_)
    return set(map(tuple, groups.values()))


def test_what_was_read_before_a_stop_keeps_its_scope(
    engine: Engine, meddler: Meddler, index: Index, tmp_path: Path
) -> None:
    known = filled(engine, index, documents(23))
    scope = SCOPES[-1]

    def stop(opening: OpenReader) -> None:
        raise RuntimeError("stopped")

    expected = groups_of(index, GroupOptions(scope=scope, **NEAR))
    meddler.before = once(OpenReader, stop, after=1)
    with pytest.raises(RuntimeError, match="stopped"):
        index.group(scope=scope, state=tmp_path, **NEAR)
    meddler.before = lambda operation: None
    assert groups_of(index, GroupOptions(state=tmp_path, **NEAR)) != expected
    assert len(list(tmp_path.iterdir())) == 1
    assert groups_of(index, GroupOptions(scope=scope, state=tmp_path, **NEAR)) == expected
    assert known
