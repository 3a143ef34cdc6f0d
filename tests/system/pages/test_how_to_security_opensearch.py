"""The rights that docs/how-to/security.md names for OpenSearch: a command's are enough, and it needs each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from pathlib import Path

import pytest

from es_simhash.index import Index
from tests.support.commands import Run, run
from tests.support.secured import PASSWORD, add_user, engine_of, grant
from tests.system.pages.test_how_to_security import COPY, INDEX, LINES, PAGE, STORM, Rights, first_of_rows, rights
from tools.nodes import Node

USER = "page"
# How a server without Painless refuses what it would store, once it has let the login store things.
NO_SCRIPTS = r"unsupported lang|script_lang not supported|No processor type exists"
# What these can do without until a request of their own asks for it.
LATER = {
    ("mcp", "read"),
    ("mcp", "maintenance"),
    ("mcp --allow-write", "read"),
    ("mcp --allow-write", "maintenance"),
    ("mcp --allow-write", "write"),
}
# Unlike what other documents have, which numbers alone would not be.
_LETTERS = str.maketrans("0123456789", "ghijklmnop")
_numbers = count()


def translations() -> dict[str, tuple[list[str], list[str]]]:
    """The actions on an index, and those of the cluster, that make a right of Elasticsearch."""
    table = PAGE.split("<!-- names -->")[1].split("<!-- end of names -->", maxsplit=1)[0]
    rows = [line.strip()[1:-1].split("|") for line in table.strip().splitlines()[2:]]
    return {right.replace("`", "").strip(): (actions(own), actions(cluster)) for right, own, cluster in rows}


def actions(cell: str) -> list[str]:
    return re.findall(r"`([\w:/*]+)`", cell)


def wanted(given: Rights) -> Rights:
    """The same rights, where one of the cluster is not called as one of an index."""
    ambiguous = {"monitor", "manage"}
    return given._replace(cluster=[f"{each} of the cluster" if each in ambiguous else each for each in given.cluster])


COMMANDS = [wanted(given) for given in rights()]
FIRST_OF_ROWS = first_of_rows(COMMANDS)
LESS = [
    pytest.param(
        given,
        right,
        id=f"{given.command}-{right}",
        marks=() if given in FIRST_OF_ROWS else pytest.mark.nightly,
    )
    for given in COMMANDS
    for right in [*given.own, *given.cluster]
    if (given.command, right) not in LATER
]


@contextmanager
def indexed(secured_node: Node) -> Iterator[Node]:
    """Yield the node with an index of two grouped documents."""
    secured_node.request("PUT", f"/{INDEX}", {"settings": {"number_of_replicas": 0}})
    with engine_of(secured_node) as engine, Index(INDEX, engine, fields=["body"]) as index:
        index.init()
        index.add([{"_id": "1", "body": STORM}, {"_id": "2", "body": f"{STORM} (AP)"}], refresh=True)
        with index.group() as grouped:
            index.write_groups(grouped)
    yield secured_node
    secured_node.request("DELETE", f"/{INDEX}")


@pytest.fixture(scope="module")
def node(secured_node: Node) -> Iterator[Node]:
    """Yield a node with an index, and a user who may do nothing yet."""
    add_user(secured_node, USER)
    with indexed(secured_node):
        yield secured_node


@pytest.mark.parametrize("given", COMMANDS, ids=lambda given: given.command)
def test_the_rights_of_the_page_are_enough(node: Node, given: Rights, tmp_path: Path) -> None:
    done = tried(node, given, tmp_path)
    assert done.code == 0 or re.search(NO_SCRIPTS, done.err), done.out + done.err
    assert '"unknown"' not in done.out


@pytest.mark.parametrize(("given", "right"), LESS)
def test_a_right_that_is_missing_is_named(node: Node, given: Rights, right: str, tmp_path: Path) -> None:
    kept = given._replace(
        own=[each for each in given.own if each != right], cluster=[each for each in given.cluster if each != right]
    )
    done = tried(node, kept, tmp_path)
    # A gate goes on, and says of each document what became of it.
    assert done.code in ({0, 4} if given.command.startswith("gate") else {1, 4}), done.out + done.err
    named_actions = re.findall(r"no permissions for \[([^]]+)\]", done.out + done.err)
    assert named_actions or "--distribution" in done.err, done.out + done.err
    assert "is not JSON" not in done.out + done.err


def tried(node: Node, given: Rights, folder: Path) -> Run:
    """Run a command by a user with these rights; on documents that make it use them all."""
    names, number = translations(), next(_numbers)
    indices = [
        {"index_patterns": [pattern], "allowed_actions": [action for right in held for action in names[right][0]]}
        for pattern, held in ((INDEX, given.own), (f"{COPY}*", given.copied))
        if held
    ]
    everything = [*given.own, *given.copied, *given.cluster]
    grant(node, USER, *indices, cluster=[action for right in everything for action in names[right][1]])
    prepare(node, given.command)
    letters = sha256(str(number).encode()).hexdigest().translate(_LETTERS)
    document = f'{{"_id": "new-{number}", "body": "The ship {letters} came home."}}\n'
    (folder / "new.jsonl").write_text(document, encoding="utf-8")
    # What adds fields does so under a prefix that is not there yet.
    line = re.sub("--prefix (?!gone)", f"--prefix p{number}", LINES[given.command])
    login = ("--url", node.url, "--user", USER, "--ca-certs", str(node.ca_certs))
    variables = {"ES_SIMHASH_PASSWORD": PASSWORD, "XDG_STATE_HOME": str(folder)}
    done = run(*line.split(), *login, cwd=folder, stdin=document, code=None, **variables)
    if given.copied:
        node.request("DELETE", f"/{COPY}")
    return done


def prepare(node: Node, command: str) -> None:
    """Add what a command is to find."""
    if command == "remove":
        with engine_of(node) as engine, Index(INDEX, engine, fields=["body"], prefix="gone") as index:
            index.init()
            index.add([{"_id": "4", "body": "A text with other fields."}], refresh=True)
    elif command == "group --write":
        with engine_of(node) as engine, Index(INDEX, engine) as index:
            index.add([{"_id": f"copy-{next(_numbers)}", "body": STORM}], refresh=True)
    elif re.match("erase|backfill|doctor", command):
        node.request("PUT", f"/{INDEX}/_doc/3?refresh=true", {"body": "A new bridge over the river was opened."})
