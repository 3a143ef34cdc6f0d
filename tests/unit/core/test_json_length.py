"""The length of JSON that is not written."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Documents, Scheme
from es_simhash._core.json_codec import json_length
from tests.support.corpus import corpus

PLAIN = st.text(st.characters(min_codepoint=0x23, exclude_characters='\\"'))
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, min_size=1) | st.dictionaries(PLAIN, inner, min_size=1))


def written(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


@given(VALUES)
def test_texts_count_as_they_are_and_so_does_what_is_around_them(value: Any) -> None:
    assert json_length(value) == written(value)


def test_documents_and_embeddings_are_about_as_long_as_said() -> None:
    for document in Documents(Scheme(), ["title", "body"]).add_fields_to_all(corpus(20)):
        assert json_length(document) == pytest.approx(written(document), rel=0.02)
    embedding = [random.Random(4).gauss(0, 1) for _ in range(384)]
    assert json_length({"embedding": embedding}) == pytest.approx(written({"embedding": embedding}), rel=0.1)


def test_what_json_has_in_other_forms_counts_too() -> None:
    assert json_length({1: ("a", "b")}) == written({"1": ["a", "b"]})
    assert json_length(None) > 0


def test_what_is_too_deep_for_any_engine_has_no_length() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert json_length({"body": endless}) == 0
