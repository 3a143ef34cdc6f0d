"""Decisions and their form."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import parse_json
from es_simhash.documents.decisions import VERDICTS, Decided, Decision, Key, now
from es_simhash.documents.files import decision_file
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


@given(st.lists(decisions(), max_size=9), st.lists(keys, max_size=3))
def test_decisions_on_documents_are_those_of_the_file_that_name_one(
    tmp_path_factory: pytest.TempPathFactory, some: list[Decision], documents: list[Key]
) -> None:
    file = DecisionFile(tmp_path_factory.mktemp("decisions") / "file.jsonl")
    documents += [each.documents[-1] for each in some[:2]]
    for each in some:
        file.add([each])
        assert file.on(documents) == [each for each in file.read() if set(documents) & set(each.documents)]


def test_of_a_file_that_was_read_only_new_lines_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, other, parsed = DecisionFile(tmp_path / "file.jsonl"), DecisionFile(tmp_path / "file.jsonl"), []
    monkeypatch.setattr(
        decision_file,
        "parse_json",
        lambda line: parsed.append(line) or parse_json(line),  # type: ignore[func-returns-value]
    )
    other.add([Decision.about(str(number), "alone") for number in range(100)])
    assert len(file.read()) == len(parsed) == 100
    other.add([Decision.about("100", "alone")])
    assert len(file.on([("", "100")])) == 1
    assert len(file.read()) == len(parsed) == 101


def test_another_file_in_its_place_is_read_from_its_beginning(tmp_path: Path) -> None:
    file = DecisionFile(tmp_path / "file.jsonl")
    file.add([Decision.about(id_, "alone") for id_ in ("old 1", "old 2")])
    assert len(file.read()) == 2
    (tmp_path / "file.jsonl").write_text('{"id": "new", "alone": true}\n' * 5)
    assert [each.documents for each in file.read()] == [(("", "new"),)] * 5
    (tmp_path / "file.jsonl").unlink()
    assert file.read() == []
    assert file.on([("", "new")]) == []


def test_a_last_line_without_an_end_is_read_and_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text('{"id": "1", "alone": true}\n{"id": "2", "alone": true}')
    file = DecisionFile(path)
    assert len(file.read()) == 2
    file.add([Decision.about("3", "alone")])
    assert [each.documents[0][1] for each in file.read()] == ["1", "2", "3"]
    assert path.read_bytes().count(b"\n") == 3


def test_a_file_that_cannot_be_read_or_written_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"could not be read: Is a directory\..*--decisions"):
        DecisionFile(tmp_path).read()
    with pytest.raises(InputError, match=r"could not be written: No such file or directory\."):
        DecisionFile(tmp_path / "nowhere" / "file.jsonl").add([Decision.about("1", "alone")])
    if Path("/dev/full").exists():
        with pytest.raises(InputError, match=r"'/dev/full' could not be written: No space left"):
            DecisionFile("/dev/full").add([Decision.about("1", "alone")])


@given(st.lists(decisions(), max_size=9), keys)
def test_the_others_of_a_document_are_those_of_all_pairs_with_it(some: list[Decision], key: Key) -> None:
    decided = Decided(some)
    for verdict, pairs in (("same", decided.same), ("different", decided.different)):
        for document in (key, *decided.mentioned):
            wanted = {other for pair in pairs if document in pair for other in pair if other != document}
            assert decided.others(verdict, document) == wanted  # type: ignore[arg-type]


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
