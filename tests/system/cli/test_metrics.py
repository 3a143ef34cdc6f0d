"""The metrics of long jobs: on a port while they last, and in a file for cron."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from es_simhash.cli.show.output import Output
from es_simhash.index import Index
from tests.support import promtool
from tests.support.commands import environment, run

LINES = [f'{{"id": "{i}", "body": "A storm hit the coast of the land on day {i // 2}."}}\n' for i in range(60)]
LOAD = ("load", "news", "news.jsonl", "--field", "body")


@pytest.fixture(autouse=True)
def news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("news.jsonl").write_text("".join(LINES), encoding="utf-8")


def read(text: str) -> dict[tuple[str, ...], float]:
    """The samples by name, verb, index and the values of their other labels."""
    found = {}
    for family in text_string_to_metric_families(text):
        for each in family.samples:
            labels = {name: value for name, value in each.labels.items() if name != "file"}
            own = labels.pop("verb"), labels.pop("index"), *(labels[name] for name in sorted(labels))
            found[(each.name, *own)] = each.value
    return found


def in_file() -> dict[tuple[str, ...], float]:
    text = Path("es.prom").read_text(encoding="utf-8")
    assert promtool.of_metrics(text.encode()) == ""
    return read(text)


FILE = ("--metrics-file", "es.prom")
DOCUMENTS = "es_simhash_documents_total"
SECONDS = "es_simhash_stage_seconds_total"
SUCCESS = "es_simhash_last_success_timestamp_seconds"


def test_each_long_job_writes_its_metrics_to_a_file() -> None:
    run(*LOAD, *FILE)
    found = in_file()
    assert found[DOCUMENTS, "load", "news", "written"] == 60
    assert found["es_simhash_run_exit_code", "load", "news"] == 0
    assert found["es_simhash_engine_operation_duration_seconds_count", "load", "news", "bulk"] == 1

    run("remove", "news", "--yes", *FILE)
    assert in_file()[DOCUMENTS, "remove", "news", "written"] == 60

    run("backfill", "news", "--field", "body", *FILE)
    found = in_file()
    assert found[DOCUMENTS, "backfill", "news", "written"] == 60
    assert found["es_simhash_documents_remaining", "backfill", "news"] == 0
    assert found["es_simhash_text_characters_total", "backfill", "news"] > 1_000
    assert all((SECONDS, "backfill", "news", stage) in found for stage in ("survey", "documents", "prepare", "learn"))

    run("group", "news", "--write", *FILE)
    found = in_file()
    assert (found[DOCUMENTS, "group", "news", "read"], found[DOCUMENTS, "group", "news", "written"]) == (60, 60)
    assert all((SECONDS, "group", "news", stage) in found for stage in ("read", "compare", "write"))

    run("reindex", "news", "copy", "--field", "body", *FILE)
    found = in_file()
    assert found[DOCUMENTS, "reindex", "news", "written"] == 60
    assert all((SECONDS, "reindex", "news", stage) in found for stage in ("survey", "documents", "verify"))

    run("erase", "news", "--id", "0", "--yes", *FILE)
    found = in_file()
    assert found[DOCUMENTS, "erase", "news", "deleted"] >= 2
    assert all((SECONDS, "erase", "news", stage) in found for stage in ("search", "delete"))

    run("dedup", "news.jsonl", *FILE)
    found = in_file()
    assert found[DOCUMENTS, "dedup", "", "read"] == 60
    assert all((SECONDS, "dedup", "", stage) in found for stage in ("read", "compare"))


def test_two_files_of_one_verb_and_index_share_no_series() -> None:
    names = ["es.prom", "other/es2.prom"]
    Path("other").mkdir()
    for name in names:
        run("dedup", "news.jsonl", "--metrics-file", name)
    families = [text_string_to_metric_families(Path(name).read_text(encoding="utf-8")) for name in names]
    series = [
        {(each.name, *sorted(each.labels.items())) for family in some for each in family.samples} for some in families
    ]
    assert len(series[0]) > 10
    assert series[0].isdisjoint(series[1])


def test_rejected_documents_are_counted_and_the_run_is_not_a_success() -> None:
    Path("news.jsonl").write_text("[]\n" + LINES[0], encoding="utf-8")
    run(*LOAD, *FILE, code=1)
    found = in_file()
    assert found[DOCUMENTS, "load", "news", "rejected"] == 1
    assert (found["es_simhash_run_exit_code", "load", "news"], found[SUCCESS, "load", "news"]) == (1, 0)


def test_a_failed_run_keeps_the_time_of_the_last_success_and_says_how_it_failed() -> None:
    run(*LOAD, *FILE)
    before = in_file()[SUCCESS, "load", "news"]
    assert before > 0
    Path("news.jsonl").unlink()
    run(*LOAD, *FILE, code=None)
    found = in_file()
    assert found[SUCCESS, "load", "news"] == before
    assert found["es_simhash_run_exit_code", "load", "news"] != 0
    assert found["es_simhash_run_end_timestamp_seconds", "load", "news"] > before


def test_the_success_of_another_job_is_not_taken_over() -> None:
    run(*LOAD, *FILE)
    run("group", "nowhere", *FILE, code=4)
    assert in_file()[SUCCESS, "group", "nowhere"] == 0


def test_a_file_is_replaced_as_a_whole_even_if_it_has_no_metrics() -> None:
    Path("es.prom").write_text("es_simhash{ no metric\n" * 10_000, encoding="utf-8")
    run(*LOAD, *FILE)
    assert in_file()[DOCUMENTS, "load", "news", "written"] == 60
    assert [path.name for path in Path.cwd().iterdir() if "prom" in path.name] == ["es.prom"]


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_done() -> None:
    done = run(*LOAD, "--metrics-file", "nowhere/es.prom", code=2)
    assert "nowhere/es.prom: No such file" in done.err
    assert not Path(".es-simhash").exists() or run("info", "news", code=4)


def test_a_run_goes_on_if_its_file_cannot_be_written_any_more() -> None:
    Path("there").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("es_simhash.cli.jobs.load.make_visible", _while_the_folder_goes)
        done = run(*LOAD, "--metrics-file", "there/es.prom")
    assert "The metrics are not written: there/es.prom: No such file or directory." in done.err
    assert "60 documents written" in done.out


def _while_the_folder_goes(index: Index, output: Output) -> None:
    Path("there/es.prom").unlink()
    Path("there").rmdir()
    index.refresh()


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run(*LOAD, "--metrics-port", str(port), code=2)
    assert f"Metrics cannot be shown on port {port} of 127.0.0.1: Address already in use. Choose another" in done.err


@contextmanager
def loading(*more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that waits for documents on standard input, and the URL of its metrics."""
    with subprocess.Popen(
        [sys.executable, "-m", "es_simhash", "load", "news", "-", "--field", "body", "--format", "jsonl", *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment({}),
    ) as process:
        assert process.stderr
        try:
            [url] = re.findall(r"Metrics are on (http://\S+:\d+/metrics)\.", process.stderr.readline())
            yield process, url
        finally:
            process.kill()


def scraped(url: str) -> dict[tuple[str, ...], float]:
    with urlopen(url, timeout=30) as reply:
        text = reply.read()
    assert promtool.of_metrics(text) == ""
    return read(text.decode())


def test_prometheus_reads_a_run_that_is_under_way() -> None:
    with loading("--metrics-port", "0") as (process, url):
        found = scraped(url)
        assert found["es_simhash_run_exit_code", "load", "news"] == -1
        assert found["es_simhash_run_end_timestamp_seconds", "load", "news"] == 0
        out, _ = process.communicate("".join(LINES), timeout=120)
    assert "60 documents written" in out
    with pytest.raises(OSError, match="refused"):
        urlopen(url, timeout=5)


@pytest.mark.parametrize(("given", "host"), [("0", "127.0.0.1"), ("127.0.0.2:0", "127.0.0.2"), ("[::1]:0", "[::1]")])
def test_metrics_are_at_the_address_that_stands_before_the_port(given: str, host: str) -> None:
    with loading("--metrics-port", given) as (_, url):
        assert url.startswith(f"http://{host}:")
        assert is_under_way(url)


def test_metrics_at_all_addresses_reach_other_machines() -> None:
    with loading("--metrics-port", "0.0.0.0:0") as (_, url):
        # Another address of this machine, as other machines would use.
        assert is_under_way(url.replace("0.0.0.0", "127.0.0.3"))


def is_under_way(url: str) -> bool:
    with urlopen(url, timeout=30) as reply:
        return read(reply.read().decode())["es_simhash_run_exit_code", "load", "news"] == -1


@pytest.mark.parametrize("wrong", ["", "x", "65536", "-1", "host:9464", "::1", "1.2.3:80", "127.0.0.1:"])
def test_what_is_not_a_port_is_refused(wrong: str) -> None:
    done = run(*LOAD, f"--metrics-port={wrong}", code=2)
    assert f"{wrong!r} is not a port. Write, say, 9464, or 0.0.0.0:9464" in done.err


def test_an_interrupted_run_writes_its_file() -> None:
    with loading("--metrics-port", "0", *FILE) as (process, url):
        assert scraped(url)["es_simhash_run_exit_code", "load", "news"] == -1
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 130
    assert in_file()["es_simhash_run_exit_code", "load", "news"] == 130
