"""OpenTelemetry spans, as the real SDK collects them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.trace import SpanKind, StatusCode, get_tracer

from es_simhash.cli.process import run
from es_simhash.live import telemetry
from tests.support.commands import environment, run_alone
from tests.support.traces import Traces, collected

TEXT = "A storm hit the coast last night. Trains stood still until the morning of day"
LINES = "".join(f'{{"id": "{i}", "body": "{TEXT} {i // 2}"}}\n' for i in range(40))


@pytest.fixture
def traces() -> Iterator[Traces]:
    with collected() as traces:
        yield traces


@pytest.fixture(autouse=True)
def news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("news.jsonl").write_text(LINES, encoding="utf-8")


def test_a_run_its_stages_and_the_calls_of_the_engine_are_spans_within_each_other(traces: Traces) -> None:
    assert run(["load", "news", "news.jsonl", "--field", "body"]) == 0
    assert run(["remove", "news", "--yes"]) == 0
    assert run(["backfill", "news", "--field", "body", "--workers", "2"]) == 0
    assert run(["group", "news", "--write"]) == 0
    paths = {" > ".join(traces.path(span)) for span in traces.spans}
    assert {
        "es-simhash load",
        "es-simhash load > documents > bulk news",
        "es-simhash remove > documents > prepare",
        "es-simhash backfill > survey > count news",
        "es-simhash backfill > documents > read_page news",
        "es-simhash backfill > documents > prepare",
        "es-simhash backfill > documents > bulk news",
        "es-simhash backfill > learn",
        "es-simhash group > read > read_page news",
        "es-simhash group > compare > get_documents news",
        "es-simhash group > write > bulk news",
    } <= paths
    assert {path.split(" > ")[0] for path in paths} == {
        f"es-simhash {verb}" for verb in ("load", "remove", "backfill", "group")
    }


def test_the_call_of_an_engine_has_the_attributes_of_a_database(traces: Traces) -> None:
    assert run(["load", "news", "news.jsonl", "--field", "body"]) == 0
    [bulk] = [span for span in traces.spans if span.name == "bulk news"]
    assert bulk.kind is SpanKind.CLIENT
    assert dict(bulk.attributes or {}) == {
        "db.system.name": "tantivy",
        "db.operation.name": "bulk",
        "db.collection.name": "news",
        "db.operation.batch.size": 40,
    }


def test_an_error_shows_by_its_type_alone(traces: Traces) -> None:
    assert run(["info", "nowhere"]) == 4
    failed = [span for span in traces.spans if not span.status.is_ok]
    assert {(span.name, (span.attributes or {})["error.type"]) for span in failed} == {
        ("es-simhash info", "MissingError"),
        ("get_mappings nowhere", "MissingError"),
    }
    assert {(span.status.status_code, span.status.description, span.events) for span in failed} == {
        (StatusCode.ERROR, None, ())
    }


def test_no_span_holds_a_text_or_an_id_of_a_document(traces: Traces) -> None:
    assert run(["load", "news", "news.jsonl", "--field", "body"]) == 0
    assert run(["find", "news", "--text", TEXT]) == 0
    assert run(["find", "news", "--id", "id-of-nobody"]) == 4
    sent = traces.everything()
    assert "search" in sent
    assert "storm" not in sent
    assert "id-of-nobody" not in sent


def test_the_span_of_a_run_is_within_that_of_the_caller(traces: Traces) -> None:
    with get_tracer("ours").start_as_current_span("nightly"):
        assert run(["info"]) == 0
    [span] = [span for span in traces.spans if span.name == "es-simhash info"]
    assert traces.path(span) == ["nightly", "es-simhash info"]


SET_UP = """
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter

trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
trace.get_tracer_provider().add_span_processor(BatchSpanProcessor(ConsoleSpanExporter(out=sys.stderr)))
from es_simhash.cli.process import main

main(sys.argv[1:])
"""


def test_all_spans_are_sent_before_a_process_ends() -> None:
    given = [sys.executable, "-c", SET_UP, "load", "news", "news.jsonl", "--field", "body"]
    done = subprocess.run(given, capture_output=True, encoding="utf-8", env=environment({}), timeout=120, check=True)
    assert '"name": "bulk news"' in done.stderr
    assert '"name": "es-simhash load"' in done.stderr


WITHOUT = """
import sys
from es_simhash.cli.process import run

assert run(sys.argv[1:]) == 0
loaded = {name.split(".")[0] for name in sys.modules} & {"opentelemetry", "prometheus_client"}
assert not loaded, loaded
"""


def test_nothing_is_loaded_where_nothing_is_asked_for() -> None:
    given = [sys.executable, "-c", WITHOUT, "load", "news", "news.jsonl", "--field", "body"]
    done = subprocess.run(given, capture_output=True, encoding="utf-8", env=environment({}), timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_a_run_without_the_api_is_as_ever() -> None:
    assert "40 documents written" in run_alone("load", "news", "news.jsonl", "--field", "body").out


def test_a_collector_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, answered = Event(), Event()

    class Stuck(SpanProcessor):
        def force_flush(self, timeout_millis: int = 0) -> bool:
            asked.set()
            return answered.wait()

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Stuck())
    monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda: provider)
    assert run(["info", "nowhere"]) == 4
    assert asked.is_set()
    assert not answered.is_set()
    answered.set()


def test_the_api_alone_makes_no_spans() -> None:
    assert get_tracer("loads the API")
    assert not telemetry.are_wanted()
