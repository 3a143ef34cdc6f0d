"""Standard streams that are closed or end too early, and interruptions while modules are loaded: never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from tests.support.commands import environment

_LIMIT_SECONDS = 60
_DEDUP = "dedup news.jsonl --field body"
# With how many modules each loads at least.
_COMMANDS = {"--help": 40, "info": 40, "explain --text hello": 120, _DEDUP: 200, "find news --text hello": 150}
# What interrupts a process as it begins to load the module of that number, from when the command line has begun.
_INTERRUPTING = """
import os, signal, sys

begun, left = False, int(os.environ["INTERRUPT_AT"])

def interrupt(event, arguments):
    global begun, left
    if event == "import":
        begun = begun or arguments[0] == "es_simhash.cli.program"
        left -= begun
        if begun and left == 0:
            os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(interrupt)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    letters = str.maketrans("0123456789", "ghijklmnop")
    bodies = (sha256(bytes([i // 512, i // 2 % 256])).hexdigest().translate(letters) for i in range(3_000))
    lines = [f'{{"id": "{i}", "body": "{body}"}}\n' for i, body in enumerate(bodies)]
    (tmp_path / "news.jsonl").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def in_shell(line: str, folder: Path) -> tuple[int, str, str]:
    """How a line of a shell ends, and what it shows; ``es-simhash`` in it is ours."""
    command = line.replace("es-simhash", f"{sys.executable} -m es_simhash")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=environment({}),
        capture_output=True,
        encoding="utf-8",
        timeout=_LIMIT_SECONDS,
        check=False,
    )
    assert "Traceback" not in done.stderr + done.stdout, done.stderr + done.stdout
    assert "Exception ignored" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", ["info", _DEDUP])
def test_nothing_is_done_where_standard_output_is_closed(command: str, folder: Path) -> None:
    code, _, said = in_shell(f"es-simhash {command} --report page.html >&-", folder)
    assert (code, said) == (
        2,
        "Error: Standard output is closed: nothing can be printed. Open it, or send it to /dev/null.\n",
    )
    assert [each.name for each in folder.iterdir()] == ["news.jsonl"]


def test_what_reads_standard_input_says_that_it_is_closed(folder: Path) -> None:
    for command in ("dedup - --field body", "explain --file -", "load news - --field body", "find news --file -"):
        code, shown, said = in_shell(f"es-simhash {command} <&-", folder)
        assert (code, shown) == (2, "")
        assert "Error: Standard input: It is closed. Open it, or name a file." in said


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_a_command_does_without_the_streams_that_it_does_not_need(closed: str, folder: Path) -> None:
    code, shown, said = in_shell(f"es-simhash {_DEDUP} {closed}", folder)
    assert code == 0
    assert shown.count("\n") == 1_500
    assert ("1,500 groups" in said) == ("2>" not in closed)


def test_files_do_not_get_the_number_of_a_closed_stream(folder: Path) -> None:
    assert in_shell(f"es-simhash {_DEDUP} --output groups <&- 2>&-", folder) == (0, "", "")
    assert (folder / "groups").read_text(encoding="utf-8").count("\n") == 1_500


def test_a_command_that_can_show_and_say_nothing_still_ends_with_its_code(folder: Path) -> None:
    assert in_shell(f"es-simhash {_DEDUP} <&- >&- 2>&-", folder) == (2, "", "")
    assert in_shell("es-simhash find 2>&-", folder) == (2, "", "")


@pytest.mark.parametrize("lines", [1, 2, 700])
@pytest.mark.parametrize("command", ["--help", "info", "explain --text hello", _DEDUP, f"{_DEDUP} --json"])
def test_a_reader_that_has_seen_enough_is_not_an_error(command: str, lines: int, folder: Path) -> None:
    code, shown, _ = in_shell(f"es-simhash {command} | head -{lines}", folder)
    assert code == 0
    assert 0 < shown.count("\n") <= lines


def test_work_goes_on_where_nobody_reads_standard_error_any_more(folder: Path) -> None:
    code, _, _ = in_shell("{ es-simhash load news news.jsonl --field body 2>&1 >/dev/null; } | head -0", folder)
    assert code == 0
    assert in_shell("es-simhash info news --json", folder)[1].count('"fingerprinted": 3000') == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device here that is always full")
def test_what_cannot_be_shown_is_an_error(folder: Path) -> None:
    for command in ("info", _DEDUP):
        code, _, said = in_shell(f"es-simhash {command} >/dev/full", folder)
        assert code == 2
        assert "No space left on device. Make room" in said


def test_the_code_of_an_interruption_is_the_same_wherever_it_came(tmp_path: Path) -> None:
    """Also in what the standard library executes from a text, as it does to make a dataclass."""
    (tmp_path / "sitecustomize.py").write_text(
        "from es_simhash.cli import program\n"
        "program._Commands.get_command = lambda *_: exec('raise KeyboardInterrupt')\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "es_simhash", "info"],
        env=environment({"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr.strip()) == (130, "Interrupted. Nothing was changed.")


@pytest.mark.parametrize("command", _COMMANDS)
def test_an_interruption_while_modules_are_loaded_ends_the_process_at_once(
    command: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    (folder / "sitecustomize.py").write_text(_INTERRUPTING, encoding="utf-8")
    chance = Random(command)
    for _ in range(20 if request.config.getoption("--soak") else 4):
        path = os.pathsep.join([str(folder), *sys.path])
        done = subprocess.run(
            [sys.executable, "-m", "es_simhash", *command.split()],
            cwd=folder,
            env=environment({"PYTHONPATH": path, "INTERRUPT_AT": str(chance.randint(1, _COMMANDS[command]))}),
            capture_output=True,
            encoding="utf-8",
            timeout=_LIMIT_SECONDS,
            check=False,
        )
        assert (done.returncode, done.stdout) == (130, ""), done.stderr
        assert done.stderr.strip().splitlines()[-1:] in ([], ["Interrupted. Nothing was changed."])
        assert "Traceback" not in done.stderr
