"""Notes in a mapping stand in fields of their own, in the form that servers take, and supersede what ``_meta`` says."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.engines.embedded.mapping import IndexMapping
from es_simhash.errors import InputError, MappingError, SchemeMismatchError
from es_simhash.scheme import mapping as notes
from es_simhash.scheme.mapping import Change, check_prefix, component_template, entries, leaf_paths, merge
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, MinHash, SimHash

SCHEME = Scheme()
OTHER_SCHEME = Scheme(simhash=SimHash(64, 4, 3))
WANTED = SCHEME.mapping(fields=["title", "body"])
NAMES = ["simhash", "blocks", "bands", "content", "scheme", "status"]
ADDED = [f"dedup.{name}" for name in NAMES]

PRESENT: Json = {
    "dynamic": "strict",
    "_meta": {"owner": "search", "es_simhash": {"old": {"id": "0123", "scheme": {}}}},
    "_routing": {"required": True},
    "properties": {
        "title": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "old": {"dynamic": "false", "properties": {"simhash": {"type": "long"}}},
    },
}


def put(present: Json, change: Change) -> Json:
    """The mapping after the change, as engines put it: properties are added, ``_meta`` is replaced as a whole."""
    body = deepcopy(change.body) or {}
    return {**present, **body, "properties": _added(present.get("properties", {}), body.get("properties", {}))}


def _added(there: Json, new: Json) -> Json:
    both = {name: {**there[name], **new[name]} for name in there.keys() & new.keys()}
    for name, field in both.items():
        if "properties" in field:
            field["properties"] = _added(there[name].get("properties", {}), new[name].get("properties", {}))
    return {**there, **new, **both}


def returned(mapping: Json) -> Json:
    """The normal form in which servers return a mapping: JSON, names in their order, no type of objects."""
    form: Json = json.loads(json.dumps(mapping, sort_keys=True))

    def normal(properties: Json) -> None:
        for field in properties.values():
            if "properties" in field:
                field.pop("type", None)
                normal(field["properties"])
            if "dynamic" in field:
                field["dynamic"] = str(field["dynamic"]).lower()

    normal(form.get("properties", {}))
    return form


def with_field(name: str, **mapping: Any) -> Json:
    """A mapping that is all that is wanted, but for one field."""
    present = deepcopy(WANTED)
    present["properties"]["dedup"]["properties"][name] = mapping
    return present


# --- what is wanted ---


def test_a_mapping_names_the_scheme_and_the_source_fields_in_its_meta() -> None:
    assert WANTED["_meta"] == {
        "es_simhash": {"dedup": {"id": SCHEME.id, "scheme": json.loads(SCHEME.to_json()), "fields": ["title", "body"]}}
    }
    assert "fields" not in SCHEME.mapping()["_meta"]["es_simhash"]["dedup"]
    assert Scheme.from_json(json.dumps(WANTED["_meta"]["es_simhash"]["dedup"]["scheme"])) == SCHEME


def test_all_fields_lie_in_one_object_to_which_documents_add_none() -> None:
    [(prefix, there)] = SCHEME.mapping("near")["properties"].items()
    assert prefix == "near"
    assert there["dynamic"] == "false"
    assert list(there["properties"]) == NAMES


def test_a_component_template_holds_the_mapping() -> None:
    template = component_template(WANTED, "near-duplicates")
    assert template == {"template": {"mappings": WANTED}, "_meta": {"description": "near-duplicates"}}


@pytest.mark.parametrize("prefix", ["dedup", "a", "Near_dup-2", "x" * 100])
def test_a_prefix_is_a_plain_name(prefix: str) -> None:
    assert check_prefix(prefix) == prefix
    assert prefix in SCHEME.mapping(prefix)["properties"]


@pytest.mark.parametrize("prefix", ["", "a.b", "_id", "2nd", "a b", "a*", "dedup\n", "-a", "名", None, 5, ["a"]])
def test_other_prefixes_are_refused(prefix: Any) -> None:
    with pytest.raises(InputError, match=r"Choose a name of letters, digits, _ and -\.$"):
        check_prefix(prefix)
    with pytest.raises(InputError):
        SCHEME.mapping(prefix)


# --- what is brought into an index ---


@pytest.mark.parametrize("present", [{}, {"properties": {}}, {"_meta": None, "properties": None}, {"_meta": {}}])
def test_an_index_without_a_mapping_gets_all(present: Json) -> None:
    change = merge("i", present, WANTED)
    assert change.body
    assert notes.note(change.body, "dedup") == WANTED["_meta"]["es_simhash"]["dedup"]
    assert {**change.body, "properties": notes.only(change.body, ())} == WANTED
    assert (change.added, change.is_needed) == (ADDED, True)


def test_an_entry_of_nothing_is_as_none() -> None:
    body = merge("i", {"_meta": {"es_simhash": {"dedup": None}}}, WANTED).body
    assert body
    assert body["_meta"] == WANTED["_meta"]


def test_everything_else_in_a_mapping_stays() -> None:
    change = merge("i", PRESENT, WANTED)
    assert change.added == ADDED
    after = put(PRESENT, change)
    assert after["properties"].pop("dedup") == WANTED["properties"]["dedup"]
    assert after["_meta"]["es_simhash"].pop("dedup") == WANTED["_meta"]["es_simhash"]["dedup"]
    assert after["properties"].pop(notes.HOME)
    assert after == PRESENT


def test_only_what_is_ours_is_put() -> None:
    body = merge("i", PRESENT, WANTED).body
    assert body
    assert set(body) == {"_meta", "properties"}
    assert set(body["properties"]) == {"dedup", notes.HOME}


@pytest.mark.parametrize("present", [{}, PRESENT, WANTED], ids=["none", "others", "all"])
def test_merging_alters_neither_mapping(present: Json) -> None:
    before, wanted_before = deepcopy(present), deepcopy(WANTED)
    merge("i", present, WANTED)
    assert present == before
    assert wanted_before == WANTED


LAYOUTS = [
    Layout(),
    Layout("keyword"),
    Layout("fields"),
    Layout(signature_bits=8),
    Layout(doc_values=False),
    Layout(simhash="blocks"),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("present", [{}, PRESENT], ids=["nothing there", "others there"])
@pytest.mark.parametrize("form", [dict, returned], ids=["as put", "as returned"])
def test_a_second_merge_changes_nothing(layout: Layout, present: Json, form: Any) -> None:
    wanted = Scheme(layout=layout).mapping(fields=["title"])
    there = form(put(present, merge("i", present, wanted)))
    assert merge("i", there, wanted) == Change(None, [])


def test_two_prefixes_lie_side_by_side() -> None:
    second = OTHER_SCHEME.mapping("near", ["title"])
    after = put(WANTED, merge("i", WANTED, second))
    assert set(after["properties"]) == {"dedup", "near", notes.HOME}
    assert merge("i", after, WANTED) == merge("i", after, second) == Change(None, [])
    for prefix, scheme in (("dedup", SCHEME), ("near", OTHER_SCHEME)):
        found = entries({"i": after, "j": {}, "k": {"_meta": {"owner": "us"}}}, prefix)
        assert found["i"]
        assert found["i"]["id"] == scheme.id
        assert found["j"] is found["k"] is None


def test_copies_alone_are_not_need() -> None:
    noted = put({}, merge("i", {}, WANTED))
    without = {**noted, "_meta": {"owner": "us"}}
    assert entries({"i": without}, "dedup") == entries({"i": WANTED}, "dedup")
    change = merge("i", without, WANTED)
    assert not change.is_needed
    assert put(without, change) == {**noted, "_meta": {"owner": "us", **noted["_meta"]}}


def test_a_field_that_is_missing_is_added() -> None:
    present = deepcopy(WANTED)
    del present["properties"]["dedup"]["properties"]["status"]
    change = merge("i", present, WANTED)
    assert change.added == ["dedup.status"]
    assert put(present, change) == WANTED


def test_a_meta_that_was_lost_is_put_again() -> None:
    change = merge("i", {"_meta": {"owner": "us"}, "properties": WANTED["properties"]}, WANTED)
    assert change.added == []
    assert change.body
    assert change.body["_meta"] == {"owner": "us"} | WANTED["_meta"]


def test_fields_of_ours_that_the_scheme_does_not_have_stay() -> None:
    present = with_field("note", type="text")
    assert merge("i", present, WANTED) == Change(None, [])


@pytest.mark.parametrize(
    "costs",
    [{"doc_values": True}, {"norms": False}, {"ignore_above": 256}, {"eager_global_ordinals": True}],
    ids=str,
)
def test_parameters_that_only_cost_or_save_room_may_differ(costs: Json) -> None:
    assert merge("i", with_field("scheme", type="keyword", **costs), WANTED) == Change(None, [])


def test_fields_that_are_there_are_not_put_again() -> None:
    """With other doc values the scheme has the same id; a field's doc values cannot be changed."""
    leaner = Scheme(layout=Layout(doc_values=False)).mapping(fields=["title", "body"])
    body = merge("i", WANTED, leaner).body or {}
    assert "simhash" not in body.get("properties", {}).get("dedup", {}).get("properties", {})


# --- conflicts ---


@pytest.mark.parametrize(
    "there",
    [{"type": "keyword"}, {"type": "nested", "properties": {}}, {"type": "flattened"}, {"type": "alias", "path": "a"}],
)
def test_a_prefix_that_is_taken_by_another_kind_of_field_is_refused(there: Json) -> None:
    with pytest.raises(
        MappingError, match=rf"'i' has a field 'dedup' of type {there['type']}.*another prefix \(--prefix\)\.$"
    ):
        merge("i", {"properties": {"dedup": there}}, WANTED)


def test_an_object_that_is_there_takes_the_fields() -> None:
    present = {"properties": {"dedup": {"type": "object", "dynamic": "true", "properties": {"mine": {"type": "long"}}}}}
    assert merge("i", present, WANTED).added == ADDED


def test_an_object_that_is_not_parsed_is_refused() -> None:
    with pytest.raises(MappingError, match="enabled: false"):
        merge("i", {"properties": {"dedup": {"type": "object", "enabled": False}}}, WANTED)


@pytest.mark.parametrize(
    ("name", "there", "problem"),
    [
        ("status", {"type": "text"}, "type: text, where type: keyword"),
        ("simhash", {"type": "long", "index": False}, "type: long, where type: keyword"),
        ("blocks", {"type": "keyword"}, "type: keyword, where type: text"),
        ("bands", {"type": "text"}, "analyzer: the default, where analyzer: whitespace"),
        ("bands", {"type": "text", "analyzer": "standard"}, "analyzer: standard, where analyzer: whitespace"),
        ("content", {"properties": {"type": {"type": "keyword"}}}, "type: the default, where type: keyword"),
    ],
)
def test_a_field_of_another_kind_is_refused_with_both_kinds(name: str, there: Json, problem: str) -> None:
    with pytest.raises(
        MappingError, match=rf"'i' has a field 'dedup\.{name}' with {problem} is needed\. Choose another"
    ):
        merge("i", with_field(name, **there), WANTED)


@pytest.mark.parametrize("value", [False, "false"])
@pytest.mark.parametrize("name", ["blocks", "bands", "scheme", "status"])
def test_a_field_that_is_searched_by_must_be_indexed(name: str, value: Any) -> None:
    field = {**WANTED["properties"]["dedup"]["properties"][name], "index": value}
    with pytest.raises(MappingError, match=rf"'dedup\.{name}' with index: false"):
        merge("i", with_field(name, **field), WANTED)


def test_a_field_that_is_only_read_may_be_indexed_as_well() -> None:
    assert merge("i", with_field("content", type="keyword"), WANTED) == Change(None, [])


THEIRS: Json = {"status": {"type": "keyword"}, "group": {"type": "keyword"}, "note": {"type": "text"}}


def test_a_foreign_object_with_names_of_ours_is_refused() -> None:
    problem = r"'dedup' of another program, with the fields group, status: .*--prefix\)\.$"
    with pytest.raises(MappingError, match=problem):
        merge("i", {"properties": {"dedup": {"properties": THEIRS}}}, WANTED)
    assert merge("i", {"properties": {"dedup": {"properties": {"note": THEIRS["note"]}}}}, WANTED).added == ADDED


def test_an_object_of_ours_without_a_note_is_known_by_its_names_whatever_the_scheme_was() -> None:
    for scheme in (Scheme(simhash=None), Scheme(minhash=None), Scheme(layout=Layout("fields"))):
        old = scheme.mapping(fields=["title"])["properties"]
        assert "dedup.content" not in merge("i", {"properties": old}, WANTED).added


@pytest.mark.parametrize("name", ["dedup", "dedup.status", "dedup.group.id"])
def test_a_runtime_field_that_would_hide_ours_is_refused(name: str) -> None:
    with pytest.raises(
        MappingError, match=rf"'i' has the runtime fields {name}, which would hide ours .*--prefix\)\.$"
    ):
        merge("i", WANTED | {"runtime": {name: {"type": "keyword"}}}, WANTED)


def test_other_runtime_fields_do_not_matter() -> None:
    others: Json = {"runtime": {name: {"type": "keyword"} for name in ("dedupe", "dedup.note", "status")}}
    assert merge("i", others, WANTED).added == ADDED


@pytest.mark.parametrize("value", [False, "false"])
def test_an_index_without_sub_objects_is_refused(value: Any) -> None:
    with pytest.raises(
        MappingError, match="'i' is mapped with subobjects: false, so it cannot hold the object 'dedup'"
    ):
        merge("i", {"subobjects": value}, WANTED)


@pytest.mark.parametrize("present", [{"subobjects": True}, {"subobjects": "true"}, {"subobjects": None}])
def test_an_index_with_sub_objects_is_taken(present: Json) -> None:
    assert merge("i", present, WANTED).added == ADDED


def test_another_scheme_under_the_same_prefix_is_refused_with_both_ids() -> None:
    with pytest.raises(SchemeMismatchError) as error:
        merge("books", WANTED, OTHER_SCHEME.mapping())
    for name in ("'books'", SCHEME.id, OTHER_SCHEME.id, "'dedup'", "choose another prefix"):
        assert name in str(error.value)
    assert merge("books", WANTED, OTHER_SCHEME.mapping("near")).added


def test_thresholds_are_updated_where_the_fields_stay() -> None:
    stricter = Scheme(simhash=SimHash(distance=1), minhash=MinHash(similarity=0.9))
    change = merge("i", WANTED, stricter.mapping(fields=["title", "body"]))
    assert change.added == []
    assert put(WANTED, change)["_meta"]["es_simhash"]["dedup"]["scheme"] == json.loads(stricter.to_json())


def test_other_source_fields_under_the_same_prefix_are_refused() -> None:
    with pytest.raises(SchemeMismatchError, match="title"):
        merge("i", WANTED, SCHEME.mapping(fields=["abstract"]))


def test_stored_source_fields_are_kept() -> None:
    after = put(WANTED, merge("i", WANTED, SCHEME.mapping()))
    assert after["_meta"]["es_simhash"]["dedup"]["fields"] == ["title", "body"]


# --- names ---


def test_leaf_paths_are_the_full_names_of_fields_with_values() -> None:
    properties = {
        "a": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "b": {"properties": {"c": {"properties": {"d": {"type": "long"}}}, "e": {"type": "date"}}},
        "none": {"properties": {}},
    }
    assert list(leaf_paths(properties)) == ["a", "b.c.d", "b.e"]
    assert list(leaf_paths(WANTED["properties"])) == ADDED


# As JSON has it: any characters, lone surrogates too.
ANY_TEXT = st.text(st.characters(), max_size=400)
VALUES = st.dictionaries(ANY_TEXT, st.none() | st.integers() | ANY_TEXT | st.lists(ANY_TEXT, max_size=3), max_size=6)
NOTE_NAMES = st.sampled_from(["dedup", "titles", "a-1", "_grouped_dedup", "_rarity_x"])
META = st.fixed_dictionaries({}, optional={"owner": ANY_TEXT, "es_simhash": st.dictionaries(NOTE_NAMES, VALUES)})


def put_note(mapping: Json, properties: Json) -> Json:
    """The mapping with these properties added, by the rules of servers."""
    return IndexMapping.of({"properties": {}, **mapping}).merged({"properties": properties}).body


@given(META, st.lists(st.tuples(NOTE_NAMES, VALUES | st.none()), max_size=8))
def test_the_note_of_each_name_is_the_last_that_was_written(meta: Json, written: list[tuple[str, Any]]) -> None:
    mapping: Json = {"_meta": meta}
    expected = dict(meta.get("es_simhash", {}))
    for name, value in written:
        mapping = put_note(mapping, notes.change(mapping, name, value))
        expected[name] = value
        assert not notes.change(mapping, name, value)
    assert {name: notes.note(mapping, name) for name in expected} == expected
    assert notes.names(mapping) == {name for name, value in expected.items() if value is not None}
    assert mapping["_meta"] == meta


@given(NOTE_NAMES, VALUES, st.none() | ANY_TEXT)
def test_fields_of_a_note_are_what_servers_take(name: str, value: Json, claims: str | None) -> None:
    [(home, there)] = notes.change({}, name, value, claims).items()
    assert (home, there["dynamic"]) == ("_es_simhash", "false")
    for field in there["properties"].values():
        assert (field["type"], field["index"], field["doc_values"]) == ("keyword", False, False)
        assert 1 <= len(field["meta"]) <= 5
        assert all(isinstance(piece, str) and 1 <= len(piece) <= 50 for piece in field["meta"].values())
        assert all(piece.isascii() for piece in field["meta"].values())


@given(VALUES, VALUES)
def test_a_shorter_note_leaves_no_remains_of_a_longer_one(first: Json, second: Json) -> None:
    mapping = put_note(put_note({}, notes.change({}, "_n", first)), notes.change({}, "_n", second))
    assert notes.note(mapping, "_n") == second


def test_of_two_claims_of_a_prefix_the_second_is_refused_by_the_engine() -> None:
    first, second = (notes.change({}, "dedup", {"id": each}, each) for each in ("one", "ONE"))
    mapping = put_note({}, first)
    with pytest.raises(MappingError, match="null_value"):
        put_note(mapping, second)
    later = put_note(mapping, notes.change(mapping, "dedup", {"id": "ONE"}, "ONE"))
    assert notes.note(later, "dedup") == {"id": "ONE"}
    # Who still writes for the earlier claim changes nothing.
    assert notes.note(put_note(later, first), "dedup") == {"id": "ONE"}


@given(META)
def test_copies_follow_the_notes_of_prefixes_and_leave_the_rest_of_meta(meta: Json) -> None:
    mapping = put_note({"_meta": meta}, notes.change({"_meta": meta}, "dedup", {"id": "new"}))
    mapping = put_note(mapping, notes.change(mapping, "_grouped_dedup", {"of": "job"}))
    copied = notes.copies(mapping, {"titles": None})
    own = meta.get("es_simhash", {}) | {"dedup": {"id": "new"}}
    own.pop("titles", None)
    assert copied == {**meta, "es_simhash": own}


@pytest.mark.parametrize("damage", [{}, {"0": "{"}, {"0": "[" * 50}, {"0": ""}])
def test_a_damaged_note_is_read_from_its_copy_and_written_again(damage: Json) -> None:
    entry = {"id": "x"}
    whole = put_note({"_meta": {"es_simhash": {"dedup": entry}}}, notes.change({}, "dedup", entry, "x"))
    damaged = deepcopy(whole)
    damaged["properties"]["_es_simhash"]["properties"]["dedup:1:0"]["meta"] = damage
    assert notes.note(damaged, "dedup") == entry
    assert put_note(damaged, notes.change(damaged, "dedup", entry, "x")) == whole
    del damaged["_meta"]
    assert isinstance(notes.note(damaged, "dedup"), str)


def test_only_the_fields_of_some_notes_are_kept() -> None:
    mapping: Json = {"properties": {"body": {"type": "text"}}}
    for name in ("dedup", "titles", "_copied_from"):
        mapping = put_note(mapping, notes.change(mapping, name, {"id": name * 100}, None))
    kept = {"properties": notes.only(mapping, {"titles"})}
    assert notes.names(kept) == {"titles"}
    assert notes.note(kept, "titles") == notes.note(mapping, "titles")
    assert notes.only(mapping, ()) == {"body": {"type": "text"}}


@pytest.mark.parametrize("mapping", [{}, {"_meta": None}, {"_meta": {"es_simhash": {}}}, {"properties": None}])
def test_a_mapping_without_notes_has_none(mapping: Json) -> None:
    assert notes.note(mapping, "_note") is None
    assert notes.names(mapping) == set()
    assert notes.change(mapping, "_note", None) == {}
