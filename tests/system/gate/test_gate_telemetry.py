"""What operators see of a gate in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

from es_simhash.index import Index
from tests.support import promtool
from tests.support.commands import environment


def test_metrics_name_the_run_of_the_log_and_time_the_operations_of_the_engine(tmp_path: Path) -> None:
    with Index("news", tmp_path / "news.db", fields=["body"]) as index:
        index.init()
    command = [sys.executable, "-m", "es_simhash", "gate", "news", "--url", "news.db", "--port", "0", "--json"]
    with (
        open(tmp_path / "log", "w", encoding="utf-8") as log,
        subprocess.Popen(
            [*command, "--log-format", "json"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment({}),
        ) as process,
    ):
        assert process.stdout
        address = json.loads(process.stdout.readline())["address"]
        document = json.dumps({"id": "1", "body": "A storm hit the coast last night."}).encode()
        with urlopen(Request(f"{address}/add", document, {"content-type": "application/json"}), timeout=60) as reply:
            assert reply.status == 201
        with urlopen(f"{address}/metrics", timeout=60) as reply:
            text = reply.read().decode()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    events = [json.loads(line) for line in (tmp_path / "log").read_text(encoding="utf-8").splitlines()]
    [run_id] = {event["run_id"] for event in events}
    assert [events[0]["event"], events[-1]["event"], events[-1]["exit_code"]] == ["started", "finished", 0]
    assert f'run_id="{run_id}"' in text
    operations = 'es_simhash_engine_operation_duration_seconds_count{index="news",operation="bulk",verb="gate"}'
    assert f"{operations} 1.0" in text
    assert "es_simhash_last_success_timestamp_seconds" not in text
    assert promtool.of_metrics(text.encode()) == ""
