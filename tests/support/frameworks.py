"""What the tests of parts for frameworks share: texts, a section of the page, and whether the framework is there."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module

import pytest

from es_simhash.errors import MissingExtraError
from tests import ROOT
from tests.support.corpus import corpus, edited
from tests.support.documentation import Page, read

# The extra that `make test-extras` has installed: its package must be there.
_WANTED = "ES_SIMHASH_TEST_EXTRA"

_ORIGINALS = [each["body"] for each in corpus(4)]
_COPIES = [edited({"body": text}, 2)["body"] for text in _ORIGINALS]

# The third is a copy of the first, the fifth and the last one of the fourth; two have nothing to compare.
TEXTS = [_ORIGINALS[0], _ORIGINALS[1], _COPIES[0], _ORIGINALS[3], _COPIES[3], "", _ORIGINALS[2], "", _ORIGINALS[3]]
KEPT = {0: [2], 1: [], 3: [4, 8], 5: [], 6: [], 7: []}


def needs(extra: str) -> None:
    """Skip the tests of a module if the package of an extra is missing; fail if `make test-extras` should have it."""
    try:
        import_module(f"es_simhash.integrations.{extra.replace('-', '_')}")
    except MissingExtraError as missing:
        if os.environ.get(_WANTED) == extra:
            raise
        pytest.skip(str(missing), allow_module_level=True)


def section(framework: str) -> Page:
    """Return the section of the page about frameworks that is about this one."""
    page = read(ROOT / "docs" / "how-to" / "frameworks.md")
    assert page.place == "frameworks"
    before, rest = page.text.split(f"\n## {framework}\n")
    begin, end = before.count("\n"), before.count("\n") + rest.partition("\n## ")[0].count("\n") + 2
    blocks = tuple(block for block in page.blocks if begin < block.line < end)
    assert blocks
    return replace(page, blocks=blocks)
