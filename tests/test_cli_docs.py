"""What the documentation has people type works as it stands there."""

from __future__ import annotations

import ast
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from es_simhash.cli.profiles import SETTINGS
from es_simhash.testing.corpus import corpus, edited
from tests.nodes import Node

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
RUNBOOK = (ROOT / "docs" / "backfill.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def commands(page: str) -> list[str]:
    """The lines that are typed into a shell."""
    blocks = re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]


def part(name: str, page: str = PAGE) -> str:
    """A part of a page that is marked."""
    return page.split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->", maxsplit=1)[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where all files are that the pages name, and a command es-simhash."""
    texts = [{"id": str(i), "url": f"u{i}", **each} for i, each in enumerate(corpus(50))]
    texts.append({"id": "copy", "url": "c", **edited(corpus(50)[4])})
    lines = "".join(json.dumps(each) + "\n" for each in texts).encode()
    (tmp_path / "news.jsonl").write_bytes(lines)
    (tmp_path / "new.jsonl").write_bytes(lines)
    (tmp_path / "news.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "more.csv").write_text("id,title,body\nm1,Some title,Some body of a text\n", encoding="utf-8")
    (tmp_path / "more.csv.gz").write_bytes(gzip.compress((tmp_path / "more.csv").read_bytes()))
    program = tmp_path / "bin" / "es-simhash"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m es_simhash "$@"\n')
    program.chmod(0o755)
    return tmp_path


def shell(folder: Path, line: str, **more: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
    environment["PATH"] = f"{folder / 'bin'}{os.pathsep}{environment['PATH']}"
    environment |= {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "state"), **more}
    done = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def test_the_commands_of_the_readme_run_in_their_order(folder: Path) -> None:
    typed = [line for line in commands(README) if line.startswith("es-simhash ")]
    assert [line.split()[1] for line in typed] == ["demo", "load", "find", "dedup"]
    for line in typed:
        shell(folder, f"{line} --size 100" if line.endswith("demo") else line)
    assert (folder / "unique.jsonl").read_text(encoding="utf-8").count("\n") == 51


def test_the_commands_of_the_page_run_in_their_order(folder: Path) -> None:
    embedded = commands(PAGE.split("<!-- commands -->")[0])
    here = embedded[: next(i for i, line in enumerate(embedded) if line.startswith("export "))]
    assert len(here) == 4
    for line in here:
        shell(folder, line)


INDICES = ("articles", "articles-2")


@pytest.fixture
def articles(opensearch_node: Node) -> Iterator[Node]:
    """A server with the index of the runbook."""
    text = {"type": "text"}
    mappings = {"properties": {"title": text, "body": text, "published": {"type": "date"}, "number": {"type": "long"}}}
    settings = {"number_of_replicas": 0}
    ask = opensearch_node.request
    assert ask("PUT", "/articles", {"settings": settings, "mappings": mappings}).status == 200
    for number, each in enumerate(corpus(30)):
        document = {**each, "number": number, "published": f"2026-01-{number % 28 + 1:02}"}
        assert ask("PUT", f"/articles/_doc/{number}?refresh=true", document).status == 201
    yield opensearch_node
    for index in INDICES:
        ask("DELETE", f"/{index}")


def test_the_commands_of_the_runbook_run_in_their_order(folder: Path, articles: Node) -> None:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", RUNBOOK, re.MULTILINE | re.DOTALL)
    for kind, line in ((kind, line) for kind, block in blocks for line in block.splitlines()):
        if kind == "http":
            method, path, *body = line.split(maxsplit=2)
            assert articles.request(method, path, *map(json.loads, body)).status == 200, line
        elif not line.startswith("$ export "):
            typed = line.removeprefix("$ ") if kind == "console" else line.split(maxsplit=5)[5]
            shell(folder, typed, ES_SIMHASH_URL=articles.url)
    done = {index: articles.request("GET", f"/{index}/_count?q=dedup.status:ok").body["count"] for index in INDICES}
    assert done == dict.fromkeys(INDICES, 30)
    assert articles.request("GET", "/articles/_count?q=dedup2.status:ok").body["count"] == 0
    assert not [*folder.glob("rejected.jsonl"), *folder.glob("articles.jsonl")]


def test_the_runbook_quotes_what_is_said() -> None:
    modules = [path.read_text(encoding="utf-8") for path in (ROOT / "es_simhash").rglob("*.py")]
    nodes = [node for module in modules for node in ast.walk(ast.parse(module)) if isinstance(node, ast.Constant)]
    said = "\n".join(node.value for node in nodes if isinstance(node.value, str))
    quoted = re.findall(r"^\| `([^`]+)` \|", part("messages", RUNBOOK), re.MULTILINE)
    assert len(quoted) > 9
    assert [text for text in quoted if text not in said] == []


def test_the_installation_names_what_is_there() -> None:
    typed = " ".join(commands(README))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"make ([a-z-]+)", typed)) <= set(targets)
    extras = {name for group in re.findall(r"\[([a-z0-9,]+)\]", typed) for name in group.split(",")}
    assert extras <= set(PROJECT["project"]["optional-dependencies"])
    assert set(re.findall(r"--group (\w+)", typed)) <= set(PROJECT["dependency-groups"])


def test_the_page_has_every_variable_of_ours() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "es_simhash").rglob("*.py"))
    read = set(re.findall(r'"((?:ES_SIMHASH|ELASTICSEARCH|OPENSEARCH)_[A-Z_]+)"', code))
    assert set(re.findall("`([A-Z_]+)`", part("environment"))) == read


def test_the_page_has_every_setting_of_profiles() -> None:
    assert re.findall(r"^\| `(\w+)` \|", part("profiles"), re.MULTILINE) == list(SETTINGS)
