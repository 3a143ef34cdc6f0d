"""Texts, objects and secrets that the command line reads from files, within bounds."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from es_simhash.cli.options.files import json_object_in, text_in
from es_simhash.cli.options.logins import secret_in
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
