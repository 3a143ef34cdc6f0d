"""Groups as documents come, on every engine: searches may collapse them from the first document on."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

import pytest

from es_simhash import Policy, Scheme, Scope, Verification, canonical_only, collapsed
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.groups.options import GroupOptions
from es_simhash.index import Index
from es_simhash.plans.operations import (
    Action,
    Bulk,
    GetDocuments,
    GetMappings,
    MultiSearch,
    Operation,
    Refresh,
    Sample,
    Search,
)
from tests.support.chains import chain
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler, once
from tests.support.whole_indices import ENGINES

TEXTS = corpus(12)
ONLINE = Policy(groups="online")
# By its plain features, so that how far apart texts are is easily seen.
PLAIN = Scheme(verification=Verification.of_fingerprints(0.6))


@pytest.fixture
def index(engine: Engine, names: Callable[[], str]) -> Index:
    """An empty index whose documents get their groups as they come."""
    return made(engine, names)


def made(engine: Any, names: Callable[[], str], policy: Policy = ONLINE, scheme: Scheme | None = None) -> Index:
    index = Index(names(), engine, fields=["title", "body"], scheme=scheme)
    index.init(policy=policy)
    return index


def add(index: Index, documents: dict[str, Json], **more: Any) -> None:
    written = index.add([{"_id": id_, "_source": each} for id_, each in documents.items()], **more)
    assert not written.rejected


def near(place: int, seed: int) -> Json:
    return edited(TEXTS[place], 2, seed=seed)


def own(index: Index, *ids: str) -> dict[str, Json]:
    """What documents have of a group."""
    names = ("group", "group_size", "canonical", "is_canonical", "similarity", "distance")
    replies = index.engine.perform(GetDocuments(index.name, ids))
    return {
        id_: {name: stored[name] for name in names if stored.get(name) is not None}
        for id_, stored in ((reply["_id"], reply["_source"]["dedup"]) for reply in replies)
    }


def groups(index: Index, *ids: str) -> set[frozenset[str]]:
    found: dict[str, set[str]] = {}
    for id_, fields in own(index, *ids).items():
        found.setdefault(fields["group"], set()).add(id_)
    return set(map(frozenset, found.values()))


def canonical(index: Index, *ids: str) -> set[str]:
    return {id_ for id_, fields in own(index, *ids).items() if fields["is_canonical"]}


def reconcile(index: Index, incremental: bool = True) -> None:
    with index.group(incremental=incremental) as grouped:
        index.write_groups(grouped)


def sets(*each: str) -> set[frozenset[str]]:
    return {frozenset(ids.split()) for ids in each}


def test_copies_in_one_request_and_in_later_ones_join_the_first(index: Index) -> None:
    add(index, {"a": TEXTS[0], "b": near(0, 1), "c": TEXTS[1]})
    add(index, {"d": near(0, 2)})
    add(index, {"e": near(1, 3)})
    assert groups(index, *"abcde") == sets("a b d", "c e")
    found = own(index, *"abcde")
    assert canonical(index, *"abcde") == {"a", "c"}
    assert found["a"].keys() == {"group", "canonical", "is_canonical"}
    assert found["d"].keys() == {"group", "canonical", "is_canonical", "similarity", "distance"}
    assert 0.65 <= found["d"]["similarity"] <= 1
    assert [found[id_]["canonical"] for id_ in "abcde"] == ["a", "a", "c", "a", "c"]


@pytest.mark.parametrize("engine", ENGINES[1:], indirect=True)
def test_searches_collapse_and_aggregate_with_no_run(index: Index) -> None:
    add(index, {"a": TEXTS[0], "b": near(0, 1), "c": TEXTS[1], "d": near(1, 2), "e": TEXTS[2], "empty": {"title": ""}})
    index.refresh()
    reply = index.engine.perform(Search(index.name, collapsed({"query": {"match_all": {}}, "size": 10})))
    assert {hit["_id"] for hit in reply["hits"]["hits"]} == {"a", "c", "e", "empty"}
    assert reply["aggregations"]["distinct"]["value"] == 4
    terms = {"size": 0, "aggs": {"groups": {"terms": {"field": "dedup.group"}}}}
    buckets = index.engine.perform(Search(index.name, terms))["aggregations"]["groups"]["buckets"]
    assert [bucket["doc_count"] for bucket in buckets] == [2, 2, 1, 1]


def test_each_group_is_counted_once(index: Index) -> None:
    add(index, {"a": TEXTS[0], "b": near(0, 1), "empty": {"title": ""}, "also": {"body": " "}}, refresh=True)
    hits = index.engine.perform(Search(index.name, {"query": canonical_only()}))["hits"]["hits"]
    assert {hit["_id"] for hit in hits} == {"a", "empty", "also"}
    assert groups(index, "empty", "also") == sets("empty", "also")
    assert own(index, "empty")["empty"]["group_size"] == 1


def test_documents_without_an_id_get_groups_too(index: Index) -> None:
    index.add([TEXTS[0], TEXTS[0], TEXTS[1]], refresh=True)
    hits = index.engine.perform(Search(index.name, {"query": {"match_all": {}}}))["hits"]["hits"]
    found = [hit["_source"]["dedup"] for hit in hits]
    assert len({each["group"] for each in found}) == 2
    # The engine had not made their ids yet.
    assert all(each["canonical"] == each["group"] for each in found)
    assert sorted(each["is_canonical"] for each in found) == [False, True, True]
    reconcile(index)
    hits = index.engine.perform(Search(index.name, {"query": {"match_all": {}}}))["hits"]["hits"]
    kept = {hit["_id"] for hit in hits if hit["_source"]["dedup"]["is_canonical"]}
    assert {hit["_source"]["dedup"]["canonical"] for hit in hits} == kept


def test_a_document_that_is_written_again_keeps_its_group(index: Index) -> None:
    documents = {"b": TEXTS[0], "a": near(0, 1), "c": TEXTS[1]}
    add(index, documents)
    before = own(index, *"abc")
    add(index, documents)
    assert own(index, *"abc") == before
    reconcile(index)
    before = own(index, *"abc")
    assert (before["a"]["is_canonical"], before["a"]["group_size"]) == (True, 2)
    add(index, documents)
    index.add([{"_op_type": "update", "_id": "a", "doc": documents["a"]}])
    assert own(index, *"abc") == before


def test_another_text_leaves_the_group(index: Index) -> None:
    add(index, {"a": TEXTS[0], "b": near(0, 1), "c": TEXTS[1], "d": TEXTS[2]})
    reconcile(index)
    former = own(index, "a")["a"]["group"]
    add(index, {"a": TEXTS[3]})  # it stood for its group, whose name it must not keep
    index.add([{"_op_type": "update", "_id": "d", "doc": near(1, 4)}])
    assert groups(index, *"abcd") == sets("a", "b", "c d")
    assert own(index, "b")["b"]["group"] == former
    assert "group_size" not in own(index, "d")["d"]
    reconcile(index)
    assert [fields["group_size"] for fields in own(index, *"abcd").values()] == [1, 1, 2, 2]


def test_a_document_that_was_read_and_changed_brings_no_group_with_it(index: Index) -> None:
    add(index, {"a": TEXTS[0], "b": near(0, 1)})
    reconcile(index)
    [read] = index.engine.perform(GetDocuments(index.name, ["b"]))
    add(index, {"b": {**read["_source"], **TEXTS[1]}})
    assert own(index, "b")["b"].keys() == {"group", "canonical", "is_canonical"}
    reconcile(index)
    assert {id_: fields["group_size"] for id_, fields in own(index, "a", "b").items()} == {"a": 1, "b": 1}


def test_a_document_that_stands_for_its_group_does_so_after_a_small_change(index: Index) -> None:
    add(index, {"a": TEXTS[0], "b": near(0, 1)})
    add(index, {"a": near(0, 2)})
    assert groups(index, "a", "b") == sets("a b")
    assert canonical(index, "a", "b") == {"a"}


def test_what_a_request_changes_or_deletes_is_not_a_match_in_it(index: Index) -> None:
    add(index, {"a": TEXTS[0], "b": TEXTS[1]})
    index.add(
        [
            {"_id": "a", "_source": TEXTS[2]},
            {"_op_type": "delete", "_id": "b"},
            {"_id": "c", "_source": near(0, 1)},
            {"_id": "d", "_source": near(1, 1)},
            {"_id": "e", "_source": TEXTS[4]},
            {"_id": "e", "_source": TEXTS[5]},
            {"_id": "f", "_source": near(4, 1)},
        ]
    )
    assert groups(index, *"acdef") == sets("a", "c", "d", "e", "f")
    assert canonical(index, *"acdef") == set("acdef")


def test_an_update_of_other_fields_leaves_the_group(index: Index) -> None:
    add(index, {"a": TEXTS[0]})
    before = own(index, "a")
    index.add([{"_op_type": "update", "_id": "a", "doc": {"read": 3}}])
    assert own(index, "a") == before
    index.add([{"_op_type": "update", "_id": "a", "doc": {"title": "new"}}])
    assert "group" not in own(index, "a")["a"]


def test_a_match_without_a_group_stands_for_the_new_one(engine: Engine, names: Callable[[], str]) -> None:
    index = made(engine, names, Policy())
    add(index, {"old": TEXTS[0], "other": TEXTS[1]})
    assert own(index, "old", "other") == {"old": {}, "other": {}}
    index.init(policy=ONLINE)
    index = Index(index.name, engine)
    add(index, {"a": near(0, 1), "b": near(0, 2)})
    assert groups(index, "old", "a", "b") == sets("old a b")
    assert canonical(index, "old", "a", "b") == {"old"}
    assert own(index, "other") == {"other": {}}


def test_if_it_changes_in_the_meantime_the_new_ones_stand_for_themselves(
    engine: Engine, names: Callable[[], str]
) -> None:
    plain = made(engine, names, Policy())
    add(plain, {"old": TEXTS[0]}, refresh=True)
    plain.init(policy=ONLINE)

    change = Bulk(plain.name, [Action("update", "old", {"doc": {"title": "another"}})])
    meddler = Meddler(engine)
    meddler.before = once(Bulk, lambda _: engine.perform(change))
    add(Index(plain.name, meddler), {"a": near(0, 1), "b": near(0, 2)})
    assert own(plain, "old") == {"old": {}}
    assert groups(plain, "a", "b") == sets("a b")
    assert canonical(plain, "a", "b") == {"a", "b"}


def test_two_writers_may_give_it_the_same_group(engine: Engine, names: Callable[[], str]) -> None:
    plain = made(engine, names, Policy())
    add(plain, {"old": TEXTS[0]}, refresh=True)
    plain.init(policy=ONLINE)
    meddler = Meddler(engine)
    other = Index(plain.name, engine)
    searched = False

    def after(operation: Operation[Any], result: Any) -> Any:
        nonlocal searched
        if isinstance(operation, Search | MultiSearch) and not searched and "dedup" in str(operation):
            searched = True
            add(other, {"b": near(0, 2)})
        return result

    meddler.after = after
    add(Index(plain.name, meddler), {"a": near(0, 1)})
    assert groups(plain, "old", "a", "b") == sets("old a b")
    assert canonical(plain, "old", "a", "b") == {"old"}


def test_no_group_has_documents_out_of_scope(engine: Engine, names: Callable[[], str]) -> None:
    index = made(engine, names, Policy(Scope(("tenant",)), "online"))
    documents = {f"{tenant}{k}": {**TEXTS[0], "tenant": tenant} for k in range(2) for tenant in "xy"}
    add(index, documents | {"none": TEXTS[0]})
    assert groups(index, *documents, "none") == sets("x0 x1", "y0 y1", "none")
    add(index, {"x1": {**TEXTS[0], "tenant": "y"}})
    assert groups(index, *documents, "none") == sets("x0", "x1 y0 y1", "none")


def test_a_backfill_groups_what_it_has_fingerprinted(engine: Engine, names: Callable[[], str]) -> None:
    index = made(engine, names)
    documents = {"a": TEXTS[0], "b": near(0, 1), "c": TEXTS[1], "empty": {"title": ""}}
    engine.perform(Bulk(index.name, [Action("index", id_, each) for id_, each in documents.items()], refresh=True))
    index.backfill()
    assert groups(index, *"abc") == sets("a b", "c")
    assert [own(index, id_)[id_]["group_size"] for id_ in ("a", "b", "c", "empty")] == [2, 2, 1, 1]
    index.add([{"_op_type": "update", "_id": "b", "doc": {"body": TEXTS[1]["body"]}}])
    assert "group" not in own(index, "b")["b"]
    index.backfill()
    assert own(index, "a")["a"]["group_size"] == 1
    assert own(index, "b")["b"]["group"] != own(index, "a")["a"]["group"]
    plain = made(engine, names, Policy())
    add(plain, {"a": TEXTS[0]})
    plain.backfill()
    assert own(plain, "a") == {"a": {}}


# --- what the next run puts right


def test_writers_at_the_same_time_are_put_right(engine: Engine, index: Index) -> None:
    barrier = Barrier(2)

    class Together(Meddler):
        def perform(self, operation: Operation[Any]) -> Any:
            if isinstance(operation, Bulk):
                barrier.wait(30)
            return super().perform(operation)

    def write(id_: str) -> None:
        add(Index(index.name, Together(engine)), {id_: TEXTS[0]})

    threads = [Thread(target=write, args=(id_,)) for id_ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert groups(index, "a", "b") == sets("a", "b")
    names = {fields["group"] for fields in own(index, "a", "b").values()}
    reconcile(index)
    found = own(index, "a", "b")
    assert groups(index, "a", "b") == sets("a b")
    assert found["a"]["group"] in names
    assert {fields["group_size"] for fields in found.values()} == {2}
    assert canonical(index, "a", "b") == {"a"}


def test_a_document_that_joins_two_groups_is_put_right(engine: Engine, names: Callable[[], str]) -> None:
    words = [f"word{i}" for i in range(300)]
    ends = {name: {"title": "", "body": " ".join(words[a:b])} for name, a, b in [("a", 0, 60), ("c", 20, 80)]}
    middle = {"title": "", "body": " ".join(words[10:70])}
    options = GroupOptions(incremental=True)
    index = made(engine, names, scheme=PLAIN)
    add(index, ends)
    assert groups(index, "a", "c") == sets("a", "c")
    reconcile(index)
    add(index, {"b": middle})
    assert groups(index, "a", "b", "c") in (sets("a b", "c"), sets("b c", "a"))
    with index.group(**vars(options)) as grouped:
        index.write_groups(grouped)
    assert groups(index, "a", "b", "c") == sets("a b c")


def test_what_is_near_duplicates_only_stands_for_itself_in_their_group(
    engine: Engine, names: Callable[[], str]
) -> None:
    index = made(engine, names, scheme=PLAIN)
    add(index, {id_: {"title": "", "body": text} for id_, text in zip("abcde", chain(0, 5), strict=True)})
    found = own(index, *"abcde")
    assert len({each["group"] for each in found.values()}) == 1
    assert [found[id_]["canonical"] for id_ in "abcde"] == ["a", "a", "c", "c", "e"]
    assert canonical(index, *"abcde") == set("ace")
    reconcile(index)
    for id_, each in own(index, *"abcde").items():
        assert [each[name] for name in ("group", "canonical")] == [found[id_][name] for name in ("group", "canonical")]
        assert each["group_size"] == 5


def test_a_write_that_failed_leaves_nothing_wrong(engine: Engine, index: Index) -> None:
    add(index, {"a": TEXTS[0]})
    written = index.add(
        [
            {"_op_type": "create", "_id": "a", "_source": near(0, 1)},  # refused: the id exists
            {"_op_type": "create", "_id": "b", "_source": near(0, 2)},
        ]
    )
    assert (written.done, written.refused) == (1, 1)
    assert groups(index, "a", "b") == sets("a b")
    reconcile(index)
    assert {fields["group_size"] for fields in own(index, "a", "b").values()} == {2}
    assert canonical(index, "a", "b") == {"a"}


def test_a_deleted_document_leaves_a_group_that_the_next_run_gives_another_canonical_one(index: Index) -> None:
    add(index, {"a": TEXTS[0], "b": near(0, 1), "c": near(0, 2)})
    reconcile(index)
    index.delete(["a"])
    reconcile(index)
    assert canonical(index, "b", "c") == {"b"}
    assert {fields["group_size"] for fields in own(index, "b", "c").values()} == {2}


def test_names_stay(index: Index) -> None:
    add(index, {"b": TEXTS[0], "a": near(0, 1), "c": TEXTS[1]})
    names = {id_: fields["group"] for id_, fields in own(index, *"abc").items()}
    reconcile(index)
    assert {id_: fields["group"] for id_, fields in own(index, *"abc").items()} == names


def test_a_request_is_searched_for_at_once(engine: Engine, index: Index) -> None:
    add(index, {"a": TEXTS[0]})
    meddler = Meddler(engine)
    there = Index(index.name, meddler)
    # The replies to these show how many searches one may answer.
    add(there, {f"warm {i}": near(i % 5, i) for i in range(50)})
    meddler.seen.clear()
    add(there, {f"{i}": near(i % 5, i) for i in range(50, 100)})
    # Until it is learnt how rare features are, a small index is looked at each time.
    seen = [type(each) for each in meddler.seen if not isinstance(each, Sample | GetMappings | Search)]
    assert seen == [Refresh, GetDocuments, MultiSearch, Bulk]


def test_the_mapping_can_be_collapsed_by(engine: Engine, index: Index) -> None:
    properties = engine.perform(GetMappings(index.name))[index.name]["properties"]["dedup"]["properties"]
    assert properties["group"]["type"] == "keyword"
