"""Each check of the doctor by itself, and all of them on the embedded engine."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from es_simhash._core.humanize import with_unit
from es_simhash._core.json_codec import Json
from es_simhash.cli.program import app
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, run
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import InputError, ScriptError
from es_simhash.index import Index
from es_simhash.live.backfill import BackfillOptions
from es_simhash.live.doctor import engine, examine
from es_simhash.live.doctor import facts as finding
from es_simhash.live.doctor.examine import check_dynamic, check_mapping, check_nested, check_texts
from es_simhash.live.doctor.facts import Disk, Facts, Finding, IndexFacts, ShardCopy, accepting
from es_simhash.plans.open_index import note
from es_simhash.plans.operations import (
    Action,
    Bulk,
    CreateIndex,
    EngineInfo,
    GetMappings,
    Operation,
    PutMapping,
    Search,
)
from es_simhash.scheme import mapping as notes
from es_simhash.scheme.mapping import DEFAULT_PREFIX, entries, merge, number_of_fields
from es_simhash.scheme.own_fields import bytes_a_document
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verification import Verification
from tests.support.findings import levels, the_one
from tests.support.meddling import Meddler

DOCUMENTS = Documents(Scheme(), ["body"])
BODY: Json = {"properties": {"body": {"type": "text"}}}


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
        "refused_updates": {},
        "refuses_scripts": False,
        "changes_settings": False,
    }
    return Facts(**{**known, **reported})


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
    found = list(engine.check_engine(facts(engine=EngineInfo(distribution, version))))
    assert levels(found) == [("engine", level)]
    assert ".".join(map(str, version)) in found[0].message


def test_what_a_name_stands_for_is_reported_unless_it_is_an_index() -> None:
    assert levels(engine.check_names("articles", facts(there()))) == []
    found = the_one(list(engine.check_names("a-*", facts(there("a-1"), there("a-2")))), "indices")
    assert "2 indices: a-1, a-2." in found.message
    stream = facts(there(".ds-logs-1"), behind={"data_streams": [{"name": "logs"}]})
    assert "data streams (logs)" in " ".join(each.message for each in engine.check_names("logs", stream))


def test_many_indices_are_not_all_listed() -> None:
    [found] = engine.check_names("a-*", facts(*(there(f"a-{i}") for i in range(25))))
    assert "and 15 more." in found.message


def test_a_run_without_refreshes_is_proposed_for_large_indices_only() -> None:
    large = there(due=200_000, settings={"index.number_of_replicas": "1"})
    found = the_one(list(examine.check_speed(large)), "speed")
    assert "--no-refresh" in found.remedy
    assert levels(examine.check_speed(replace(large, due=99))) == []
    assert levels(examine.check_speed(replace(large, settings={}))) == []  # the embedded engine
    settled = {"index.number_of_replicas": "1", "index.refresh_interval": "-1"}
    assert levels(examine.check_speed(replace(large, settings=settled))) == []


def test_pipelines_are_reported() -> None:
    found = list(examine.check_pipelines(there(settings={"index.default_pipeline": "clean"})))
    assert levels(found) == [("pipeline", "note")]
    assert "default_pipeline 'clean'" in found[0].message
    assert levels(examine.check_pipelines(there(settings={"index.final_pipeline": "_none"}))) == []


def test_changes_of_others_that_cannot_be_noticed_are_warned_of_on_servers() -> None:
    unknown = there(copies=None)
    assert levels(examine.check_changes(facts(unknown), unknown)) == [("changes-unknown", "warning")]
    assert levels(examine.check_changes(facts(engine=EngineInfo("embedded", (0,))), unknown)) == []
    assert levels(examine.check_changes(facts(), there())) == []


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
    found = list(examine.check_index(there(settings=settings)))
    assert levels(found) == codes
    assert {each.index for each in found} == {"articles"}


def test_a_block_of_the_cluster_concerns_all_indices() -> None:
    found = list(engine.check_cluster(facts(cluster={"blocks": {"read_only": "true"}})))
    assert levels(found) == [("read-only", "stop")]
    assert found[0].index is None
    assert levels(engine.check_cluster(facts(cluster={"blocks": {"read_only": "false"}}))) == []


# --- the mapping


def test_a_mapping_that_has_or_takes_the_fields_is_fine() -> None:
    found = the_one(list(check_mapping(there(), DOCUMENTS)), "mapping")
    assert (
        f"can take the {len(DOCUMENTS.scheme.mapping()['properties']['dedup']['properties'])} fields" in found.message
    )
    has = there(mapping=DOCUMENTS.scheme.mapping("dedup", ["body"]))
    assert "has the fields" in the_one(list(check_mapping(has, DOCUMENTS)), "mapping").message


def test_fields_whose_note_another_program_has_taken_away_are_named_with_the_remedy() -> None:
    ours = DOCUMENTS.scheme.mapping("dedup", ["body"])
    found = the_one(list(check_mapping(there(mapping={**ours, "_meta": {"owner": "us"}}), DOCUMENTS)), "mapping")
    assert found.level == "warning"
    assert "no note of how they were made" in found.message
    assert "init" in (found.remedy or "")
    # If the note was removed with the fingerprints, or stands in fields, nothing is lost.
    noted = {"properties": {**ours["properties"], **notes.change({}, "dedup", ours["_meta"]["es_simhash"]["dedup"])}}
    removed = {"properties": {**ours["properties"], **notes.change(ours, "dedup", None)}}
    for mapping in (noted, removed):
        assert the_one(list(check_mapping(there(mapping=mapping), DOCUMENTS)), "mapping").level == "ok"


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
    found = list(check_mapping(there(mapping=mapping), DOCUMENTS))
    assert levels(found) == [(code, "stop")]
    assert "articles" in found[0].message


def test_an_error_becomes_a_finding_with_its_last_sentence_as_the_remedy() -> None:
    [found] = check_mapping(there(mapping={"properties": {"dedup": {"type": "keyword"}}}), DOCUMENTS)
    assert found.remedy == "Choose another prefix (--prefix)."


# With the fields of the note.
NEW = number_of_fields(merge("i", {}, DOCUMENTS.scheme.mapping("dedup", ["body"])).body)


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
    found = the_one(list(check_mapping(index, DOCUMENTS)), "total-fields")
    assert found.level == level
    assert f"{present:,} of at most {limit:,}" in found.message
    assert f"{NEW} more" in found.message


def test_fields_that_are_there_need_no_room() -> None:
    mapping = DOCUMENTS.scheme.mapping("dedup", ["body"])
    index = there(mapping=mapping, settings={"index.mapping.total_fields.limit": str(number_of_fields(mapping))})
    assert the_one(list(check_mapping(index, DOCUMENTS)), "total-fields").level == "warning"


@pytest.mark.parametrize(
    ("dynamic", "reported"), [("strict", 1), ("false", 1), (False, 1), ("true", 0), ("runtime", 0)]
)
def test_a_mapping_without_new_fields_is_noted(dynamic: Any, reported: int) -> None:
    assert levels(check_dynamic(there(mapping={"dynamic": dynamic}))) == [("dynamic", "note")] * reported


def test_nested_documents_are_warned_of_with_their_number() -> None:
    mapping = {"properties": {"a": {"properties": {"b": {"type": "nested", "properties": {}}}}}}
    copies = [ShardCopy("n1", True, 350, 9), ShardCopy("n2", False, 350, 9)]
    found = the_one(list(check_nested(there(mapping=mapping, documents=100, copies=copies))), "nested")
    assert "(a.b)" in found.message
    assert "2.5 on average" in found.message
    assert levels(check_nested(there())) == []


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
    found = list(finding.check_source(there(mapping={"_source": kept}, settings=settings)))
    assert levels(found) == codes
    assert all(
        pattern in found[0].message for patterns in kept.values() if isinstance(patterns, list) for pattern in patterns
    )


# --- texts


def test_a_field_that_is_an_object_is_warned_of() -> None:
    index = there(mapping={"properties": {"body": {"properties": {"text": {"type": "text"}}}}})
    assert levels(check_texts(facts(index), DOCUMENTS)) == [("text-fields", "warning")]
    assert levels(check_texts(facts(there()), DOCUMENTS)) == [("text-fields", "ok")]


def test_fields_without_text_stop_where_no_other_has_any() -> None:
    both = Documents(Scheme(), ["body", "bdoy"])
    half, none = replace(there("a"), unseen=["bdoy"]), replace(there("b"), unseen=["body", "bdoy"])
    mapped = replace(half, mapping={"properties": {"bdoy": {"type": "text"}}})
    assert levels(check_texts(facts(mapped), both)) == [("text-fields", "ok")]
    assert levels(check_texts(facts(half), both)) == [("text-fields", "warning")]
    assert levels(check_texts(facts(none), both)) == [("text-fields", "stop")]
    found = list(check_texts(facts(half, none), both))
    assert [(each.level, each.index) for each in found] == [("stop", "b"), ("warning", None)]
    assert levels(check_texts(facts(half, there("c")), both)) == [("text-fields", "ok")]


# --- disks


def test_what_the_fields_take_is_estimated_above_what_was_measured() -> None:
    measured = {"default": 501.4, "short": 510.4, "strict": 82.0}  # docs/benchmarks.md
    for name, size in measured.items():
        assert size <= bytes_a_document(Scheme.preset(name)) <= 2 * size


def test_what_keys_of_passages_take_is_estimated_by_a_sample_of_the_texts() -> None:
    preset, plain = Scheme.preset("passages"), bytes_a_document(Scheme())
    rng = random.Random(1)
    texts = [" ".join(f"word{rng.randrange(20_000)}" for _ in range(424)) for _ in range(50)]
    added = bytes_a_document(preset, texts) - plain
    assert 715 <= added <= 2 * 715  # docs/benchmarks.md
    assert bytes_a_document(preset, [*texts, "short", "\ud800"]) - plain in range(added * 4 // 5, added)
    assert bytes_a_document(preset) == plain

    index = replace(there(), texts=texts)
    needed = engine.growth(index, bytes_a_document(preset, texts))["n1"]
    [found] = engine.check_disks(facts(index, disks={"n1": Disk("node-1", 1 << 30, 1 << 30)}), preset)
    assert f"needs up to {with_unit(needed)}" in found.message


def test_each_copy_of_a_shard_grows_by_its_share_of_what_is_due() -> None:
    copies = [
        ShardCopy("n1", True, 500, 10_000),
        ShardCopy("n2", False, 500, 12_000),
        ShardCopy("n2", True, 500, 20_000),
    ]
    grown = engine.growth(there(due=250, documents=1000, copies=copies), 100)
    assert grown == {"n1": 2_500 + 12_500, "n2": 3_000 + 12_500 + 5_000 + 12_500}
    assert engine.growth(there(due=0, documents=0, copies=copies), 100) == {"n1": 0, "n2": 0}
    assert engine.growth(there(copies=None), 100) == {}


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
    marks = engine.Watermarks.of(settings, TOTAL)
    assert [marks.high, marks.flood] == pytest.approx([high, flood], abs=1)


@pytest.mark.parametrize(
    ("percent_left", "level"), [(11, "ok"), (10, "ok"), (9.9, "warning"), (5, "warning"), (4.9, "stop"), (-1, "stop")]
)
def test_a_disk_must_have_room_above_its_watermarks(percent_left: float, level: str) -> None:
    index, total = there(), 1 << 30
    needed = engine.growth(index, bytes_a_document(DOCUMENTS.scheme))["n1"]
    free = needed + round(total * percent_left / 100)
    found = list(engine.check_disks(facts(index, disks={"n1": Disk("node-1", total, free)}), DOCUMENTS.scheme))
    assert levels(found) == [("disk", level)]
    assert "'node-1'" in found[0].message


def test_indices_on_one_node_need_room_together() -> None:
    disks = {"n1": Disk("node-1", 1 << 30, 1 << 30)}
    one = engine.growth(there(), bytes_a_document(DOCUMENTS.scheme))["n1"]
    [found] = engine.check_disks(facts(there("a"), there("b"), disks=disks), DOCUMENTS.scheme)
    assert f"needs up to {with_unit(2 * one)}" in found.message


def test_unknown_disks_are_noted_with_the_room_that_is_needed() -> None:
    assert levels(engine.check_disks(facts(there()), DOCUMENTS.scheme)) == [("disk-unknown", "note")]
    assert levels(engine.check_disks(facts(there(copies=None)), DOCUMENTS.scheme)) == [("disk-unknown", "note")]
    assert levels(engine.check_disks(facts(there(due=0)), DOCUMENTS.scheme)) == []


# --- rights

ALL = dict.fromkeys(("read", "view_index_metadata", "index", "maintenance", "monitor", "manage"), True)


def test_without_logins_nothing_is_said_of_rights() -> None:
    assert levels(engine.check_rights(facts(there()))) == []
    assert levels(engine.check_rights(facts(there(), hides_rights=True))) == [("privileges-unknown", "note")]


@pytest.mark.parametrize(
    ("reason", "code", "remedy"),
    [
        (
            "security_exception: no permissions for [indices:data/write]. Have it granted.",
            "privileges",
            "Have it granted.",
        ),
        ("security_exception: no permissions for [indices:data/write]", "privileges", ""),
        (
            "security_exception: Update is not supported when FLS or DLS or Fieldmasking is activated.",
            "hidden-parts",
            "",
        ),
    ],
)
def test_a_login_whose_updates_the_engine_refuses_is_stopped(reason: str, code: str, remedy: str) -> None:
    found = list(engine.check_rights(facts(there(), hides_rights=True, refused_updates={"news": reason})))
    assert levels(found) == [("privileges-unknown", "note"), (code, "stop")]
    assert remedy in found[1].remedy
    assert found[1].message.endswith(".")


@pytest.mark.parametrize("missing", ["read", "view_index_metadata", "index", "maintenance", "manage"])
def test_a_missing_privilege_is_named(missing: str) -> None:
    found = list(engine.check_rights(facts(there(), rights={"articles": {**ALL, missing: False}})))
    assert levels(found) == [("privileges", "stop")]
    assert found[0].remedy == f"Have these privileges granted: {missing}."


def test_privileges_are_needed_only_for_what_is_done() -> None:
    without = {"articles": {**ALL, "manage": False, "monitor": False}}
    has = there(mapping=DOCUMENTS.scheme.mapping("dedup", ["body"]))
    assert levels(engine.check_rights(facts(has, rights=without))) == [("privileges", "ok")]
    assert levels(engine.check_rights(facts(has, rights=without, changes_settings=True))) == [("privileges", "stop")]


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
    found = levels(engine.check_rights(facts(there(), rights={"articles": ALL}, roles=roles)))
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
    assert {code for code, _ in found} == {
        "engine",
        "writable",
        "mapping",
        "total-fields",
        "source",
        "text-fields",
    }
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


@pytest.mark.parametrize(("scheme", "codes"), [("default", {"scripts"}), ("strict", set[str]())])
def test_a_server_that_refuses_scripts_is_noted_where_searches_would_have_some(
    embedded: Engine, scheme: str, codes: set[str]
) -> None:
    meddler = Meddler(embedded)

    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, Search) and "script" in operation.body["query"]:
            raise ScriptError("This server runs no such scripts.")

    meddler.before = refuse
    found = Index("articles", meddler, fields=["body"], scheme=scheme).doctor()
    assert {each.code for each in found if each.level != "ok"} == codes
    assert levels(found)


def test_a_misspelt_field_is_warned_of_and_a_sparse_one_is_not(embedded: Engine) -> None:
    embedded.perform(PutMapping("articles", {"properties": {"sparse": {"type": "text"}}}))
    found = Index("articles", embedded, fields=["body", "bdoy", "sparse"]).doctor()
    assert "'bdoy'" in the_one(found, "text-fields").message


def test_an_index_of_an_earlier_rule_says_how_to_adopt_the_one_of_now(tmp_path: Path) -> None:
    before = Scheme(verification=Verification.of_fingerprints(0.55, weights="rarity"))
    with Index("old", tmp_path, scheme=before, fields=["title", "body"], prefix="copies") as index:
        index.init()
        assert "rule" not in [each.code for each in index.doctor()]
        index.add([{"_id": "1", "title": "A storm", "body": "It hit the coast last night."}], refresh=True)
        found = the_one(index.doctor(), "rule")
    assert found.level == "note"
    command = re.search("es-simhash (.+?)\\. The fingerprints stay", found.remedy)
    assert command
    result = CliRunner().invoke(app, [*command[1].split(), "--url", str(tmp_path)])
    assert "settings updated" in result.output
    with Index("old", tmp_path, prefix="copies") as index:
        assert index.documents.scheme.verification == Verification()
        assert index.documents.scheme.id == before.id
        assert "rule" not in [each.code for each in index.doctor()]


def test_an_index_of_the_rule_with_surroundings_says_how_to_adopt_the_one_of_now(tmp_path: Path) -> None:
    with Index("old", tmp_path, fields=["body"]) as index:
        index.init()
        index.add([{"_id": "1", "body": "It hit the coast last night."}], refresh=True)
        mappings: Any = index.engine.perform(GetMappings("old"))
        entry: Any = entries(mappings, DEFAULT_PREFIX)["old"]
        former = {"features": "runs", "similarity": 0.65, "numbers": 0.5, "crowding": {"least": 0.4, "step": 0.2}}
        entry["scheme"]["verification"] |= former
        run(note("old", DEFAULT_PREFIX, entry), index.engine)
    with Index("old", tmp_path) as index:
        assert index.documents.scheme.verification == Verification()
        found = the_one(index.doctor(), "rule")
        assert (found.level, "no backfill is needed" in found.remedy) == ("warning", True)
        assert list(index.find("It hit the coast last night, again."))
    command = re.search("es-simhash (init .+?);", found.remedy)
    assert command
    result = CliRunner().invoke(app, [*command[1].split(), "--url", str(tmp_path)])
    assert result.exit_code == 0
    with Index("old", tmp_path) as index:
        assert "rule" not in [each.code for each in index.doctor()]
        assert len(list(index.find("It hit the coast last night, again."))) == 1


def test_a_rule_of_the_user_s_own_is_left_alone(tmp_path: Path) -> None:
    own = Scheme(verification=Verification.of_fingerprints(0.7, weights="rarity"))
    with Index("own", tmp_path, scheme=own, fields=["body"]) as index:
        index.init()
        index.add([{"_id": "1", "body": "It hit the coast last night."}], refresh=True)
        assert "rule" not in [each.code for each in index.doctor()]
