"""What a gate takes can be in any request, and its answers are JSON for every client."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Index
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import DocumentError
from es_simhash.gate import Gate, GateOptions, limits
from es_simhash.gate.requests import MOST_OF_ROUTING, check_sendable, encoded, identified
from tests.support.any_documents import any_documents, any_text, names
from tests.support.fuzzing import check_message, json_values, nested


def problem_of(document: Any, id_: str | None = None) -> str:
    with pytest.raises(DocumentError) as caught:
        identified(document, id_, "news")
    return caught.value.problem


@given(document=any_documents())
def test_what_is_taken_can_be_encoded_and_what_is_not_is_named(document: Any) -> None:
    try:
        action = identified(document, None, "news")
    except DocumentError as error:
        check_message(error)
        return
    json.dumps(action, ensure_ascii=False, allow_nan=False).encode()
    assert 0 < len(action["_id"].encode()) <= 512
    assert isinstance(action.get("_routing", ""), str | int | float)


@given(value=json_values(), key=names | any_text)
def test_any_answer_is_strict_json(value: Any, key: str) -> None:
    form = {"id": key, "reason": f"{value!r}", key: "\ud800"}
    found = json.loads(encoded([form]).decode("utf-8"))
    json.dumps(found, ensure_ascii=False).encode()
    assert encoded([json.loads(encoded(form))]) == b"[" + encoded(form) + b"]"


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"_id": "\ud800"}, r"An id has half of a surrogate pair (U+D800)"),
        ({"_id": ""}, "An id has 1 to 512 bytes, not 0"),
        ({"_id": "é" * 257}, "An id has 1 to 512 bytes, not 514"),
        ({"_routing": "a\udfff"}, "A routing has half of a surrogate pair (U+DFFF)"),
        ({"_routing": "r" * (MOST_OF_ROUTING + 1)}, "A routing has 0 to 32,766 bytes, not 32,767"),
        ({"_routing": ["a"]}, "A routing is a string, not list"),
        ({"_routing": {}}, "A routing is a string, not dict"),
        ({"_routing": float("inf")}, "The field '_routing' has the number inf"),
        ({"a": {"b": ["x", "\ud83d"]}}, "The field 'a.b' has half of a surrogate pair (U+D83D)"),
        ({"a": [{"\udc00": 1}]}, r"The name of the field '\udc00' has half"),
        ({"price": float("nan")}, "The field 'price' has the number nan"),
        ({"_source": {"price": float("-inf")}}, "The field 'price' has the number -inf"),
        ({"a": nested(limits.DEPTH)}, "more than 100 levels"),
        ({"a": nested(50_000)}, "more than 100 levels"),
        ({"a": nested(50_000, "a")}, "more than 100 levels"),
        ({("a", "b"): 1}, "The document is not JSON"),
    ],
)
def test_what_no_engine_takes_is_named(document: Any, problem: str) -> None:
    assert problem in problem_of(document)


def test_what_servers_take_is_taken() -> None:
    for more in (
        {"_id": "é" * 256},
        {"_id": "\0"},
        {"_routing": 7},
        {"_routing": ""},
        {"_routing": "r" * MOST_OF_ROUTING},
    ):
        check_sendable(identified({"a": 10**400, "": None, "b": nested(limits.DEPTH - 1), **more}, None, "news"))


@given(id_=st.text(st.characters(), max_size=300))
def test_an_id_next_to_the_document_is_checked_alike(id_: str) -> None:
    try:
        action = identified({"a": 1}, id_, "news")
    except DocumentError as error:
        check_message(error)
        action = {"_id": id_}
    assert action["_id"] == id_


def test_what_only_python_has_is_left_to_those_who_write_it(tmp_path: Path) -> None:
    engine = EmbeddedEngine(tmp_path / "engine")
    Index("news", engine, fields=["body"]).init()
    document = {
        "_id": "a",
        "body": "A storm hit the coast last night, and trains stood still.",
        "at": datetime(2026, 1, 1),
    }
    for _ in range(2):
        with Gate("news", engine, state=tmp_path / "state", options=GateOptions(syncs=False)) as gate:
            assert [each.kind for each in gate.check([document, {**document, "_id": "b"}])] == ["new", "equal"]
    engine.close()
