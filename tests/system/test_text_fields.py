"""Fields under whose names documents have no text are found out before anything is written."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, run
from es_simhash.engines.connect import connect
from es_simhash.errors import EngineError, IndexStateError, MappingError
from es_simhash.index import Index
from es_simhash.live.backfill import Backfill
from es_simhash.plans.operations import Count, CreateIndex, DeleteIndex, GetMappings
from es_simhash.plans.text_fields import derived, fields_in_no_document
from es_simhash.scheme.scheme import Scheme
from tests.support.commands import run as run_command
from tests.support.whole_indices import COUNT, DOCUMENTS, FIELDS, create, fill, servers

KEYWORD = {"type": "keyword"}
SCRIPT: Json = {**KEYWORD, "script": {"source": "emit(params._source.title)"}}
EMPTY: Json = {"term": {"dedup.status": "empty"}}


# --- what a mapping says

MAPPING: Json = {
    "properties": {
        "title": {"type": "text", "fields": {"raw": KEYWORD}, "copy_to": "all"},
        "author": {"properties": {"name": {"type": "text", "fields": {"raw": KEYWORD}, "copy_to": ["all"]}}},
        "a.b": {**KEYWORD, "fields": {"c": KEYWORD}},
        "old": {"type": "alias", "path": "title"},
        "older": {"type": "alias", "path": "author.name.raw"},
        "all": {"type": "text"},
        "both": KEYWORD,
    },
    "runtime": {"day": SCRIPT, "place": {"type": "composite", "script": "…"}, "late": KEYWORD, "both": SCRIPT},
    "derived": {"hour": SCRIPT},
}


@pytest.mark.parametrize("path", ["title", "author.name", "author", "a.b", "nothing", "author.nothing", "late", "both"])
def test_documents_can_have_values_in_fields_of_their_own(path: str) -> None:
    assert derived(MAPPING, path) is None


@pytest.mark.parametrize(
    ("path", "what", "instead"),
    [
        ("title.raw", "a multi-field of 'title'", "--field title."),
        ("author.name.raw", "a multi-field of 'author.name'", "--field author.name."),
        ("a.b.c", "a multi-field of 'a.b'", "--field a.b."),
        ("old", "an alias of 'title'", "--field title."),
        ("older", "an alias of 'author.name.raw'", "--field author.name."),
        ("all", "filled with copies of 'title', 'author.name'", "--field title --field author.name."),
        ("day", "computed by a script at each search", "Name the fields that the script reads."),
        ("place.x", "computed by a script at each search", "Name the fields that the script reads."),
        ("hour", "computed by a script at each search", "Name the fields that the script reads."),
    ],
)
def test_a_field_that_the_engine_makes_is_named_with_what_it_is_made_of(path: str, what: str, instead: str) -> None:
    found = derived(MAPPING, path)
    assert found
    assert found.what == what
    assert found.remedy.endswith(instead)


# --- what indices hold


def made(engine: Engine, names: Callable[[], str], kind: str, **documents: Json) -> str:
    """An index with a field of each kind that the engine has."""
    properties: Json = {"title": {"type": "text", "fields": {"raw": KEYWORD}}}
    mappings: Json = {"properties": properties}
    if kind != "embedded":
        properties |= {"all": {"type": "text"}, "old": {"type": "alias", "path": "title"}}
        properties["title"]["copy_to"] = "all"
        mappings["runtime" if kind == "elasticsearch" else "derived"] = {"day": SCRIPT}
    engine.perform(CreateIndex(name := names(), {"mappings": mappings}))
    fill(engine, name, documents or {"1": {"title": "a text that is long enough"}})
    return name


def of_kind(field: str, *kinds: str) -> list[tuple[str, str]]:
    return [(kind, field) for kind in kinds]


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        *of_kind("title.raw", "embedded", "elasticsearch", "opensearch"),
        *of_kind("old", "elasticsearch", "opensearch"),
        *of_kind("all", "elasticsearch", "opensearch"),
        *of_kind("day", "elasticsearch", "opensearch"),
    ],
    indirect=["kind"],
)
def test_a_field_that_no_document_can_have_stops_before_anything_is_written(
    engine: Engine, kind: str, names: Callable[[], str], field: str
) -> None:
    name = made(engine, names, kind)
    before = engine.perform(GetMappings(name))
    index = Index(name, engine, fields=[field])
    [stop] = [each for each in index.doctor() if each.level == "stop"]
    assert (stop.code, stop.index) == ("derived-field", name)
    with pytest.raises(IndexStateError, match=rf"derived-field: The source field '{field}' of the index '{name}' is"):
        Backfill(engine, name, Documents(Scheme(), [field])).run()
    with pytest.raises(MappingError, match=rf"'{field}' of the index '{name}' is .*\. Name "):
        index.init()
    with pytest.raises(MappingError, match=rf"'{field}' of the index '{name}' is .*\. Name "):
        index.find("a text that is long enough", candidates="more_like_this")
    with pytest.raises(MappingError, match=rf"'{field}' of the index '{name}' is .*\. Name "):
        index.reindex(names())
    assert engine.perform(GetMappings(name)) == before


def test_a_new_index_is_not_made_for_a_field_that_no_document_can_have(
    engine: Engine, names: Callable[[], str]
) -> None:
    index = Index(names(), engine, fields=["title.raw"])
    create = {"mappings": {"properties": {"title": {"type": "text", "fields": {"raw": KEYWORD}}}}}
    with pytest.raises(MappingError, match=r"a multi-field of 'title'.*--field title\.$"):
        index.init(create=create)
    with pytest.raises(EngineError, match=index.name):
        engine.perform(GetMappings(index.name))


@servers
def test_a_field_that_copies_go_to_may_have_values_of_its_own(
    engine: Engine, kind: str, names: Callable[[], str]
) -> None:
    name = made(engine, names, kind, **{"1": {"title": "one"}, "2": {"title": "two", "all": "a text of its own"}})
    index = Index(name, engine, fields=["all"])
    index.init()
    assert not [each for each in index.doctor() if each.level in ("warning", "stop")]
    assert index.backfill().written == 2


@pytest.mark.parametrize("kind", ["elasticsearch"], indirect=True)
def test_a_runtime_field_without_a_script_is_read_from_documents(engine: Engine, names: Callable[[], str]) -> None:
    engine.perform(CreateIndex(name := names(), {"mappings": {"dynamic": "runtime"}}))
    fill(engine, name, {"1": {"title": "a text that is long enough"}})
    assert "title" in engine.perform(GetMappings(name))[name]["runtime"]
    index = Index(name, engine, fields=["title"])
    index.init()
    assert index.backfill().written == 1


def test_a_misspelt_field_stops_unless_that_is_accepted(engine: Engine, names: Callable[[], str]) -> None:
    create(engine, name := names())
    fill(engine, name, DOCUMENTS)
    index = Index(name, engine, fields=["titel"])
    assert [(each.code, each.level) for each in index.doctor() if each.level == "stop"] == [("text-fields", "stop")]
    index.init()
    with pytest.raises(IndexStateError, match=rf"No document of the index '{name}' has text in titel.*--accept text-f"):
        index.backfill()
    assert engine.perform(Count(name, EMPTY)) == 0
    assert index.backfill(accept=frozenset({"text-fields"})).written == COUNT
    index.refresh()
    assert engine.perform(Count(name, EMPTY)) == COUNT


def test_one_of_several_fields_may_be_misspelt_with_a_warning(engine: Engine, names: Callable[[], str]) -> None:
    create(engine, name := names())
    fill(engine, name, DOCUMENTS)
    found = Index(name, engine, fields=["title", "bdoy"]).doctor()
    assert [(each.code, each.level) for each in found if each.level != "ok"][-1] == ("text-fields", "warning")


def test_one_document_with_text_among_many_without_is_found(engine: Engine, names: Callable[[], str]) -> None:
    create(engine, name := names())
    fill(engine, name, {str(i): {"number": i, "body": " "} for i in range(1500)})
    assert run(fields_in_no_document(name, FIELDS), engine) == ["title", "body"]
    fill(engine, name, {"last": {"title": "a text"}})
    assert run(fields_in_no_document(name, FIELDS), engine) == ["body"]


def test_without_documents_no_field_is_missed(engine: Engine, names: Callable[[], str]) -> None:
    create(engine, name := names())
    index = Index(name, engine, fields=["titel"])
    assert not [each for each in index.doctor() if each.level in ("warning", "stop")]
    index.init()
    assert index.backfill().written == 0


def test_of_several_indices_one_without_the_field_is_left_out_and_named(
    engine: Engine, names: Callable[[], str]
) -> None:
    stem = names()
    other, news = f"{stem}-a", f"{stem}-b"
    engine.perform(CreateIndex(other, {}))
    fill(engine, other, {"1": {"message": "no title and no body"}})
    create(engine, news)
    fill(engine, news, DOCUMENTS)
    Index(f"{stem}-*", engine, fields=FIELDS).init()
    backfill = Backfill(engine, f"{stem}-*", Documents(Scheme(), FIELDS))
    stops = [(each.code, each.index) for each in backfill.findings if each.level == "stop"]
    assert stops == [("text-fields", other)]
    progress = backfill.run()
    assert (progress.written, list(progress.left_out)) == (COUNT, [other])
    assert engine.perform(Count(f"{stem}-*", EMPTY)) == 0
    for each in (other, news):
        engine.perform(DeleteIndex(each))


def test_a_copy_is_not_made_of_documents_without_text(engine: Engine, names: Callable[[], str]) -> None:
    create(engine, name := names())
    fill(engine, name, DOCUMENTS)
    with pytest.raises(MappingError, match=rf"No document of the index '{name}' has text in titel\. Its text fields"):
        Index(name, engine, fields=["titel"]).reindex(copy := names())
    with pytest.raises(EngineError, match=copy):
        engine.perform(GetMappings(copy))


# --- commands


def test_commands_refuse_a_field_that_no_document_can_have_or_has(place: str, tmp_path: Path) -> None:
    name = f"whole-{uuid.uuid4().hex[:10]}"
    with closing(connect(place)) as engine:
        create(engine, name)
        fill(engine, name, {"1": {"title": "a text that is long enough"}})
    lines = tmp_path / "more.jsonl"
    lines.write_text('{"title": "another text"}\n', encoding="utf-8")
    verbs = [["load", name, str(lines)], ["backfill", name], ["init", name], ["find", name, "--text", "a"]]
    for verb in (*verbs, ["tune", "--histogram", name]):
        ran = run_command(*verb, "--field", "title.raw", "--url", place, cwd=tmp_path, code=4)
        assert "is a multi-field of 'title'" in ran.err
        assert "--field title." in ran.err
    assert "titel" in run_command("backfill", name, "--field", "titel", "--url", place, cwd=tmp_path, code=4).err
    with closing(connect(place)) as engine:
        assert "dedup" not in engine.perform(GetMappings(name))[name]["properties"]
        engine.perform(DeleteIndex(name))
