"""What people paste into Dev Tools: as the code makes it, for each preset, in a form that both servers' UIs take."""

from __future__ import annotations

import re

import pytest

from es_simhash.cli.commands.scripts import request
from es_simhash.documents.documents import Documents
from es_simhash.documents.stored_scripts import pipeline, stored_scripts
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS
from tests.support.dev_tools import Request, requests
from tools import mapping_files

FILES = mapping_files.requests()
each_file = pytest.mark.parametrize("name", FILES)
WITHOUT_PIPELINE = {"passages", "chinese-keywords"}


def test_the_files_are_what_the_code_makes() -> None:
    folder = mapping_files.DIRECTORY
    kept = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.txt")}
    assert kept == FILES | {f"dashboards/{name}": text for name, text in mapping_files.alerts().items()}


def test_the_folder_has_nothing_else_that_people_could_paste() -> None:
    folder = mapping_files.DIRECTORY
    others = {path.relative_to(folder).parts[0] for path in folder.rglob("*") if path.suffix not in ("", ".txt")}
    assert others == {"README.md", "dashboards"}


def test_the_readme_names_every_file_and_folder() -> None:
    page = (mapping_files.DIRECTORY / "README.md").read_text(encoding="utf-8")
    assert {name.split("/")[1] for name in FILES} == set(re.findall(r"\b\d-[\w-]+\.txt", page))
    assert re.findall(r"^\| `([\w-]+)` \|", page.split("| folder |")[1], re.MULTILINE) == [*PRESETS]


@pytest.mark.parametrize("preset", PRESETS)
def test_each_preset_has_a_pipeline_or_says_why_not(preset: str) -> None:
    sent = {name.split("/")[1]: requests(text) for name, text in FILES.items() if name.startswith(f"{preset}/")}
    if preset in WITHOUT_PIPELINE:
        assert "2-pipeline.txt" not in sent
        assert sent["2-no-pipeline.txt"] == []
        assert "es_simhash" in FILES[f"{preset}/2-no-pipeline.txt"]
        assert "pipeline" not in FILES[f"{preset}/3-new-index.txt"]
    else:
        body = pipeline("articles", Documents(Scheme.preset(preset), ["title", "body"]))
        assert sent["2-pipeline.txt"] == [Request("PUT", "/_ingest/pipeline/es-simhash-articles", body)]
    assert all(sent[name] for name in sent if name != "2-no-pipeline.txt")


@each_file
def test_a_file_begins_with_the_servers_and_the_preset_that_it_is_for(name: str) -> None:
    preset = name.split("/", maxsplit=1)[0]
    assert re.match(rf"# For Elasticsearch and OpenSearch, (preset {preset}|every preset): ", FILES[name])


@each_file
def test_no_file_depends_on_how_an_editor_or_a_ui_changes_text(name: str) -> None:
    """Editors guess encodings; Kibana replaces ``${name}``, and took a line with a method for a request."""
    text = FILES[name]
    assert text.isascii()
    assert "${" not in text
    methods = re.findall(r"^\s*(?:GET|POST|PUT|DELETE|HEAD|PATCH)\b", text, re.MULTILINE)
    assert len(methods) == len(requests(text))


@pytest.mark.parametrize("preset", PRESETS)
def test_no_text_in_a_search_template_has_a_place_where_kibana_8_breaks_lines(preset: str) -> None:
    templates = [each for each in stored_scripts(Scheme.preset(preset)) if each.is_template]
    texts = [text for each in templates for text in re.findall(r'"[^"]*"', each.source)]
    assert [text for text in texts if re.search(r"\}\s*\{", text)] == []


def test_lists_stand_on_a_line_and_long_texts_between_triple_quotes() -> None:
    text = request(
        "PUT", "/a", {"n": [1, -2], "s": [["b.c"], ["é", '"\\']], "t": 'x "y" \\n\n[1,\n 2]', "o": [{}]}, "One."
    )
    assert text == (
        '# One.\nPUT a\n{\n  "n": [1, -2],\n  "s": [\n    ["b.c"],\n    ["\\u00e9", "\\"\\\\"]\n  ],\n'
        '  "t": """x "y" \\n\n[1,\n 2]""",\n  "o": [\n    {}\n  ]\n}\n'
    )
    assert requests(text)[0].body == {
        "n": [1, -2],
        "s": [["b.c"], ["é", '"\\']],
        "t": 'x "y" \\n\n[1,\n 2]',
        "o": [{}],
    }


def test_several_lines_of_json_are_the_body_of_one_request() -> None:
    read = requests('GET a/_msearch\n{}\n{"size": 1}\nGET b\n{}\n')
    assert read == [Request("GET", "/a/_msearch", ({}, {"size": 1})), Request("GET", "/b", {})]


@pytest.mark.parametrize(
    "text",
    [
        "GET a {}\n",
        "GET a\n\n{}\n",
        "GET a\n# Why?\n{}\n",
        "GET a\n{} # Why?\n",
        'PUT a\n{"b": """c"}\n',
        "a\n",
        "GET\n{}\n",
    ],
)
def test_a_form_that_only_one_of_the_uis_takes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not the beginning"):
        requests(text)
