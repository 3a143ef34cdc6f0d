"""docs/dev-tools.md describes every script, and shows the reply to every request."""

from __future__ import annotations

import re

from es_simhash.documents.painless.stored_scripts import stored_scripts
from es_simhash.scheme.settings import Settings
from tests import ROOT
from tests.support.documentation import read

PAGE = read(ROOT / "docs" / "dev-tools.md")


def test_every_request_is_followed_by_what_comes_back() -> None:
    requests = [block for block in PAGE.blocks if block.kind == "http"]
    assert len(requests) >= 8
    assert all(block.output and block.output.kind == "json" for block in requests)


def part(name: str) -> str:
    return PAGE.text.split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->", maxsplit=1)[0]


def test_the_page_names_every_script_and_its_parameters() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \|[^|]*\| (.*) \|$", part("scripts"), re.MULTILINE)
    assert [name for name, _ in rows] == [each.name for each in stored_scripts(Settings())]
    for each, (_, parameters) in zip(stored_scripts(Settings()), rows, strict=True):
        assert tuple(re.findall(r"`(\w+)`", parameters)) == (*each.parameters, *each.optional)


def test_the_expected_numbers_of_shared_bands_are_those_of_the_scheme() -> None:
    minhash = Settings().minhash
    assert minhash
    [similarities, _, shared] = (line.split("|")[2:-1] for line in part("shared").strip().splitlines())
    expected = [f"{minhash.bands * float(each) ** minhash.rows:.1f}" for each in similarities]
    assert [each.strip() for each in shared] == expected
