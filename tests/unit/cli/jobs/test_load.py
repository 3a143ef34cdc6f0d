"""Loading documents of files, on the embedded engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from es_simhash.cli.commands.load import _reporting_failure
from es_simhash.cli.jobs.load import DryRun, Loader
from es_simhash.cli.show.output import Interrupted
from es_simhash.documents.files import FileDocument
from es_simhash.documents.sources import Rejected
from es_simhash.engines.base import run
from es_simhash.index import Index
from es_simhash.live.learning import LowestContents, learn
from es_simhash.live.sweep.reading import DocumentRef
from es_simhash.plans.operations import Bulk, CreateIndex, Operation
from es_simhash.scheme.own_fields import content_hash
from es_simhash.scheme.scheme import Scheme
from tests.support.rolling import rolling


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index("news", str(tmp_path), fields=["text"]) as index:
        index.init()
        yield index


def found(count: int, **other: Any) -> list[FileDocument]:
    return [FileDocument(str(i), {"text": f"text number {i}"}, "a.jsonl", i + 1, **other) for i in range(count)]


def test_routing_goes_with_the_action(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    perform = index.engine.perform

    def noted(operation: Operation[Any]) -> Any:
        if isinstance(operation, Bulk):
            sent.extend(dict(action.metadata or {}) for action in operation.actions)
        return perform(operation)

    monkeypatch.setattr(index.engine, "perform", noted)
    loader = Loader(index, on_reject=print, on_progress=lambda _: None)
    assert loader.load([*found(1, routing="shop-7"), *found(1)]).done == 2
    assert sent == [{"routing": "shop-7"}, {}]


def test_a_rejected_document_is_reported_with_its_line_and_the_rest_is_written(index: Index) -> None:
    rejected: list[Rejected] = []
    progress: list[tuple[int, int]] = []
    documents = found(1100)
    for place in (3, 700):
        documents[place].document["text"] = {"no": "text"}
    loader = Loader(index, rejected.append, lambda now: progress.append((now.done, now.refused)))
    loader.load(documents)
    assert progress == [(499, 1), (998, 2), (1098, 2)]
    assert [(each.file, each.line, each.id) for each in rejected] == [("a.jsonl", 4, "3"), ("a.jsonl", 701, "700")]


@pytest.mark.parametrize(("name", "until"), [("news", ", before news rolls over"), ("plain", "")])
def test_until_when_a_load_may_be_run_again_is_said(tmp_path: Path, name: str, until: str) -> None:
    scheme = Scheme.preset("default")
    server = rolling(tmp_path, scheme.mapping("dedup", ["text"]), is_stream=False)
    server.engine.perform(CreateIndex("plain", {"mappings": scheme.mapping("dedup", ["text"])}))
    index = Index(name, server)
    assert index.indices == (server.generations if name == "news" else ["plain"])

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    loader = Loader(index, on_reject=print, on_progress=stop)
    with pytest.raises(Interrupted, match=rf"for the rest{until}.*: documents") as raised:  # noqa: SIM117
        with _reporting_failure(loader, name, index.refresh):
            loader.load(found(1))
    assert ("a second time" in str(raised.value)) is bool(until)
    server.close()


def test_an_existing_document_is_replaced_or_refused(index: Index) -> None:
    rejected: list[Rejected] = []
    for op_type, done in (("index", 2), ("index", 2), ("create", 0)):
        loader = Loader(index, rejected.append, lambda _: None, op_type)  # type: ignore[arg-type]
        assert loader.load(found(2)).done == done
    assert len(rejected) == 2


def test_a_dry_run_counts_what_a_load_would_write_and_writes_nothing(index: Index) -> None:
    rejected: list[Rejected] = []
    documents = found(1100)
    documents[700].document["text"] = {"no": "text"}
    counted = Loader(DryRun("news", index.documents), rejected.append, lambda _: None).load(documents)
    assert (counted.done, counted.refused) == (1099, 1)
    assert [(each.file, each.line, each.id) for each in rejected] == [("a.jsonl", 701, "700")]
    index.refresh()
    assert index.info().documents == 0


def test_what_was_written_is_known_by_its_contents_to_learn_from(index: Index) -> None:
    documents = found(1100)
    documents[700].document["text"] = {"no": "text"}
    loader = Loader(index, lambda _: None, lambda _: None)
    loader.load(documents)
    index.refresh()
    known, patience = loader.lowest, 0.0
    assert known.met == 1099
    by_reading = run(learn(index.name, index.documents, "2026-11-23", patience), index.engine)
    assert run(learn(index.name, index.documents, "2026-11-23", patience, known), index.engine) == by_reading


def test_documents_written_by_an_alias_are_read_to_learn_from(index: Index) -> None:
    documents = found(30)
    Loader(index, lambda _: None, lambda _: None).load(documents)
    index.refresh()
    known = LowestContents()
    known.add((content_hash(each.document["text"]), DocumentRef("alias", each.id, None, {})) for each in documents)
    by_reading = run(learn(index.name, index.documents, "2026-11-23"), index.engine)
    assert run(learn(index.name, index.documents, "2026-11-23", known=known), index.engine) == by_reading
