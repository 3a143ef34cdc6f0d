"""``dashboard`` through real processes, and the links of ``group``."""

from __future__ import annotations

import csv
import json
import re
import uuid
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from es_simhash.cli.reports.dashboards import Subject
from es_simhash.index import Index
from tests.support.commands import run
from tests.support.corpus import corpus, edited
from tests.support.saved_objects import problems
from tests.support.whole_indices import ENGINES, FIELDS
from tools.nodes import Node

pytestmark = pytest.mark.each_server


@pytest.fixture(params=ENGINES[1:], scope="module")
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node


@pytest.fixture(scope="module")
def index(node: Node) -> Iterator[str]:
    """An index with two groups."""
    name = f"dashboard-{uuid.uuid4().hex[:10]}"
    with Index(name, node.url, fields=FIELDS) as made:
        made.init(create={"mappings": {"properties": {"site": {"type": "keyword"}, "published": {"type": "date"}}}})
        texts = corpus(4)
        documents = [*texts, texts[0], edited(texts[1], 1)]
        own = {"site": "a.example", "published": "2026-05-01"}
        made.add([{"_id": str(number), **text, **own} for number, text in enumerate(documents)], refresh=True)
        with made.group() as grouped:
            made.write_groups(grouped)
        made.refresh()
    yield name
    node.request("DELETE", f"/{name}")


def saved(text: str) -> list[dict[str, Any]]:
    objects = [json.loads(line) for line in text.splitlines()]
    assert problems(objects) == []
    return objects


def test_saved_objects_are_printed_and_written_alike(node: Node, index: str, tmp_path: Path) -> None:
    options = [index, "--url", node.url, "--date", "published", "--breakdown", "site"]
    printed = run("dashboard", *options)
    objects = saved(printed.out)
    search = next(each["attributes"] for each in objects if each["type"] == "search")
    assert search["columns"][:2] == ["_id", FIELDS[0]]
    assert search["columns"][-1] == "site"
    file = tmp_path / "dashboard.ndjson"
    written = run("dashboard", *options, "--output", str(file), "--json")
    assert file.read_text(encoding="utf-8") == printed.out
    expected = {"objects": len(objects), "data_view": Subject(index).data_view_id, "file": str(file)}
    assert json.loads(written.out) == expected
    assert f"{len(objects)} saved objects are in {file}" in written.err


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--breakdown", "title"], "cannot be counted by its values"), (["--date", "nowhen"], "has no field 'nowhen'")],
)
def test_a_field_that_cannot_be_used_is_refused(node: Node, index: str, options: list[str], message: str) -> None:
    done = run("dashboard", index, "--url", node.url, *options, code=4)
    assert done.out == ""
    assert message in done.err


def test_an_index_without_groups_is_warned_of(node: Node) -> None:
    name = f"dashboard-{uuid.uuid4().hex[:10]}"
    with Index(name, node.url, fields=FIELDS) as made:
        made.init()
    done = run("dashboard", name, "--url", node.url, "--quiet")
    node.request("DELETE", f"/{name}")
    assert f"Run: es-simhash group {name} --write" in done.err
    assert saved(done.out)


def called(text: str) -> set[str]:
    """The functions that clicks call in a file."""
    return set(re.findall(r"(\w+)AddFilter", text))


def test_a_file_is_for_the_ui_of_the_server_s_makers(node: Node, index: str) -> None:
    is_opensearch = node.request("GET", "/").body["version"].get("distribution") == "opensearch"
    own = "opensearchDashboards" if is_opensearch else "kibana"
    assert called(run("dashboard", index, "--url", node.url).out) == {own}


def test_no_server_need_be_named() -> None:
    done = run("dashboard", "articles", "--date", "published", "--breakdown", "site", "--field", "title")
    assert called(done.out) == {"kibana"}
    assert "the fields are not checked, and the dashboard is for Kibana" in done.err
    assert "published" in json.dumps(saved(done.out)[0])


def test_objects_of_a_space_have_its_ids(tmp_path: Path) -> None:
    def id_at(path: str) -> str:
        file = tmp_path / "objects.ndjson"
        run("dashboard", "a", "--kibana-url", f"http://h{path}", "--output", str(file))
        return str(saved(file.read_text(encoding="utf-8"))[0]["id"])

    assert id_at("") == id_at("/s/default") == Subject("a").data_view_id
    assert id_at("/s/team/app/home") == Subject("a", space="team").data_view_id


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kibana-url", "h:5601"], "Write it as https://HOST:PORT"),
        (["--kibana-url", "http://h/s/a?security_tenant=b"], "Name one of them"),
        (["--prefix", "a.b"], "Choose a name of letters"),
        (["--user", "bob"], "would be for a server"),
    ],
)
def test_invalid_options_are_refused(options: list[str], message: str) -> None:
    done = run("dashboard", "articles", *options, code=2)
    assert done.out == ""
    assert message in done.err


def test_groups_are_linked_to_their_documents(node: Node, index: str, tmp_path: Path) -> None:
    report, rows = tmp_path / "report.html", tmp_path / "groups.csv"
    common = ["group", index, "--url", node.url, "--kibana-url", "http://ui:5601"]
    done = run(*common, "--report", str(report))
    groups = [json.loads(line) for line in done.out.splitlines()]
    links = [each["link"] for each in groups]
    assert len(links) == 2
    for group, link in zip(groups, links, strict=True):
        assert link.startswith("http://ui:5601/app/discover#/?")
        assert Subject(index).data_view_id in link
        assert f"%22{group['group']}%22" in link
    page = report.read_text(encoding="utf-8")
    assert [unescape(each) for each in re.findall('href="([^"#][^"]*)"', page)] == links
    run(*common, "--output", str(rows))
    with rows.open(encoding="utf-8") as file:
        assert sorted({row["link"] for row in csv.DictReader(file)}) == sorted(links)


def test_no_kibana_reads_the_embedded_engine(tmp_path: Path) -> None:
    with Index("a", str(tmp_path), fields=FIELDS) as made:
        made.init()
    done = run("group", "a", "--url", str(tmp_path), "--kibana-url", "http://ui:5601", code=2)
    assert "Kibana cannot read the embedded engine" in done.err
