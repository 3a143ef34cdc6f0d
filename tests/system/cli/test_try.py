"""``es-simhash try`` on files and indices that nobody has described: what it guesses, finds and suggests."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.support.commands import lines, run, run_alone
from tests.support.http_server import Answer, serving
from tools.nodes import Node

NEWS = ROOT / "examples" / "news.jsonl"
PAGE = (
    "The ferry between Sandhaven and the island of Orm will stop for two weeks in April while its engine is replaced. "
    "A smaller boat takes passengers twice a day, but no cars. Published {date}, read {count} times."
)


def pages(count: int) -> list[dict[str, Any]]:
    """Make copies of one page, which differ in their date and their counter."""
    return [
        {"id": str(n), "site": f"{'ab'[n % 2]}.example", "body": PAGE.format(date=f"2026-03-{n % 28 + 1:02}", count=n)}
        for n in range(count)
    ]


def as_csv(rows: list[dict[str, Any]], delimiter: str) -> str:
    out = io.StringIO()
    table = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def test_the_example_shows_its_fields_its_groups_and_the_next_command(tmp_path: Path) -> None:
    done = run("try", str(NEWS), "--report", "page.html", cwd=tmp_path)
    assert "Text: title, body. Id: id. Date: published. Source: site." in done.out
    assert "12 of 32 documents are duplicates" in done.out
    assert re.search(r"^3\t0\.\d+\tFerry to Orm", done.out, re.MULTILINE)
    assert "<h1>12 of 32 documents are duplicates" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html"]


def test_the_next_command_finds_what_was_shown(tmp_path: Path) -> None:
    done = run("try", str(NEWS), cwd=tmp_path)
    [following] = re.findall(r"^Next: es-simhash (.*)$", done.out, re.MULTILINE)
    again = run(*shlex.split(following), cwd=tmp_path)
    assert "12 duplicates" in again.err
    assert len((tmp_path / "unique.jsonl").read_text(encoding="utf-8").splitlines()) == 20


@pytest.mark.parametrize(
    ("name", "encoding", "options"),
    [
        ("pages.csv", "utf-8", "--similarity 0.9 --field body --id-field url --canonical-only unique.csv"),
        (
            "pages.txt",
            "utf-16",
            "--format csv --encoding utf-16 --similarity 0.9 --field body --id-field url --canonical-only unique.csv",
        ),
        ("pages", "utf-8", "--similarity 0.9 --field text --canonical-only unique.jsonl"),
    ],
)
def test_the_next_command_runs_as_printed(tmp_path: Path, name: str, encoding: str, options: str) -> None:
    rows = [{"url": f"https://a.example/{each.pop('id')}", **each} for each in pages(30)]
    if name == "pages":
        (tmp_path / name).mkdir()
        for number, row in enumerate(rows):
            (tmp_path / name / f"{number}.md").write_text(row["body"], encoding=encoding)
    else:
        (tmp_path / name).write_text(as_csv(rows, ","), encoding=encoding)
    done = run("try", name, "--similarity", "0.9", cwd=tmp_path)
    [following] = re.findall(r"^Next: es-simhash (.*)$", done.out, re.MULTILINE)
    assert following == f"dedup {name} {options}"
    assert re.search(r"\d+ of 30 documents are duplicates", done.out)
    assert "29 duplicates" in run(*shlex.split(following), cwd=tmp_path).err


@pytest.mark.parametrize("count", [1, 2, 30, 1000])
def test_copies_of_one_page_are_one_group_however_many_there_are(tmp_path: Path, count: int) -> None:
    path = tmp_path / "pages.csv"
    path.write_text(as_csv(pages(count), ","), encoding="utf-8")
    [look] = lines(run("try", str(path), "--json", cwd=tmp_path))
    assert (look["documents"], look["duplicates"]) == (count, count - 1)
    assert [each["documents"] for each in look["largest"]] == ([count] if count > 1 else [])
    assert sum(each["duplicates"] for each in look["sources"]) == count - 1 or count == 1


@pytest.mark.parametrize("name", ["pages.csv", "pages.txt", "pages"])
@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
def test_a_table_is_read_whatever_separates_its_cells_and_whatever_its_name(
    tmp_path: Path, name: str, delimiter: str
) -> None:
    (tmp_path / name).write_text(as_csv(pages(30), delimiter), encoding="utf-8")
    [look] = lines(run("try", name, "--json", cwd=tmp_path))
    assert (look["documents"], look["duplicates"], look["fields"]["texts"]) == (30, 29, ["body"])


@pytest.mark.parametrize("form", [json.dumps, lambda rows: "\n".join(map(json.dumps, rows))], ids=["array", "lines"])
def test_json_is_read_without_a_name_that_says_so(tmp_path: Path, form: Any) -> None:
    (tmp_path / "export").write_text(form(pages(30)), encoding="utf-8")
    [look] = lines(run("try", "export", "--json", cwd=tmp_path))
    assert look["duplicates"] == 29


def test_a_folder_of_texts_is_read(tmp_path: Path) -> None:
    for each in pages(5):
        (tmp_path / f"{each['id']}.md").write_text(each["body"], encoding="utf-8")
    [look] = lines(run("try", str(tmp_path), "--json", "--report", "../page.html", cwd=tmp_path))
    assert (look["documents"], look["duplicates"]) == (5, 4)


def test_a_file_at_an_address_is_downloaded(tmp_path: Path) -> None:
    table = as_csv(pages(30), ",").encode()
    with serving(Answer(table, content_type="text/csv")) as server:
        [look] = lines(run("try", f"{server.url}/pages.csv", "--json", cwd=tmp_path))
    assert look["duplicates"] == 29
    assert [path.name for path in tmp_path.iterdir()] == ["near-duplicates.html"]


def test_titles_are_compared_as_short_texts(tmp_path: Path) -> None:
    rows = [{"id": n, "title": f"Garden chair, {color}, folding"} for n, color in enumerate(["green", "green", "red"])]
    (tmp_path / "chairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = run("try", "chairs.jsonl", cwd=tmp_path)
    assert "--scheme short" in done.out


def test_fields_may_be_named(tmp_path: Path) -> None:
    [look] = lines(run("try", str(NEWS), "--field", "title", "--json", cwd=tmp_path))
    assert look["fields"]["texts"] == ["title"]


def test_documents_without_anything_like_a_text_are_named_with_their_fields(tmp_path: Path) -> None:
    (tmp_path / "numbers.csv").write_text("id,price\n1,2.5\n2,3.5\n", encoding="utf-8")
    done = run("try", "numbers.csv", cwd=tmp_path, code=None)
    assert done.code != 0
    assert (
        "No field of numbers.csv looks like a text. Name the text fields with --field. They have: id, price" in done.err
    )


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("", encoding="utf-8")
    done = run("try", "none.jsonl", cwd=tmp_path, code=None)
    assert done.code != 0
    assert "none.jsonl has no documents" in done.err


def test_two_documents_with_one_id_are_two_documents(tmp_path: Path) -> None:
    rows = [{**each, "id": "same"} for each in pages(3)]
    (tmp_path / "same.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    [look] = lines(run("try", "same.jsonl", "--json", cwd=tmp_path))
    assert (look["documents"], look["duplicates"], look["fields"]["id"]) == (3, 2, None)


def test_only_a_number_of_documents_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("es_simhash.cli.commands.try_._MOST", 10)
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, pages(50))), encoding="utf-8")
    [look] = lines(run("try", "pages.jsonl", "--json", cwd=tmp_path))
    assert look["documents"] == 10


def test_a_title_controls_neither_the_terminal_nor_the_page(tmp_path: Path) -> None:
    hostile = [{**each, "body": "\x1b[31m<script>alert(1)</script> " + each["body"]} for each in pages(3)]
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, hostile)), encoding="utf-8")
    done = run("try", "pages.jsonl", "--report", "page.html", cwd=tmp_path)
    assert "\x1b" not in done.out
    assert "<script>alert" not in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.fixture(params=["elasticsearch_node", "opensearch_node"])
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(request.param)
    return node


def test_an_index_of_a_server_is_read_by_its_name_or_its_address_and_stays_as_it_was(
    node: Node, tmp_path: Path
) -> None:
    index = f"try-{uuid.uuid4().hex}"
    rows = pages(30)
    try:
        for each in rows:
            node.request("PUT", f"/{index}/_doc/{each['id']}?refresh=true", each)
        before = node.request("GET", f"/{index}/_mapping")
        [by_name] = lines(run_alone("try", index, "--url", node.url, "--json", cwd=tmp_path))
        [by_address] = lines(run_alone("try", f"{node.url}/{index}", "--json", cwd=tmp_path))
        assert (by_name["documents"], by_name["of"], by_name["duplicates"]) == (30, 30, 29)
        assert by_address["duplicates"] == 29
        for place in ([index, "--url", node.url], [f"{node.url.replace('://', '://user:secret@')}/{index}"]):
            done = run_alone("try", *place, cwd=tmp_path)
            assert f"Next: es-simhash sync {index} --url {node.url} --field body" in done.out
        assert node.request("GET", f"/{index}/_mapping") == before
    finally:
        node.request("DELETE", f"/{index}")


def test_an_index_that_is_not_there_is_named_with_the_way_to_a_server(tmp_path: Path) -> None:
    done = run("try", "news", cwd=tmp_path, code=None)
    assert done.code != 0
    assert "news" in done.err
    assert "--url" in done.err


@pytest.mark.parametrize("place", ["http://[x/news", "http://bob:pa/ss@host/news", "ftp://host/news"])
def test_an_address_that_cannot_be_read_is_wrong_usage(tmp_path: Path, place: str) -> None:
    assert "The address cannot be read." in run("try", place, cwd=tmp_path, code=2).err


def test_an_address_without_an_index_is_answered_without_its_login(tmp_path: Path) -> None:
    done = run("try", "http://bob:secret@host:9200/", cwd=tmp_path, code=2)
    assert "Write http://host:9200/INDEX." in done.err
    assert "secret" not in done.err
