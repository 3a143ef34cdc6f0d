"""Decisions and their form."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.documents.decisions import VERDICTS, Decided, Decision, now
from es_simhash.documents.files.decision_file import DecisionFile
from es_simhash.errors import InputError

ids = st.text(min_size=1, max_size=20)
keys = st.tuples(st.sampled_from(["", "news", "old"]), ids)


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    verdict = draw(st.sampled_from(VERDICTS))
    count = 1 if verdict in ("canonical", "alone") else 2
    documents = draw(st.lists(keys, min_size=count, max_size=count, unique=True))
    said = {
        "who": draw(st.text(max_size=9)),
        "when": draw(st.sampled_from(["", now()])),
        "why": draw(st.text(max_size=9)),
    }
    holds = draw(st.booleans())
    return Decision(tuple(documents), verdict if holds or count == 1 else "same", holds, **said)


@given(decisions())
def test_a_decision_is_read_as_it_was_written(decision: Decision) -> None:
    assert Decision.of_json(decision.to_json()) == decision


@given(st.lists(decisions(), max_size=5))
def test_a_file_has_all_decisions_in_their_order(
    tmp_path_factory: pytest.TempPathFactory, some: list[Decision]
) -> None:
    file = DecisionFile(tmp_path_factory.mktemp("decisions") / "file.jsonl")
    for each in some:
        file.add([each])
    assert file.read() == some


def test_nothing_is_lost_where_several_append_at_once(tmp_path: Path) -> None:
    file = DecisionFile(tmp_path / "file.jsonl")
    every = [Decision.between(str(number), "x" * 9000, same=True) for number in range(200)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: file.add([each]), every))
    assert sorted(map(repr, file.read())) == sorted(map(repr, every))


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"a": "1", "b": "2"},
        {"a": "1", "b": "1", "label": 1},
        {"a": "1", "b": "2", "label": 2},
        {"a": "1", "b": "2", "label": "1"},
        {"a": "1", "b": "2", "label": 0.0},
        {"a": "1", "b": None, "label": 0},
        {"id": "1", "canonical": 1},
        {"id": "1", "canonical": True, "alone": True},
        {"id": [], "alone": True},
        {"a": "1", "b": "2", "label": 0, "index": ["one"]},
        {"a": "1", "b": "2", "label": 0, "when": "yesterday"},
        {"a": "1", "b": "2", "label": 0, "who": 7},
        {"a": "1", "b": "2", "label": 0, "why": "x" * 1001},
    ],
)
def test_what_is_not_a_decision_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Decision.of_json(record)


def test_a_line_that_is_not_a_decision_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text('{"id": "1", "alone": true}\n\n{"id": "1"}\n')
    with pytest.raises(InputError, match=r"Line 3 of .*file.jsonl.* is not a decision"):
        DecisionFile(path).read()
    path.write_text("[]\n")
    with pytest.raises(InputError, match="Line 1"):
        DecisionFile(path).read()


def test_decisions_that_connect_different_documents_are_a_conflict() -> None:
    said = [Decision.between(*pair, same=True) for pair in ("ab", "bc")] + [Decision.between("a", "c", same=False)]
    assert Decided(said).conflicts == ["'a' and 'c' are different, but other decisions connect them."]


def test_a_document_cannot_be_alone_and_the_same_as_another() -> None:
    said = [Decision.between("a", "b", same=True), Decision((("", "b"),), "alone", who="Mia")]
    assert Decided(said).conflicts == ["'a' and 'b' are the same, but 'b' is to be in no group (Mia)."]
