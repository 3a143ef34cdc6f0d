"""Outputs for people have words that a person knows: ten that a page explains, everyday English, and the data."""

from __future__ import annotations

from pathlib import Path

import pytest

from es_simhash.cli.program import COMMANDS
from tests import ROOT
from tests.support.commands import run
from tests.support.documentation import commands, read
from tests.support.page_files import content
from tests.support.plain_words import EVERYDAY, TEN, technical, text_of_page, unexplained

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
NEWS = (ROOT / "examples" / "news.jsonl").read_text(encoding="utf-8")
# Explanations name what is inside; options, and the shell's own commands, are the reader's.
_EXPERT = ("explain", "--verbose", "--json", " -v ", "curl", "cat ", "head ", "tail ")


def test_the_page_has_ten_words() -> None:
    assert TEN == [
        "document",
        "fingerprint",
        "near-duplicate",
        "similarity",
        "threshold",
        "group",
        "canonical document",
        "duplicate",
        "index",
        "server",
    ]


def test_the_everyday_words_have_none_of_ours() -> None:
    assert not EVERYDAY & technical()


def test_a_technical_word_is_noticed() -> None:
    assert unexplained("The bands of 3 documents differ.") == {"bands"}
    assert unexplained("Next: es-simhash init news --scheme mine.json") == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_pages_show_plain_words(path: Path) -> None:
    page = read(path)
    data = "\n".join(block.text for block in page.blocks if block.kind not in ("console", "text"))
    data += "".join(content(name).decode() for name in page.settings("files"))
    for block in page.blocks:
        if block.kind == "console" and not block.not_run:
            for command in commands(block):
                if not any(word in command.line for word in _EXPERT):
                    assert not unexplained(command.shown, data + command.line + NEWS), command.line


RUNS = [
    "init news --field title --field body",
    "doctor news",
    "load news {news}",
    "backfill news --refresh-stale",
    "find news --id en-04 --source title",
    "find news --text nothing",
    "check news {news}",
    "search news --query town --source title",
    "group news --output groups.jsonl",
    "group news --write --report report.html --output groups.jsonl",
    "group news --incremental --write --output groups.jsonl",
    "dashboard news --output dashboard.ndjson",
    "learn news",
    "info news",
    "reindex news copy",
    "erase news --id en-04 --output copies.jsonl",
    "dedup {news} --output groups.jsonl --report report.html",
    "dedup {news} --estimate --output groups.jsonl",
    "tune {news} --histogram",
]
LATER = ["try news.jsonl --report report.html", "sync copy", "remove copy --yes"]


def test_all_verbs_print_plain_words(tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text(NEWS, encoding="utf-8")
    data = NEWS + "news copy town"
    for line in [*RUNS, *(each for each in LATER if each.split()[0] in COMMANDS)]:
        done = run(*line.format(news="news.jsonl").split(), cwd=tmp_path)
        assert not unexplained(done.out + done.err, data), f"{line}\n{done.out}{done.err}"
        if "report.html" in line:
            assert not unexplained(text_of_page(tmp_path / "report.html"), data), line
