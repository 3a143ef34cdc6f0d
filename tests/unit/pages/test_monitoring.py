"""The page about monitoring: its rules are Prometheus' own, and its names are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from es_simhash.cli.show.output import Event
from es_simhash.gate import asgi
from es_simhash.live.telemetry import METRICS
from tests import ROOT
from tests.support import promtool
from tests.support.documentation import read

PAGE = ROOT / "docs" / "how-to" / "monitoring.md"
NAME = "es-simhash.rules.yml"

# Of 100 documents a minute passes ten, until it stands still; an earlier run has failed, and its success is days old.
TESTS = f"""
rule_files: [{NAME}]
tests:
  - interval: 1m
    input_series:
      - series: 'es_simhash_documents_total{{verb="backfill", index="news", outcome="written"}}'
        values: '0+6x20 120x40'
      - series: 'es_simhash_documents_total{{verb="backfill", index="news", outcome="current"}}'
        values: '0+4x20 80x40'
      - series: 'es_simhash_documents_remaining{{verb="backfill", index="news"}}'
        values: '300-10x20 100x40'
      - series: 'es_simhash_run_exit_code{{verb="backfill", index="news"}}'
        values: '-1x60'
      - series: 'es_simhash_run_exit_code{{verb="group", index="news"}}'
        values: '3x60'
      - series: 'es_simhash_documents_remaining{{verb="group", index="news"}}'
        values: '7x60'
      - series: 'es_simhash_documents_total{{verb="group", index="news", outcome="read"}}'
        values: '7x60'
      - series: 'es_simhash_last_success_timestamp_seconds{{verb="group", index="news"}}'
        values: '-172000x60'
      - series: 'es_simhash_gate_requests_total{{verb="gate", index="news", path="add", status="429"}}'
        values: '0x20 1+1x40'
      - series: 'es_simhash_gate_requests_total{{verb="gate", index="news", path="add", status="201"}}'
        values: '0+60x60'
    promql_expr_test:
      - expr: round(es_simhash:documents:rate5m{{verb="backfill"}} * 60)
        eval_time: 10m
        exp_samples: [{{labels: '{{verb="backfill", index="news"}}', value: 10}}]
      - expr: round(es_simhash:seconds_left{{verb="backfill"}})
        eval_time: 10m
        exp_samples: [{{labels: '{{verb="backfill", index="news"}}', value: 1200}}]
    alert_rule_test:
      - alertname: EsSimhashFailed
        eval_time: 5m
        exp_alerts: [{{exp_labels: {{verb: group, index: news}}}}]
      - alertname: EsSimhashOverdue
        eval_time: 10m
        exp_alerts: []
      - alertname: EsSimhashOverdue
        eval_time: 20m
        exp_alerts: [{{exp_labels: {{verb: group, index: news}}}}]
      - alertname: EsSimhashGateBusy
        eval_time: 20m
        exp_alerts: []
      - alertname: EsSimhashGateBusy
        eval_time: 30m
        exp_alerts: [{{exp_labels: {{verb: gate, index: news}}}}]
      - alertname: EsSimhashStalled
        eval_time: 30m
        exp_alerts: []
      - alertname: EsSimhashStalled
        eval_time: 50m
        exp_alerts: [{{exp_labels: {{verb: backfill, index: news}}}}]
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    [block] = [block for block in read(PAGE).blocks if block.title == NAME]
    path = tmp_path / NAME
    path.write_text(block.text, encoding="utf-8")
    return path


def test_prometheus_takes_the_rules(rules: Path) -> None:
    assert promtool.complaints("check", "rules", rules) == ""


def test_the_rules_compute_and_alert_as_they_should(rules: Path) -> None:
    tests = rules.with_name("tests.yml")
    tests.write_text(TESTS, encoding="utf-8")
    assert promtool.complaints("test", "rules", tests) == ""


def test_the_rules_ask_for_metrics_that_there_are(rules: Path) -> None:
    asked = set(re.findall(r"\bes_simhash_\w+", rules.read_text(encoding="utf-8")))
    there = {
        metric.name + end
        for metric in (*METRICS, *asgi.METRICS)
        for end in (("_bucket",) if metric.kind == "histogram" else ("",))
    }
    assert asked
    assert asked - there == set()


def test_the_page_names_all_events_of_the_log() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [event for event in get_args(Event) if f"`{event}`" not in text] == []
