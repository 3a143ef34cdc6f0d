"""The pieces of a backfill, each by itself: what is due, how long is waited, how much is sent, what is written down.

How long a backfill may take, by a trial of some documents.
"""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.live.backfill import (
    Backfill,
    BackfillOptions,
    Fingerprinting,
    ReadDocument,
    TotalsFile,
    changed_query,
    due_query,
)
from es_simhash.live.sweep.writing import Outcome, Pace, Progress, Tally
from es_simhash.plans.bulk import RequestSize
from es_simhash.plans.operations import Action, Bulk, CreateIndex, Operation, Refresh, Slice, Wait, Write, retry_delays
from es_simhash.scheme.scheme import Scheme
from tests.support.corpus import corpus

DOCUMENTS = Documents(Scheme(), ["title", "body"])
TEXT = {"title": "A title", "body": "a text that is long enough to be distinguished"}


def hit(source: Json, **more: Any) -> Json:
    return {"_index": "index", "_id": "1", "_seq_no": 7, "_primary_term": 2, "_source": source, **more}


# --- what is found


def test_a_document_without_our_fields_is_due() -> None:
    prepared = Fingerprinting(DOCUMENTS).prepare([hit(TEXT)])
    [(found, action)] = prepared.updates
    assert isinstance(found, ReadDocument)
    fields = DOCUMENTS.add_fields(TEXT)["dedup"]
    assert action.body == {"doc": {"dedup": fields}}
    assert action.metadata == {"if_seq_no": 7, "if_primary_term": 2}
    assert (action.op_type, action.index, action.id, found.text) == ("update", "index", "1", "\n".join(TEXT.values()))


def test_a_document_with_the_fields_of_its_text_is_current() -> None:
    prepared = Fingerprinting(DOCUMENTS).prepare([hit(DOCUMENTS.add_fields(TEXT))])
    assert (prepared.current, prepared.updates) == (1, [])


@pytest.mark.parametrize("change", [{"scheme": "0123456789ab"}, {"status": "deferred"}, {"content": "another"}])
def test_a_document_whose_fields_are_not_those_of_its_text_is_due(change: Json) -> None:
    source = DOCUMENTS.add_fields(TEXT)
    assert Fingerprinting(DOCUMENTS).prepare([hit({**source, "dedup": source["dedup"] | change})]).updates


def test_fields_that_a_text_no_longer_has_are_taken_out_and_no_others_named() -> None:
    emptied = {**DOCUMENTS.add_fields(TEXT), "title": "", "body": ""}
    [(_, action)] = Fingerprinting(DOCUMENTS).prepare([hit(emptied)]).updates
    part = (action.body or {})["doc"]["dedup"]
    assert {name for name, value in part.items() if value is None} == {"simhash", "blocks", "bands"}
    [(_, fresh)] = Fingerprinting(DOCUMENTS).prepare([hit({"title": ""})]).updates
    assert None not in (fresh.body or {})["doc"]["dedup"].values()


def test_the_routing_of_a_document_goes_with_its_update() -> None:
    [(_, action)] = Fingerprinting(DOCUMENTS).prepare([hit(TEXT, _routing="here")]).updates
    assert (action.metadata or {})["routing"] == "here"


def test_a_document_that_cannot_be_read_is_rejected_and_the_others_are_done() -> None:
    prepared = Fingerprinting(DOCUMENTS).prepare([hit({"title": {"no": "text"}}), hit(TEXT), hit({"title": "\ud800"})])
    assert len(prepared.updates) == 1
    assert ["type dict" in each.reason or "surrogate" in each.reason for each in prepared.rejected] == [True, True]


def test_what_is_read_is_the_text_and_our_own_fields() -> None:
    assert Fingerprinting(DOCUMENTS).source == ("title", "body", "dedup")


def test_what_somebody_else_has_in_the_place_of_our_fields_is_not_overwritten() -> None:
    prepared = Fingerprinting(DOCUMENTS).prepare([hit({**TEXT, "dedup": "?"}), hit(TEXT)])
    assert len(prepared.updates) == 1
    [rejected] = prepared.rejected
    assert "has a value of type str where the fields belong" in rejected.reason


# --- what is asked for


def test_shares_of_machines_and_their_slices_are_the_whole() -> None:
    shares = [share for i in range(3) for share in BackfillOptions(shard=(i, 3), parallel=2).slices]
    assert shares == [Slice(i, 6) for i in range(6)]
    assert BackfillOptions().slices == [None]


def test_settings_are_not_changed_by_one_of_several_machines() -> None:
    with pytest.raises(ValueError, match="before and after"):
        BackfillOptions(shard=(0, 2), without_refresh=True)


def test_the_users_query_restricts_every_pass() -> None:
    query = {"term": {"lang": "en"}}
    options = BackfillOptions(filter=query)
    asked = [due_query(DOCUMENTS, options), changed_query(options, [9, 4])]
    asked.append(due_query(DOCUMENTS, BackfillOptions(filter=query, refresh_stale=True)))
    for each in asked:
        assert query in each["bool"]["filter"]
    assert {"range": {"_seq_no": {"gt": 4}}} in asked[1]["bool"]["filter"]


# --- waiting


@given(st.floats(0.1, 5000))
def test_all_waiting_together_comes_to_the_patience(patience: float) -> None:
    waits = list(retry_delays(patience))
    assert patience <= sum(waits) < patience + 30
    assert all(0 < wait <= 30 for wait in waits)


def test_waiting_grows_and_is_spread_at_random() -> None:
    runs = [list(retry_delays(600))[:8] for _ in range(50)]
    first, eighth = (mean(run[i] for run in runs) for i in (0, 7))
    assert first < 0.5
    assert eighth > 10
    assert len({run[0] for run in runs}) > 40


def test_a_refusal_halves_what_is_sent_and_success_brings_it_back() -> None:
    pressure = RequestSize()
    for _ in range(20):
        pressure.shrink()
    assert pressure.actions == 1
    for _ in range(200):
        pressure.grow()
    assert pressure.actions == RequestSize().actions


def test_no_more_than_the_rate_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("es_simhash.live.sweep.writing.time.monotonic", lambda: 1000.0)
    pace = Pace(100)
    waits = [wait.seconds for _ in range(5) for wait in pace.turn(50) if isinstance(wait, Wait)]
    assert waits == [0, 0.5, 1, 1.5, 2]
    assert list(Pace(None).turn(50)) == []


# --- what is reported


def test_each_document_is_reported_once_as_rejected() -> None:
    reported: list[Any] = []
    tally = Tally(Progress("index", 2), on_reject=reported.append)
    found = ReadDocument.parse(DOCUMENTS, hit(TEXT))
    for _ in range(2):
        tally.add(Outcome(rejected=[found.rejected("is not to be had")]))
    assert len(reported) == tally.progress.rejected == 1


def test_what_is_met_again_counts_only_where_it_was_written() -> None:
    tally = Tally(Progress("index", 2))
    tally.add(Outcome(written=1, current=1))
    tally.add(Outcome(written=1, current=5, gone=1), again=True)
    assert (tally.progress.written, tally.progress.current, tally.progress.gone) == (2, 1, 0)


# --- totals of several runs


def test_totals_go_on_from_run_to_run_until_all_is_done(tmp_path: Path) -> None:
    path = tmp_path / "state" / "file.json"
    first = TotalsFile(path, "articles")
    first.write(Progress("articles", 10, written=4))
    second = TotalsFile(path, "articles")
    assert (second.before.runs, second.before.written) == (2, 4)
    assert second.totals(Progress("articles", 6, written=6)).written == 10
    second.remove()
    assert TotalsFile(path, "articles").before.written == 0


DAMAGED = [
    "",
    "[]",
    "{",
    "[" * 100_000,
    '{"key": "articles"}',
    '{"key": "articles", "totals": {"x": 1}}',
    '{"key": "articles", "totals": {"written": "4"}}',
    '{"key": "articles", "totals": {"seconds": Infinity}}',
]


@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_of_totals_costs_nothing_but_the_totals(tmp_path: Path, content: str) -> None:
    (tmp_path / "file.json").write_text(content)
    totals_file = TotalsFile(tmp_path / "file.json", "articles")
    assert totals_file.totals(Progress("articles", 10, written=4)).written == 4
    assert totals_file.before.seconds == 0


def test_totals_of_another_backfill_are_not_taken(tmp_path: Path) -> None:
    TotalsFile(tmp_path / "file.json", "articles").write(Progress("articles", 10, written=4))
    assert json.loads((tmp_path / "file.json").read_text())["key"] == "articles"
    assert TotalsFile(tmp_path / "file.json", "others").before.written == 0


def test_totals_are_written_now_and_then_only(tmp_path: Path) -> None:
    totals_file = TotalsFile(tmp_path / "file.json", "articles")
    totals_file.update(Progress("articles", 10, written=1))
    totals_file.update(Progress("articles", 10, written=2))
    assert TotalsFile(tmp_path / "file.json", "articles").before.written == 1


def test_two_runs_that_write_the_totals_at_once_both_end_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (TotalsFile(tmp_path / "totals.json", "articles") for _ in range(2))
    replace = os.replace

    def after_the_other(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "replace", replace)
        second.write(Progress("articles", 10, written=2))
        replace(source, target)

    monkeypatch.setattr(os, "replace", after_the_other)
    first.write(Progress("articles", 10, written=1))
    assert [path.name for path in tmp_path.iterdir()] == ["totals.json"]


Result = TypeVar("Result")


class Watched(EmbeddedEngine):
    """An engine that keeps what it was asked."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.asked = list[Operation[Any]]()

    def perform(self, operation: Operation[Result]) -> Result:
        self.asked.append(operation)
        return super().perform(operation)


def test_some_documents_are_tried_and_nothing_is_written(tmp_path: Path) -> None:
    with closing(Watched(tmp_path)) as engine:
        engine.perform(CreateIndex("articles", {}))
        actions = [Action("index", str(number), dict(each)) for number, each in enumerate(corpus(500))]
        engine.perform(Bulk("articles", actions))
        engine.perform(Refresh("articles"))
        engine.asked.clear()

        def backfill(**options: float) -> Backfill:
            documents = Documents(Scheme(), ["title", "body"])
            return Backfill(engine, "articles", documents, BackfillOptions(**options), brings_fields=True)  # type: ignore[arg-type]

        trial = backfill().trial()
        assert trial
        assert 300 <= trial.documents <= 500
        assert trial.seconds == pytest.approx(500 / trial.documents_per_second, rel=0.01, abs=0.1)
        slow = backfill(max_rate=2.0).trial()
        assert slow
        assert (slow.documents_per_second, slow.seconds) == (2.0, 250.0)
        assert {type(each) for each in engine.asked if isinstance(each, Write)} <= {Refresh}


def test_where_nothing_is_due_nothing_is_tried(tmp_path: Path) -> None:
    with closing(Watched(tmp_path)) as engine:
        engine.perform(CreateIndex("articles", {}))
        documents = Documents(Scheme(), ["title", "body"])
        assert Backfill(engine, "articles", documents, brings_fields=True).trial() is None
