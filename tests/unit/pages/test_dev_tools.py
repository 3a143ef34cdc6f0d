"""docs/dev-tools.md describes every script, and shows the reply to every request."""

from __future__ import annotations

import re

from es_simhash.documents.stored_scripts import stored_scripts
from es_simhash.scheme.settings import Settings
from tests import ROOT
from tests.support import dev_tools
from tests.support.documentation import read, requests
from tools import mapping_files

PAGE = read(ROOT / "docs" / "dev-tools.md")


def test_every_request_is_followed_by_what_comes_back() -> None:
    requests = [block for block in PAGE.blocks if block.kind == "http"]
    assert len(requests) >= 8
    assert all(block.output and block.output.kind == "json" for block in requests)


def test_the_page_needs_no_command_line_and_says_first_what_does() -> None:
    assert {block.kind for block in PAGE.blocks} == {"http"}
    prose = re.sub(r"<!--.*?-->", "", PAGE.text, flags=re.DOTALL).split("\n\n")
    first = next(each for each in prose if each.strip() and not each.startswith("#"))
    assert "command line" in first.split(". ")[0]


def test_requests_for_one_server_say_so_where_they_are_pasted() -> None:
    one_server = {"elasticsearch": "# Elasticsearch only\n", "opensearch": "# OpenSearch only\n"}
    for block in PAGE.blocks:
        marks = [mark for mark in one_server.values() if mark in block.text]
        assert marks == ([one_server[block.only]] if block.only in one_server else [])


def test_every_file_of_the_default_preset_is_pasted() -> None:
    pasted = set(re.findall(r"^ *# Paste mappings/(\S+)$", PAGE.text, re.MULTILINE))
    assert pasted == {name for name in mapping_files.requests() if name.startswith("default/")}


def test_each_pasted_file_is_linked_in_the_step_that_has_its_number() -> None:
    for step in re.split(r"^(?=\d\. )", part_below("Set it up"), flags=re.MULTILINE)[1:]:
        pasted = re.findall(r"# Paste mappings/(\S+)$", step, re.MULTILINE)
        assert pasted
        assert re.findall(r"\]\(\.\./mappings/(\S+)\)", step) == pasted
        assert {name.split("/")[1][0] for name in pasted} == {step[0]}


def test_example_documents_go_to_an_index_that_no_reader_replaces() -> None:
    visible = re.sub(r"<!-- Not shown.*?-->", "", PAGE.text, flags=re.DOTALL)
    written = re.findall(r"^ *(?:PUT|POST) /?(\S+?)/_(?:doc|create|bulk)\b", visible, re.MULTILINE)
    assert set(written) == {"examples-of-copies"}
    assert "_reindex" not in visible
    assert mapping_files.INDEX not in "examples-of-copies"


def test_the_page_and_the_file_give_one_instruction_for_waiting() -> None:
    assert PAGE.text.count(mapping_files.WAITING) == 1
    assert mapping_files.WAITING in mapping_files.requests()["default/4-update-by-query.txt"]


def test_each_status_is_explained_where_fingerprints_are_checked() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", part_below("Check the fingerprints"), re.MULTILINE)
    assert rows == ["ok", "short", "empty", "deferred"]


def test_fingerprints_are_made_over_as_the_first_time_without_the_condition() -> None:
    again = next(
        each
        for block in PAGE.blocks
        if block.kind == "http" and "Paste" not in block.text
        for each in requests(block)
        if "_update_by_query" in each.path
    )
    first = dev_tools.requests(mapping_files.requests()["default/4-update-by-query.txt"])[0]
    assert (again.path, again.body) == (first.path, None)


def part_below(heading: str) -> str:
    return PAGE.text.split(f"## {heading}\n")[1].split("\n## ", maxsplit=1)[0]


def part(name: str) -> str:
    return PAGE.text.split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->", maxsplit=1)[0]


def test_the_page_names_every_script_and_its_parameters() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \|[^|]*\| (.*) \|$", part("scripts"), re.MULTILINE)
    assert [name for name, _ in rows] == [each.name for each in stored_scripts(Settings())]
    for each, (_, parameters) in zip(stored_scripts(Settings()), rows, strict=True):
        assert tuple(re.findall(r"`(\w+)`", parameters)) == (*each.parameters, *each.optional)
