"""Groups on the documents of an index, on every engine: written, kept up, and never over what somebody else changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import AccessError
from es_simhash.groups.canonical import Canonical
from es_simhash.groups.of_index.writing import GroupsWritten
from es_simhash.groups.options import GroupOptions
from es_simhash.index import AsyncIndex, Index
from es_simhash.plans.operations import (
    Action,
    Bulk,
    CloseReader,
    Count,
    GetMappings,
    GetResource,
    OpenReader,
    Operation,
    PutMapping,
    ReadPage,
    Refresh,
)
from es_simhash.scheme.mapping import stored_in
from es_simhash.scheme.query import By
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Verifier
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler, StopsEarly, once
from tests.support.whole_indices import ENGINES, FIELDS, contents, create, delete, fill, fingerprinted, servers
from tools.nodes import Node

ORIGINALS = corpus(12)
# Of each of the first six, three copies; the others are alone.
GROUPS = 6
DOCUMENTS: dict[str, Json] = {
    **{f"{i} original/é": {**document, "number": i} for i, document in enumerate(ORIGINALS)},
    **{
        f"{i} copy {k}": {**edited(ORIGINALS[i], 2, seed=10 * i + k), "number": i}
        for i in range(GROUPS)
        for k in range(3)
    },
}


@pytest.fixture
def index(engine: Engine, meddler: Meddler, names: Callable[[], str]) -> Index:
    """An index whose documents have fingerprints, and are in no group yet."""
    return fingerprinted(engine, meddler, names(), DOCUMENTS)


def written(index: Index, options: GroupOptions | None = None, singles: bool = False) -> GroupsWritten:
    with index.group(**vars(options or GroupOptions())) as grouped:
        return index.write_groups(grouped, singles=singles)


def stored(engine: Engine, index: Index, ids: list[str] | None = None) -> dict[str, Json]:
    """What documents have of a group."""
    found = contents(engine, index.name, ids or list(DOCUMENTS))
    names = ("group", "group_size", "canonical", "is_canonical", "similarity", "distance")
    return {
        id_: {name: source["dedup"][name] for name in names if source["dedup"].get(name) is not None}
        for id_, source in found.items()
    }


def members(engine: Engine, index: Index, ids: list[str] | None = None) -> dict[str, set[str]]:
    """The documents of each group that is stored."""
    groups: dict[str, set[str]] = {}
    for id_, own in stored(engine, index, ids).items():
        if own:
            groups.setdefault(own["group"], set()).add(id_)
    return groups


def change(engine: Engine, index: Index, id_: str, part: Json) -> None:
    [result] = engine.perform(Bulk(index.name, [Action("update", id_, {"doc": part})], refresh=True))
    assert result.error is None


COPIES = {frozenset([f"{i} original/é", *(f"{i} copy {k}" for k in range(3))]) for i in range(GROUPS)}


def test_every_member_of_a_group_says_so_and_nothing_else_changes(engine: Engine, index: Index) -> None:
    before = contents(engine, index.name, list(DOCUMENTS))
    done = written(index)
    assert (done.written, done.lost, done.rejected) == (4 * GROUPS, 0, [])
    groups = members(engine, index)
    assert set(map(frozenset, groups.values())) == COPIES
    found = stored(engine, index)
    for name, ids in groups.items():
        [canonical] = [id_ for id_ in ids if found[id_]["is_canonical"]]
        assert canonical == min(ids)
        assert {found[id_]["group_size"] for id_ in ids} == {4}
        assert {found[id_]["group"] for id_ in ids} == {name}
        assert {found[id_]["canonical"] for id_ in ids} == {canonical}
        assert {"similarity", "distance"}.isdisjoint(stored_in(found[canonical]))
        assert all(0.6 <= found[id_]["similarity"] <= 1 for id_ in ids if id_ != canonical)
    after = contents(engine, index.name, list(DOCUMENTS))
    for id_, source in after.items():
        assert {**source, "dedup": before[id_]["dedup"]} == before[id_]
        assert source["dedup"].items() >= before[id_]["dedup"].items()


def test_groups_can_be_searched(engine: Engine, index: Index) -> None:
    written(index)

    def count(**term: Any) -> int:
        return engine.perform(Count(index.name, {"term": {f"dedup.{name}": value for name, value in term.items()}}))

    assert count(is_canonical=True) == GROUPS
    assert count(is_canonical=False) == 3 * GROUPS
    assert count(group_size=4) == 4 * GROUPS
    assert [count(group=name) for name in members(engine, index)] == [4] * GROUPS


def test_a_second_run_writes_nothing(engine: Engine, index: Index) -> None:
    written(index)
    before = stored(engine, index)
    assert written(index).written == 0
    assert stored(engine, index) == before


def test_the_mapping_is_changed_only_by_what_is_missing_in_it(engine: Engine, meddler: Meddler, index: Index) -> None:
    written(index)
    written(index)  # which notes the changes that the first one has made
    meddler.seen.clear()
    assert written(index).written == 0
    assert PutMapping not in meddler.kinds()


def refuse_mappings(operation: Operation[Any]) -> None:
    if isinstance(operation, PutMapping):
        raise AccessError("This login may not change the mapping. Have the privilege granted.")


def test_once_the_fields_are_there_groups_are_written_without_changing_the_mapping(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    written(index)
    change(engine, index, "0 copy 1", {"dedup": {"group": None}})
    meddler.before = refuse_mappings
    assert written(index).written >= 1
    assert set(map(frozenset, members(engine, index).values())) == COPIES
    change(engine, index, "0 copy 1", {"dedup": {"group": None}})
    written(index, GroupOptions(incremental=True))
    assert set(map(frozenset, members(engine, index).values())) == COPIES


def test_what_is_noted_of_other_groups_is_taken_out_before_these_are_written(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    """Else a run that adds to those would take these for them, if this one is killed or may not note anything."""
    written(index)
    before = stored(engine, index)
    meddler.before = refuse_mappings
    with pytest.raises(AccessError):
        written(index, GroupOptions(similarity=0.95))
    assert stored(engine, index) == before


def test_grouping_alone_writes_nothing(engine: Engine, meddler: Meddler, index: Index) -> None:
    index.group().close()
    assert Bulk not in meddler.kinds()
    assert not any(stored(engine, index).values())


def test_a_run_that_was_killed_is_gone_on_with_and_comes_to_the_same(
    engine: Engine, index: Index, names: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("es_simhash.groups.of_index.writing._AT_ONCE", 5)
    with pytest.raises(RuntimeError, match="stopped"):
        written(Index(index.name, StopsEarly(engine)))
    index.refresh()
    part = stored(engine, index)
    assert 0 < sum(map(bool, part.values())) < 4 * GROUPS
    written(index)
    whole = stored(engine, index)
    assert all(whole[id_] == own for id_, own in part.items() if own)
    assert set(map(frozenset, members(engine, index).values())) == COPIES
    written(index)
    assert stored(engine, index) == whole


def test_a_group_keeps_its_name_when_a_document_joins_or_its_first_one_leaves(engine: Engine, index: Index) -> None:
    written(index)
    before = {frozenset(ids): name for name, ids in members(engine, index).items()}
    [first] = [ids for ids in before if "0 original/é" in ids]
    delete(engine, index.name, "0 copy 0")
    new = index.documents.add_fields(edited(ORIGINALS[0], 1, seed=99))
    fill(engine, index.name, {"0 newer": new})
    written(index)
    everything = [*DOCUMENTS, "0 newer"]
    after = {name: ids for name, ids in members(engine, index, everything).items() if "0 original/é" in ids}
    assert after == {before[first]: (set(first) - {"0 copy 0"}) | {"0 newer"}}
    rest = {frozenset(ids): name for name, ids in members(engine, index).items() if "0 original/é" not in ids}
    assert rest == {ids: name for ids, name in before.items() if ids != first}


def test_a_group_that_dissolves_leaves_nothing(engine: Engine, index: Index) -> None:
    written(index)
    delete(engine, index.name, *(f"1 copy {k}" for k in range(3)))
    written(index)
    assert stored(engine, index)["1 original/é"] == {}


def test_a_text_that_changes_leaves_its_group_at_once(engine: Engine, index: Index) -> None:
    written(index)
    index.add([{"_op_type": "update", "_id": "2 copy 0", "doc": dict(ORIGINALS[11])}], refresh=True)
    assert "group" not in stored(engine, index)["2 copy 0"]
    written(index)
    groups = list(members(engine, index).values())
    assert {"2 original/é", "2 copy 1", "2 copy 2"} in groups
    assert {"11 original/é", "2 copy 0"} in groups


def test_a_backfill_takes_a_changed_text_out_of_its_group(engine: Engine, index: Index) -> None:

    written(index)
    change(engine, index, "2 copy 0", dict(ORIGINALS[11]))
    index.backfill(refresh_stale=True)
    assert stored(engine, index)["2 copy 0"] == {}


# --- others write as well


@servers
def test_a_text_that_changes_in_the_meantime_is_in_no_group(engine: Engine, meddler: Meddler, index: Index) -> None:
    meddler.before = once(Bulk, lambda bulk: change(engine, index, "3 copy 1", {"body": "quite another text now"}))
    done = written(index)
    assert (done.lost, done.rejected) == (1, [])
    assert done.conflicts > 0
    found = stored(engine, index)
    assert found["3 copy 1"] == {}
    assert {found[f"3 {name}"]["group_size"] for name in ("original/é", "copy 0", "copy 2")} == {3}
    assert contents(engine, index.name, ["3 copy 1"])["3 copy 1"]["body"] == "quite another text now"


@servers
def test_another_field_that_changes_in_the_meantime_stays_changed_and_the_document_in_its_group(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    meddler.before = once(Bulk, lambda bulk: change(engine, index, "3 copy 1", {"number": 7}))
    assert written(index).lost == 0
    assert set(map(frozenset, members(engine, index).values())) == COPIES
    assert contents(engine, index.name, ["3 copy 1"])["3 copy 1"]["number"] == 7


def test_a_document_that_is_deleted_in_the_meantime_is_not_made_again(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    meddler.before = once(Bulk, lambda bulk: delete(engine, index.name, "4 original/é"))
    assert written(index).lost == 1
    found = stored(engine, index)
    assert "4 original/é" not in found
    assert {found[f"4 copy {k}"]["group_size"] for k in range(3)} == {3}
    assert sum(found[f"4 copy {k}"]["is_canonical"] for k in range(3)) == 1


@servers
def test_a_group_of_two_dissolves_if_one_changes(engine: Engine, meddler: Meddler, index: Index) -> None:
    delete(engine, index.name, "5 copy 1", "5 copy 2")
    meddler.before = once(Bulk, lambda bulk: change(engine, index, "5 copy 0", {"title": "x", "body": "y"}))
    written(index)
    found = stored(engine, index)
    assert (found["5 original/é"], found["5 copy 0"]) == ({}, {})


@servers
@pytest.mark.parametrize("changed", ["0 original/é", "0 copy 0", "0 copy 1", "0 copy 2"])
def test_in_an_incremental_run_too_only_what_changed_in_the_meantime_leaves_its_group(
    engine: Engine, meddler: Meddler, index: Index, changed: str
) -> None:
    written(index)
    before = members(engine, index)
    fill(engine, index.name, {"0 newer": index.documents.add_fields(edited(ORIGINALS[0], 1, seed=99))})
    meddler.before = once(Bulk, lambda bulk: change(engine, index, changed, {"body": "quite another text now"}))
    assert written(index, GroupOptions(incremental=True)).lost == 1
    after = members(engine, index, [*DOCUMENTS, "0 newer"])
    expected = {name: ids - {changed} | ({"0 newer"} if changed in ids else set()) for name, ids in before.items()}
    assert after == expected


@servers
def test_documents_linked_only_by_the_one_that_changed_stay_together(
    engine: Engine, meddler: Meddler, index: Index, names: Callable[[], str]
) -> None:
    """Of documents with equal texts only the first is compared with others."""
    name = names()
    create(engine, name)
    own = Index(name, meddler, fields=FIELDS)
    own.init()
    texts = {"1": ORIGINALS[0], "2": ORIGINALS[0], "3": edited(ORIGINALS[0], 2)}
    fill(engine, name, {id_: own.documents.add_fields(each) for id_, each in texts.items()})
    meddler.before = once(Bulk, lambda bulk: change(engine, own, "1", {"body": "quite another text now"}))
    assert written(own).lost == 1
    assert list(members(engine, own, list(texts)).values()) == [{"2", "3"}]


@servers
def test_every_update_has_a_condition(meddler: Meddler, index: Index) -> None:
    written(index)
    actions = [action for operation in meddler.seen if isinstance(operation, Bulk) for action in operation.actions]
    assert len(actions) == 4 * GROUPS
    for action in actions:
        assert action.op_type == "update"
        assert {"if_seq_no", "if_primary_term"} <= set(action.metadata or {})
        assert set((action.body or {})["doc"]) == {"dedup"}


# --- only what is new


@servers
def test_an_incremental_run_compares_new_documents_with_the_old_ones(engine: Engine, index: Index) -> None:
    written(index)
    before = {frozenset(ids): name for name, ids in members(engine, index).items()}
    new = {
        "0 newer": index.documents.add_fields(edited(ORIGINALS[0], 1, seed=99)),  # to a group
        "9 newer": index.documents.add_fields(edited(ORIGINALS[9], 1, seed=98)),  # to one that was alone
        "alone": index.documents.add_fields({"title": "t", "body": "unlike all others, and short"}),
    }
    fill(engine, index.name, new)
    with index.group(incremental=True) as grouped:
        # Numbers of changes are counted by shard, so that some older ones may look new.
        assert 3 <= grouped.counts.new <= len(DOCUMENTS) - 4 * GROUPS + 3  # type: ignore[operator]
        index.write_groups(grouped)
    incremental = stored(engine, index, [*DOCUMENTS, *new])
    groups = members(engine, index, [*DOCUMENTS, *new])
    assert {"9 original/é", "9 newer"} in groups.values()
    [first] = [ids for ids in before if "0 original/é" in ids]
    assert groups[before[first]] == {*first, "0 newer"}
    assert incremental["alone"] == {}
    assert written(index).written == 0  # a whole run comes to the same


@servers
@pytest.mark.parametrize("by", ["minhash", "simhash"])
def test_an_incremental_run_reads_only_what_new_documents_may_change(
    engine: Engine, meddler: Meddler, index: Index, by: By, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of so few documents, those that look new are too many.
    monkeypatch.setattr("es_simhash.groups.of_index.reading_new.MOST_NEW", 0.9)
    index.refresh()
    index.learn()
    written(index, GroupOptions(by=by))
    other = corpus(200)[100:160]
    fill(engine, index.name, {f"other {i}": index.documents.add_fields(each) for i, each in enumerate(other)})
    written(index, GroupOptions(by=by), singles=True)
    new = {
        "0 newer": index.documents.add_fields(edited(ORIGINALS[0], 1, seed=99)),
        "9 newer": index.documents.add_fields(ORIGINALS[9]),
    }
    fill(engine, index.name, new)
    left = stored(engine, index, ["1 copy 1"])["1 copy 1"]["group_size"] - 1
    delete(engine, index.name, "1 copy 1", "other 7")
    read = 0

    def count(operation: Operation[Any], result: Any) -> Any:
        nonlocal read
        read += len(result.hits) if isinstance(operation, ReadPage) else 0
        return result

    meddler.after = count
    with index.group(by=by, incremental=True) as grouped:
        # Those that are left of a group are compared again.
        assert (grouped.counts.new, grouped.counts.documents) == (2 + left, len(DOCUMENTS) + 60)
        index.write_groups(grouped, singles=True)
    assert 0 < read < len(DOCUMENTS) + 60
    meddler.after = lambda operation, result: result
    assert stored(engine, index, ["9 newer"])["9 newer"]["group_size"] == 2
    assert written(index, GroupOptions(by=by), singles=True).written == 0  # a whole run comes to the same
    with index.group(by=by, incremental=True) as grouped:
        assert (grouped.counts.new, len(grouped)) == (0, 0)


@servers
def test_after_a_run_of_another_kind_everything_is_compared(engine: Engine, index: Index) -> None:
    written(index, GroupOptions(similarity=0.95))
    with index.group(similarity=0.7, incremental=True) as grouped:
        index.write_groups(grouped)
    assert set(map(frozenset, members(engine, index).values())) == COPIES


def test_what_is_noted_in_the_mapping_is_not_taken_for_a_prefix(engine: Engine, index: Index) -> None:
    written(index)
    meta = engine.perform(GetMappings(index.name))[index.name]["_meta"]
    assert meta["owner"] == "somebody"
    assert Index(index.name, engine).documents.prefix == "dedup"


# --- as one likes


def test_with_singles_every_document_is_in_a_group(engine: Engine, index: Index) -> None:
    assert written(index, singles=True).written == len(DOCUMENTS)
    found = stored(engine, index)
    assert {own["group_size"] for own in found.values()} == {1, 4}
    assert len({own["group"] for own in found.values()}) == len(ORIGINALS)
    assert sum(own["is_canonical"] for own in found.values()) == len(ORIGINALS)
    assert written(index, singles=True).written == 0
    assert written(index).written == len(ORIGINALS) - GROUPS
    assert sum(map(bool, stored(engine, index).values())) == 4 * GROUPS


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        (Canonical.newest("number"), "z new"),
        (Canonical.oldest("number"), "a old"),
        (Canonical.order("inner.value", ["good", "bad"]), "m good"),
        (Canonical.longest(FIELDS), "m good"),
        (Canonical.by(lambda document: -document["number"]), "z new"),
    ],
)
def test_an_order_says_who_stands_for_a_group(
    engine: Engine, index: Index, names: Callable[[], str], keep: Canonical, expected: str
) -> None:
    text = ORIGINALS[0]
    documents: dict[str, Json] = {
        "a old": {**text, "number": 1_000_000, "inner": {"value": "bad"}},
        "m good": {**text, "body": text["body"] + " more", "number": 2_000_000, "inner": {"value": "good"}},
        "z new": {**text, "number": 3_000_000},
    }
    name = names()
    create(engine, name)
    own = Index(name, engine, fields=FIELDS)
    own.init()
    fill(engine, name, {id_: own.documents.add_fields(each) for id_, each in documents.items()})
    with own.group(canonical=keep) as grouped:
        [group] = grouped
    assert group.canonical.id == expected


def test_routing_values_are_kept(engine: Engine, names: Callable[[], str]) -> None:
    name = names()
    create(engine, name, number_of_shards=5)
    index = Index(name, engine, fields=FIELDS)
    index.init()
    documents = {id_: index.documents.add_fields(each) for id_, each in DOCUMENTS.items()}
    fill(engine, name, documents, routing="elsewhere")
    done = written(index, GroupOptions())
    assert (done.written, done.lost) == (4 * GROUPS, 0)
    found = contents(engine, name, list(DOCUMENTS), "elsewhere")
    assert sum("group" in each["dedup"] for each in found.values()) == 4 * GROUPS
    index.refresh()
    assert engine.perform(Count(name, {"match_all": {}})) == len(DOCUMENTS)


def test_the_texts_may_decide(engine: Engine, index: Index) -> None:
    with index.group() as grouped:
        assert grouped.counts.verified > 0
        groups = list(grouped)
    assert {frozenset(member.id for member in group.members) for group in groups} == COPIES
    scheme, text_of = index.scheme, index.documents.text_of
    verifier = Verifier(scheme, Verification(), builtin())
    for group in groups:
        texts = [text_of(DOCUMENTS[member.id]) for member in group.members]
        expected = verifier.to_others(texts[0], texts)
        assert group.canonical.similarity is None
        assert [member.similarity for member in group.duplicates] == pytest.approx(expected[1:])


def framed(number: int) -> Json:
    """A document that is mostly the frame that all have."""
    frame = " ".join(f"frame{word}" for word in range(80))
    return {"title": "", "body": f"{frame} own{number * 7919} text{number * 104729} of{number * 1299709} it. {frame}"}


def test_what_all_texts_have_can_be_left_out(engine: Engine, names: Callable[[], str]) -> None:
    name = names()
    create(engine, name)
    index = Index(name, engine, fields=FIELDS)
    index.init()
    documents = {str(i): framed(i) for i in range(30)} | {"copy": framed(7)}
    fill(engine, name, {id_: index.documents.add_fields(each) for id_, each in documents.items()})
    with index.group() as grouped:
        assert [len(group.members) for group in grouped] == [31]
    with index.group(strip=[r"frame\d+\s?"]) as grouped:
        assert [[member.id for member in group.members] for group in grouped] == [["7", "copy"]]


def test_a_text_that_is_not_that_of_its_fingerprint_is_similar_to_nothing(engine: Engine, index: Index) -> None:
    change(engine, index, "0 copy 1", {"body": "changed by somebody who knows nothing of fingerprints"})
    with index.group() as grouped:
        assert "0 copy 1" not in {member.id for group in grouped for member in group.members}


@pytest.mark.parametrize("kind", ENGINES[1:], indirect=True)
def test_an_asynchronous_index_does_the_same(engine: Engine, kind: str, index: Index, request: Any) -> None:
    node: Node = request.getfixturevalue(f"{kind}_node")

    async def do() -> GroupsWritten:
        async with AsyncIndex(index.name, node.url) as same:
            with await same.group() as grouped:
                return await same.write_groups(grouped)

    assert asyncio.run(do()).written == 4 * GROUPS
    assert set(map(frozenset, members(engine, index).values())) == COPIES


# --- stopped while it reads


def test_a_run_that_was_stopped_while_it_read_goes_on_with_the_next_part(
    engine: Engine, meddler: Meddler, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("es_simhash.groups.of_index.stored_fingerprints.PART", 8)
    options = GroupOptions(state=tmp_path / "state")

    def stop(opening: OpenReader) -> None:
        raise RuntimeError("stopped")

    meddler.before = once(OpenReader, stop, after=2)
    with pytest.raises(RuntimeError, match="stopped"):
        index.group(**vars(options))
    assert len(list((tmp_path / "state").iterdir())) == 2
    meddler.before = lambda operation: None
    meddler.seen.clear()
    with index.group(**vars(options)) as grouped:
        assert grouped.counts.documents == len(DOCUMENTS)
        assert {frozenset(member.id for member in group.members) for group in grouped} == COPIES
        assert index.write_groups(grouped).lost == 0
    assert sum(isinstance(operation, OpenReader) for operation in meddler.seen) == 2
    assert list((tmp_path / "state").iterdir()) == []


def test_parts_of_another_scheme_or_query_are_not_taken(
    engine: Engine, meddler: Meddler, index: Index, tmp_path: Path
) -> None:
    def stop(opening: OpenReader) -> None:
        raise RuntimeError("stopped")

    meddler.before = once(OpenReader, stop, after=1)
    with pytest.raises(RuntimeError, match="stopped"):
        index.group(state=tmp_path)
    query = {"term": {"number": 0}}
    with index.group(state=tmp_path, filter=query) as grouped:
        assert grouped.counts.documents == 4
    assert len(list(tmp_path.iterdir())) == 1


@servers
def test_what_changed_after_a_part_was_kept_is_new_to_the_next_incremental_run(
    engine: Engine, meddler: Meddler, index: Index, tmp_path: Path
) -> None:
    def stop(opening: OpenReader) -> None:
        raise RuntimeError("stopped")

    meddler.before = once(OpenReader, stop, after=1)
    with pytest.raises(RuntimeError, match="stopped"):
        index.group(state=tmp_path)
    meddler.before = lambda operation: None
    new = {f"{i} newer": index.documents.add_fields(edited(ORIGINALS[i], 1, seed=90 + i)) for i in range(6, 12)}
    fill(engine, index.name, new)
    written(index, GroupOptions(state=tmp_path))
    written(index, GroupOptions(incremental=True))
    groups = members(engine, index, [*DOCUMENTS, *new])
    assert all({f"{i} original/é", f"{i} newer"} in groups.values() for i in range(6, 12))


@servers
@pytest.mark.parametrize("kept", [False, True])
def test_what_comes_while_a_run_makes_the_index_visible_is_new_to_the_next_incremental_run(
    engine: Engine, meddler: Meddler, index: Index, tmp_path: Path, kept: bool
) -> None:
    """A document that the reading cannot see yet must not count as read."""
    late = {f"{i} newer": index.documents.add_fields(edited(ORIGINALS[i], 1, seed=70 + i)) for i in range(6, 9)}
    coming = iter(late.items())

    def before(operation: Operation[Any]) -> None:
        if isinstance(operation, Refresh | GetResource | OpenReader) and Bulk not in meddler.kinds():
            for id_, source in islice(coming, 1):
                assert not engine.perform(Bulk(index.name, [Action("index", id_, source)]))[0].error

    meddler.before = before
    written(index, GroupOptions(state=tmp_path if kept else None))
    assert next(coming, None) is None
    written(index, GroupOptions(incremental=True))
    groups = members(engine, index, [*DOCUMENTS, *late])
    assert all({f"{i} original/é", f"{i} newer"} in groups.values() for i in range(6, 9))


def test_a_reader_that_is_lost_makes_no_document_a_near_duplicate_of_itself(
    engine: Engine, meddler: Meddler, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("es_simhash.live.sweep.reading._FIRST_SIZE", 7)
    meddler.before = once(ReadPage, lambda page: engine.perform(CloseReader(page.reader)), after=1)
    with index.group() as grouped:
        assert grouped.counts.documents == len(DOCUMENTS)
        assert index.write_groups(grouped).written == 4 * GROUPS
    assert set(map(frozenset, members(engine, index).values())) == COPIES
