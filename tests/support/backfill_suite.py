"""Backfills on every engine: tests with the fixtures of `tests.conformance.index_suite`."""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.sources import Rejected
from es_simhash.errors import InputError, MappingError, MissingError
from es_simhash.live.backfill import BackfillOptions
from es_simhash.live.sweep.writing import Progress
from es_simhash.plans.operations import Action, Bulk, CreateIndex, GetDocuments
from es_simhash.scheme.own_fields import DEFERRED
from tests.conformance.index_base import IndexBase
from tests.support.corpus import corpus

FIELDS = ("title", "body")
MAPPINGS: Json = {
    "properties": {
        "title": {"type": "text"},
        "body": {"type": "text"},
        "number": {"type": "long"},
        "when": {"type": "date"},
        "inner": {"properties": {"value": {"type": "keyword"}}},
        "unmapped": {"type": "object", "enabled": False},
    }
}


def document(number: int) -> Json:
    """Return a document with more than its texts."""
    more = {"number": number, "when": f"2026-01-{number % 28 + 1:02}", "inner": {"value": [str(number), "x"]}}
    return {**corpus(30)[number % 30], **more, "unmapped": {"deep": [None, {"a": 1.5}]}}


def without_nulls(source: Json) -> Json:
    """Return a document without the nulls among our fields, which are as good as nothing."""
    own = {name: value for name, value in source.get("dedup", {}).items() if value is not None}
    return {**source, "dedup": own} if "dedup" in source else source


class BackfillSuite(IndexBase):
    """The tests; ``engine`` is the one fixture to give."""

    count = 250

    def create(self, engine: Any, name: str, shards: int = 2) -> None:
        """Create an index as a team has it, without our fields."""
        settings = {"number_of_shards": shards, "number_of_replicas": 0, "refresh_interval": "-1"}
        self.engine_of(engine).perform(CreateIndex(name, {"settings": settings, "mappings": MAPPINGS}))

    def fill(self, engine: Any, name: str, documents: dict[str, Json], **metadata: str) -> None:
        """Documents, by id, that searches see."""
        actions = [Action("index", id_, each, metadata=metadata or None) for id_, each in documents.items()]
        results = self.engine_of(engine).perform(Bulk(name, actions, refresh=True))
        assert [result.error for result in results if result.error] == []

    def change(self, engine: Any, name: str, id_: str, change: Json) -> None:
        """Change a document as somebody does who knows nothing of fingerprints."""
        [result] = self.engine_of(engine).perform(Bulk(name, [Action("update", id_, {"doc": change})], refresh=True))
        assert result.error is None

    def sources(self, engine: Any, name: str, ids: list[str], routing: str | None = None) -> dict[str, Json]:
        """Documents as they are now."""
        asked = GetDocuments(name, ids, routings=[routing] * len(ids))
        return {found["_id"]: without_nulls(found["_source"]) for found in self.engine_of(engine).perform(asked)}

    def backfill(self, index: Any, on_progress: Any = None, on_reject: Any = None, **options: Any) -> Progress:
        """Backfill with these options."""
        done: Progress = index.backfill(**options, on_progress=on_progress, on_reject=on_reject)
        return done

    def assert_right(self, engine: Any, index: Any, expected: dict[str, Json], routing: str | None = None) -> None:
        """Check that each document has the fields of its own text, and is otherwise unchanged."""
        documents = self.open(index.name, self.engine_of(engine)).documents
        documents = documents() if callable(documents) else documents
        there = self.sources(engine, index.name, list(expected), routing)
        assert there == {id_: documents.add_fields(each) for id_, each in expected.items()}

    @pytest.fixture
    def index(self, engine: Any, names: Any) -> Any:
        """Create an index of documents without fingerprints, with our fields in its mapping."""
        name = names()
        self.create(engine, name)
        self.fill(engine, name, self.documents)
        index = self.open(name, engine, fields=FIELDS)
        index.init()
        return index

    @property
    def documents(self) -> dict[str, Json]:
        """The documents of `index`."""
        return {f"id {i}/é": document(i) for i in range(self.count)}

    def test_every_document_gets_the_fields_of_its_text_and_nothing_else_changes(self, engine: Any, index: Any) -> None:
        progress = self.backfill(index)
        assert (progress.written, progress.done, progress.rejected) == (self.count, self.count, 0)
        self.assert_right(engine, index, self.documents)

    def test_what_is_done_is_left_alone(self, engine: Any, index: Any) -> None:
        self.backfill(index)
        assert self.backfill(index).total == 0

    def test_a_run_goes_on_where_another_was_stopped(self, engine: Any, index: Any) -> None:
        def stop(progress: Progress) -> None:
            if progress.written:
                raise RuntimeError("stopped")

        with pytest.raises(RuntimeError, match="stopped"):
            # At this rate the second page has to wait, so it is not under way when the first is reported.
            self.backfill(index, on_progress=stop, max_rate=20)
        rest = self.backfill(index)
        assert 0 < rest.written < self.count
        self.assert_right(engine, index, self.documents)

    def test_progress_is_reported_on_the_way(self, engine: Any, index: Any) -> None:
        counts: list[int] = []
        self.backfill(index, lambda progress: counts.append(progress.done))
        assert counts == sorted(counts)
        assert len(counts) > 1
        assert counts[-1] == self.count

    @pytest.mark.parametrize("slices", [2, 5])
    def test_slices_do_it_together(self, engine: Any, index: Any, slices: int) -> None:
        assert self.backfill(index, parallel=slices).written == self.count
        self.assert_right(engine, index, self.documents)

    def test_machines_do_a_share_each(self, engine: Any, index: Any) -> None:
        written = [index.backfill(shard=(i, 3), parallel=2).written for i in range(3)]
        assert sum(written) == self.count
        assert all(written)
        self.assert_right(engine, index, self.documents)

    def test_a_routing_value_is_kept(self, engine: Any, names: Any) -> None:
        name = names()
        self.create(engine, name, shards=5)
        documents = {str(i): document(i) for i in range(20)}
        self.fill(engine, name, documents, routing="somewhere else")
        index = self.open(name, engine, fields=FIELDS)
        index.init()
        progress = self.backfill(index)
        assert (progress.written, progress.gone) == (20, 0)
        self.assert_right(engine, index, documents, "somewhere else")
        assert index.info().documents == 20

    def test_only_what_a_query_finds_is_done(self, engine: Any, index: Any) -> None:
        assert self.backfill(index, filter={"range": {"number": {"lt": 10}}}).written == 10
        assert self.backfill(index, filter={"range": {"when": {"gte": "2026-01-28"}}}).written == sum(
            each["when"] == "2026-01-28" and each["number"] >= 10 for each in self.documents.values()
        )

    def test_a_document_without_any_text_is_done_and_counts_as_empty(self, engine: Any, index: Any) -> None:
        self.fill(engine, index.name, {"none": {"number": 1}, "empty": {"title": "", "body": None}})
        assert self.backfill(index).written == self.count + 2
        assert index.info().statuses["empty"] == 2
        assert self.backfill(index).total == 0

    def test_rejected_documents_are_reported_and_the_rest_is_done(self, engine: Any, names: Any) -> None:
        name = names()
        mappings = {"properties": {"body": {"type": "object", "enabled": False}}}
        self.engine_of(engine).perform(CreateIndex(name, {"mappings": mappings}))
        self.fill(engine, name, {"good": {"body": "a text that is valid"}, "bad": {"body": {"no": "text"}}})
        index = self.open(name, engine, fields=["body"])
        index.init()
        rejected: list[Rejected] = []
        progress = self.backfill(index, on_reject=rejected.append)
        assert (progress.written, progress.rejected) == (1, 1)
        assert [(each.index, each.id) for each in rejected] == [(name, "bad")]
        assert "'body'" in rejected[0].reason

    def test_a_text_that_changed_since_is_found_only_if_asked_for(self, engine: Any, index: Any) -> None:
        self.backfill(index)
        documents = self.documents
        for id_ in list(documents)[:3]:
            self.change(engine, index.name, id_, {"body": f"another text of {id_}"})
            documents[id_] |= {"body": f"another text of {id_}"}
        assert self.backfill(index).written == 0
        progress = index.backfill(refresh_stale=True)
        assert (progress.written, progress.current) == (3, self.count - 3)
        self.assert_right(engine, index, documents)

    def test_a_deferred_document_is_picked_up(self, engine: Any, index: Any) -> None:
        self.backfill(index)
        id_, *_ = self.documents
        index.add([{"_op_type": "update", "_id": id_, "doc": {"title": "New title"}}], refresh=True)
        assert self.sources(engine, index.name, [id_])[id_]["dedup"]["status"] == DEFERRED
        assert self.backfill(index).written == 1
        self.assert_right(engine, index, self.documents | {id_: self.documents[id_] | {"title": "New title"}})

    def test_a_field_that_is_there_no_more_is_taken_out(self, engine: Any, index: Any) -> None:
        self.backfill(index)
        id_, *_ = self.documents
        self.change(engine, index.name, id_, {"title": "", "body": ""})
        index.backfill(refresh_stale=True)
        fields = {name: value for name, value in self.sources(engine, index.name, [id_])[id_]["dedup"].items() if value}
        assert set(fields) == {"content", "scheme", "status"}

    def test_two_schemes_live_side_by_side(self, engine: Any, index: Any) -> None:
        self.backfill(index)
        other = self.open(index.name, engine, prefix="next", scheme="short", fields=["title"])
        other.init()
        assert self.backfill(other).written == self.count
        [source] = self.sources(engine, index.name, [next(iter(self.documents))]).values()
        assert source["dedup"]["scheme"] != source["next"]["scheme"]

    def test_several_indices_are_done_one_after_the_other(self, engine: Any, names: Any) -> None:
        first, second = names("several-a"), names("several-b")
        for name in (first, second):
            self.create(engine, name)
            self.fill(engine, name, {"1": document(1), "2": document(2)})
        both = self.open(f"{first},{second}", engine, fields=FIELDS)
        both.init()
        assert self.backfill(both).written == 4
        for name in (first, second):
            self.assert_right(engine, self.open(name, engine), {"1": document(1), "2": document(2)})

    def test_an_index_without_the_fields_is_refused(self, engine: Any, names: Any) -> None:
        name = names()
        self.create(engine, name)
        with pytest.raises(MappingError, match="init"):
            self.backfill(self.open(name, engine))
        with pytest.raises(MissingError):
            self.backfill(self.open(names(), engine))

    @pytest.mark.parametrize("wrong", [{"parallel": 0}, {"shard": (3, 3)}, {"max_rate": 0.0}])
    def test_options_that_mean_nothing_are_refused(self, wrong: Json) -> None:
        with pytest.raises(InputError):
            BackfillOptions(**wrong)
