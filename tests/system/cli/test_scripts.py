"""``scripts`` through real processes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from es_simhash.documents.stored_scripts import stored_scripts
from es_simhash.index import Index
from es_simhash.scheme.settings import Settings
from tests.support.commands import lines, run
from tests.support.corpus import corpus, edited
from tests.support.dev_tools import requests
from tests.support.outputs import check_output
from tests.support.whole_indices import FIELDS


@pytest.fixture
def index(place: str) -> str:
    """An index of six documents; one has a near copy."""
    name = f"cli-{uuid.uuid4().hex[:10]}"
    with Index(name, place, fields=FIELDS) as index:
        index.init()
        documents = {str(i): document for i, document in enumerate(corpus(6))} | {"copy": edited(corpus(6)[2], 1)}
        index.add([{"_id": id_, **each} for id_, each in documents.items()], refresh=True)
    return name


@pytest.fixture
def own(place: str, index: str, tmp_path: Path) -> Iterator[str]:
    """What the names of scripts begin with; they are removed in the end."""
    name = f"cli-{uuid.uuid4().hex[:10]}"
    yield name
    if place.startswith("http"):
        run("scripts", index, "--name", name, "--remove", cwd=tmp_path, ES_SIMHASH_URL=place)


def test_what_is_printed_can_be_pasted(tmp_path: Path, place: str, index: str) -> None:
    done = run("scripts", index, cwd=tmp_path, ES_SIMHASH_URL=place)
    reported = lines(run("scripts", index, "--json", cwd=tmp_path, ES_SIMHASH_URL=place))
    check_output({"scripts": reported})
    for sent, line, expected in zip(requests(done.out), reported, stored_scripts(Settings()), strict=True):
        assert (sent.method, sent.path, sent.body) == ("PUT", expected.path, expected.body)
        assert (line["path"], line["body"]) == (expected.path, expected.body)
        assert (line["use"], line["state"]) == (expected.use, None)


def test_a_walk(tmp_path: Path, place: str, index: str, own: str) -> None:
    def do(*arguments: str, code: int = 0) -> dict[str, str]:
        done = run("scripts", index, "--name", own, "--json", *arguments, cwd=tmp_path, code=code, ES_SIMHASH_URL=place)
        return {line["name"].removeprefix(f"{own}-"): line["state"] for line in lines(done)}

    if not place.startswith("http"):
        for option in ("--install", "--remove"):
            done = run("scripts", index, option, cwd=tmp_path, code=4, ES_SIMHASH_URL=place)
            assert done.err.strip().endswith("Use a server, or leave the scripts out.")
        return
    installed = do("--install")
    assert list(installed) == ["distance", "within", "score", "nearest", "find", "distinct"]
    assert set(list(installed.values())[:3]) == {"installed"}
    there = [name for name, state in installed.items() if state == "installed"]
    assert do("--remove") == dict.fromkeys(there, "removed")
    assert do("--remove") == {}
    done = run("scripts", index, "--name", own, "--install", cwd=tmp_path, ES_SIMHASH_URL=place)
    assert done.out.splitlines() == [f"{own}-{name}: {state}" for name, state in installed.items()]
    assert ("has no search templates" in done.err) == ("left out" in installed.values())


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    done = run("scripts", "news", "--install", "--remove", cwd=tmp_path, code=2)
    assert "--remove undoes what --install and --default do. Choose one." in done.err


def test_find_compares_bits_wherever_that_is_quicker(tmp_path: Path, place: str, index: str) -> None:
    done = run("find", index, "--id", "2", "--json", "--distance", "5", cwd=tmp_path, ES_SIMHASH_URL=place)
    assert [match["id"] for match in lines(done)[0]["matches"]] == ["copy"]
