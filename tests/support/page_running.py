"""Running a page of the documentation, from its first block to its last, as its reader would."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from es_simhash.cli import process
from tests import ROOT
from tests.support.cli_lines import alone
from tests.support.documentation import Block, Command, Page, commands, requests
from tests.support.page_files import content
from tools.nodes import Node
from tools.nodes.web import Reply

# What requests are for, that not every server understands. The Elasticsearch of the tests has no Mustache.
_UNDERSTOOD = {"elasticsearch": {"elasticsearch"}, "opensearch": {"opensearch", "mustache"}}
_SETTING_VARIABLES = ("ES_SIMHASH_", "ELASTICSEARCH_", "OPENSEARCH_")

# The sessions of lines that began something in the background.
_IN_BACKGROUND: list[int] = []


def run_page(page: Page, folder: Path, node: Node | None = None) -> dict[str, Any]:
    """Run all blocks of a page; the result are the names that its Python made.

    Without a node it runs on the embedded engine, in a directory of its own.
    """
    names: dict[str, Any] = {"__name__": "page"}
    with _at_a_desk(folder, node), _alone(), _clean(page, node):
        for name in page.settings("files"):
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_bytes(content(name))
        for block in page.blocks:
            if block.title and not block.not_run:
                Path(block.title).parent.mkdir(parents=True, exist_ok=True)
                Path(block.title).write_text(block.text, encoding="utf-8")
            elif not block.not_run:
                _run(block, page, names, node)
    return names


def _run(block: Block, page: Page, names: dict[str, Any], node: Node | None) -> None:
    if block.kind == "python":
        out = io.StringIO()
        with redirect_stdout(out):
            # Lines are counted as in the page, for tracebacks.
            exec(compile("\n" * block.line + block.text, str(page.path), "exec", dont_inherit=True), names)
        _compare(out.getvalue(), block.output)
    elif block.kind in ("console", "cron"):
        _compare("".join(_shell(command) for command in commands(block)), block.output)
    elif block.kind == "http":
        assert node, f"{page.path.name} has requests, and so runs on servers. Say so in it: <!-- runs on: servers -->"
        if block.only is None or block.only in _UNDERSTOOD[node.release.engine]:
            _request(block, node)


def _shell(command: Command) -> str:
    """Run a line; what it printed, both outputs in the order in which a terminal shows them."""
    exported = re.match(r"export (\w+)=(.*)", command.line)
    if exported:
        name, value = exported[1], shlex.split(exported[2], comments=True)
        if name != "ES_SIMHASH_URL":  # The reader's server, in whose place stands the node.
            os.environ[name] = value[0]
        return ""
    arguments = alone(command.line)
    code, printed = _bash(command.line) if arguments is None else _ours(arguments)
    assert code == command.code, f"$ {command.line}\n{printed}"
    assert "Traceback" not in printed, f"$ {command.line}\n{printed}"
    assert shows(printed, command.shown), f"$ {command.line}\n{printed}\n--- in the page:\n{command.shown}"
    return printed


def _bash(line: str) -> tuple[int, str]:
    shell = subprocess.Popen(
        ["bash", "-c", line],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )
    if "& " in line:
        _IN_BACKGROUND.append(shell.pid)
    printed, _ = shell.communicate(timeout=300)
    return shell.returncode, printed


def _ours(arguments: list[str]) -> tuple[int, str]:
    """Run a command in this process, which has already loaded what another would load for a second."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        code = process.run(arguments)
    return code, printed.getvalue()


def _request(block: Block, node: Node) -> None:
    """Send the requests of a block; the last reply is compared with what is shown."""
    reply = Reply(0, "")
    for each in requests(block):
        reply = node.request(each.method, each.path, each.body)
        assert reply.status < 300, (each, reply)
    if block.output and block.output.kind == "json":
        assert holds(reply.body, json.loads(block.output.text)), (block.output.text, reply.body)
    else:
        _compare(str(reply.body), block.output)


def _compare(printed: str, shown: Block | None) -> None:
    if shown:
        assert shows(printed, shown.text), f"{printed}\n--- in the page, line {shown.line}:\n{shown.text}"


def shows(printed: str, page: str) -> bool:
    """Whether what a page shows is in what was printed: all lines, in order; ``…`` stands for anything.

    Pages align columns, which are separated by tabs in what was printed.
    """
    lines = iter([" ".join(line.split()) for line in printed.splitlines()])
    for shown in filter(None, (" ".join(line.split()) for line in page.splitlines())):
        pattern = re.compile(re.escape(shown).replace("…", ".*"))
        if shown != "…" and not any(pattern.fullmatch(line) for line in lines):
            return False
    return True


def holds(reply: Any, expected: Any) -> bool:
    """Whether all that is expected is in a reply: of objects some parts, of lists all, in order; … is anything."""
    if isinstance(expected, dict):
        return isinstance(reply, dict) and all(
            name in reply and holds(reply[name], expected[name]) for name in expected
        )
    if isinstance(expected, list):
        return isinstance(reply, list) and len(reply) == len(expected) and all(map(holds, reply, expected))
    return bool(expected in ("…", reply))


@contextmanager
def _at_a_desk(folder: Path, node: Node | None) -> Iterator[None]:
    """In an empty directory, with the command installed, no settings but the node's, and a terminal of 100 columns."""
    work, home, programs, temporary = (folder / name for name in ("work", "home", "bin", "temporary"))
    for each in (work, home, programs, temporary):
        each.mkdir()
    program = programs / "es-simhash"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m es_simhash "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    own = {
        "PATH": os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "COLUMNS": "100",
        "XDG_CONFIG_HOME": str(home),
        "XDG_STATE_HOME": str(home),
    }
    others = {name: value for name, value in os.environ.items() if not name.startswith(_SETTING_VARIABLES)}
    target = {"ES_SIMHASH_URL": node.url} if node else {}
    with patch.dict(os.environ, {**others, **own, **target}, clear=True), pytest.MonkeyPatch.context() as here:
        here.chdir(work)
        # Pages leave there what a reader's system removes some day.
        here.setattr(tempfile, "tempdir", str(temporary))
        yield


@contextmanager
def _clean(page: Page, node: Node | None) -> Iterator[None]:
    """Without what the page makes on a node, before and after."""
    _remove(page, node)
    try:
        yield
    finally:
        _remove(page, node)


@contextmanager
def _alone() -> Iterator[None]:
    """Within it, lines may begin something in the background; whatever still runs in the end is killed."""
    try:
        yield
    finally:
        while _IN_BACKGROUND:
            with suppress(ProcessLookupError):
                os.killpg(_IN_BACKGROUND.pop(), signal.SIGKILL)


def _remove(page: Page, node: Node | None) -> None:
    for path in (*(f"/{index}" for index in page.settings("indices")), *page.settings("removed")):
        if node:
            node.request("DELETE", path)
