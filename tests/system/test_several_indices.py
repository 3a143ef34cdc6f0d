"""Of several indices behind a name, those that are not ours or closed are left out and named; the others are done."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.engines.connect import connect
from es_simhash.errors import EngineError, IndexStateError, MappingError
from es_simhash.index import Index
from es_simhash.live.backfill import Backfill
from es_simhash.plans.operations import CreateIndex, DeleteIndex, GetMappings, UpdateAliases
from tests.support.commands import run
from tests.support.corpus import corpus
from tests.support.whole_indices import COUNT, DOCUMENTS, FIELDS, contents, create, fill, servers
from tools.nodes import Node

TEXT = "\n".join(corpus(30)[3][field] for field in FIELDS)
FOREIGN: dict[str, Json] = {"1": {"message": "a line", "dedup": {"status": "mine", "scheme": "another"}}}


@pytest.fixture
def stem(engine: Engine, names: Callable[[], str]) -> Iterator[str]:
    """The beginning of the names of an index with fingerprints, ``-ours``, and of somebody else's, ``-theirs``."""
    stem = names()
    create(engine, f"{stem}-ours")
    fill(engine, f"{stem}-ours", DOCUMENTS)
    Index(f"{stem}-ours", engine, fields=FIELDS).init()
    Index(f"{stem}-ours", engine).backfill()
    Index(f"{stem}-ours", engine).refresh()
    engine.perform(CreateIndex(f"{stem}-theirs", {}))
    fill(engine, f"{stem}-theirs", FOREIGN)
    yield stem
    for name in ("ours", "theirs"):
        engine.perform(DeleteIndex(f"{stem}-{name}"))


@pytest.fixture
def node(kind: str, request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(f"{kind}_node")
    return node


def close(node: Node, name: str) -> None:
    assert node.request("POST", f"/{name}/_close").status == 200


# --- indices that are not ours


def test_fields_are_taken_out_of_ours_and_of_nobody_elses(engine: Engine, stem: str) -> None:
    removed = Index(f"{stem}-*", engine).remove_fields()
    assert (removed.progress.written, removed.left, list(removed.progress.left_out)) == (COUNT, 0, [])
    assert contents(engine, f"{stem}-ours", list(DOCUMENTS)) == DOCUMENTS
    assert contents(engine, f"{stem}-theirs", ["1"]) == FOREIGN


def test_the_groups_are_those_of_ours(engine: Engine, stem: str) -> None:
    with Index(f"{stem}-ours", engine).group() as alone, Index(f"{stem}-*", engine).group() as together:
        assert [group.members for group in together] == [group.members for group in alone]
        assert len(alone) > 0
        assert dict(together.corpus.unread) == {f"{stem}-theirs": "has no fields under 'dedup'"}
        assert Index(f"{stem}-*", engine).write_groups(together).rejected == []
    assert contents(engine, f"{stem}-theirs", ["1"]) == FOREIGN


@pytest.mark.parametrize("options", [{}, {"by": "simhash"}], ids=str)
def test_near_duplicates_are_found_in_ours(engine: Engine, stem: str, options: Json) -> None:
    text = TEXT
    alone, together = Index(f"{stem}-ours", engine), Index(f"{stem}-*", engine)
    assert (together.without_fields, alone.without_fields) == ([f"{stem}-theirs"], [])
    assert together.find(text, **options).matches == alone.find(text, **options).matches != ()
    [checked] = together.check([{"_id": "new", **corpus(30)[3]}])
    assert not checked.is_new


def test_what_there_is_names_the_indices_without_fields(engine: Engine, stem: str) -> None:
    info = Index(f"{stem}-*", engine).info()
    assert info.indices == [f"{stem}-ours", f"{stem}-theirs"]
    assert (info.without_fields, info.fingerprinted, info.without) == ([f"{stem}-theirs"], COUNT, 1)


def test_a_backfill_leaves_out_what_has_no_fields(engine: Engine, stem: str) -> None:
    create(engine, plain := f"{stem}-plain")
    index = Index(f"{stem}-ours,{plain}", engine)
    assert [(each.code, each.index) for each in index.doctor() if each.level == "stop"] == [("no-fields", plain)]
    assert list(index.backfill().left_out) == [plain]
    brings = Backfill(engine, index.name, index.documents, brings_fields=True)
    assert brings.survey.left_out == []
    engine.perform(DeleteIndex(plain))


def test_where_no_index_has_fields_nothing_is_done(engine: Engine, stem: str) -> None:
    index = Index(f"{stem}-theirs*", engine)
    for do in (index.remove_fields, index.group, index.info, index.backfill):
        with pytest.raises(MappingError, match=rf"The index '{stem}-theirs' has no fields .* Add them with init"):
            do()


@servers
def test_documents_are_not_written_where_they_may_come_into_an_index_without_fields(engine: Engine, stem: str) -> None:
    alias = f"{stem}-alias"
    ours: Json = {"add": {"index": f"{stem}-ours", "alias": alias}}
    theirs: Json = {"add": {"index": f"{stem}-theirs", "alias": alias, "is_write_index": True}}
    engine.perform(UpdateAliases([ours, theirs]))
    assert Index(alias, engine).find(TEXT)
    with pytest.raises(MappingError, match=f"'{stem}-theirs' has no fields for fingerprints"):
        Index(alias, engine).add([{"_id": "new", "title": "a", "body": "text"}])
    assert contents(engine, f"{stem}-theirs", ["1", "new"]) == FOREIGN


# --- closed indices


@servers
@pytest.mark.parametrize("how", ["{0}", "{0}*"])
def test_whatever_is_done_with_a_closed_index_says_how_to_open_it(
    engine: Engine, node: Node, names: Callable[[], str], how: str
) -> None:
    create(engine, closed := names())
    close(node, closed)
    name = how.format(closed)
    bare, given = Index(name, engine), Index(name, engine, fields=FIELDS)
    whole = (given.init, given.pipeline) if name == closed else ()
    said = rf"The index '{closed}' is closed\. Open it with POST {closed}/_open"
    for do in (bare.info, bare.group, bare.remove_fields, bare.backfill, bare.scripts, given.backfill, *whole):
        with pytest.raises(IndexStateError, match=said):
            do()
    for index in (bare, given):
        with pytest.raises(IndexStateError, match=rf"POST {closed}/_open"):
            index.find("a text of some length")
        stops = [(each.code, each.index) for each in index.doctor() if each.level == "stop"]
        assert stops == [("closed", closed)]
    assert "dedup" not in str(engine.perform(GetMappings(closed)))


@servers
def test_a_closed_index_with_fields_is_named_too(engine: Engine, node: Node, names: Callable[[], str]) -> None:
    closed, other = names(), names()
    for name in (closed, other):
        create(engine, name)
        Index(name, engine, fields=FIELDS).init()
    close(node, closed)
    index = Index(f"{other},{closed}", engine, fields=FIELDS)
    for do in (index.info, index.group, index.remove_fields, index.scripts, index.init):
        with pytest.raises(EngineError, match=rf"POST {closed}/_open"):
            do()


@servers
def test_of_a_pattern_closed_indices_are_named(engine: Engine, node: Node, stem: str) -> None:
    close(node, f"{stem}-theirs")
    index = Index(f"{stem}-*", engine)
    with index.group() as grouped:
        assert dict(grouped.corpus.unread) == {f"{stem}-theirs": "is closed"}
    removed = index.remove_fields()
    assert (removed.progress.written, list(removed.progress.left_out)) == (COUNT, [f"{stem}-theirs"])


# --- commands


def test_commands_name_what_they_leave_out(place: str, tmp_path: Path) -> None:
    both = f"whole-{uuid.uuid4().hex[:10]}"
    with Index(f"{both}-ours", place, fields=FIELDS) as index:
        index.init()
        index.add([{"_id": "1", **corpus(30)[3]}], refresh=True)
        index.engine.perform(CreateIndex(f"{both}-theirs", {}))
    for verb, *options in (["group"], ["find", "--text", TEXT], ["info"], ["remove", "--yes"]):
        ran = run(verb, f"{both}-*", *options, "--url", place, cwd=tmp_path)
        assert f"{both}-theirs" in ran.out + ran.err
    with closing(connect(place)) as engine:
        for name in ("ours", "theirs"):
            engine.perform(DeleteIndex(f"{both}-{name}"))
