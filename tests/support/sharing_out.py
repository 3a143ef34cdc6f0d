"""Distribution of tests among processes: those on one kind of server go to one process, so that it starts once."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.support.by_turns import SERVERS

_SERVERS = re.compile("(elasticsearch|opensearch)(?! client)", re.IGNORECASE)


class ByServer(LoadScopeScheduling):  # type: ignore[misc]
    """A scheduler that keeps tests on a kind of server together, and the others of each file."""

    def _split_scope(self, nodeid: str) -> str:
        return belongs_to(self.config.rootpath, nodeid)


def belongs_to(root: Path, test: str) -> str:
    """Return the kind of server that a test is on, by its name or else its fixtures; without one, its file."""
    file, _, name = test.partition("::")
    if _names("secured_node", root / file):
        return "opensearch with logins"
    if _names("guarded_node", root / file) and "opensearch_node" not in name:
        return "elasticsearch"  # whose node with logins it is, whatever client a test names
    servers = _SERVERS.findall(name) or _nodes_of(root / file, name.partition("[")[0])
    return servers[-1].lower() if servers else file


def _nodes_of(path: Path, test: str) -> list[str]:
    """Return the servers whose nodes a test asks for, by itself or through fixtures of its file."""
    arguments, asked, found = _arguments(path), [test], set[str]()
    while asked:
        new = arguments.get(asked.pop(), set()) - found
        found |= new
        asked += new
    return [server for server in SERVERS if f"{server}_node" in found]


@cache
def _arguments(path: Path) -> dict[str, set[str]]:
    """Return the names of the arguments of each function in a file, without those of methods."""
    functions = (each for each in ast.parse(path.read_bytes()).body if isinstance(each, ast.FunctionDef))
    return {each.name: {argument.arg for argument in each.args.args} for each in functions}


@cache
def _names(fixture: str, path: Path) -> bool:
    return fixture in path.read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByServer:
    """Use it whatever ``--dist`` says."""
    return ByServer(config, log)
