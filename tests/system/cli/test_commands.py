"""Every command on the embedded engine; the walk in processes of their own, and once more on real servers."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from es_simhash.cli.program import COMMANDS
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import AccessError
from es_simhash.plans.operations import Action, Bulk, CreateIndex, Operation, Refresh
from es_simhash.scheme import mapping
from tests import ROOT
from tests.support.commands import lines, run, run_alone
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler, Overloaded
from tests.support.outputs import check_output
from tools.nodes import Node
from tools.output_schemas import LINES, keys_of

# Commands that the embedded engine has nothing for; each has a test of its own.
ON_SERVERS = {"scripts --pipeline"}


def documents() -> list[dict[str, str]]:
    made = [{"id": str(i), **each} for i, each in enumerate(corpus(9))]
    return [*made, {"id": "copy", **edited(corpus(9)[4])}]


def written(path: Path) -> Path:
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in documents()), encoding="utf-8")
    return path


@pytest.fixture
def news(tmp_path: Path) -> Path:
    return written(tmp_path / "news.jsonl")


@pytest.fixture(scope="module")
def loaded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loaded")
    written(folder / "news.jsonl")
    run("load", "news", "news.jsonl", "--field", "title", "--field", "body", cwd=folder)
    return folder


@pytest.fixture
def loaded(loaded_once: Path, tmp_path: Path) -> Path:
    """A directory of its own with an index."""
    return Path(shutil.copytree(loaded_once, tmp_path, dirs_exist_ok=True))


@pytest.fixture(params=["elasticsearch_node", "opensearch_node"])
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(request.param)
    return node


def test_search_shows_each_hit_without_its_near_duplicates(loaded: Path) -> None:
    every = ("search", "news", "--query", '{"match_all": {}}')
    [page] = lines(run(*every, "--size", "20", "--json", cwd=loaded))
    assert {each["hit"]["_id"] for each in page["hits"]} == {str(i) for i in range(9)}
    assert [[match["id"] for match in each["similar"]] for each in page["hits"] if each["similar"]] == [["copy"]]
    assert (page["read"], page["at_end"], page["apart"], page["cursor"]) == (10, True, {}, None)
    word = documents()[4]["title"].split()[-1]
    done = run("search", "news", "--query", word, "--source", "title", cwd=loaded)
    assert re.search(rf"^news\t4\t[\d.]+\t\+1: copy\t{re.escape(documents()[4]['title'][:40])}", done.out, re.MULTILINE)
    (loaded / "body.json").write_text('{"query": {"ids": {"values": ["4", "copy"]}}}', encoding="utf-8")
    [page] = lines(run("search", "news", "--file", "body.json", "--json", cwd=loaded))
    assert [each["hit"]["_id"] for each in page["hits"]] == ["4"]
    assert "0 hits without near-duplicates, of 0 read." in run("search", "news", "--query", "nowhere", cwd=loaded).out


def test_each_of_several_fields_has_a_column_of_its_own(loaded: Path) -> None:
    given = ("--source", "title", "--source", "body")
    for command in (("find", "news", "--id", "4"), ("search", "news", "--query", '{"ids": {"values": ["copy"]}}')):
        header, row = (line.split("\t") for line in run(*command, *given, cwd=loaded).out.splitlines()[:2])
        assert header[-2:] == ["title", "body"]
        assert row[-2] == documents()[-1]["title"]
        assert row[-1].startswith(documents()[-1]["body"][:40])


def test_search_takes_one_request(loaded: Path) -> None:
    for given in ((), ("--query", "x", "--file", "news.jsonl"), ("--query", "{")):
        assert "Give" in run("search", "news", *given, cwd=loaded, code=2).err


def walk(cwd: Path, news: Path, index: str, **environment: Any) -> None:
    """From an index that does not know of us to its duplicates."""
    done = run_alone("init", index, "--field", "title", "--field", "body", "--dry-run", cwd=cwd, **environment)
    assert f"PUT {index}\n" in done.out
    [made] = lines(run_alone("init", index, "--field", "title", "--field", "body", "--json", cwd=cwd, **environment))
    assert made["created"]
    done = run_alone("init", index, "--field", "title", "--field", "body", "--dry-run", cwd=cwd, **environment)
    assert done.out.startswith(f"{index}: already has all fields\n")
    [loaded] = lines(run_alone("load", index, str(news), "--json", cwd=cwd, **environment))
    assert (loaded["written"], loaded["rejected"]) == (10, 0)
    [found] = lines(run_alone("find", index, "--id", "4", "--source", "title", "--json", cwd=cwd, **environment))
    assert [match["id"] for match in found["matches"]] == ["copy"]
    assert found["matches"][0]["source"] == {"title": documents()[4]["title"]}
    [exact] = lines(run_alone("find", index, "--id", "4", "--json", cwd=cwd, **environment))
    assert exact["matches"][0]["is_exact"]
    table = run_alone("find", index, "--id", "4", "--estimate", cwd=cwd, **environment).out
    assert re.search(r"\tcopy\t\d\.\d\d ± 0\.\d\d\t", table)
    checked = lines(run_alone("check", index, str(news), "--json", cwd=cwd, **environment))
    assert [each["id"] for each in checked if not each["is_new"]] == ["4", "copy"]
    [info] = lines(run_alone("info", index, "--json", cwd=cwd, **environment))
    assert (info["documents"], info["fingerprinted"], info["statuses"]["ok"]) == (10, 10, 10)
    text = documents()[4]["title"] + "\n" + documents()[4]["body"]
    [found] = lines(run_alone("find", index, "--text", text, "--json", cwd=cwd, **environment))
    assert [match["id"] for match in found["matches"]] == ["4", "copy"]
    assert found["matches"][0]["same_text"]
    done = run_alone("init", index, "--field", "title", "--prefix", "titles", "--dry-run", cwd=cwd, **environment)
    difference = json.loads(done.out.partition(f"PUT {index}/_mapping\n")[2])
    assert list(difference["properties"]) == ["titles", mapping.HOME]


def test_a_walk_on_the_embedded_engine(tmp_path: Path, news: Path) -> None:
    walk(tmp_path, news, "news")
    assert (tmp_path / ".es-simhash").is_dir()


def test_a_walk_on_a_server(tmp_path: Path, news: Path, node: Node) -> None:
    name = f"cli-{uuid.uuid4().hex[:10]}"
    walk(tmp_path, news, name, ES_SIMHASH_URL=node.url)
    assert not (tmp_path / ".es-simhash").exists()
    node.request("DELETE", f"/{name}")


def preview(cwd: Path, index: str, **environment: Any) -> None:
    options = ("--field", "title", "--field", "body")
    [found] = lines(run("find", index, "--id", "4", "--json", *options, cwd=cwd, **environment))
    assert [match["id"] for match in found["matches"]] == ["copy"]
    done = run("find", index, "--id", "4", cwd=cwd, code=4, **environment)
    assert "init" in done.err


def test_a_preview_needs_no_fields(tmp_path: Path, node: Node) -> None:
    name = f"cli-{uuid.uuid4().hex[:10]}"
    for each in documents():
        node.request("PUT", f"/{name}/_doc/{each['id']}?refresh=true", {"title": each["title"], "body": each["body"]})
    preview(tmp_path, name, ES_SIMHASH_URL=node.url)
    node.request("DELETE", f"/{name}")


def test_a_preview_needs_no_fields_in_the_embedded_engine_either(tmp_path: Path) -> None:
    engine = EmbeddedEngine(tmp_path / "dir")
    engine.perform(CreateIndex("plain", {}))
    actions = [Action("index", each["id"], {"title": each["title"], "body": each["body"]}) for each in documents()]
    engine.perform(Bulk("plain", actions, refresh=True))
    engine.close()
    preview(tmp_path, "plain", ES_SIMHASH_URL=str(tmp_path / "dir"))


def test_routing_of_an_export_leads_to_the_shard(tmp_path: Path, node: Node) -> None:
    name = f"cli-{uuid.uuid4().hex[:10]}"
    node.request("PUT", f"/{name}", {"settings": {"number_of_shards": 4}, "mappings": {"_routing": {"required": True}}})
    export = [{"_id": each["id"], "_routing": each["id"] * 3, "_source": each} for each in documents()]
    (tmp_path / "export.jsonl").write_text("".join(json.dumps(each) + "\n" for each in export), encoding="utf-8")
    where: Any = {"ES_SIMHASH_URL": node.url}
    run("load", name, "export.jsonl", "--field", "title", "--field", "body", cwd=tmp_path, **where)
    assert node.request("GET", f"/{name}/_doc/4?routing=444").body["_routing"] == "444"
    [found] = lines(run("find", name, "--id", "4", "--json", cwd=tmp_path, **where))
    assert [match["id"] for match in found["matches"]] == ["copy"]
    node.request("DELETE", f"/{name}")


def test_people_read_tables_and_notes(loaded: Path) -> None:
    done = run("find", "news", "--id", "4", cwd=loaded)
    assert re.search(r"news\tcopy\t0\.\d\d\t", done.out)
    assert "Using the embedded engine in .es-simhash (the default)." in done.err
    assert run("find", "news", "--id", "0", cwd=loaded).out.startswith("No near-duplicates.")
    assert run("find", "news", "--id", "0", "--quiet", cwd=loaded).err == ""


def test_what_is_done_quietly_prints_nothing(tmp_path: Path, news: Path) -> None:
    where: Any = {"cwd": tmp_path, "XDG_STATE_HOME": str(tmp_path)}
    fields = ("--field", "title", "--field", "body")
    for arguments in (
        ("init", "news", *fields),
        ("load", "news", str(news)),
        ("backfill", "news"),
        ("backfill", "news", *fields, "--prefix", "second"),
        ("group", "news", "--write", "--output", "groups.jsonl"),
        ("reindex", "news", "copy", *fields),
        ("remove", "news", "--prefix", "second", "--yes"),
    ):
        done = run(*arguments, "--quiet", **where)
        assert (done.out, done.err) == ("", ""), arguments
    planned = run("backfill", "news", "--dry-run", "--quiet", **where)
    assert (planned.out, planned.err) == ("index\tto do\tdocuments\nnews\t0\t10\n", "")


def test_a_text_comes_by_option_or_file(loaded: Path) -> None:
    text = documents()[4]["title"] + "\n" + documents()[4]["body"]
    (loaded / "text.txt").write_text(text, encoding="utf-8")
    by_file = run("find", "news", "--file", "text.txt", "--json", cwd=loaded)
    assert [match["id"] for match in lines(by_file)[0]["matches"]] == ["4", "copy"]
    assert lines(by_file) == lines(run("find", "news", "--text", text, "--json", cwd=loaded))
    assert lines(by_file) == lines(run("find", "news", "--file", "-", "--json", cwd=loaded, stdin=text))


def test_a_backfill_makes_no_index(tmp_path: Path) -> None:
    done = run("backfill", "nwes", "--field", "title", cwd=tmp_path, code=4)
    assert "The index 'nwes' does not exist" in done.err
    run("info", "nwes", cwd=tmp_path, code=4)


def test_a_dry_run_of_a_load_or_a_backfill_changes_nothing(loaded: Path) -> None:
    before = lines(run("info", "news", "--json", cwd=loaded))
    [load] = lines(run("load", "news", "news.jsonl", "--dry-run", "--json", cwd=loaded))
    assert (load["written"], load["dry_run"]) == (10, True)
    [plan] = lines(run("backfill", "news", "--field", "title", "--prefix", "next", "--dry-run", "--json", cwd=loaded))
    assert plan["parts"] == [{"index": "news", "due": 10, "documents": 10, "is_begun": False}]
    assert plan["trial"]["documents"] == 10
    assert lines(run("info", "news", "--json", cwd=loaded)) == before
    run("load", "none", "news.jsonl", "--field", "title", "--dry-run", cwd=loaded)
    run("info", "none", cwd=loaded, code=4)


def test_lines_that_fail_go_to_the_reject_file_and_the_exit_code_shows_it(loaded: Path) -> None:
    (loaded / "more.jsonl").write_text(
        '{"id": "a", "title": "one", "body": "two"}\nbroken\n{"id": "b", "title": {"no": "text"}}\n', encoding="utf-8"
    )
    done = run("load", "news", "more.jsonl", "--rejects", "bad.jsonl", cwd=loaded, code=1)
    assert done.out == "news: 1 document written, 2 rejected.\n"
    rejected = [json.loads(line) for line in (loaded / "bad.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(each["file"], each["line"], each["id"]) for each in rejected] == [
        ("more.jsonl", 2, None),
        ("more.jsonl", 3, "b"),
    ]
    assert "title" in rejected[1]["reason"]


def test_documents_that_an_overloaded_engine_never_takes_go_to_the_reject_file(
    loaded: Path, news: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = Overloaded(EmbeddedEngine(loaded / ".es-simhash"), lambda bulk, place: bulk.actions[place].id != "4")
    monkeypatch.setattr("es_simhash.cli.options.target.Target.connect", lambda *_: busy)
    done = run("load", "news", str(news), "--patience", "0", cwd=loaded, code=3)
    busy.engine.close()
    assert done.out == "news: 9 documents written, 1 rejected.\n"
    rejected = json.loads((loaded / "rejected.jsonl").read_text(encoding="utf-8"))
    assert (rejected["id"], rejected["line"], rejected["may_pass"]) == ("4", 5, True)
    assert "again and again" in rejected["reason"]


def test_a_load_that_may_not_refresh_says_so_and_has_written_all(
    loaded: Path, news: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbid(operation: Operation[Any]) -> None:
        if isinstance(operation, Refresh):
            raise AccessError("Refreshing 'news' failed: 403. Have the privilege granted.")

    meddler = Meddler(EmbeddedEngine(loaded / ".es-simhash"))
    meddler.before = forbid
    monkeypatch.setattr("es_simhash.cli.options.target.Target.connect", lambda *_: meddler)
    done = run("load", "news", str(news), cwd=loaded)
    meddler.engine.close()
    assert done.out == "news: 10 documents written.\n"
    assert "Refreshing 'news' failed: 403. Have the privilege granted. " in done.err


def test_documents_come_from_standard_input(loaded: Path) -> None:
    done = run(
        "load", "news", "-", "--id-field", "key.id", cwd=loaded, stdin='{"key": {"id": 7}, "title": "from a pipe"}\n'
    )
    assert done.out == "news: 1 document written.\n"


def test_a_document_that_is_there_is_not_replaced_on_request(loaded: Path, news: Path) -> None:
    done = run("load", "news", str(news), "--create-only", cwd=loaded, code=1)
    assert done.out == "news: 10 documents rejected.\n"


def test_only_new_documents_can_be_listed(loaded: Path, news: Path) -> None:
    fresh = {"id": "fresh", **corpus(3, seed=9)[0]}
    (loaded / "mixed.jsonl").write_text(json.dumps(fresh) + "\n" + news.read_text(encoding="utf-8"), encoding="utf-8")
    assert "fresh\tnew\n" in run("check", "news", "mixed.jsonl", "--new", cwd=loaded).out
    assert "4\tin the index\tcopy" in run("check", "news", "mixed.jsonl", cwd=loaded).out


def test_the_documents_that_check_prints_are_written_on_request(loaded: Path, news: Path) -> None:
    fresh = {"id": "fresh", **corpus(3, seed=9)[0]}
    known = {**json.loads(news.read_text(encoding="utf-8").splitlines()[0]), "id": "known"}
    (loaded / "mixed.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (fresh, known)), encoding="utf-8")

    def count() -> int:
        return int(json.loads(run("info", "news", "--json", cwd=loaded).out)["documents"])

    before = count()
    done = run("check", "news", "mixed.jsonl", "--new", "--write", cwd=loaded)
    assert done.out == "fresh\tnew\n"
    assert "1 document written to news." in done.err
    assert count() == before + 1
    done = run("check", "news", "mixed.jsonl", "--write", cwd=loaded)
    assert "2 documents written to news." in done.err
    assert count() == before + 2


def test_commands_without_an_index(tmp_path: Path) -> None:
    [stored] = lines(run("explain", "--text", "some text of a certain length", "--json", cwd=tmp_path))
    assert set(stored) == {"simhash", "blocks", "bands", "content", "scheme", "status"}
    assert lines(run("explain", "--file", "-", "--json", cwd=tmp_path, stdin="some text of a certain length")) == [
        stored
    ]
    template = json.loads(run("init", "news", "--template", "--field", "title", cwd=tmp_path).out)
    assert template["template"]["mappings"]["_meta"]["es_simhash"]["dedup"]["fields"] == ["title"]
    template = json.loads(run("init", "news", "--template", "--scheme", "strict", cwd=tmp_path).out)
    kept = (ROOT / "mappings" / "strict" / "1-component-template.txt").read_text(encoding="utf-8")
    assert template["template"] == json.loads(kept[kept.index("{") :])["template"]
    assert not (tmp_path / ".es-simhash").exists()
    assert lines(run("info", "--json", cwd=tmp_path))[0]["name"] == "default"
    assert "--check verifies the files of an index." in run("info", "--check", cwd=tmp_path, code=2).err


def test_a_scheme_of_a_file_is_taken(tmp_path: Path) -> None:
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.settings import SimHash

    scheme = Scheme(simhash=SimHash(64, 8, 5), minhash=None)
    (tmp_path / "scheme.json").write_text(scheme.to_json(), encoding="utf-8")
    [stored] = lines(run("explain", "--text", "some text", "--scheme", "scheme.json", "--json", cwd=tmp_path))
    assert stored["scheme"] == scheme.id


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["find"], 2, "Missing argument 'INDEX'"),
        (["find", "news"], 2, "Give one of --text, --id and --file."),
        (["find", "news", "--text", "x", "--filter", "{"], 2, "--filter is not a JSON object."),
        (["find", "news", "--text", " "], 2, "Give a text with letters or digits."),
        (["find", "news", "--id", "4", "--distance", "9"], 2, "Choose at least 10 blocks."),
        (["find", "nowhere", "--text", "some text"], 4, "nowhere"),
        (["find", "news", "--id", "nobody"], 4, "Check the id."),
        (["find", "news", "--text", "x", "--url", "http://127.0.0.1:9"], 3, "127.0.0.1:9"),
        (["explain", "--text", "x", "--scheme", "nothing"], 2, "neither a preset"),
        (["explain", "news", "1", "2", "--scheme", "short"], 2, "An index has its own scheme"),
        (["explain", "--text", "x", "--distance", "3"], 2, "One text is compared with nothing."),
        (
            ["find", "news", "--text", "x", "--field", "body"],
            2,
            "An index with fingerprints has its own fields. Drop --field.",
        ),
        (["load", "news", "missing.jsonl"], 2, "missing.jsonl"),
        (["init", "news", "--field", "title"], 4, "choose another prefix"),
        (["find", "", "--text", "x"], 2, "Give the name of an index."),
        (["find", "news", "--file", "bad"], 2, "bad is not UTF-8."),
        (["init", "more", "--create", "bad"], 2, "bad is not UTF-8."),
        (["init", "more", "--create", "news.jsonl"], 2, "news.jsonl is not a JSON object."),
        (["explain", "--file", "bad"], 2, "bad is not UTF-8."),
        (["explain", "--text", "x", "--scheme", "bad"], 2, "bad is not UTF-8."),
        (["nothing"], 2, "No such verb: nothing."),
    ],
)
def test_what_cannot_be_done_is_one_paragraph_with_the_remedy(
    arguments: list[str], code: int, message: str, loaded: Path
) -> None:
    (loaded / "bad").write_bytes(b"\xff\xfe")
    done = run(*arguments, cwd=loaded, code=code)
    assert message in done.err
    assert done.out == ""


def test_debug_shows_the_traceback(loaded: Path) -> None:
    assert "Traceback" in run("--debug", "find", "nowhere", "--text", "x", cwd=loaded, code=4).err


def test_a_reader_that_goes_away_is_not_an_error(loaded: Path, news: Path) -> None:
    command = f"{sys.executable} -m es_simhash check news {news} --json | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, cwd=loaded, check=False
    )
    assert done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_what_every_command_prints_as_json_is_what_the_schema_says(loaded: Path, news: Path) -> None:
    runs = {
        "init": ["init", "other", "--field", "title"],
        "load": ["load", "news", str(news)],
        "sync": ["sync", "news"],
        "try": ["try", str(news), "--report", "try.html"],
        "doctor": ["doctor", "news"],
        "backfill": ["backfill", "news", "--field", "title", "--prefix", "titles"],
        "reindex": ["reindex", "news", "copy"],
        "remove": ["remove", "copy", "--yes"],
        "find": ["find", "news", "--id", "4", "--source", "title"],
        "search": ["search", "news", "--query", '{"match_all": {}}'],
        "scripts": ["scripts", "news"],
        "explain": ["explain", "news", "4", "copy", "--numbers", "1"],
        "explain --text": ["explain", "--text", "some text of a certain length"],
        "check": ["check", "news", str(news)],
        "learn": ["learn", "news"],
        "group": ["group", "news", "--write"],
        "erase": ["erase", "news", "--id", "copy", "--yes"],
        "dashboard": ["dashboard", "news", "--output", "news.ndjson"],
        "info": ["info", "news", "--check"],
        "tune --histogram": ["tune", "--histogram", str(news), "--field", "body"],
        "tune": ["tune", str(news), "--similarity", "0.8"],
        "evaluate": ["evaluate", str(news), "--labels", "labels.jsonl"],
        "dedup": ["dedup", str(news)],
        "info, without INDEX": ["info"],
    }
    (loaded / "labels.jsonl").write_text('{"ids": ["4", "copy"]}\n{"ids": ["0", "3"]}\n', encoding="utf-8")
    # Agents read what mcp prints, clients what a gate answers, and browsers what show serves.
    assert {re.split("[ ,]", name)[0] for name in (*runs, "gate", "mcp", "show")} == set(COMMANDS)
    assert {*runs, *ON_SERVERS} == {command for command, _ in LINES}
    printed = {name: lines(run(*given, "--json", cwd=loaded)) for name, given in runs.items()}
    check_output(printed)
    dry = lines(run("backfill", "news", "--field", "body", "--prefix", "more", "--dry-run", "--json", cwd=loaded))
    check_output({"backfill": dry})
    # Every kind of line was printed.
    shapes = {(name, tuple(line)) for name, of_one in printed.items() for line in of_one}
    assert shapes == {(name, tuple(keys_of(parts))) for (name, _), parts in LINES.items() if name not in ON_SERVERS}
    assert printed["find"][0]["matches"][0]["source"]
    assert any(line["in_index"]["matches"] for line in printed["check"])


# ---- files that are bad

BAD_FILES = {
    "long.jsonl": b'{"id": "long", "title": "' + b"x" * 100_000_000 + b'"}\n{"id": "l"}\n',
    "nuls.jsonl": b'{"id": "n"}\n{"id": "n\0"}\n\0\0\0\n',
    "half.jsonl.gz": gzip.compress(b'{"id": "h"}\n' + os.urandom(900).hex().encode())[:-300],
    "cells.csv": b"id,title\n6,a,more\n7,b\n",
    "empty.jsonl": b"",
    "latin.jsonl": '{"id": "é"}\n{"id": "e"}\n'.encode("latin-1"),
}
REASONS = [
    ("long.jsonl", 1, "more than 67,108,864 bytes"),
    ("nuls.jsonl", 2, "NUL characters"),
    ("nuls.jsonl", 3, "NUL characters"),
    ("half.jsonl.gz", 2, "The file breaks off here"),
    ("cells.csv", 2, "3 cells, but the header 2"),
    ("empty.jsonl", 1, "The file is empty"),
    ("latin.jsonl", 1, "not valid utf-8"),
]


def test_of_bad_files_all_that_is_good_is_loaded(tmp_path: Path) -> None:
    for name, content in BAD_FILES.items():
        (tmp_path / name).write_bytes(content)
    done = run("load", "bad", *BAD_FILES, "--field", "title", "--rejects", "r", cwd=tmp_path, code=1)
    assert done.out == f"bad: 5 documents written, {len(REASONS)} rejected.\n"
    rejected = [json.loads(line) for line in (tmp_path / "r").read_text(encoding="utf-8").splitlines()]
    for (file, line, reason), each in zip(REASONS, rejected, strict=True):
        assert (each["file"], each["line"]) == (file, line)
        assert reason in each["reason"]


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("open.csv", 'id,title\n1,a\n2,"open\n3,b\n', "'open.csv' is broken at line 3."),
        ("cut.json", '[{"id": "1", "title": "a"},\n{"id"', "'cut.json' is broken at line 2."),
    ],
)
def test_a_broken_file_is_an_error_that_names_the_place(tmp_path: Path, name: str, content: str, error: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    done = run("load", "broken", name, "--field", "title", cwd=tmp_path, code=2)
    assert f"Error: {error}" in done.err
    assert f"Error: {error}" in run("dedup", name, "--field", "title", cwd=tmp_path, code=2).err


def test_the_last_document_of_an_id_is_kept_and_later_ones_are_refused_on_request(tmp_path: Path) -> None:
    twice = '{"id": "a", "title": "first"}\n{"id": "a", "title": "last"}\n'
    run("load", "news", "-", "--field", "title", "--quiet", cwd=tmp_path, stdin=twice)
    found = run("find", "news", "--text", "last", "--source", "title", "--json", cwd=tmp_path)
    assert [match["source"] for match in lines(found)[0]["matches"]] == [{"title": "last"}]
    done = run("load", "once", "-", "--create-only", "--field", "title", cwd=tmp_path, stdin=twice, code=1)
    assert done.out == "once: 1 document written, 1 rejected.\n"


def test_fields_that_no_document_has_are_warned_of(tmp_path: Path, news: Path) -> None:
    given = ["--field", "title", "--field", "bdoy", "--quiet"]
    (tmp_path / "none.jsonl").write_text("[]\n", encoding="utf-8")
    there = "They have: id, title, body. Did you mean 'body' instead of 'bdoy'?"
    warning = f"Warning: no document has the field bdoy. {there}\n"
    assert run("load", "news", str(news), *given, cwd=tmp_path).err == warning
    assert run("dedup", str(news), *given, cwd=tmp_path).err == warning
    assert run("dedup", str(news), "--field", "body", "--quiet", cwd=tmp_path).err == ""
    done = run("dedup", "none.jsonl", "--field", "body", "--quiet", cwd=tmp_path, code=2)
    assert "No document could be read" in done.err


# ---- deduplication of files


def test_the_output_of_dedup_can_be_its_input(tmp_path: Path, news: Path) -> None:
    done = run("dedup", str(news), "--canonical-only", str(news), "-o", "groups.csv", cwd=tmp_path)
    assert done.out == ""
    rows = [row.split(",")[1:4] for row in (tmp_path / "groups.csv").read_text(encoding="utf-8").splitlines()]
    assert rows == [["id", "canonical", "is_canonical"], ["4", "4", "1"], ["copy", "4", "0"]]
    assert [json.loads(line)["id"] for line in news.read_text(encoding="utf-8").splitlines()] == list("012345678")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["-", "--canonical-only", "a"], "which standard input and pipes cannot be."),
        (["--canonical-only", "missing/kept.jsonl"], "missing/kept.jsonl: No such file or directory."),
        (["--output", "a", "--canonical-only", "a"], "--output and --canonical-only are the same file."),
        (["--rejects", "missing/r"], "The directory of the file missing/r (--rejects) does not exist"),
        (["--memory", "1k"], "Allow at least 1,048,576."),
        (["--similarity", "0.00001"], "Choose a higher one"),
    ],
)
def test_what_dedup_cannot_do_is_said_before_it_begins(
    tmp_path: Path, news: Path, given: list[str], message: str
) -> None:
    done = run("dedup", str(news), *given, cwd=tmp_path, code=2)
    assert message in done.err
    assert list(tmp_path.iterdir()) == [news]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no limits of files")
def test_a_full_disk_is_one_paragraph_and_leaves_nothing(tmp_path: Path) -> None:
    import resource

    texts = (json.dumps({"id": str(i), **each}) + "\n" for i, each in enumerate(corpus(400)))
    (tmp_path / "news.jsonl").write_text("".join(texts), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "es_simhash", "dedup", "news.jsonl", "--memory", "1MiB", "-o", "groups"],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert f"cannot be written to {tmp_path}" in done.stderr
    assert "Name a directory with enough room" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["news.jsonl"]
