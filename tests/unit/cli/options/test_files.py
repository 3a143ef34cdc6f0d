"""Texts, objects and secrets that the command line reads from files, within bounds.

A file where an index belongs is answered with the verbs for files.
"""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from es_simhash.cli.options.files import json_object_in, text_in
from es_simhash.cli.options.target import secret_in
from es_simhash.documents.files.reader import MAX_LINE
from tests.support.commands import run


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no endless file")
def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(click.UsageError, match=rf"/dev/zero has more than {MAX_LINE:,} bytes"):
        text_in("/dev/zero")
    with pytest.raises(click.UsageError, match="is not one line of text"):
        secret_in("/dev/zero")


def test_standard_input_stays_open() -> None:
    for _ in range(2):
        assert "bands" in run("explain", "--file", "-", stdin="a text of some words").out


@pytest.mark.parametrize("content", ["", "[]", "[" * 100_000, "1" * 5_000])
def test_what_is_not_an_object_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "create.json"
    path.write_text(content)
    with pytest.raises(click.UsageError, match=r"create\.json is not a JSON object"):
        json_object_in(str(path))


@pytest.mark.parametrize("name", ["news.jsonl", "Old News.jsonl", "./news.jsonl"])
@pytest.mark.parametrize("verb", [["find", "--text", "The ferry"], ["group"], ["info"]])
def test_a_file_in_place_of_an_index_is_answered_with_the_verbs_for_files(
    tmp_path: Path, verb: list[str], name: str
) -> None:
    (tmp_path / name).write_text(json.dumps({"id": "1", "body": "The ferry"}), encoding="utf-8")
    done = run(verb[0], name, *verb[1:], cwd=tmp_path, code=2)
    shown = f"'{name}'" if " " in name else name
    assert f"Error: {name} is a file, and no index has this name." in done.err
    for remedy in (f"try {shown}", f"dedup {shown}", f"explain {shown} ID ID", f"load INDEX {shown}"):
        assert f"es-simhash {remedy}" in done.err


def test_an_index_may_have_the_name_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "news").write_text(json.dumps({"id": "1", "body": "The ferry"}), encoding="utf-8")
    run("load", "news", "news", "--format", "jsonl", "--field", "body", cwd=tmp_path)
    run("find", "news", "--text", "The ferry", cwd=tmp_path)
    missing = run("find", "news", "--id", "2", cwd=tmp_path, code=4)
    assert "is a file" not in missing.err
    (tmp_path / "news").unlink()
    assert "does not exist" in run("find", "other", "--text", "The ferry", cwd=tmp_path, code=4).err


@pytest.mark.parametrize("verb", [["tune", "--histogram"], ["evaluate", "--labels", "labels.csv"]])
def test_a_directory_is_not_taken_for_the_index_of_its_name_unless_it_ends_in_a_slash(
    tmp_path: Path, verb: list[str]
) -> None:
    rows = [{"id": str(number), "body": f"The ferry {number} leaves the town at noon."} for number in range(4)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "labels.csv").write_text("id,cluster\n0,1\n1,1\na.txt,1\nb.txt,1\n", encoding="utf-8")
    for name in ("news", "texts"):
        (tmp_path / name).mkdir()
        for file in ("a.txt", "b.txt"):
            (tmp_path / name / file).write_text(f"The ferry of {file} leaves the town.", encoding="utf-8")
    run("load", "news", "rows.jsonl", "--field", "body", cwd=tmp_path)

    def documents(place: str) -> int:
        found = json.loads(run(*verb, place, "--json", cwd=tmp_path, code=None).out.splitlines()[-1])
        return int(found["counts"]["documents"] if "counts" in found else found["documents"])

    assert (documents("news"), documents("news/")) == (4, 2)
    missing = run(*verb, "texts", cwd=tmp_path, code=4).err
    assert "To read the files in the directory of this name, write texts/." in missing
