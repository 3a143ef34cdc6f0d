"""Duplicates say what they copy: fields of the canonical document, the lag of dates, and the next newer version."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from es_simhash import Index, Policy, dedup
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import InputError, MappingError
from es_simhash.groups.of_index import reading_new
from es_simhash.plans.operations import Action, Bulk, CreateIndex, GetMappings, PutMapping, Search
from es_simhash.scheme.mapping import stored_in
from tests.support.corpus import corpus, edited
from tests.support.fuzzing import examples
from tests.support.meddling import Meddler
from tests.support.whole_indices import ENGINES, contents, delete, engine_of_kind, fill, new_names, servers

KEYWORD, DATE = {"type": "keyword"}, {"type": "date"}
MAPPING: Json = {
    "properties": {
        "body": {"type": "text"},
        "note": {"type": "text"},
        "site": KEYWORD,
        "at": DATE,
        "shop": {
            "properties": {"price": {"type": "double"}, "open": {"type": "boolean"}, "pages": {"type": "integer"}}
        },
    }
}
STORIES = [story["body"] for story in corpus(6)]
COPIED = ["site", "at", "note", "shop.price", "shop.open", "shop.pages"]
# The first of three versions of a story, in English, Chinese and Japanese.
VERSIONS = [[edited({"body": text}, count, seed=count)["body"] for count in (0, 1, 2)] for text in STORIES[:3]]


def made(engine: Engine, name: str, dynamic: str = "strict", policy: Policy | None = None) -> Index:
    engine.perform(CreateIndex(name, {"mappings": {"dynamic": dynamic, **MAPPING}}))
    index = Index(name, engine, fields=["body"])
    index.init(policy=policy or Policy())
    return index


def add(index: Index, documents: dict[str, Json]) -> None:
    assert not index.add([{"_id": id_, **each} for id_, each in documents.items()], refresh=True).rejected


def group(index: Index, **how: Any) -> int:
    """Group and write; return how many documents were written."""
    with index.group(**how) as grouped:
        return index.write_groups(grouped).written


def stored(engine: Engine, name: str, ids: list[str]) -> dict[str, Json]:
    return {id_: stored_in(source["dedup"]) for id_, source in contents(engine, name, ids).items()}


def three(**more: Any) -> dict[str, Json]:
    first, second, third = VERSIONS[0]
    return {
        "1": {"body": first, "site": "a.example", "at": "2026-03-01", **more},
        "2": {"body": second, "site": "b.example", "at": "2026-03-02T12:00:00Z"},
        "3": {"body": third, "site": ["c.example", "d.example"], "at": "2026-02-28"},
    }


@pytest.mark.each_server
def test_duplicates_have_the_fields_of_their_canonical_document_in_their_types(
    engine: Engine, names: Callable[[], str]
) -> None:
    index = made(engine, names())
    add(index, three(note="Filed late.", shop={"price": 3.5, "open": False, "pages": 7}))
    group(index, copy=COPIED)
    found = stored(engine, index.name, ["1", "2", "3"])
    own = {
        "site": "a.example",
        "at": "2026-03-01",
        "note": "Filed late.",
        "shop.price": 3.5,
        "shop.open": False,
        "shop.pages": 7,
    }
    assert found["2"]["of"] == found["3"]["of"] == own
    assert (found["2"]["lag_days"], found["3"]["lag_days"]) == (1.5, -1.0)
    assert set(found["1"]) == {"group", "group_size", "canonical", "is_canonical"}
    for query in (
        {"term": {"dedup.of.site": "a.example"}},
        {"range": {"dedup.of.at": {"gte": "2026-03-01", "lte": "2026-03-01"}}},
        {"term": {"dedup.of.note": "Filed late."}},
        {"range": {"dedup.of.shop.price": {"gt": 3.4, "lt": 3.6}}},
        {"term": {"dedup.of.shop.open": False}},
        {"term": {"dedup.of.shop.pages": 7}},
    ):
        hits = engine.perform(Search(index.name, {"query": query}))["hits"]["hits"]
        assert {hit["_id"] for hit in hits} == {"2", "3"}, query
    assert group(index, copy=COPIED) == 0


@servers
def test_one_aggregation_answers_which_site_copies_which(engine: Engine, names: Callable[[], str]) -> None:
    index = made(engine, names())
    add(index, three())
    group(index, copy=["site", "at"])
    lag = {"avg": {"field": "dedup.lag_days"}}
    copied = {"terms": {"field": "dedup.of.site"}, "aggs": {"lag": lag}}
    body = {"size": 0, "aggs": {"by": {"terms": {"field": "site"}, "aggs": {"of": copied}}, "near": NEAR}}
    found = engine.perform(Search(index.name, body))["aggregations"]
    pairs = {
        (by["key"], of["key"]): (of["doc_count"], of["lag"]["value"])
        for by in found["by"]["buckets"]
        for of in by["of"]["buckets"]
    }
    assert pairs == {
        ("b.example", "a.example"): (1, 1.5),
        ("c.example", "a.example"): (1, -1.0),
        ("d.example", "a.example"): (1, -1.0),
    }
    near = [own["similarity"] for own in stored(engine, index.name, ["2", "3"]).values()]
    assert found["near"]["value"] == pytest.approx(sum(near) / 2, abs=1e-4)


NEAR = {"avg": {"field": "dedup.similarity"}}


def test_fields_that_are_no_longer_asked_for_are_removed(engine: Engine, names: Callable[[], str]) -> None:
    index = made(engine, names())
    add(index, three())
    group(index, copy=["site", "at"])
    group(index, copy="at", incremental=True)
    assert stored(engine, index.name, ["2"])["2"]["of"] == {"at": "2026-03-01"}
    group(index)
    assert {"of", "lag_days"}.isdisjoint(stored(engine, index.name, ["2"])["2"])
    assert not [id_ for id_, each in contents(engine, index.name, ["1", "2", "3"]).items() if each["dedup"].get("of")]


def test_fields_that_cannot_be_copied_are_named_before_anything_is_read(
    engine: Engine, names: Callable[[], str], meddler: Meddler
) -> None:
    name = names()
    made(engine, name)
    index = Index(name, meddler)
    for path, what in (("shop", "type object"), ("body.raw", "has no field"), ("cite", "has no field")):
        with pytest.raises(MappingError, match=f"{path}.*{what}|{what}.*{path}"):
            index.group(copy=path)
    assert PutMapping not in meddler.kinds()


def test_several_indices_agree_on_the_types_and_name_the_index(engine: Engine, names: Callable[[], str]) -> None:
    one, other = names(), names()
    for name, id_ in ((one, "1"), (other, "2")):
        add(made(engine, name), {id_: three()[id_]})
    index = Index(f"{one},{other}", engine)
    group(index, copy=["site", "at"], canonical="newest:at")
    [newest], [oldest] = (stored(engine, name, [id_]).values() for name, id_ in ((other, "2"), (one, "1")))
    assert oldest["canonical"] == oldest["superseded_by"] == newest["canonical"] == f"{other}/2"
    assert (oldest["of"]["site"], oldest["lag_days"]) == ("b.example", -1.5)
    third = names()
    engine.perform(
        CreateIndex(third, {"mappings": {"properties": {"body": {"type": "text"}, "site": {"type": "long"}}}})
    )
    Index(third, engine, fields=["body"]).init()
    with pytest.raises(MappingError, match=r"'site' is copied as (keyword|long) from .* and as"):
        Index(f"{one},{third}", engine).group(copy="site")


def test_each_older_version_names_the_next_newer_one(engine: Engine, names: Callable[[], str]) -> None:
    index = made(engine, names())
    dates = {"v1": "2026-01-01", "v2": "2026-01-02", "w2": "2026-01-02", "v3": "2026-01-03", "undated": None}
    add(index, {id_: {"body": VERSIONS[1][0], "at": date} for id_, date in dates.items()})
    group(index, canonical="newest:at")
    found = {id_: own.get("superseded_by") for id_, own in stored(engine, index.name, list(dates)).items()}
    assert found == {"v3": None, "v2": "v3", "w2": "v3", "v1": "w2", "undated": None}
    add(index, {"v4": {"body": VERSIONS[1][0], "at": "2026-01-04"}})
    group(index, canonical="newest:at", incremental=True)
    assert stored(engine, index.name, ["v3"])["v3"]["superseded_by"] == "v4"
    group(index, canonical="oldest:at")
    assert not any("superseded_by" in own for own in stored(engine, index.name, list(dates)).values())


def test_what_an_earlier_version_wrote_is_corrected_only_when_groups_change_or_all_are_written(
    engine: Engine, names: Callable[[], str]
) -> None:
    index = made(engine, names())
    others = {f"other {place}": {"body": text} for place, text in enumerate(STORIES[3:])}
    add(index, three() | {"9": {"body": VERSIONS[1][0]}, "8": {"body": VERSIONS[1][1]}} | others)
    group(index)
    former = {"dedup": {"similarity": 1.0, "distance": 0}}
    assert all(each.error is None for each in engine.perform(Bulk(index.name, [_merged("1", former)], refresh=True)))
    assert all(each.error is None for each in engine.perform(Bulk(index.name, [_merged("8", former)], refresh=True)))
    assert group(index, incremental=True) == 0
    add(index, {"4": {"body": VERSIONS[0][0]}})
    group(index, incremental=True)
    found = stored(engine, index.name, ["1", "8"])
    assert "similarity" not in found["1"]
    assert found["8"]["similarity"] == 1.0
    assert group(index) == 1
    assert not {"similarity", "distance"} & stored(engine, index.name, ["8"])["8"].keys()


def _merged(id_: str, part: Json) -> Action:
    return Action("update", id_, {"doc": part})


@servers
def test_sync_keeps_the_copies_true_of_what_others_change(engine: Engine, names: Callable[[], str]) -> None:
    index = made(engine, names())
    add(index, three() | {f"other {place}": {"body": text} for place, text in enumerate(STORIES[3:])})
    group(index, copy=["site", "at"])
    index.sync()
    changed = [_merged("1", {"site": "z.example"}), _merged("3", {"at": "2026-03-11"})]
    assert all(each.error is None for each in engine.perform(Bulk(index.name, changed, refresh=True)))
    assert index.sync().options["copy"] == ["site", "at"]
    found = stored(engine, index.name, ["2", "3"])
    assert [own["of"]["site"] for own in found.values()] == ["z.example", "z.example"]
    assert [own["lag_days"] for own in found.values()] == [1.5, 10.0]


@servers
def test_online_groups_get_the_copies_when_groups_are_next_written(engine: Engine, names: Callable[[], str]) -> None:
    index = made(engine, names(), policy=Policy(groups="online"))
    add(index, three())
    group(index, copy="site")
    add(index, {"4": {"body": VERSIONS[0][2], "site": "e.example"}})
    assert "of" not in stored(engine, index.name, ["4"])["4"]
    index.sync()
    assert stored(engine, index.name, ["4"])["4"]["of"] == {"site": "a.example"}
    # A text of its own: the copies go with the group, also by a partial update.
    index.add([{"_op_type": "update", "_id": "4", "doc": {"body": STORIES[5]}}], refresh=True)
    assert "of" not in stored(engine, index.name, ["4"])["4"]


def without_names(found: dict[str, Json]) -> dict[str, Json]:
    """Leave out the names of groups, which come from that of the index."""
    return {id_: {name: value for name, value in own.items() if name != "group"} for id_, own in found.items()}


IDS = [f"{place}" for place in range(9)]
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "site": st.sampled_from(["a", "b", ["a", "b"], None]),
        "at": st.sampled_from(["2026-01-01", "2026-01-02T06:00:00Z", 1767225600000, None]),
        "note": st.sampled_from(["One.", "Two."]),
    },
)
EDITS = st.lists(
    st.tuples(st.sampled_from(IDS), st.sampled_from(["text", "values", "delete"]), st.integers(0, 8), VALUES),
    min_size=1,
    max_size=4,
)


@given(st.sampled_from(ENGINES), st.integers(0, 10**6), st.lists(EDITS, min_size=1, max_size=4), st.booleans())
@settings(examples(6), phases=[Phase.explicit, Phase.generate])
def test_whatever_is_edited_incremental_runs_store_what_a_whole_run_stores(
    request: pytest.FixtureRequest, kind: str, seed: int, histories: list[list[Any]], by_versions: bool
) -> None:
    rng = random.Random(seed)
    how = {"copy": ["note", "site", "at"], "canonical": "newest:at" if by_versions else "first"}
    pool = [text for versions in VERSIONS for text in versions]
    with engine_of_kind(kind, request) as engine, new_names(engine) as names:
        part, whole = (made(engine, names()) for _ in range(2))
        documents = {id_: {"body": rng.choice(pool), "at": "2026-01-01", "site": "a"} for id_ in IDS[:7]}
        documents |= {id_: {"body": STORIES[5], "at": "2026-01-01"} for id_ in "xy"}
        for index in (part, whole):
            add(index, documents)
            group(index, **how)
        for edits in histories:
            for index in (part, whole):
                for id_, verb, text, values in edits:
                    if verb == "delete":
                        delete(engine, index.name, id_)
                    elif verb == "text" or not contents(engine, index.name, [id_]):
                        add(index, {id_: {"body": pool[text], **values}})
                    else:
                        own = contents(engine, index.name, [id_])[id_]
                        fill(engine, index.name, {id_: {name: own[name] for name in ("body", "dedup")} | values})
            # However many are new, half of the histories read only these, and what they may change.
            with patch.object(reading_new, "MOST_NEW", 10 if seed % 2 else reading_new.MOST_NEW):
                group(part, incremental=True, **how)
            group(whole, **how)
            found, expected = (without_names(stored(engine, index.name, [*IDS, "x", "y"])) for index in (part, whole))
            assert found == expected
            assert group(part, incremental=True, **how) == 0


@servers
def test_a_canonical_document_that_vanishes_while_groups_are_written_leaves_no_copies(
    engine: Engine, names: Callable[[], str]
) -> None:
    index = made(engine, names())
    add(index, three())
    with index.group(copy="site") as grouped:
        delete(engine, index.name, "1")
        index.write_groups(grouped)
    group(index, copy="site")
    assert stored(engine, index.name, ["3"])["3"]["of"] == {"site": "b.example"}


@servers
def test_the_mapping_gets_new_fields_only_where_they_are_written(engine: Engine, names: Callable[[], str]) -> None:
    index = made(engine, names())
    add(index, three())
    group(index)
    there = engine.perform(GetMappings(index.name))[index.name]["properties"]["dedup"]["properties"]
    assert {"of", "lag_days", "superseded_by"}.isdisjoint(there)
    group(index, copy="site")
    group(index, copy="shop.price")
    there = engine.perform(GetMappings(index.name))[index.name]["properties"]["dedup"]["properties"]["of"]["properties"]
    assert {"site", "shop"} == there.keys()


def test_files_have_no_fields_to_copy_into() -> None:
    with pytest.raises(InputError, match="'copy' means nothing"):
        dedup([("a", "b")], copy="site")
