"""The privileges that docs/how-to/security.md names for each command are enough."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from es_simhash.cli.program import app
from es_simhash.engines.connect import connect
from es_simhash.index import Index
from tests import ROOT
from tests.support.commands import run, run_alone
from tests.support.nightly import rest_at_night
from tools.nodes import Node

PAGE = (ROOT / "docs" / "how-to" / "security.md").read_text(encoding="utf-8")
INDEX, COPY = "guarded-page", "guarded-page-copy"
STORM = "The storm has left many houses along the coast without power since Monday night."

# Each command on the index below; what adds fields does so under a prefix that is not there yet.
LINES = {
    "find --field": f"find {INDEX} --id 1 --field body --prefix none",
    "find": f"find {INDEX} --id 1",
    "search": f"search {INDEX} --query storm",
    "check": f"check {INDEX} new.jsonl",
    "check --write": f"check {INDEX} new.jsonl --new --write",
    "gate": f"gate {INDEX} --stdin --write --state gate",
    "gate --mode advise": f"gate {INDEX} --stdin --write --state gate --mode advise",
    "explain": f"explain {INDEX} 1 2",
    "info": f"info {INDEX}",
    "dashboard": f"dashboard {INDEX} --output dashboard.ndjson",
    "scripts": f"scripts {INDEX}",
    "scripts --pipeline": f"scripts --pipeline {INDEX}",
    "tune --histogram": f"tune --histogram {INDEX}",
    "group": f"group {INDEX}",
    # Its input ends at once; what its tools do is what other commands do.
    "mcp": f"mcp {INDEX}",
    "mcp --allow-write": f"mcp {INDEX} --allow-write",
    "erase": f"erase {INDEX} --id 3 --yes",
    "group --write": f"group {INDEX} --write --output groups.jsonl",
    "load": f"load {INDEX} new.jsonl",
    "backfill": f"backfill {INDEX}",
    "sync": f"sync {INDEX}",
    "init": f"init {INDEX} --field body --prefix one",
    "doctor": f"doctor {INDEX} --field body --prefix two",
    "backfill --field": f"backfill {INDEX} --field body --prefix three",
    "remove": f"remove {INDEX} --prefix gone --yes",
    "reindex": f"reindex {INDEX} {COPY} --field body",
    "reindex --alias": f"reindex {INDEX} {COPY} --field body --alias {COPY}-alias",
    "scripts --pipeline --install": f"scripts --pipeline {INDEX} --install",
    "scripts --pipeline --install --default": f"scripts --pipeline {INDEX} --install --default",
    "scripts --install": f"scripts {INDEX} --install",
}

READING = ("group", "group --write", "backfill", "remove", "reindex", "find", "check")

# What the privilege `write` is, but for changes of the mapping, which Elasticsearch 9 still lets it make.
WRITE = ["indices:data/write/*", "indices:admin/mapping/auto_put"]


class Rights(NamedTuple):
    """What a login has for a command: of the index, of the copy that is made of it, and of the cluster."""

    command: str
    own: list[str]
    copied: list[str]
    cluster: list[str]


def rights() -> list[Rights]:
    table = PAGE.split("<!-- rights -->")[1].split("<!-- end of rights -->", maxsplit=1)[0]
    rows = [line.strip("|").split("|") for line in table.strip().splitlines()[2:]]
    return [
        Rights(command, named(own), named(copy), ["monitor", *named(cluster)])
        for commands, privileges, cluster in rows
        for own, _, copy in [privileges.partition("; of the copy ")]
        for command in named(commands)
    ]


def first_of_rows(table: list[Rights]) -> list[Rights]:
    """Return the first of the commands that need the same rights."""
    return [*{str(given[1:]): given for given in reversed(table)}.values()]


def named(cell: str) -> list[str]:
    return re.findall(r"`([\w -]+)`", cell)


RIGHTS = rights()


@pytest.fixture(scope="module")
def node(guarded_node: Node) -> Iterator[Node]:
    """Yield a node with logins, and an index with two grouped documents and one without a fingerprint."""
    node = guarded_node
    login = base64.b64encode(f"elastic:{node.password}".encode()).decode()
    engine = connect(node.url, distribution="elasticsearch", headers={"authorization": f"Basic {login}"})
    node.request("PUT", f"/{INDEX}", {"settings": {"number_of_replicas": 0}})
    for prefix in ("dedup", "gone"):
        Index(INDEX, engine, fields=["body"], prefix=prefix).init()
    index = Index(INDEX, engine)
    index.add([{"_id": "1", "body": STORM}, {"_id": "2", "body": f"{STORM} (AP)"}], refresh=True)
    with index.group() as grouped:
        index.write_groups(grouped)
    node.request("PUT", f"/{INDEX}/_doc/3?refresh=true", {"body": "A new bridge over the river was opened."})
    yield node
    engine.close()
    node.request("DELETE", f"/{INDEX}")


@pytest.mark.parametrize("given", rest_at_night(RIGHTS, quick=first_of_rows(RIGHTS)), ids=lambda given: given.command)
def test_the_privileges_of_the_page_are_enough(
    node: Node, given: Rights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("new.jsonl").write_text('{"_id": "9", "body": "' + STORM + ' More later."}\n', encoding="utf-8")
    variables = {
        "ES_SIMHASH_URL": node.url,
        "ES_SIMHASH_API_KEY": api_key(node, given),
        "XDG_STATE_HOME": str(tmp_path),
    }
    line, document = LINES[given.command].split(), Path("new.jsonl").read_text(encoding="utf-8")
    done = CliRunner().invoke(app, line, input=document, env=variables, standalone_mode=False)
    node.request("DELETE", f"/{COPY}")
    assert done.exception is None, done.output
    assert not done.return_value, done.output


def test_no_copy_is_made_by_a_login_that_may_not_fill_it(node: Node, tmp_path: Path) -> None:
    of_copy = ["create_index", "view_index_metadata"]
    given = Rights("", ["read", "view_index_metadata", "maintenance", "monitor"], of_copy, ["monitor"])
    key = api_key(node, given)
    done = run(*LINES["reindex"].split(), cwd=tmp_path, code=4, ES_SIMHASH_URL=node.url, ES_SIMHASH_API_KEY=key)
    assert f"update documents (index, or write), refresh (maintenance, or manage) in the index '{COPY}'" in done.err
    assert node.request("GET", f"/{COPY}").status == 404


def test_every_command_that_needs_a_login_is_listed() -> None:
    assert sorted(given.command for given in RIGHTS) == sorted(LINES)


@pytest.mark.parametrize("command", rest_at_night(READING, quick=["backfill", "find"]))
def test_a_command_whose_login_may_not_read_ends_with_that_error(node: Node, command: str, tmp_path: Path) -> None:
    """In a process of its own, which would not end while a thread waited for the engine."""
    (tmp_path / "new.jsonl").write_text('{"_id": "9", "body": "' + STORM + '"}\n', encoding="utf-8")
    key = api_key(node, Rights(command, ["view_index_metadata", "maintenance", "monitor"], [], ["monitor"]))
    # Another test may have removed the fields that it is for.
    line = f"remove {INDEX} --yes" if command == "remove" else LINES[command]
    done = run_alone(*line.split(), cwd=tmp_path, code=4, ES_SIMHASH_URL=node.url, ES_SIMHASH_API_KEY=key)
    assert "privileges" in done.err


def api_key(node: Node, given: Rights) -> str:
    """Return an API key with these rights and no others."""
    own = [each for name in given.own for each in (WRITE if name == "write" and "manage" not in given.own else [name])]
    indices = [{"names": [INDEX], "privileges": own}]
    if given.copied:
        indices.append({"names": [COPY, f"{COPY}-alias"], "privileges": given.copied})
    role = {"only": {"cluster": given.cluster, "index": indices}}
    reply = node.request("POST", "/_security/api_key", {"name": "test", "role_descriptors": role})
    return str(reply.body["encoded"])
