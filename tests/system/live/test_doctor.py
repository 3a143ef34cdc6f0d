"""What would go wrong with a backfill is found out before anything is written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import pytest
from opensearchpy import AsyncOpenSearch

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, run
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import IndexStateError, InputError, MappingError
from es_simhash.index import AsyncIndex, Index
from es_simhash.live.backfill.options import BackfillOptions
from es_simhash.live.backfill.run import Backfill
from es_simhash.live.doctor import blocks, disk, fields, rights, server, source
from es_simhash.live.doctor.facts import Disk, Facts, IndexFacts, ShardCopy, cluster_settings
from es_simhash.live.doctor.finding import CODES, Finding, Level, accepting
from es_simhash.plans.operations import (
    Action,
    Bulk,
    Count,
    CreateIndex,
    DeleteIndex,
    EngineInfo,
    GetMappings,
    GetResource,
    Operation,
    PutMapping,
    PutSettings,
    UpdateAliases,
)
from es_simhash.scheme.mapping import number_of_fields
from es_simhash.scheme.scheme import Scheme
from tests import ROOT
from tests.support.rest_engines import Pair, engine_over, new_name, parametrize_pairs
from tools.nodes import Node

Result = TypeVar("Result")

DOCUMENTS = Documents(Scheme(), ["body"])
BODY: Json = {"properties": {"body": {"type": "text"}}}
HELD_UP: tuple[Level, ...] = ("warning", "stop")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_pairs(metafunc)


def there(
    name: str = "articles",
    *,
    mapping: Json | None = None,
    settings: dict[str, str] | None = None,
    due: int = 10,
    documents: int = 10,
    copies: Sequence[ShardCopy] | None = (ShardCopy("n1", True, 10, 1000),),
) -> IndexFacts:
    """Facts about an index."""
    return IndexFacts(name, due, documents, mapping or BODY, settings or {}, copies)


def facts(*indices: IndexFacts, **reported: Any) -> Facts:
    """Facts about an engine."""
    known: dict[str, Any] = {
        "engine": EngineInfo("elasticsearch", (9, 4, 3)),
        "documents": DOCUMENTS,
        "indices": indices,
        "behind": {},
        "cluster": {},
        "disks": {},
        "rights": None,
        "roles": [],
        "hides_rights": False,
        "changes_settings": False,
    }
    return Facts(**{**known, **reported})


def levels(findings: Iterator[Finding] | Sequence[Finding]) -> list[tuple[str, str]]:
    """Return the codes and levels of findings, after checking that each is declared and says what to do."""
    found = list(findings)
    for each in found:
        assert each.level in CODES[each.code].levels
        assert each.message.endswith(".")
        if each.level != "ok":
            assert each.remedy.endswith(".")
    return [(each.code, each.level) for each in found]


def the_one(findings: Iterator[Finding] | Sequence[Finding], code: str) -> Finding:
    [found] = [each for each in findings if each.code == code]
    return found


# --- engines and names


@pytest.mark.parametrize(
    ("distribution", "version", "level"),
    [
        ("elasticsearch", (8, 19, 8), "ok"),
        ("elasticsearch", (9, 4, 3), "ok"),
        ("elasticsearch", (7, 17, 0), "warning"),
        ("elasticsearch", (10, 0, 0), "warning"),
        ("opensearch", (2, 19, 6), "ok"),
        ("opensearch", (3, 8, 0), "ok"),
        ("opensearch", (1, 3, 0), "warning"),
        ("embedded", (0, 27, 0), "ok"),
    ],
)
def test_an_engine_that_is_not_tested_is_warned_of(distribution: str, version: tuple[int, ...], level: str) -> None:
    found = list(server.check_engine(facts(engine=EngineInfo(distribution, version))))
    assert levels(found) == [("engine", level)]
    assert ".".join(map(str, version)) in found[0].message


def test_what_a_name_stands_for_is_reported_unless_it_is_an_index() -> None:
    assert levels(server.check_names("articles", facts(there()))) == []
    found = the_one(list(server.check_names("a-*", facts(there("a-1"), there("a-2")))), "indices")
    assert "2 indices: a-1, a-2." in found.message
    stream = facts(there(".ds-logs-1"), behind={"data_streams": [{"name": "logs"}]})
    assert "data streams (logs)" in " ".join(each.message for each in server.check_names("logs", stream))


def test_many_indices_are_not_all_listed() -> None:
    [found] = server.check_names("a-*", facts(*(there(f"a-{i}") for i in range(25))))
    assert "and 15 more." in found.message


def test_faster_settings_are_proposed_for_large_indices_only() -> None:
    large = there(due=200_000, settings={"index.number_of_replicas": "1"})
    found = the_one(list(server.check_speed(large)), "speed")
    assert "--no-replicas" in found.remedy
    assert "--no-refresh" in found.remedy
    assert levels(server.check_speed(replace(large, due=99))) == []
    assert levels(server.check_speed(replace(large, settings={}))) == []  # the embedded engine
    settled = {"index.number_of_replicas": "0", "index.refresh_interval": "-1"}
    assert levels(server.check_speed(replace(large, settings=settled))) == []


def test_pipelines_are_reported() -> None:
    found = list(server.check_pipelines(there(settings={"index.default_pipeline": "clean"})))
    assert levels(found) == [("pipeline", "note")]
    assert "default_pipeline 'clean'" in found[0].message
    assert levels(server.check_pipelines(there(settings={"index.final_pipeline": "_none"}))) == []


def test_changes_of_others_that_cannot_be_noticed_are_warned_of_on_servers() -> None:
    unknown = there(copies=None)
    assert levels(server.check_changes(facts(unknown), unknown)) == [("changes-unknown", "warning")]
    assert levels(server.check_changes(facts(engine=EngineInfo("embedded", (0,))), unknown)) == []
    assert levels(server.check_changes(facts(), there())) == []


# --- blocks


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        ({}, [("writable", "ok")]),
        ({"index.blocks.write": "false"}, [("writable", "ok")]),
        ({"index.blocks.write": "true"}, [("read-only", "stop")]),
        ({"index.blocks.read_only": "true"}, [("read-only", "stop")]),
        ({"index.blocks.read_only_allow_delete": "true"}, [("read-only", "stop")]),
        ({"index.verified_before_close": "true"}, [("closed", "stop")]),
        ({"index.store.type": "snapshot", "index.blocks.write": "true"}, [("searchable-snapshot", "stop")]),
        ({"index.store.type": "remote_snapshot"}, [("searchable-snapshot", "stop")]),
        ({"index.frozen": "true"}, [("searchable-snapshot", "stop")]),
    ],
)
def test_an_index_that_takes_no_updates_is_reported_with_its_block(
    settings: dict[str, str], codes: list[tuple[str, str]]
) -> None:
    found = list(blocks.check_index(there(settings=settings)))
    assert levels(found) == codes
    assert {each.index for each in found} == {"articles"}


def test_a_block_of_the_cluster_concerns_all_indices() -> None:
    found = list(blocks.check_cluster(facts(cluster={"blocks": {"read_only": "true"}})))
    assert levels(found) == [("read-only", "stop")]
    assert found[0].index is None
    assert levels(blocks.check_cluster(facts(cluster={"blocks": {"read_only": "false"}}))) == []


# --- the mapping


def test_a_mapping_that_has_or_takes_the_fields_is_fine() -> None:
    found = the_one(list(fields.check_mapping(there(), DOCUMENTS)), "mapping")
    assert (
        f"can take the {len(DOCUMENTS.scheme.mapping()['properties']['dedup']['properties'])} fields" in found.message
    )
    has = there(mapping=DOCUMENTS.scheme.mapping("dedup", ["body"]))
    assert "has the fields" in the_one(list(fields.check_mapping(has, DOCUMENTS)), "mapping").message


@pytest.mark.parametrize(
    ("mapping", "code"),
    [
        ({"properties": {"dedup": {"type": "keyword"}}}, "mapping-conflict"),
        ({"properties": {"dedup": {"properties": {"scheme": {"type": "text"}}}}}, "mapping-conflict"),
        ({"subobjects": False}, "subobjects"),
        ({"subobjects": "false"}, "subobjects"),
        (Scheme.preset("strict").mapping("dedup", ["body"]), "scheme-mismatch"),
        (DOCUMENTS.scheme.mapping("dedup", ["title"]), "scheme-mismatch"),
    ],
)
def test_a_mapping_that_cannot_take_the_fields_stops(mapping: Json, code: str) -> None:
    found = list(fields.check_mapping(there(mapping=mapping), DOCUMENTS))
    assert levels(found) == [(code, "stop")]
    assert "articles" in found[0].message


def test_an_error_becomes_a_finding_with_its_last_sentence_as_the_remedy() -> None:
    [found] = fields.check_mapping(there(mapping={"properties": {"dedup": {"type": "keyword"}}}), DOCUMENTS)
    assert found.remedy == "Choose another prefix (--prefix)."


NEW = len(DOCUMENTS.scheme.mapping()["properties"]["dedup"]["properties"]) + 1


@pytest.mark.parametrize(
    ("present", "limit", "level"),
    [
        (1, 1000, "ok"),
        (1000 - NEW - 50, 1000, "ok"),
        (1000 - NEW - 49, 1000, "warning"),
        (1000 - NEW, 1000, "warning"),
        (1000 - NEW + 1, 1000, "stop"),
        (1000, 2000, "ok"),
    ],
)
def test_the_fields_must_fit_below_the_limit(present: int, limit: int, level: str) -> None:
    mapping = {"properties": {f"f{i}": {"type": "keyword"} for i in range(present)}}
    index = there(mapping=mapping, settings={"index.mapping.total_fields.limit": str(limit)})
    found = the_one(list(fields.check_mapping(index, DOCUMENTS)), "total-fields")
    assert found.level == level
    assert f"{present:,} of at most {limit:,}" in found.message
    assert f"{NEW} more" in found.message


def test_fields_that_are_there_need_no_room() -> None:
    mapping = DOCUMENTS.scheme.mapping("dedup", ["body"])
    index = there(mapping=mapping, settings={"index.mapping.total_fields.limit": str(NEW)})
    assert the_one(list(fields.check_mapping(index, DOCUMENTS)), "total-fields").level == "warning"


@pytest.mark.parametrize(
    ("dynamic", "reported"), [("strict", 1), ("false", 1), (False, 1), ("true", 0), ("runtime", 0)]
)
def test_a_mapping_without_new_fields_is_noted(dynamic: Any, reported: int) -> None:
    assert levels(fields.check_dynamic(there(mapping={"dynamic": dynamic}))) == [("dynamic", "note")] * reported


def test_nested_documents_are_warned_of_with_their_number() -> None:
    mapping = {"properties": {"a": {"properties": {"b": {"type": "nested", "properties": {}}}}}}
    copies = [ShardCopy("n1", True, 350, 9), ShardCopy("n2", False, 350, 9)]
    found = the_one(list(fields.check_nested(there(mapping=mapping, documents=100, copies=copies))), "nested")
    assert "(a.b)" in found.message
    assert "2.5 on average" in found.message
    assert levels(fields.check_nested(there())) == []


# --- what is lost by an update


@pytest.mark.parametrize(
    ("kept", "settings", "codes"),
    [
        ({}, {}, [("source", "ok")]),
        ({"enabled": False}, {}, [("source-disabled", "stop")]),
        ({"enabled": "false"}, {}, [("source-disabled", "stop")]),
        ({}, {"index.mapping.source.mode": "disabled"}, [("source-disabled", "stop")]),
        ({"excludes": ["secret"]}, {}, [("source-excludes", "stop")]),
        ({"includes": ["body", "title"]}, {}, [("source-excludes", "stop")]),
        ({"mode": "synthetic"}, {}, [("source-synthetic", "warning")]),
        ({}, {"index.mapping.source.mode": "synthetic"}, [("source-synthetic", "warning")]),
        ({}, {"index.mode": "logsdb"}, [("source-synthetic", "warning")]),
        ({}, {"index.mode": "logsdb", "index.mapping.source.mode": "stored"}, [("source", "ok")]),
    ],
)
def test_a_source_that_is_not_whole_is_reported(
    kept: Json, settings: dict[str, str], codes: list[tuple[str, str]]
) -> None:
    found = list(source.check_source(there(mapping={"_source": kept}, settings=settings)))
    assert levels(found) == codes
    assert all(
        pattern in found[0].message for patterns in kept.values() if isinstance(patterns, list) for pattern in patterns
    )


# --- texts


def test_a_field_that_is_an_object_is_warned_of() -> None:
    index = there(mapping={"properties": {"body": {"properties": {"text": {"type": "text"}}}}})
    assert levels(fields.check_texts(facts(index), DOCUMENTS)) == [("text-fields", "warning")]
    assert levels(fields.check_texts(facts(there()), DOCUMENTS)) == [("text-fields", "ok")]


def test_fields_without_text_stop_where_no_other_has_any() -> None:
    both = Documents(Scheme(), ["body", "bdoy"])
    half, none = replace(there("a"), unseen=["bdoy"]), replace(there("b"), unseen=["body", "bdoy"])
    mapped = replace(half, mapping={"properties": {"bdoy": {"type": "text"}}})
    assert levels(fields.check_texts(facts(mapped), both)) == [("text-fields", "ok")]
    assert levels(fields.check_texts(facts(half), both)) == [("text-fields", "warning")]
    assert levels(fields.check_texts(facts(none), both)) == [("text-fields", "stop")]
    found = list(fields.check_texts(facts(half, none), both))
    assert [(each.level, each.index) for each in found] == [("stop", "b"), ("warning", None)]
    assert levels(fields.check_texts(facts(half, there("c")), both)) == [("text-fields", "ok")]


# --- disks


def test_what_the_fields_take_is_estimated_above_what_was_measured() -> None:
    measured = {"default": 501.4, "short": 510.4, "strict": 82.0}  # docs/benchmarks.md
    for name, size in measured.items():
        assert size <= disk.bytes_a_document(Scheme.preset(name)) <= 2 * size


def test_each_copy_of_a_shard_grows_by_its_share_of_what_is_due() -> None:
    copies = [
        ShardCopy("n1", True, 500, 10_000),
        ShardCopy("n2", False, 500, 12_000),
        ShardCopy("n2", True, 500, 20_000),
    ]
    grown = disk.growth(there(due=250, documents=1000, copies=copies), 100)
    assert grown == {"n1": 2_500 + 12_500, "n2": 3_000 + 12_500 + 5_000 + 12_500}
    assert disk.growth(there(due=0, documents=0, copies=copies), 100) == {"n1": 0, "n2": 0}
    assert disk.growth(there(copies=None), 100) == {}


TOTAL = 1000 << 30


@pytest.mark.parametrize(
    ("settings", "high", "flood"),
    [
        ({}, TOTAL // 10, TOTAL // 20),
        ({"watermark": {"high": "80%", "flood_stage": "0.9"}}, TOTAL // 5, TOTAL // 10),
        ({"watermark": {"high": "2gb", "flood_stage": "500MB"}}, 2 << 30, 500 << 20),
        ({"watermark": {"high": "1.5tb", "flood_stage": "1b"}}, 1536 << 30, 1),
        ({"watermark": {"high.max_headroom": "10GB", "flood_stage.max_headroom": "-1"}}, 10 << 30, TOTAL // 20),
        ({"threshold_enabled": "false"}, 0, 0),
    ],
)
def test_watermarks_are_bytes_that_must_stay_free(settings: Json, high: int, flood: int) -> None:
    marks = disk.Watermarks.of(settings, TOTAL)
    assert [marks.high, marks.flood] == pytest.approx([high, flood], abs=1)


@pytest.mark.parametrize(
    ("percent_left", "level"), [(11, "ok"), (10, "ok"), (9.9, "warning"), (5, "warning"), (4.9, "stop"), (-1, "stop")]
)
def test_a_disk_must_have_room_above_its_watermarks(percent_left: float, level: str) -> None:
    index, total = there(), 1 << 30
    needed = disk.growth(index, disk.bytes_a_document(DOCUMENTS.scheme))["n1"]
    free = needed + round(total * percent_left / 100)
    found = list(disk.check_disks(facts(index, disks={"n1": Disk("node-1", total, free)}), DOCUMENTS.scheme))
    assert levels(found) == [("disk", level)]
    assert "'node-1'" in found[0].message


def test_indices_on_one_node_need_room_together() -> None:
    disks = {"n1": Disk("node-1", 1 << 30, 1 << 30)}
    one = disk.growth(there(), disk.bytes_a_document(DOCUMENTS.scheme))["n1"]
    [found] = disk.check_disks(facts(there("a"), there("b"), disks=disks), DOCUMENTS.scheme)
    assert f"needs up to {disk.in_words(2 * one)}" in found.message


def test_unknown_disks_are_noted_with_the_room_that_is_needed() -> None:
    assert levels(disk.check_disks(facts(there()), DOCUMENTS.scheme)) == [("disk-unknown", "note")]
    assert levels(disk.check_disks(facts(there(copies=None)), DOCUMENTS.scheme)) == [("disk-unknown", "note")]
    assert levels(disk.check_disks(facts(there(due=0)), DOCUMENTS.scheme)) == []


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 kB"), (3 << 20, "3.0 MB"), (5 << 40, "5,120.0 GB")],
)
def test_sizes_are_shown_in_words(size: int, words: str) -> None:
    assert disk.in_words(size) == words


# --- rights

ALL = dict.fromkeys(("read", "view_index_metadata", "index", "maintenance", "monitor", "manage"), True)


def test_without_logins_nothing_is_said_of_rights() -> None:
    assert levels(rights.check_rights(facts(there()))) == []
    assert levels(rights.check_rights(facts(there(), hides_rights=True))) == [("privileges-unknown", "note")]


@pytest.mark.parametrize("missing", ["read", "view_index_metadata", "index", "maintenance", "manage"])
def test_a_missing_privilege_is_named(missing: str) -> None:
    found = list(rights.check_rights(facts(there(), rights={"articles": {**ALL, missing: False}})))
    assert levels(found) == [("privileges", "stop")]
    assert found[0].remedy == f"Have these privileges granted: {missing}."


def test_privileges_are_needed_only_for_what_is_done() -> None:
    without = {"articles": {**ALL, "manage": False, "monitor": False}}
    has = there(mapping=DOCUMENTS.scheme.mapping("dedup", ["body"]))
    assert levels(rights.check_rights(facts(has, rights=without))) == [("privileges", "ok")]
    assert levels(rights.check_rights(facts(has, rights=without, changes_settings=True))) == [("privileges", "stop")]


ROLE: Json = {"names": ["art*"], "privileges": ["all"]}
HIDING: Json = {**ROLE, "field_security": [{"grant": ["*"], "except": ["secret"]}]}
SIFTING: Json = {**ROLE, "query": ['{"term": {"public": true}}']}


@pytest.mark.parametrize(
    ("roles", "stops"),
    [
        ([ROLE], 0),
        ([HIDING], 1),
        ([SIFTING], 1),
        ([HIDING, ROLE], 0),
        ([HIDING, {**ROLE, "names": ["others"]}], 1),
        ([{**HIDING, "names": ["others"]}], 0),
        ([{**HIDING, **SIFTING}], 2),
    ],
)
def test_a_login_that_does_not_see_everything_stops(roles: list[Json], stops: int) -> None:
    found = levels(rights.check_rights(facts(there(), rights={"articles": ALL}, roles=roles)))
    assert found == ([("hidden-parts", "stop")] * stops or [("privileges", "ok")])


# --- findings


def test_what_is_accepted_is_one_level_lower() -> None:
    stop, warning, note = (Finding("disk", level, "m.", "r.") for level in ("stop", "warning", "note"))
    other = Finding("closed", "stop", "m.", "r.")
    lower = accepting([stop, warning, note, other], {"disk"})
    assert [each.level for each in lower] == ["warning", "note", "note", "stop"]


def test_only_what_may_be_accepted_can_be() -> None:
    assert BackfillOptions(accept=frozenset({"disk", "source-excludes"})).accept
    with pytest.raises(InputError, match=r"'closed' cannot be accepted\. Choose from: .*disk"):
        BackfillOptions(accept=frozenset({"closed"}))


def test_the_page_has_every_code() -> None:
    page = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
    table = page.split("<!-- codes -->\n")[1].split("<!-- end of codes -->")[0]
    rows = [
        f"| `{name}` | {', '.join(code.levels)} | {'yes' if code.may_be_accepted else ''} | {code.about} |\n"
        for name, code in CODES.items()
    ]
    assert table == "| code | levels | may be accepted | what it is about |\n|---|---|---|---|\n" + "".join(rows)


# --- the embedded engine


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Engine]:
    engine = EmbeddedEngine(tmp_path)
    engine.perform(CreateIndex("articles", {"mappings": BODY}))
    engine.perform(Bulk("articles", [Action("index", "1", {"body": "a text", "bulk": "x"})], refresh=True))
    yield engine
    engine.close()


def test_of_the_embedded_engine_mapping_and_fields_are_examined(embedded: Engine) -> None:
    found = levels(Index("articles", embedded, fields=["body"]).doctor())
    assert {code for code, _ in found} == {"engine", "writable", "mapping", "total-fields", "source", "text-fields"}
    assert {level for _, level in found} == {"ok"}


def test_nothing_is_changed(embedded: Engine) -> None:
    before = embedded.perform(GetMappings("articles"))
    Index("articles", embedded, fields=["body"]).doctor()
    assert embedded.perform(GetMappings("articles")) == before


def test_an_index_whose_fields_nobody_names_stops(embedded: Engine) -> None:
    found = Index("articles", embedded).doctor()
    assert ("no-fields", "stop") in levels(found)
    Index("articles", embedded, fields=["body"]).init()
    assert ("no-fields", "stop") not in levels(Index("articles", embedded).doctor())
    assert ("scheme-mismatch", "stop") in levels(Index("articles", embedded, scheme="strict").doctor())


def test_a_misspelt_field_is_warned_of_and_a_sparse_one_is_not(embedded: Engine) -> None:
    embedded.perform(PutMapping("articles", {"properties": {"sparse": {"type": "text"}}}))
    found = Index("articles", embedded, fields=["body", "bdoy", "sparse"]).doctor()
    assert "'bdoy'" in the_one(found, "text-fields").message


# --- servers


class Stand:
    """An engine that answers some questions in its own way."""

    def __init__(self, engine: Engine, answer: Callable[[Operation[Any]], Any]) -> None:
        self._engine = engine
        self._answer = answer

    def perform(self, operation: Operation[Result]) -> Result:
        answer: Result | None = self._answer(operation)
        return self._engine.perform(operation) if answer is None else answer

    def close(self) -> None:
        """Leave the engine open."""


@pytest.fixture(scope="module")
def engine(pair: Pair, request: pytest.FixtureRequest) -> Iterator[Engine]:
    with engine_over(pair.client, pair.node(request).url) as engine:
        yield engine


@pytest.fixture(scope="module")
def node(pair: Pair, request: pytest.FixtureRequest) -> Node:
    return pair.node(request)


@pytest.fixture
def made(engine: Engine) -> Iterator[Callable[..., str]]:
    """A maker of indices with ten documents."""
    names: list[str] = []

    def make(name: str = "", mappings: Json | None = None, settings: Json | None = None) -> str:
        names.append(name or new_name())
        settings = {"number_of_replicas": 0, "number_of_shards": 2, "refresh_interval": "-1", **(settings or {})}
        engine.perform(CreateIndex(names[-1], {"settings": settings, "mappings": {**BODY, **(mappings or {})}}))
        actions = [Action("index", str(i), {"body": f"the text {i}", "more": {"x": "y"}}) for i in range(10)]
        engine.perform(Bulk(names[-1], actions, refresh=True))
        return names[-1]

    yield make
    for name in names:
        for block in ("read_only", "write"):
            engine.perform(PutSettings(name, {f"index.blocks.{block}": None}))
        engine.perform(DeleteIndex(name))


def examined(name: str, engine: Engine, **known: Any) -> list[Finding]:
    found = Index(name, engine, **{"fields": ["body"], **known}).doctor()
    levels(found)
    return found


def held_up(found: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(each.code, each.level) for each in found if each.level in HELD_UP]


def test_a_healthy_index_is_all_right(engine: Engine, made: Callable[..., str]) -> None:
    found = examined(made(), engine)
    assert {each.level for each in found} == {"ok"}
    assert {"engine", "writable", "mapping", "total-fields", "source", "text-fields", "disk"} == {
        each.code for each in found
    }


@pytest.mark.parametrize("block", ["read_only", "read_only_allow_delete"])
def test_a_block_stops_a_backfill_before_anything_is_written(
    engine: Engine, made: Callable[..., str], block: str
) -> None:
    name = made()
    index = Index(name, engine, fields=["body"])
    index.init()
    engine.perform(PutSettings(name, {f"index.blocks.{block}": True}))
    assert held_up(examined(name, engine)) == [("read-only", "stop")]
    with pytest.raises(IndexStateError, match=rf"{name}.*index.blocks.{block}.*Do so, then begin again\.$"):
        index.backfill()
    engine.perform(PutSettings(name, {f"index.blocks.{block}": None}))
    assert index.backfill().written == 10


def test_a_closed_index_is_reported(engine: Engine, made: Callable[..., str], node: Node) -> None:
    name = made()
    Index(name, engine, fields=["body"]).init()
    node.request("POST", f"/{name}/_close")
    found = examined(name, engine)
    assert held_up(found) == [("closed", "stop")]
    assert f"POST {name}/_open" in the_one(found, "closed").remedy
    with pytest.raises(IndexStateError, match=f"The index '{name}' is closed"):
        Index(name, engine, fields=["body"]).backfill()


@pytest.mark.parametrize(
    ("state", "how"), [("closed", "{0}-*"), ("closed", "{0}-a,{0}-b"), ("read-only", "{0}-*")], ids=str
)
def test_of_several_indices_one_that_cannot_be_done_is_left_out_and_reported(
    engine: Engine, made: Callable[..., str], node: Node, state: str, how: str
) -> None:
    stem = new_name()
    good, bad = made(f"{stem}-a"), made(f"{stem}-b")
    Index(f"{stem}-*", engine, fields=["body"]).init()
    if state == "closed":
        node.request("POST", f"/{bad}/_close")
    else:
        engine.perform(PutSettings(bad, {"index.blocks.write": True}))
    backfill = Backfill(engine, how.format(stem), Documents(Scheme(), ["body"]))
    stops = [each for each in backfill.findings if each.level == "stop"]
    assert {(each.code, each.index) for each in stops} == {(state, bad)}
    progress = backfill.run()
    assert (progress.written, progress.total, list(progress.left_out)) == (10, 10, [bad])
    assert Index(good, engine).info().fingerprinted == 10
    again = Backfill(engine, how.format(stem), Documents(Scheme(), ["body"])).survey
    assert again.left_out == [bad]


def test_a_mapping_without_new_fields_takes_ours_first(engine: Engine, made: Callable[..., str]) -> None:
    name = made(mappings={"dynamic": "false"})
    assert the_one(examined(name, engine), "dynamic").level == "note"
    index = Index(name, engine, fields=["body"])
    index.init()
    assert index.backfill().written == 10
    assert index.info().fingerprinted == 10


def test_a_mapping_conflict_stops(engine: Engine, made: Callable[..., str]) -> None:
    name = made(mappings={"properties": {**BODY["properties"], "dedup": {"type": "keyword"}}})
    assert held_up(examined(name, engine)) == [("mapping-conflict", "stop")]
    assert held_up(examined(name, engine, prefix="other")) == []


@pytest.mark.parametrize("room", [NEW - 1, NEW])
def test_fields_fit_just_if_the_server_takes_them(engine: Engine, made: Callable[..., str], room: int) -> None:
    name = made()
    present = number_of_fields(engine.perform(GetMappings(name))[name])
    engine.perform(PutSettings(name, {"index.mapping.total_fields.limit": present + room}))
    found = the_one(examined(name, engine), "total-fields")
    index = Index(name, engine, fields=["body"])
    if room < NEW:
        assert found.level == "stop"
        with pytest.raises(MappingError, match="Limit of total fields"):
            index.init()
    else:
        assert found.level == "warning"
        index.init()


@pytest.mark.parametrize(
    ("body", "code", "level"),
    [
        ({"mappings": {"subobjects": False}}, "subobjects", "stop"),
        ({"settings": {"index.mapping.source.mode": "synthetic"}}, "source-synthetic", "warning"),
    ],
    ids=str,
)
def test_what_only_elasticsearch_has_is_reported_there(
    engine: Engine, made: Callable[..., str], node: Node, body: Json, code: str, level: str
) -> None:
    if node.release.engine != "elasticsearch":
        pytest.skip("only Elasticsearch has that")
    assert held_up(examined(made(**body), engine)) == [(code, level)]


def test_nested_documents_are_counted(engine: Engine, made: Callable[..., str]) -> None:
    name = made(mappings={"properties": {**BODY["properties"], "parts": {"type": "nested"}}})
    documents = [Action("index", f"n{i}", {"body": "x", "parts": [{"a": 1}, {"a": 2}, {"a": 3}]}) for i in range(10)]
    engine.perform(Bulk(name, documents, refresh=True))
    assert "1.5 on average" in the_one(examined(name, engine), "nested").message


def test_an_update_loses_what_the_source_leaves_out_and_is_refused_unless_accepted(
    engine: Engine, made: Callable[..., str]
) -> None:
    name = made(mappings={"_source": {"excludes": ["more"]}})
    index = Index(name, engine, fields=["body"])
    index.init()
    query = {"match": {"more.x": "y"}}
    assert engine.perform(Count(name, query)) == 10
    assert held_up(index.doctor()) == [("source-excludes", "stop")]
    with pytest.raises(IndexStateError, match=r"or accept it: --accept source-excludes\.$"):
        index.backfill()
    options = BackfillOptions(accept=frozenset({"source-excludes"}))
    assert held_up(index.doctor(options)) == [("source-excludes", "warning")]
    assert index.backfill(options).written == 10
    index.refresh()
    assert engine.perform(Count(name, query)) == 0


def test_a_source_that_is_not_kept_stops(engine: Engine, made: Callable[..., str]) -> None:
    name = made(mappings={"_source": {"enabled": False}})
    assert ("source-disabled", "stop") in held_up(examined(name, engine))


def test_pipelines_do_not_run_on_the_updates(engine: Engine, made: Callable[..., str], node: Node) -> None:
    for kind in ("default", "final"):
        body = {"processors": [{"set": {"field": f"by_{kind}", "value": True}}]}
        if node.request("PUT", f"/_ingest/pipeline/doctor-{kind}", body).status != HTTPStatus.OK:
            pytest.skip("this server has no processors")
    name = made()
    settings = {f"index.{kind}_pipeline": f"doctor-{kind}" for kind in ("default", "final")}
    engine.perform(PutSettings(name, settings))
    assert the_one(examined(name, engine), "pipeline").level == "note"
    index = Index(name, engine, fields=["body"])
    index.init()
    engine.perform(Bulk(name, [Action("index", "new", {"body": "a new text"})], refresh=True))
    assert index.backfill().written == 11
    index.refresh()
    assert [engine.perform(Count(name, {"exists": {"field": f"by_{kind}"}})) for kind in ("default", "final")] == [1, 1]


def test_a_misspelt_field_is_reported_on_servers_too(engine: Engine, made: Callable[..., str]) -> None:
    found = examined(made(), engine, fields=["body", "bdoy"])
    assert held_up(found) == [("text-fields", "warning")]


DISK: Json = {"threshold_enabled": "true", "watermark": {"high": "100kb", "flood_stage": "10kb"}}


@pytest.mark.parametrize(("free", "level"), [(400, "stop"), (60 << 10, "warning"), (1 << 30, "ok")])
def test_a_disk_without_room_stops(engine: Engine, made: Callable[..., str], free: int, level: str) -> None:
    settings = {"persistent": {"cluster": {"routing": {"allocation": {"disk": DISK}}}}}

    def answer(operation: Operation[Any]) -> Any:
        path = operation.path if isinstance(operation, GetResource) else ""
        if "/_nodes/stats/fs" not in path:
            return settings if "/_cluster/settings" in path else None
        reply = engine.perform(operation)
        for node in reply["nodes"].values():
            assert node["fs"]["total"]["available_in_bytes"] > 0
            node["fs"]["total"]["available_in_bytes"] = free
        return reply

    name = made()
    assert the_one(examined(name, Stand(engine, answer)), "disk").level == level


def test_the_watermarks_of_a_server_are_understood(engine: Engine, node: Node) -> None:
    reported = run(cluster_settings(), engine)["routing"]["allocation"]["disk"]
    assert reported["threshold_enabled"] == "false"
    for total in (10 << 30, 100 << 40):
        marks = disk.Watermarks.of({**reported, "threshold_enabled": "true"}, total)
        assert 0 < marks.flood < marks.high <= total // 10


def test_an_alias_and_its_indices_are_reported(engine: Engine, made: Callable[..., str]) -> None:
    alias, name = new_name(), made()
    engine.perform(UpdateAliases([{"add": {"index": name, "alias": alias}}]))
    assert f"'{alias}' stands for the index {name}." in the_one(examined(alias, engine), "indices").message


def test_data_streams_are_reported_and_done(opensearch_node: Node) -> None:
    stream = f"stream-{new_name()}"
    body = {"index_patterns": [stream], "data_stream": {}, "template": {"settings": {"number_of_replicas": 0}}}
    opensearch_node.request("PUT", f"/_index_template/{stream}", body)
    document = {"@timestamp": "2026-01-01", "body": "a text"}
    opensearch_node.request("POST", f"/{stream}/_doc?refresh=true", document)
    with engine_over("opensearch", opensearch_node.url) as engine:
        index = Index(stream, engine, fields=["body"])
        found = [each for each in index.doctor() if each.code == "indices"]
        assert [f"'{stream}' has data streams ({stream})" in each.message for each in found] == [True, False]
        index.init()
        assert index.backfill().written == 1
    opensearch_node.request("DELETE", f"/_data_stream/{stream}")
    opensearch_node.request("DELETE", f"/_index_template/{stream}")


def test_asynchronous_engines_find_the_same(opensearch_node: Node) -> None:
    name = new_name()
    opensearch_node.request("PUT", f"/{name}", {"settings": {"index.blocks.write": True}})

    async def found() -> list[Finding]:
        async with AsyncOpenSearch(opensearch_node.url) as client:
            return await AsyncIndex(name, client, fields=["body"]).doctor()

    with engine_over("opensearch", opensearch_node.url) as engine:
        assert asyncio.run(found()) == Index(name, engine, fields=["body"]).doctor()
        engine.perform(DeleteIndex(name))
