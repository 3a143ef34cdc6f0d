from __future__ import annotations

import re
from copy import deepcopy
from types import MappingProxyType
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents, Task
from es_simhash.errors import DocumentError
from es_simhash.scheme.scheme import Scheme

SETTINGS = Scheme(minhash=None)
TARGET = Documents(SETTINGS, ("title", "body"), "dedup")
# All that the scheme writes: what an update does not set, it takes out.
NULLS = dict.fromkeys(("simhash", "blocks", "content", "scheme", "status", "group"))
DEFERRED = NULLS | {"status": "deferred"}


def texts(action: Any, target: Documents = TARGET) -> dict[str, str | None]:
    """The text of each document in an action, by where it lies; None where it is not known."""
    task = Task(target, action)
    assert task.problem is None
    return {name: slot.text for name, slot in task.slots.items()}


def done(action: Any, target: Documents = TARGET) -> Json:
    """The action with fields that show the text which they are of."""
    task = Task(target, action)
    for slot in task.slots.values():
        if slot.text is not None:
            slot.fields = (slot.fields or {}) | {"content": slot.text}
    return task.result()


def frozen(value: Any) -> Any:
    """The same in mappings that cannot be altered."""
    if isinstance(value, dict):
        return MappingProxyType({name: frozen(inner) for name, inner in value.items()})
    return value


FULL = {"title": "a", "body": "b", "n": 1}
MARKED = {**FULL, "dedup": {"content": "a\nb"}}
# What each action becomes.
ACTIONS: dict[str, tuple[Json, Json]] = {
    "index by default": ({"_id": "1", "_source": FULL}, {"_id": "1", "_source": MARKED}),
    "index": ({"_op_type": "index", "_source": FULL}, {"_op_type": "index", "_source": MARKED}),
    "create": ({"_op_type": "create", "_source": FULL}, {"_op_type": "create", "_source": MARKED}),
    "flat index": ({"_id": 1, "_index": "i", **FULL}, {"_id": 1, "_index": "i", **MARKED}),
    "flat create": (
        {"_op_type": "create", "routing": "r", **FULL},
        {"_op_type": "create", "routing": "r", **MARKED},
    ),
    "metadata": (
        {"_id": "1", "_index": "i", "_routing": "r", "pipeline": "p", "if_seq_no": 1, "_source": FULL},
        {"_id": "1", "_index": "i", "_routing": "r", "pipeline": "p", "if_seq_no": 1, "_source": MARKED},
    ),
    "no source field": ({"_source": {"n": 1}}, {"_source": {"n": 1, "dedup": {"content": ""}}}),
    "delete": ({"_op_type": "delete", "_id": "1"}, {"_op_type": "delete", "_id": "1"}),
    "update of all": (
        {"_op_type": "update", "_id": "1", "doc": FULL},
        {"_op_type": "update", "_id": "1", "doc": {**FULL, "dedup": NULLS | {"content": "a\nb"}}},
    ),
    "update of some": (
        {"_op_type": "update", "_id": "1", "doc": {"title": "a"}},
        {"_op_type": "update", "_id": "1", "doc": {"title": "a", "dedup": DEFERRED}},
    ),
    "update of none": (
        {"_op_type": "update", "_id": "1", "doc": {"n": 1}},
        {"_op_type": "update", "_id": "1", "doc": {"n": 1}},
    ),
    "update in _source": (
        {"_op_type": "update", "_id": "1", "_source": {"doc": FULL, "detect_noop": False}},
        {
            "_op_type": "update",
            "_id": "1",
            "_source": {"doc": {**FULL, "dedup": NULLS | {"content": "a\nb"}}, "detect_noop": False},
        },
    ),
    "update to null": (
        {"_op_type": "update", "_id": "1", "doc": {"title": "a", "body": None}},
        {
            "_op_type": "update",
            "_id": "1",
            "doc": {"title": "a", "body": None, "dedup": NULLS | {"content": "a"}},
        },
    ),
    "doc as upsert": (
        {"_op_type": "update", "_id": "1", "doc": FULL, "doc_as_upsert": True},
        {
            "_op_type": "update",
            "_id": "1",
            "doc": {**FULL, "dedup": NULLS | {"content": "a\nb"}},
            "doc_as_upsert": True,
        },
    ),
    "doc and upsert": (
        {"_op_type": "update", "_id": "1", "doc": {"title": "a"}, "upsert": FULL},
        {"_op_type": "update", "_id": "1", "doc": {"title": "a", "dedup": DEFERRED}, "upsert": MARKED},
    ),
    "script": (
        {"_op_type": "update", "_id": "1", "script": {"source": "ctx._source.n++"}},
        {"_op_type": "update", "_id": "1", "script": {"source": "ctx._source.n++"}},
    ),
    "script and upsert": (
        {"_op_type": "update", "_id": "1", "script": "x", "upsert": FULL},
        {"_op_type": "update", "_id": "1", "script": "x", "upsert": MARKED},
    ),
}
each_action = pytest.mark.parametrize(("action", "expected"), ACTIONS.values(), ids=ACTIONS)


@each_action
def test_each_form_of_action_gets_the_fields_where_its_documents_lie(action: Json, expected: Json) -> None:
    assert done(action) == expected


@each_action
def test_actions_of_frozen_mappings_are_the_same(action: Json, expected: Json) -> None:
    result = done(frozen(action))
    assert result == expected
    assert type(result) is dict


@each_action
def test_the_caller_s_objects_are_never_altered(action: Json, expected: Json) -> None:
    before = deepcopy(action)
    result = done(action)
    assert action == before
    # Nor by what is done with the result at its own levels.
    result["_id"] = "changed"
    for slot in ("_source", "doc", "upsert", "dedup"):
        if slot in result:
            result[slot] = None
    assert action == before


@each_action
def test_a_second_time_adds_nothing(action: Json, expected: Json) -> None:
    assert done(done(action)) == done(action)


def test_documents_are_recognised_by_their_place() -> None:
    assert texts({"_source": FULL}) == texts(FULL) == {"": "a\nb"}
    assert texts({"_op_type": "update", "doc": FULL, "upsert": {"title": "u"}}) == {"upsert": "u", "doc": "a\nb"}
    assert texts({"_op_type": "update", "doc": {"title": "a"}}) == {"doc": None}
    assert texts({"_op_type": "delete"}) == texts({"_op_type": "update", "script": "x"}) == {}


def test_doc_and_upsert_are_plain_names_in_a_document() -> None:
    plain = {"title": "a", "doc": {"title": "x"}, "upsert": 1, "script": "s"}
    assert done({"_source": plain}) == {"_source": {**plain, "dedup": {"content": "a"}}}
    assert done(plain) == {**plain, "dedup": {"content": "a"}}


# --- partial updates ---

NESTED = Documents(SETTINGS, ("a.b", "a.c"), "dedup")


@pytest.mark.parametrize(
    ("doc", "text"),
    [
        ({"a": {"b": "x", "c": "y"}}, "x\ny"),
        ({"a.b": "x", "a": {"c": "y"}}, "x\ny"),
        ({"a": {"b": None, "c": None}}, ""),
        ({"a": [{"b": "x"}, {"c": "y"}]}, "x\ny"),
        ({"a": {"b": "x"}}, None),
        ({"a": {"b": None}}, None),
        ({"a.c": None, "n": 1}, None),
    ],
)
def test_an_update_is_deferred_unless_it_gives_every_source_field(doc: Json, text: str | None) -> None:
    assert texts({"_op_type": "update", "doc": doc}, NESTED) == {"doc": text}


@pytest.mark.parametrize("doc", [{"a": {"d": "x"}}, {"n": 1}, {"a": {}}, {}, None])
def test_an_update_next_to_the_source_fields_gets_no_fields(doc: Json | None) -> None:
    action = {"_op_type": "update", "_id": "1", "doc": doc}
    assert texts(action, NESTED) == {}
    assert done(action, NESTED) == action


@pytest.mark.parametrize("doc", [{"a": None}, {"a": []}, {"a": {"b": []}}, {"a": [{"d": 1}]}, {"a": "x"}])
def test_an_update_that_takes_a_source_field_away_does_not_leave_its_fingerprint(doc: Json) -> None:
    assert texts({"_op_type": "update", "doc": doc}, NESTED) != {}


def test_an_update_takes_out_what_the_new_fingerprint_lacks() -> None:
    """An empty text has neither simhash nor blocks, and merging would leave the old ones."""
    task = Task(TARGET, {"_op_type": "update", "doc": {"title": None, "body": ""}})
    slot = task.slots["doc"]
    slot.fields = (slot.fields or {}) | {"content": "47DEQpj8", "scheme": "id", "status": "empty"}
    expected = NULLS | {"content": "47DEQpj8", "scheme": "id", "status": "empty"}
    assert task.result()["doc"]["dedup"] == expected


@pytest.mark.parametrize("doc", [{"title": "a"}, {"n": 1}, {}, {"body": None}])
def test_an_upsert_of_a_doc_needs_every_source_field(doc: Json) -> None:
    task = Task(TARGET, {"_op_type": "update", "doc": doc, "doc_as_upsert": True})
    assert task.problem
    assert "is upserted without all of its source fields. Give title, body" in task.problem


def test_a_doc_that_is_not_upserted_may_have_some() -> None:
    assert texts({"_op_type": "update", "doc": {"title": "a"}, "doc_as_upsert": False}) == {"doc": None}


def test_what_a_script_upserts_is_deferred() -> None:
    action = {"_op_type": "update", "_id": "1", "scripted_upsert": True, "script": "x", "upsert": {}}
    assert done(action)["upsert"]["dedup"]["status"] == "deferred"


# --- the object of our fields ---


@pytest.mark.parametrize("form", ["index", "update"])
def test_what_else_lies_in_our_object_stays(form: str) -> None:
    old = {"simhash": "ff", "status": "ok", "note": "keep", "group": {"id": 1}}
    document = {**FULL, "dedup": old}
    if form == "index":
        assert done(document)["dedup"] == {"content": "a\nb", "note": "keep", "group": {"id": 1}}
    else:
        result = done({"_op_type": "update", "doc": document})
        assert result["doc"]["dedup"] == NULLS | {"content": "a\nb", "note": "keep", "group": {"id": 1}}
    assert old == {"simhash": "ff", "status": "ok", "note": "keep", "group": {"id": 1}}


@pytest.mark.parametrize("empty", [None, {}, []])
def test_an_empty_object_is_filled(empty: Any) -> None:
    assert done({**FULL, "dedup": empty}) == MARKED


@pytest.mark.parametrize("value", ["text", 5, [{"simhash": "ff"}]])
def test_another_value_in_the_place_of_our_object_is_refused(value: Any) -> None:
    with pytest.raises(
        DocumentError, match=rf"where the fields belong in 'dedup', a value of type {type(value).__name__}"
    ):
        done({**FULL, "dedup": value})


@pytest.mark.parametrize("value", ["", 0, False])
def test_a_false_value_in_the_place_of_our_object_is_refused(value: Any) -> None:
    with pytest.raises(DocumentError):
        done({**FULL, "dedup": value})


def test_our_fields_under_dotted_names_are_replaced() -> None:
    assert "dedup.simhash" not in done({**FULL, "dedup.simhash": "ff"})


# --- what is not an action ---


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        ("raw json", "is of type str. Give a mapping."),
        (b"{}", "is of type bytes. Give a mapping."),
        (None, "is of type NoneType. Give a mapping."),
        (["a"], "is of type list. Give a mapping."),
        ({"_source": "text"}, "has a body of type str. Give a mapping."),
        ({"_source": None}, "has a body of type NoneType. Give a mapping."),
        ({"_op_type": "update", "doc": ["a"]}, "has a doc of type list. Give a mapping."),
        ({"_op_type": "update", "upsert": "a"}, "has an upsert of type str. Give a mapping."),
        ({"_op_type": "upsert", "title": "a"}, "has the _op_type 'upsert'. Give index, create, update or delete."),
        ({"_op_type": None}, "has the _op_type None. Give index, create, update or delete."),
    ],
)
def test_what_is_not_an_action_has_a_problem(action: Any, problem: str) -> None:
    task = Task(TARGET, action)
    assert task.problem == problem
    assert task.slots == {}
    with pytest.raises(DocumentError, match=re.escape(problem)):
        task.result()


@pytest.mark.parametrize("key", ["doc", "upsert"])
def test_a_text_that_cannot_be_read_is_a_problem_of_the_whole_action(key: str) -> None:
    bad = {"title": {"en": "x"}, "body": "b"}
    action = {"_op_type": "update", "upsert": FULL, "doc": FULL, key: bad}
    task = Task(TARGET, action)
    assert task.problem == "has a value of type dict in the source field 'title'. Choose a field of text."
    assert task.slots == {}


@pytest.mark.parametrize("wanted", [True, ["title"]])
def test_an_update_may_ask_for_the_document(wanted: Any) -> None:
    action = {"_op_type": "update", "_id": "1", "_source": wanted, "doc": FULL}
    assert done(action) == {**action, "doc": {**FULL, "dedup": NULLS | {"content": "a\nb"}}}


@pytest.mark.parametrize(
    ("action", "id_"),
    [({"_id": "x"}, "x"), ({"_id": 5}, "5"), ({"_id": 0}, "0"), ({"title": "a"}, None), ("raw", None)],
)
def test_an_action_is_named_by_its_id(action: Any, id_: str | None) -> None:
    assert Task(TARGET, action).id == id_


@pytest.mark.parametrize("id_", [[1], {"a": 1}, True, 1.0, b"x", ("x",)])
@pytest.mark.parametrize("kind", ["index", "create", "update", "delete"])
def test_an_id_is_a_text_or_a_whole_number(id_: Any, kind: str) -> None:
    task = Task(TARGET, {"_op_type": kind, "_id": id_, "_source": {"title": "a"}})
    with pytest.raises(DocumentError, match=r"has the _id .* Give a text or a whole number"):
        task.result()


@pytest.mark.parametrize("id_", ["x", "", 7, -1, 12345678901234567890, None])
def test_other_ids_are_kept(id_: Any) -> None:
    assert done({"_id": id_, "_source": {"title": "a"}})["_id"] == id_
