"""Taking the fields out again: documents are left as they were before, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import Rejected
from es_simhash.engines.base import Engine
from es_simhash.errors import IndexStateError, MappingError, SchemeMismatchError
from es_simhash.index import Index
from es_simhash.live.removal import Removing
from es_simhash.plans.operations import Action, Bulk, CreateIndex, GetMappings
from es_simhash.scheme import mapping
from es_simhash.scheme.scheme import Scheme
from tests.support.meddling import Meddler, StopsEarly, each_at_a_second_try, once
from tests.support.whole_indices import COUNT, DOCUMENTS, FIELDS, contents, create, delete, fill, fingerprinted, servers
from tools.nodes import Node


@pytest.fixture
def index(engine: Engine, meddler: Meddler, names: Callable[[], str]) -> Index:
    """An index whose documents have fingerprints."""
    return fingerprinted(engine, meddler, names(), DOCUMENTS)


def test_documents_are_what_they_were_before(engine: Engine, index: Index) -> None:
    removed = index.remove_fields()
    assert (removed.progress.written, removed.progress.rejected, removed.left) == (COUNT, 0, 0)
    assert contents(engine, index.name, list(DOCUMENTS)) == DOCUMENTS


def test_the_mapping_keeps_the_fields_but_not_our_note(engine: Engine, index: Index) -> None:
    before = engine.perform(GetMappings(index.name))[index.name]
    index.remove_fields()
    after = engine.perform(GetMappings(index.name))[index.name]
    assert mapping.only(after, ()) == mapping.only(before, ())
    assert (after["_meta"], mapping.names(after)) == ({"owner": "somebody"}, set())
    with pytest.raises(MappingError, match="init"):
        Index(index.name, engine).remove_fields()


def test_the_fields_can_come_again(engine: Engine, index: Index) -> None:
    index.remove_fields()
    again = Index(index.name, engine, fields=FIELDS)
    again.init()
    assert again.backfill().written == COUNT
    assert contents(engine, index.name, list(DOCUMENTS)) == {
        id_: again.documents.add_fields(each) for id_, each in DOCUMENTS.items()
    }


def test_another_scheme_can_come_in_its_place(engine: Engine, index: Index) -> None:
    index.remove_fields()
    another = Index(index.name, engine, fields=FIELDS[:1], scheme="default")
    another.init()
    assert another.backfill().written == COUNT
    assert Index(index.name, engine).documents == another.documents
    with pytest.raises(SchemeMismatchError, match="Use the fields that are there"):
        Index(index.name, engine, fields=FIELDS).init()


def test_what_others_keep_in_our_object_stays_and_so_does_another_scheme(engine: Engine, index: Index) -> None:
    other = Index(index.name, engine, prefix="other", scheme="short", fields=["title"])
    other.init()
    own = {"title": "a", "body": "text", "dedup": {"note": "of somebody"}}
    document = other.documents.add_fields(own)
    fill(engine, index.name, {"own": index.documents.add_fields(document)})
    index.remove_fields()
    assert contents(engine, index.name, ["own"]) == {"own": document}
    assert other.documents.scheme.name == "short"


@pytest.mark.usefixtures("waited")
def test_what_cannot_be_done_at_first_is_tried_again(engine: Engine, meddler: Meddler, index: Index) -> None:
    assert index.documents  # the index is opened
    meddler.before = each_at_a_second_try()
    assert index.remove_fields().left == 0
    assert contents(engine, index.name, list(DOCUMENTS)) == DOCUMENTS


@pytest.mark.parametrize("slices", [2, 5])
def test_slices_do_it_together(engine: Engine, index: Index, slices: int) -> None:
    assert index.remove_fields(parallel=slices).progress.written == COUNT
    assert contents(engine, index.name, list(DOCUMENTS)) == DOCUMENTS


def test_routing_values_are_kept(engine: Engine, names: Callable[[], str]) -> None:
    name = names()
    create(engine, name, number_of_shards=5)
    index = Index(name, engine, fields=FIELDS)
    index.init()
    documents = dict(list(DOCUMENTS.items())[:40])
    fill(engine, name, {id_: index.documents.add_fields(each) for id_, each in documents.items()}, routing="elsewhere")
    removed = index.remove_fields()
    assert (removed.progress.written, removed.progress.gone) == (40, 0)
    assert contents(engine, name, list(documents), "elsewhere") == documents
    assert index.engine.perform(GetMappings(name))


def test_a_run_goes_on_where_another_was_stopped(engine: Engine, index: Index) -> None:
    with pytest.raises(RuntimeError, match="stopped"):
        Index(index.name, StopsEarly(engine)).remove_fields()
    index.refresh()
    rest = index.remove_fields()
    assert 0 < rest.progress.total < COUNT
    assert (rest.progress.written, rest.left) == (rest.progress.total, 0)
    assert contents(engine, index.name, list(DOCUMENTS)) == DOCUMENTS


def test_a_deferred_document_loses_its_status_too(engine: Engine, index: Index) -> None:
    id_, *_ = DOCUMENTS
    index.add([{"_op_type": "update", "_id": id_, "doc": {"title": "New"}}], refresh=True)
    assert index.remove_fields().left == 0
    assert contents(engine, index.name, [id_]) == {id_: DOCUMENTS[id_] | {"title": "New"}}


@servers
def test_a_document_that_somebody_changes_in_the_meantime_keeps_the_change(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    changed: list[str] = []

    def change(bulk: Bulk) -> None:
        changed.append(str(bulk.actions[0].id))
        engine.perform(Bulk(index.name, [Action("update", changed[0], {"doc": {"number": -1}})]))

    meddler.before = once(Bulk, change)
    removed = index.remove_fields()
    assert (removed.progress.conflicts, removed.left) == (1, 0)
    expected = DOCUMENTS | {changed[0]: DOCUMENTS[changed[0]] | {"number": -1}}
    assert contents(engine, index.name, list(DOCUMENTS)) == expected


def test_documents_that_are_deleted_in_the_meantime_are_not_failures(
    engine: Engine, meddler: Meddler, index: Index
) -> None:
    gone: list[str] = []

    def take_out(bulk: Bulk) -> None:
        gone.append(str(bulk.actions[-1].id))
        delete(engine, index.name, gone[0])

    meddler.before = once(Bulk, take_out)
    removed = index.remove_fields()
    assert (removed.progress.rejected, removed.left) == (0, 0)


@servers
def test_every_change_has_a_condition_and_names_our_fields_alone(meddler: Meddler, index: Index) -> None:
    index.remove_fields()
    actions = [action for operation in meddler.seen if isinstance(operation, Bulk) for action in operation.actions]
    assert len(actions) == COUNT
    for action in actions:
        assert action.op_type == "update"
        assert {"if_seq_no", "if_primary_term"} <= set(action.metadata or {})
    parameters = [(action.body or {})["script"]["params"] for action in actions]
    assert all(each == parameters[0] for each in parameters)
    assert parameters[0]["prefix"] == "dedup"
    assert {"simhash", "blocks", "bands", "content", "scheme", "status"} < set(parameters[0]["names"])
    assert {"group", "group_size", "is_canonical", "similarity", "distance"} < set(parameters[0]["names"])


def test_fields_in_another_form_are_reported(engine: Engine, index: Index) -> None:
    own = index.documents.add_fields({"title": "a", "body": "text"})["dedup"]
    fill(engine, index.name, {"list": {"title": "a", "body": "text", "dedup": [own]}})
    reported: list[Rejected] = []
    removed = index.remove_fields(on_reject=reported.append)
    assert (removed.progress.written, removed.progress.rejected, removed.left) == (COUNT, 1, 1)
    assert [each.id for each in reported] == ["list"]
    assert Index(index.name, engine).documents


def test_an_index_without_the_fields_is_refused(engine: Engine, names: Callable[[], str]) -> None:
    name = names()
    engine.perform(CreateIndex(name, {}))
    with pytest.raises(MappingError):
        Index(name, engine).remove_fields()


def test_a_server_without_scripts_says_so(opensearch2_node: Node) -> None:
    name = "without-painless"
    with Index(name, opensearch2_node.url, fields=FIELDS) as index:
        index.init()
        index.add([{"_id": "1", "title": "a", "body": "text"}], refresh=True)
        with pytest.raises(IndexStateError, match="Painless"):
            index.remove_fields()
        opensearch2_node.request("DELETE", f"/{name}")


# --- what is written


DOCUMENT = {
    "title": "a",
    "body": "text",
    "dedup": {"scheme": "0123456789ab", "status": "ok", "group": "g", "group_size": 2, "note": 1},
}


def hit(source: Json) -> Json:
    return {"_index": "index", "_id": "1", "_seq_no": 3, "_primary_term": 1, "_routing": "here", "_source": source}


@pytest.mark.parametrize(
    ("source", "left"),
    [
        (DOCUMENT, {"title": "a", "body": "text", "dedup": {"note": 1}}),
        ({"title": "a", "dedup": {"scheme": "0123456789ab", "bands": None}}, {"title": "a"}),
    ],
)
def test_without_scripts_the_document_is_written_again(source: Json, left: Json) -> None:
    removing = Removing(Documents(Scheme(), FIELDS), by_script=False)
    [(_, action)] = removing.prepare([hit(source)]).updates
    assert (action.op_type, action.body) == ("index", left)
    assert action.metadata == {"if_seq_no": 3, "if_primary_term": 1, "routing": "here"}


def test_a_document_that_has_none_of_the_fields_is_left_alone() -> None:
    removing = Removing(Documents(Scheme(), FIELDS), by_script=True)
    prepared = removing.prepare([hit({}), hit({"dedup": {"note": 1}})])
    assert (prepared.current, prepared.updates, prepared.rejected) == (2, [], [])
