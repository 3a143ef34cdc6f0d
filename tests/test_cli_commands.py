"""Every command through a real process, on the embedded engine; the walk once more on real servers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from es_simhash.testing.corpus import corpus, edited
from tests.nodes import Node

ROOT = Path(__file__).parent.parent


def run(
    *arguments: str, cwd: Path, code: int = 0, stdin: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command; its exit code must be as expected."""
    cleared = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
    done = subprocess.run(
        [sys.executable, "-m", "es_simhash", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        input=stdin,
        env=cleared | environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def lines(done: subprocess.CompletedProcess[str]) -> list[Any]:
    """What was printed, as JSON lines."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def documents() -> list[dict[str, str]]:
    made = [{"id": str(i), **each} for i, each in enumerate(corpus(9))]
    return [*made, {"id": "copy", **edited(corpus(9)[4])}]


@pytest.fixture
def news(tmp_path: Path) -> Path:
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in documents()), encoding="utf-8")
    return path


@pytest.fixture
def loaded(tmp_path: Path, news: Path) -> Path:
    run("load", "news", str(news), "--field", "title", "--field", "body", cwd=tmp_path)
    return tmp_path


@pytest.fixture(params=["elasticsearch_node", "opensearch_node"])
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(request.param)
    return node


def walk(cwd: Path, news: Path, index: str, **environment: Any) -> None:
    """From an index that does not know of us to its duplicates."""
    done = run("init", index, "--field", "title", "--field", "body", "--dry-run", cwd=cwd, **environment)
    assert f"PUT {index}" in done.stdout
    [made] = lines(run("init", index, "--field", "title", "--field", "body", "--json", cwd=cwd, **environment))
    assert made["created"]
    [loaded] = lines(run("load", index, str(news), "--json", cwd=cwd, **environment))
    assert (loaded["written"], loaded["rejected"]) == (10, 0)
    [found] = lines(run("find", index, "--id", "4", "--source", "title", "--json", cwd=cwd, **environment))
    assert [match["id"] for match in found["matches"]] == ["copy"]
    assert found["matches"][0]["source"] == {"title": documents()[4]["title"]}
    [exact] = lines(run("find", index, "--id", "4", "--verify", "--json", cwd=cwd, **environment))
    assert exact["matches"][0]["is_exact"]
    checked = lines(run("check", index, str(news), "--json", cwd=cwd, **environment))
    assert [each["id"] for each in checked if not each["is_new"]] == ["4", "copy"]
    [info] = lines(run("info", index, "--json", cwd=cwd, **environment))
    assert (info["documents"], info["fingerprinted"], info["statuses"]["ok"]) == (10, 10, 10)


def test_a_walk_on_the_embedded_engine(tmp_path: Path, news: Path) -> None:
    walk(tmp_path, news, "news")
    assert (tmp_path / ".es-simhash").is_dir()


def test_a_walk_on_a_server(tmp_path: Path, news: Path, node: Node) -> None:
    name = f"cli-{uuid.uuid4().hex[:10]}"
    walk(tmp_path, news, name, ES_SIMHASH_URL=node.url)
    assert not (tmp_path / ".es-simhash").exists()
    node.request("DELETE", f"/{name}")


def test_a_preview_needs_no_fields(tmp_path: Path, node: Node) -> None:
    name = f"cli-{uuid.uuid4().hex[:10]}"
    for each in documents():
        node.request("PUT", f"/{name}/_doc/{each['id']}?refresh=true", {"title": each["title"], "body": each["body"]})
    options = ("--field", "title", "--field", "body", "--url", node.url)
    [found] = lines(run("find", name, "--id", "4", "--preview", "--json", *options, cwd=tmp_path))
    assert [match["id"] for match in found["matches"]] == ["copy"]
    done = run("find", name, "--id", "4", *options, cwd=tmp_path, code=3)
    assert "init" in done.stderr
    node.request("DELETE", f"/{name}")


def test_people_read_tables_and_notes(loaded: Path) -> None:
    done = run("find", "news", "--id", "4", cwd=loaded)
    assert re.search(r"news\tcopy\t~0\.\d{3}\t\d+", done.stdout)
    assert "Using the embedded engine in .es-simhash (the default)." in done.stderr
    assert run("find", "news", "--id", "0", cwd=loaded).stdout == "No near-duplicates.\n"
    assert run("find", "news", "--id", "0", "--quiet", cwd=loaded).stderr == ""


def test_a_text_comes_by_option_or_file(loaded: Path) -> None:
    text = documents()[4]["title"] + "\n" + documents()[4]["body"]
    (loaded / "text.txt").write_text(text, encoding="utf-8")
    by_file = run("find", "news", "--file", "text.txt", "--json", cwd=loaded)
    assert [match["id"] for match in lines(by_file)[0]["matches"]] == ["4", "copy"]
    assert lines(by_file) == lines(run("find", "news", "--text", text, "--json", cwd=loaded))


def test_lines_that_fail_go_to_the_reject_file_and_the_exit_code_tells(loaded: Path) -> None:
    (loaded / "more.jsonl").write_text(
        '{"id": "a", "title": "one", "body": "two"}\nbroken\n{"id": "b", "title": {"no": "text"}}\n', encoding="utf-8"
    )
    done = run("load", "news", "more.jsonl", "--rejects", "bad.jsonl", cwd=loaded, code=1)
    assert done.stdout == "news: 1 written, 2 rejected\n"
    rejected = [json.loads(line) for line in (loaded / "bad.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(each["file"], each["line"], each["id"]) for each in rejected] == [
        ("more.jsonl", 2, None),
        ("more.jsonl", 3, "b"),
    ]
    assert "title" in rejected[1]["reason"]


def test_documents_come_from_standard_input(loaded: Path) -> None:
    done = run("load", "news", "-", "--id", "key.id", cwd=loaded, stdin='{"key": {"id": 7}, "title": "from a pipe"}\n')
    assert done.stdout == "news: 1 written, 0 rejected\n"


def test_a_document_that_is_there_is_not_replaced_on_request(loaded: Path, news: Path) -> None:
    done = run("load", "news", str(news), "--create-only", cwd=loaded, code=1)
    assert done.stdout == "news: 0 written, 10 rejected\n"


def test_new_documents_can_be_told_alone(loaded: Path, news: Path) -> None:
    fresh = {"id": "fresh", **corpus(3, seed=9)[0]}
    (loaded / "mixed.jsonl").write_text(json.dumps(fresh) + "\n" + news.read_text(encoding="utf-8"), encoding="utf-8")
    assert "fresh\tnew\n" in run("check", "news", "mixed.jsonl", "--new", cwd=loaded).stdout
    assert "4\tin the index\tcopy" in run("check", "news", "mixed.jsonl", cwd=loaded).stdout


def test_commands_without_an_index(tmp_path: Path) -> None:
    [stored] = lines(run("fingerprint", "some text of a certain length", "--json", cwd=tmp_path))
    assert set(stored) == {"simhash", "blocks", "bands", "content", "scheme", "status"}
    assert lines(run("fingerprint", "--file", "-", "--json", cwd=tmp_path, stdin="some text of a certain length")) == [
        stored
    ]
    mapping = json.loads(run("mapping", "--field", "title", cwd=tmp_path).stdout)
    assert mapping["_meta"]["es_simhash"]["dedup"]["fields"] == ["title"]
    template = json.loads(run("mapping", "--template", "--scheme", "strict", cwd=tmp_path).stdout)
    kept = (ROOT / "mappings" / "dedup-strict.json").read_text(encoding="utf-8")
    assert template["template"] == json.loads(kept)["template"]
    assert lines(run("schemes", "--json", cwd=tmp_path))[0]["name"] == "default"
    assert "_ES_SIMHASH_COMPLETE" in run("completion", "bash", cwd=tmp_path).stdout


def test_a_scheme_of_a_file_is_taken(tmp_path: Path) -> None:
    from es_simhash.scheme import Scheme
    from es_simhash.settings import SimHash

    scheme = Scheme(simhash=SimHash(64, 8, 5), minhash=None)
    (tmp_path / "scheme.json").write_text(scheme.to_json(), encoding="utf-8")
    [stored] = lines(run("fingerprint", "some text", "--scheme", "scheme.json", "--json", cwd=tmp_path))
    assert stored["scheme"] == scheme.id


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["find"], 2, "Missing argument 'INDEX'"),
        (["find", "news"], 2, "Give one of --text, --id and --file."),
        (["find", "news", "--text", "x", "--filter", "{"], 2, "--filter is no JSON object."),
        (["find", "news", "--text", " "], 2, "Give a text with letters or digits."),
        (["find", "news", "--id", "4", "--distance", "9"], 2, "Choose at least 10 blocks."),
        (["find", "nowhere", "--text", "some text"], 3, "nowhere"),
        (["find", "news", "--id", "nobody"], 3, "Check the id."),
        (["find", "news", "--text", "x", "--url", "http://127.0.0.1:9"], 3, "127.0.0.1:9"),
        (["find", "news", "--text", "x", "--scheme", "nothing"], 2, "neither a preset"),
        (["load", "news", "missing.jsonl"], 2, "missing.jsonl"),
        (["init", "news", "--field", "other"], 3, "choose another prefix"),
        (["fingerprint"], 2, "Give the text, or --file."),
        (["nothing"], 2, "No such command 'nothing'"),
    ],
)
def test_what_cannot_be_done_is_one_paragraph_with_the_remedy(
    arguments: list[str], code: int, told: str, loaded: Path
) -> None:
    done = run(*arguments, cwd=loaded, code=code)
    assert told in done.stderr
    assert done.stdout == ""


def test_debug_shows_the_traceback(loaded: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "es_simhash", "--debug", "find", "nowhere", "--text", "x"],
        capture_output=True,
        text=True,
        cwd=loaded,
        check=False,
    )
    assert done.returncode == 3
    assert "Traceback" in done.stderr


def test_a_reader_that_goes_away_is_no_error(loaded: Path, news: Path) -> None:
    command = f"{sys.executable} -m es_simhash check news {news} --json | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, cwd=loaded, check=False
    )
    assert done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_the_documented_keys_of_json_are_those_printed(loaded: Path, news: Path) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    table = page.split("<!-- json -->")[1].split("<!-- end of json -->")[0]
    documented = {
        command: re.findall(r"`(\w+)`", keys)
        for command, keys in re.findall(r"^\| `(\w+)` \|.*?\| (.*?) \|$", table, re.M)
    }
    runs = {
        "init": ["init", "other", "--field", "title"],
        "load": ["load", "news", str(news)],
        "find": ["find", "news", "--id", "4"],
        "check": ["check", "news", str(news)],
        "info": ["info", "news"],
        "mapping": ["mapping"],
        "schemes": ["schemes"],
    }
    for command, arguments in runs.items():
        assert list(lines(run(*arguments, "--json", cwd=loaded))[0]) == documented[command], command
