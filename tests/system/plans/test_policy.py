"""The policy of an index is kept in its mapping, and every program that opens the index goes by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Policy, Scope
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import AccessError, IndexStateError, MappingError, MissingError
from es_simhash.index import Index
from es_simhash.plans.operations import Action, Bulk, CreateIndex, DeleteIndex, GetMappings, PutMapping
from es_simhash.scheme import mapping
from tests.support.commands import lines, run
from tests.support.corpus import corpus
from tests.support.meddling import Meddler

TENANT = Policy(Scope(("tenant",)))
ALL = Policy(Scope(("tenant",), ("source",), timedelta(hours=72), "at"), "online")


@pytest.fixture
def name(engine: Engine, names: Callable[[], str]) -> Iterator[str]:
    name = names()
    yield name
    with suppress(MissingError):
        for each in engine.perform(GetMappings(f"{name}*")):
            engine.perform(DeleteIndex(each))


def opened(engine: Engine, name: str, **known: Any) -> Index:
    return Index(name, engine, fields=["title", "body"], **known)


def meta(engine: Engine, name: str) -> Json:
    entry: Json = engine.perform(GetMappings(name))[name]["_meta"]["es_simhash"]["dedup"]
    return entry


def test_it_is_set_kept_replaced_and_lifted_by_init(engine: Engine, name: str) -> None:
    index = opened(engine, name)
    index.init()
    assert "policy" not in meta(engine, name)
    assert index.documents.policy == Policy()
    index.init(policy=TENANT)
    assert meta(engine, name)["policy"] == {"scope": {"within": ["tenant"]}}
    assert index.init().bodies == index.init(policy=TENANT).bodies == {}
    index.init(policy=ALL)
    assert Index(name, engine).documents.policy == ALL == index.documents.policy
    index.init(policy=Policy())
    assert "policy" not in meta(engine, name)
    assert Index(name, engine).documents.policy == Policy()


def test_a_new_index_has_it_from_the_first(engine: Engine, name: str) -> None:
    opened(engine, name).init(policy=ALL)
    assert Index(name, engine).documents.policy == ALL
    opened(engine, f"{name}-plain").init(policy=Policy())
    assert "policy" not in meta(engine, f"{name}-plain")


def test_what_is_written_later_leaves_it(engine: Engine, name: str) -> None:
    index = opened(engine, name)
    index.init(policy=TENANT)
    index.add([{"_id": str(i), **each, "tenant": "a"} for i, each in enumerate(corpus(5))], refresh=True)
    index.backfill()
    index.learn()
    with index.group() as grouped:
        index.write_groups(grouped)
    assert Index(name, engine).documents.policy == TENANT
    assert index.info().policy == TENANT


def test_a_copy_has_it_too_also_with_another_scheme(engine: Engine, name: str) -> None:
    opened(engine, name).init(policy=TENANT)
    for scheme in (None, "strict"):
        copy = f"{name}-{scheme}".lower()
        Index(name, engine, scheme=scheme).reindex(copy)
        assert Index(copy, engine).documents.policy == TENANT


def test_indices_behind_one_name_must_agree(engine: Engine, name: str) -> None:
    opened(engine, f"{name}-a").init(policy=TENANT)
    opened(engine, f"{name}-b").init()
    with pytest.raises(IndexStateError, match="have different policies"):
        Index(f"{name}-*", engine).find("a text")
    opened(engine, f"{name}-b").init(policy=TENANT)
    assert Index(f"{name}-*", engine).documents.policy == TENANT


@pytest.mark.parametrize("form", [{"scope": {"within": 3}}, {"scope": []}, {"groups": "never"}, "tenant", None])
def test_one_that_somebody_changed_is_refused(engine: Engine, name: str, form: Any) -> None:
    opened(engine, name).init(policy=TENANT)
    there = engine.perform(GetMappings(name))[name]
    changed = {**mapping.note(there, "dedup"), "policy": form}
    engine.perform(PutMapping(name, {"properties": mapping.change(there, "dedup", changed)}))
    with pytest.raises(MappingError, match="was changed"):
        Index(name, engine).find("a text")


def test_a_field_that_no_document_can_have_is_refused(engine: Engine, name: str) -> None:
    mappings = {"properties": {"tenant": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}}
    policy = Policy(Scope(("tenant.raw",)))
    for create in ({"mappings": mappings}, None):
        with pytest.raises(MappingError, match="a multi-field of 'tenant'"):
            opened(engine, name).init(create=create, policy=policy)
        with suppress(IndexStateError):
            engine.perform(CreateIndex(name, {"mappings": mappings}))
    assert "_meta" not in engine.perform(GetMappings(name))[name]


@pytest.mark.parametrize(
    ("mappings", "path", "expected"),
    [
        ({}, "tenant", 2),
        ({}, "tennant", 3),
        ({"properties": {"tenant": {"type": "keyword"}}}, "tenant", 2),
        ({"dynamic": False, "properties": {"title": {"type": "text"}}}, "tenant", None),
        ({"properties": {"meta": {"type": "object", "enabled": False}}}, "meta.tenant", None),
    ],
)
def test_info_counts_what_is_in_no_scope(
    engine: Engine, name: str, mappings: Json, path: str, expected: int | None
) -> None:
    index = opened(engine, name)
    index.init(create={"mappings": mappings} if mappings else None, policy=Policy(Scope((path,))))
    texts: list[Json] = [
        {"title": "one", "tenant": "a", "meta": {"tenant": "a"}},
        {"title": "two", "tenant": None},
        {"title": "3"},
    ]
    index.add([{"_id": str(i), **each} for i, each in enumerate(texts)], refresh=True)
    assert Index(name, engine).info().unscoped == expected


def without_mapping_rights(engine: Engine) -> Meddler:
    """An engine as a login sees it that may search only."""

    def refuse(operation: Any) -> None:
        if isinstance(operation, GetMappings):
            raise AccessError("The login lacks view_index_metadata.")

    meddler = Meddler(engine)
    meddler.before = refuse
    return meddler


def test_a_preview_goes_by_it_and_no_search_is_made_where_it_cannot_be_read(engine: Engine, name: str) -> None:
    text = corpus(1)[0]["body"]
    put = [Action("index", str(i), {"body": text, "tenant": tenant}) for i, tenant in enumerate("aabb")]
    Index(name, engine, fields=["body"]).init(policy=TENANT)
    engine.perform(Bulk(name, put, refresh=True))
    found = Index(name, engine, fields=["body"]).find(id="0", candidates="more_like_this")
    assert [match.id for match in found] == ["1"]
    for candidates in ("keys", "more_like_this"):
        refused = without_mapping_rights(engine)
        with pytest.raises(AccessError, match="view_index_metadata"):
            Index(name, refused, fields=["body"]).find(id="0", candidates=candidates)
        assert refused.kinds() == {GetMappings}


def test_the_command_line_changes_what_is_named_and_keeps_the_rest(tmp_path: Path) -> None:
    def policy(*options: str) -> Json:
        run("init", "news", "--field", "body", *options, cwd=tmp_path)
        [info] = lines(run("info", "news", "--json", cwd=tmp_path))
        found: Json = info["policy"]
        return found

    within = {"within": ["tenant"]}
    assert policy() == {}
    assert policy("--within", "tenant") == {"scope": within}
    assert policy("--groups", "online") == {"scope": within, "groups": "online"}
    assert policy() == {"scope": within, "groups": "online"}
    window = {"across": ["source"], "window": "3d", "date": "at"}
    assert policy("--across", "source", "--window", "72h", "--date", "at") == {"scope": window, "groups": "online"}
    assert "across source; 3d of at; groups online" in run("info", "news", cwd=tmp_path).out
    assert policy("--no-scope") == {"groups": "online"}
    assert policy("--groups", "batch") == {}
    refused = run("init", "news", "--field", "body", "--no-scope", "--within", "a", cwd=tmp_path, code=2)
    assert "--no-scope" in refused.err
    run("init", "news", "--field", "body", "--window", "72h", cwd=tmp_path, code=2)


def test_mappings_are_read_once_for_a_scope_and_foreign_ones_make_no_difference(engine: Engine, name: str) -> None:
    text = corpus(1)[0]["body"]
    raw: Json = {"type": "text", "fields": {"raw": {"type": "keyword"}}}
    create = {"mappings": {"properties": {"tenant": {"type": "keyword"}}}}
    index = Index(f"{name}-ours", engine, fields=["body"])
    index.init(create=create, policy=TENANT)
    index.add([{"_id": str(i), "body": text, "tenant": tenant} for i, tenant in enumerate("aab")], refresh=True)
    engine.perform(CreateIndex(f"{name}-theirs", {"mappings": {"properties": {"tenant": {"properties": {"x": raw}}}}}))
    meddler = Meddler(engine)
    both = Index(f"{name}-*", meddler)
    for tenant, expected in (("a", ["0", "1"]), ("b", ["2"])):
        found = both.find(text, scope_values={"tenant": tenant}, max_candidates=2, estimate=True)
        assert ([match.id for match in found], found.candidates) == (expected, len(expected))
    asked = [each for each in meddler.seen if isinstance(each, GetMappings)]
    assert len(asked) == 2  # once to open the index, and once for the scope
