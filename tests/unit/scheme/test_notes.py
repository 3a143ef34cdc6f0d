"""Notes in a mapping stand in fields of their own, in the form that servers take, and supersede what ``_meta`` says."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.engines.embedded.mapping import IndexMapping
from es_simhash.errors import MappingError
from es_simhash.scheme import notes

# As JSON has it: any characters, lone surrogates too.
ANY_TEXT = st.text(st.characters(), max_size=400)
VALUES = st.dictionaries(ANY_TEXT, st.none() | st.integers() | ANY_TEXT | st.lists(ANY_TEXT, max_size=3), max_size=6)
NAMES = st.sampled_from(["dedup", "titles", "a-1", "_grouped_dedup", "_rarity_x"])
META = st.fixed_dictionaries({}, optional={"owner": ANY_TEXT, "es_simhash": st.dictionaries(NAMES, VALUES)})


def put(mapping: Json, properties: Json) -> Json:
    """The mapping with these properties added, by the rules of servers."""
    return IndexMapping.of({"properties": {}, **mapping}).merged({"properties": properties}).body


@given(META, st.lists(st.tuples(NAMES, VALUES | st.none()), max_size=8))
def test_the_note_of_each_name_is_the_last_that_was_written(meta: Json, written: list[tuple[str, Any]]) -> None:
    mapping: Json = {"_meta": meta}
    expected = dict(meta.get("es_simhash", {}))
    for name, value in written:
        mapping = put(mapping, notes.change(mapping, name, value))
        expected[name] = value
        assert not notes.change(mapping, name, value)
    assert {name: notes.note(mapping, name) for name in expected} == expected
    assert notes.names(mapping) == {name for name, value in expected.items() if value is not None}
    assert mapping["_meta"] == meta


@given(NAMES, VALUES, st.none() | ANY_TEXT)
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
    mapping = put(put({}, notes.change({}, "_n", first)), notes.change({}, "_n", second))
    assert notes.note(mapping, "_n") == second


def test_of_two_claims_of_a_prefix_the_second_is_refused_by_the_engine() -> None:
    first, second = (notes.change({}, "dedup", {"id": each}, each) for each in ("one", "ONE"))
    mapping = put({}, first)
    with pytest.raises(MappingError, match="null_value"):
        put(mapping, second)
    later = put(mapping, notes.change(mapping, "dedup", {"id": "ONE"}, "ONE"))
    assert notes.note(later, "dedup") == {"id": "ONE"}
    # Who still writes for the earlier claim changes nothing.
    assert notes.note(put(later, first), "dedup") == {"id": "ONE"}


@given(META)
def test_copies_follow_the_notes_of_prefixes_and_leave_the_rest_of_meta(meta: Json) -> None:
    mapping = put({"_meta": meta}, notes.change({"_meta": meta}, "dedup", {"id": "new"}))
    mapping = put(mapping, notes.change(mapping, "_grouped_dedup", {"of": "job"}))
    copied = notes.copies(mapping, {"titles": None})
    own = meta.get("es_simhash", {}) | {"dedup": {"id": "new"}}
    own.pop("titles", None)
    assert copied == {**meta, "es_simhash": own}


@pytest.mark.parametrize("damage", [{}, {"0": "{"}, {"0": "[" * 50}, {"0": ""}])
def test_a_damaged_note_is_read_from_its_copy_and_written_again(damage: Json) -> None:
    entry = {"id": "x"}
    whole = put({"_meta": {"es_simhash": {"dedup": entry}}}, notes.change({}, "dedup", entry, "x"))
    damaged = deepcopy(whole)
    damaged["properties"]["_es_simhash"]["properties"]["dedup:1:0"]["meta"] = damage
    assert notes.note(damaged, "dedup") == entry
    assert put(damaged, notes.change(damaged, "dedup", entry, "x")) == whole
    del damaged["_meta"]
    assert isinstance(notes.note(damaged, "dedup"), str)


def test_only_the_fields_of_some_notes_are_kept() -> None:
    mapping: Json = {"properties": {"body": {"type": "text"}}}
    for name in ("dedup", "titles", "_copied_from"):
        mapping = put(mapping, notes.change(mapping, name, {"id": name * 100}, None))
    kept = {"properties": notes.only(mapping, {"titles"})}
    assert notes.names(kept) == {"titles"}
    assert notes.note(kept, "titles") == notes.note(mapping, "titles")
    assert notes.only(mapping, ()) == {"body": {"type": "text"}}


@pytest.mark.parametrize("mapping", [{}, {"_meta": None}, {"_meta": {"es_simhash": {}}}, {"properties": None}])
def test_a_mapping_without_notes_has_none(mapping: Json) -> None:
    assert notes.note(mapping, "_note") is None
    assert notes.names(mapping) == set()
    assert notes.change(mapping, "_note", None) == {}
