"""Notes in a mapping stand beside everything else in it, and leave nothing behind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_paths import Json
from es_simhash.plans.mapping_notes import noted, with_note

META = st.fixed_dictionaries({}, optional={"owner": st.text(), "es_simhash": st.just({"dedup": {"id": "x"}})})


@given(META, st.integers() | st.dictionaries(st.text(), st.none()))
def test_what_was_noted_is_found_and_can_be_taken_out(meta: Json, value: object) -> None:
    there = with_note(meta, "_note", value)
    assert noted({"_meta": there}, "_note") == value
    assert {name: each for name, each in there.items() if name != "es_simhash"} == {
        name: each for name, each in meta.items() if name != "es_simhash"
    }
    assert with_note(there, "_note", None) == meta


@pytest.mark.parametrize("mapping", [{}, {"_meta": None}, {"_meta": {"es_simhash": {}}}])
def test_a_mapping_without_notes_has_none(mapping: Json) -> None:
    assert noted(mapping, "_note") is None
