"""No request asks for more than a few megabytes of documents, or sends more, however long these are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings

from es_simhash import Index
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import run
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import EngineError, TooLargeError, UnreachableError
from es_simhash.plans.operations import (
    Bulk,
    GetDocuments,
    HitPage,
    MultiSearch,
    Operation,
    ReadPage,
    Sample,
    Search,
)
from es_simhash.plans.reply_size import ReplySize, documents_by_id, in_slices, with_source
from tests.support.long_documents import (
    FIELDS,
    MOST_AT_ONCE,
    SCHEME,
    Alike,
    alike,
    documents,
    json_bytes,
    read_everything,
)
from tests.support.meddling import Meddler

# All bounds by this factor lower, so that a document of 16 kB stands for one of a megabyte.
SCALE = 64
LONGEST = (1 << 20) // SCALE
OWN_FIELDS = 2_000


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("plans.reply_size", "live.sweep.reading"):
            patch.setattr(f"es_simhash.{module}.REPLY_BYTES", (1 << 20) // SCALE)
        for name, value in (("_SECOND_REQUEST", 256 << 10), ("_LEFT_OUT", 4 << 10)):
            patch.setattr(f"es_simhash.plans.reply_size.{name}", value // SCALE)
        patch.setattr("es_simhash.plans.bulk._MOST_LENGTH", (4 << 20) // SCALE)
        yield


def sizes(operation: Operation[Any], result: Any) -> tuple[int, int]:
    """How much an operation sends, and how much it receives, in bytes."""
    match operation:
        case Bulk(actions=actions):
            return sum(json_bytes(action.body) for action in actions), 0
        case Search(body=body) | MultiSearch(bodies=body):
            return json_bytes(body), json_bytes(result)
        case GetDocuments() | Sample():
            return 0, json_bytes(result)
        case ReadPage():
            assert isinstance(result, HitPage)
            return 0, json_bytes(result.hits)
    return 0, 0


@settings(max_examples=10)
@given(alike(LONGEST))
def test_whatever_reads_documents_asks_for_a_few_megabytes_at_once(groups: list[Alike]) -> None:
    found = list(documents(groups))
    sent: dict[str, int] = {}
    received: dict[str, int] = {}
    doing = "add"

    def note(operation: Operation[Any], result: Any) -> Any:
        out, back = sizes(operation, result)
        sent[doing] = max(sent.get(doing, 0), out)
        received[doing] = max(received.get(doing, 0), back)
        return result

    with TemporaryDirectory() as folder:
        engine = Meddler(EmbeddedEngine(folder))
        engine.after = note
        index = Index("docs", engine, scheme=SCHEME, fields=FIELDS)
        index.init()
        index.add(({"_id": f"d{number}", **each} for number, each in enumerate(found)), refresh=True)
        for name, read in read_everything(index, found, "copy").items():
            doing = name
            read()
        engine.engine.close()
    fields = OWN_FIELDS * (len(found) + 5)
    most = (MOST_AT_ONCE + 1) * LONGEST + fields
    assert {name: size for name, size in received.items() if size > most} == {}
    assert {name: size for name, size in sent.items() if size > 6 * LONGEST + fields} == {}


def test_documents_are_read_a_few_first_and_then_as_many_as_a_reply_holds() -> None:
    def asked(length: int, count: int = 300) -> list[int]:
        sizes: list[int] = []

        def ask(some: Any) -> Any:
            sizes.append(len(some))
            return [{"_source": {"body": "x" * length}} for _ in some]
            yield  # makes it a plan

        assert len(run(in_slices(range(count), ask, ReplySize()), _Nothing())) == count
        return sizes

    assert asked(1) == [8, 8, 16, 32, 64, 128, 44]
    assert asked(LONGEST // 10, 30) == [8, 8, 9, 5]
    assert set(asked(LONGEST, 20)[1:]) == {1}
    assert asked(1, 3) == [3]


class _Nothing:
    def perform(self, operation: Operation[Any]) -> Any:
        raise AssertionError(operation)

    def close(self) -> None: ...


def filled(folder: Path, lengths: list[int]) -> Meddler:
    engine = Meddler(EmbeddedEngine(folder))
    index = Index("docs", engine, fields=FIELDS)
    index.init()
    index.add(({"_id": f"d{i}", "body": "x " * (length // 2)} for i, length in enumerate(lengths)), refresh=True)
    engine.seen.clear()
    return engine


def test_documents_come_in_the_order_asked_for_and_missing_ones_too(tmp_path: Path) -> None:
    engine = filled(tmp_path, [100] * 30)
    ids = [f"d{i}" for i in (*range(29, -1, -1), 77, 3)]
    replies = run(documents_by_id("docs", ids, FIELDS), engine)
    assert [reply["_id"] for reply in replies] == ids
    assert [reply["_id"] for reply in replies if not reply["found"]] == ["d77"]
    hits: list[Json] = [{"_index": "docs", "_id": id_} for id_ in ids]
    assert [hit["_id"] for hit in run(with_source("docs", hits, FIELDS), engine)] == [
        each for each in ids if each != "d77"
    ]
    assert run(documents_by_id("docs", [], FIELDS), engine) == []


def test_what_an_engine_finds_too_large_is_asked_for_in_smaller_parts(tmp_path: Path) -> None:
    engine = filled(tmp_path, [100] * 40)

    def refuse(operation: Operation[Any]) -> None:
        if isinstance(operation, GetDocuments) and len(operation.ids) > 3:
            raise TooLargeError("Reading failed. Ask for less.")

    engine.before = refuse
    assert len(run(documents_by_id("docs", [f"d{i}" for i in range(40)], FIELDS), engine)) == 40


@pytest.mark.parametrize("error", [UnreachableError("http://es:9200 did not answer in time."), TooLargeError("No.")])
def test_an_error_of_reading_long_documents_names_them(tmp_path: Path, error: EngineError) -> None:
    engine = filled(tmp_path, [LONGEST // 2] * 30)

    def fail(operation: Operation[Any]) -> None:
        if isinstance(operation, GetDocuments) and len(engine.seen) > 1:
            raise error

    engine.before = fail
    with pytest.raises(type(error), match=r"document\(s\) at once, of some 8 kB each"):
        run(documents_by_id("docs", [f"d{i}" for i in range(30)], FIELDS), engine)


def test_an_error_of_reading_short_documents_blames_nothing_else(tmp_path: Path) -> None:
    engine = filled(tmp_path, [10] * 30)

    def fail(operation: Operation[Any]) -> None:
        if isinstance(operation, GetDocuments) and len(engine.seen) > 1:
            raise UnreachableError("It is away.")

    engine.before = fail
    with pytest.raises(UnreachableError, match=r"^It is away\.$"):
        run(documents_by_id("docs", [f"d{i}" for i in range(30)], FIELDS), engine)
