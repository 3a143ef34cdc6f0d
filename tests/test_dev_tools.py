"""What docs/dev-tools.md has people paste works as it stands there, on both servers."""

from __future__ import annotations

import json
import re
import shlex
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from es_simhash.scripts.stored import stored
from es_simhash.settings import Settings
from tests.nodes import Node
from tests.test_cli_commands import run

PAGE = (Path(__file__).parents[1] / "docs" / "dev-tools.md").read_text(encoding="utf-8")
INDEX = "articles"


class Block(NamedTuple):
    """A fenced block: what stands behind the fence, as words, and what is in it."""

    kind: str
    only: str
    text: str


def blocks() -> list[Block]:
    found = re.findall(r"^```(\w+) ?(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return [Block(*each) for each in found]


# Which blocks a server of the tests understands; their Elasticsearch has no Mustache.
UNDERSTOOD = {"elasticsearch": ("", "elasticsearch"), "opensearch": ("", "opensearch", "mustache")}


def has(reply: Any, expected: Any) -> bool:
    """Whether all that is expected is in a reply: of objects some parts, of lists all, in order."""
    if isinstance(expected, dict):
        return isinstance(reply, dict) and all(name in reply and has(reply[name], expected[name]) for name in expected)
    if isinstance(expected, list):
        return isinstance(reply, list) and len(reply) == len(expected) and all(map(has, reply, expected))
    return bool(reply == expected)


@pytest.fixture(params=UNDERSTOOD)
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node


@pytest.fixture
def index(node: Node, tmp_path: Path) -> Iterator[str]:
    """A name in place of the page's; index and scripts are removed in the end, also those of a page that failed."""
    name = f"{INDEX}-{uuid.uuid4().hex[:10]}"
    yield name
    for each in stored(Settings()):
        node.request("DELETE", each.path)
    node.request("DELETE", f"/{name}")


def test_the_page_works_from_its_beginning_to_its_end(node: Node, index: str, tmp_path: Path) -> None:
    reply: Any = None
    checked = 0
    for kind, only, text in blocks():
        is_understood = only in UNDERSTOOD[node.release.engine]
        if kind == "jsonl":
            (tmp_path / f"{INDEX}.jsonl").write_text(text, encoding="utf-8")
        elif kind == "console":
            for line in text.splitlines():
                program, *arguments = shlex.split(line.removeprefix("$ "))
                assert program == "es-simhash"
                run(*(index if each == INDEX else each for each in arguments), cwd=tmp_path, ES_SIMHASH_URL=node.url)
        elif kind == "http":
            first, _, body = text.partition("\n")
            method, path = first.split()
            place = "/" + re.sub(rf"^{INDEX}/", f"{index}/", path)
            reply = node.request(method, place, json.loads(body) if body else None) if is_understood else None
            assert reply is None or reply.status == 200, (first, reply.body)
        elif reply is not None:
            assert kind == "json"
            assert has(reply.body, json.loads(text)), (text, reply.body)
            checked += 1
    assert checked == sum(kind == "http" and only in UNDERSTOOD[node.release.engine] for kind, only, _ in blocks())


def test_every_request_is_followed_by_what_comes_back() -> None:
    kinds = [block.kind for block in blocks() if block.kind in ("http", "json")]
    assert len(kinds) >= 20
    assert kinds == ["http", "json"] * (len(kinds) // 2)


def part(name: str) -> str:
    return PAGE.split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->", maxsplit=1)[0]


def test_the_page_names_every_script_and_its_parameters() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \|[^|]*\| (.*) \|$", part("scripts"), re.MULTILINE)
    assert [name for name, _ in rows] == [each.name for each in stored(Settings())]
    for each, (_, parameters) in zip(stored(Settings()), rows, strict=True):
        assert tuple(re.findall(r"`(\w+)`", parameters)) == (*each.parameters, *each.optional)


def test_the_expected_numbers_of_shared_bands_are_those_of_the_scheme() -> None:
    minhash = Settings().minhash
    assert minhash
    [similarities, _, shared] = (line.split("|")[2:-1] for line in part("shared").strip().splitlines())
    expected = [f"{minhash.bands * float(each) ** minhash.rows:.1f}" for each in similarities]
    assert [each.strip() for each in shared] == expected
