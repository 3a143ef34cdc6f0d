"""What the command shows on a terminal, and what an interruption leaves."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import IO, TypeAlias

import pytest

from tests.support.corpus import corpus

_LIMIT_SECONDS = 60


@dataclass
class Terminal:
    """A command whose standard output and error are a terminal."""

    process: subprocess.Popen[bytes]
    screen: int
    shown: str = field(default="")

    def await_text(self, pattern: str) -> str:
        """Read until the screen shows the pattern; at the end of the command, what it showed."""
        deadline = time.monotonic() + _LIMIT_SECONDS
        while not re.search(pattern, self.shown):
            assert time.monotonic() < deadline, self.shown
            if select.select([self.screen], [], [], 1)[0]:
                try:
                    self.shown += os.read(self.screen, 1 << 16).decode(errors="replace")
                except OSError:  # what Linux gives at the end
                    break
        return self.shown

    def ended(self) -> int:
        """The exit code, once everything was read."""
        self.await_text(r"(?!)")
        return self.process.wait(_LIMIT_SECONDS)


Start: TypeAlias = Callable[..., Terminal]


@pytest.fixture
def terminals(tmp_path: Path) -> Iterator[Start]:
    opened: list[Terminal] = []

    def start(*arguments: str, **environment: str) -> Terminal:
        ours, theirs = pty.openpty()
        kept = {name: value for name, value in os.environ.items() if not name.endswith("_URL") and name != "NO_COLOR"}
        process = subprocess.Popen(
            [sys.executable, "-m", "es_simhash", *arguments],
            stdin=subprocess.PIPE,
            stdout=theirs,
            stderr=theirs,
            cwd=tmp_path,
            env=kept
            | {"TERM": "xterm-256color", "COLUMNS": "120", "XDG_STATE_HOME": str(tmp_path / "state"), **environment},
        )
        os.close(theirs)
        opened.append(Terminal(process, ours))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.process.kill()
        terminal.process.wait()
        assert terminal.process.stdin
        # What a command has not read before its end cannot be written any more.
        with suppress(BrokenPipeError):
            terminal.process.stdin.close()
        os.close(terminal.screen)


def lines(count: int) -> bytes:
    return b"".join(json.dumps({"id": str(i), **each}).encode() + b"\n" for i, each in enumerate(corpus(count)))


def test_a_terminal_shows_progress_and_tables_in_colour(terminals: Start, tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_bytes(lines(600) + lines(2))
    load = terminals("load", "news", "news.jsonl", "--field", "title", "--field", "body")
    assert load.ended() == 0, load.shown
    assert re.search(r"Loading .*6\d\d documents", load.shown)
    assert "\x1b[" in load.shown
    find = terminals("find", "news", "--text", corpus(1)[0]["body"], "--similarity", "0.3")
    assert find.ended() == 0
    assert "┃" in find.shown or "│" in find.shown


def test_a_terminal_shows_each_stage_of_a_deduplication(terminals: Start, tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_bytes(lines(300) + lines(300))
    dedup = terminals("dedup", "news.jsonl", "--field", "body", "--output", "groups.jsonl")
    assert dedup.ended() == 0, dedup.shown
    for stage in ("Reading", "Finding equal texts", "Sorting keys", "Comparing", "Linking", "Reading groups"):
        assert re.search(rf"{stage} .*\d+ \w+, [\d,]+/s", dedup.shown), stage


def test_no_color_is_honoured(terminals: Start) -> None:
    plain = terminals("info", NO_COLOR="1")
    assert plain.ended() == 0
    assert "default" in plain.shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", plain.shown)


def test_an_interruption_leaves_what_was_written_and_says_so(terminals: Start, tmp_path: Path) -> None:
    load = terminals("load", "news", "-", "--field", "title", "--field", "body")
    assert load.process.stdin
    load.process.stdin.write(lines(700))
    load.process.stdin.flush()
    load.await_text(r"500 documents")
    load.process.send_signal(signal.SIGINT)
    assert load.ended() == 130, load.shown
    assert "Interrupted. 500 documents written to news, and possibly a few more." in load.shown
    assert "Run the command again for the rest: documents with the same ids are replaced." in load.shown
    assert "Traceback" not in load.shown
    info = subprocess.run(
        [sys.executable, "-m", "es_simhash", "info", "news", "--json"],
        capture_output=True,
        cwd=tmp_path,
        check=True,
    )
    assert json.loads(info.stdout)["fingerprinted"] == 500


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_dedup_leaves_no_files(terminals: Start, tmp_path: Path, number: int) -> None:
    (tmp_path / "groups").write_text("of before")
    dedup = terminals("dedup", "-", "--field", "body", "-o", "groups")
    assert dedup.process.stdin
    dedup.process.stdin.write(lines(700))
    dedup.process.stdin.flush()
    dedup.await_text(r"Reading")
    dedup.process.send_signal(number)
    assert dedup.ended() == 130, dedup.shown
    assert "Interrupted. No output files were written. To resume interrupted runs, add --state" in dedup.shown
    assert "Traceback" not in dedup.shown
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("groups", "of before")]


def fill(pipe: IO[bytes], content: bytes) -> None:
    """Write to a command that may end before it has read everything."""
    with suppress(BrokenPipeError):
        pipe.write(content)


def test_an_interrupted_check_changes_nothing(terminals: Start, tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_bytes(lines(10))
    assert terminals("load", "news", "news.jsonl", "--field", "body").ended() == 0
    check = terminals("check", "news", "-", "--json")
    assert check.process.stdin
    # The terminal is read in the meantime, or the command could not go on reading.
    Thread(target=fill, args=(check.process.stdin, lines(150)), daemon=True).start()
    check.await_text('"id": "99"')
    check.process.send_signal(signal.SIGINT)
    assert check.ended() == 130, check.shown
    assert "Interrupted. 100 documents were checked. Nothing was written to news." in check.shown


@pytest.fixture
def unfinished(terminals: Start, tmp_path: Path) -> Path:
    """An index without a single fingerprint of its titles."""
    (tmp_path / "news.jsonl").write_bytes(lines(700))
    assert terminals("load", "news", "news.jsonl", "--field", "body").ended() == 0
    return tmp_path


TITLES = ("--field", "title", "--prefix", "titles")


def test_a_backfill_shows_how_far_it_is(terminals: Start, unfinished: Path) -> None:
    backfill = terminals("backfill", "news", *TITLES)
    assert backfill.ended() == 0, backfill.shown
    assert re.search(r"Backfilling .*━.*700 documents, [\d,]+/s, \d+\.\d MB/s", backfill.shown)
    assert "news: 700 documents fingerprinted." in backfill.shown


def test_an_interrupted_backfill_says_what_was_done_and_is_gone_on_with(terminals: Start, unfinished: Path) -> None:
    # The first page is small, and the second waits for seconds.
    backfill = terminals("backfill", "news", *TITLES, "--max-rate", "1")
    backfill.await_text(r"[1-9]\d* documents,")
    backfill.process.send_signal(signal.SIGINT)
    assert backfill.ended() == 130, backfill.shown
    said = r"Interrupted. (\d+) documents of news fingerprinted. Run the command again"
    [done] = map(int, re.findall(said, backfill.shown))
    assert 0 < done < 700
    assert "Traceback" not in backfill.shown
    rest = terminals("backfill", "news", *TITLES)
    assert rest.ended() == 0, rest.shown
    assert f"news: {700 - done} documents fingerprinted." in rest.shown
    assert f"Run 2: {done} documents fingerprinted earlier" in rest.shown


def test_a_terminal_shows_a_table_of_groups_and_a_pipe_gets_json(tmp_path: Path, terminals: Start) -> None:
    documents = [{"id": each, **corpus(1)[0]} for each in "ab"]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")
    terminal = terminals("dedup", "news.jsonl")
    assert terminal.ended() == 0
    assert "lowest similarity" in terminal.shown
    assert '{"group"' not in terminal.shown


def test_a_terminal_shows_the_fields_of_members(tmp_path: Path, terminals: Start) -> None:
    rows = ({"id": str(number), "body": corpus(1)[0]["body"], "title": f"Title {number}"} for number in range(30))
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    terminal = terminals("dedup", "news.jsonl", "--field", "body", "--source", "title", COLUMNS="120")
    assert terminal.ended() == 0
    assert "Title 19" in terminal.shown
    assert "Title 20" not in terminal.shown
    assert "--output FILE writes all members." in terminal.shown
