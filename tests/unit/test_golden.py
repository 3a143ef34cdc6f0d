from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from tools import golden

pytest.importorskip("jieba")
pytest.importorskip("mmh3")

KEPT = json.loads(golden.FILE.read_text(encoding="utf-8"))


@cache
def now() -> dict[str, Any]:
    return golden.golden()


@pytest.mark.parametrize("name", KEPT["hashes"])
def test_hashes_are_what_they_always_were(name: str) -> None:
    assert now()["hashes"][name] == KEPT["hashes"][name]


@pytest.mark.parametrize("name", KEPT["presets"])
def test_fingerprints_of_a_preset_are_what_they_always_were(name: str) -> None:
    assert now()["presets"][name] == KEPT["presets"][name]


@pytest.mark.parametrize("setting", KEPT["passages"])
def test_keys_of_passages_are_what_they_always_were(setting: str) -> None:
    assert now()["passages"][setting] == KEPT["passages"][setting]


@pytest.mark.parametrize("kind", KEPT["tokens"])
def test_fingerprints_of_tokens_are_what_they_always_were(kind: str) -> None:
    assert now()["tokens"][kind] == KEPT["tokens"][kind]


def test_whatever_is_new_has_golden_vectors() -> None:
    assert {part: set(now()[part]) for part in now()} == {part: set(KEPT[part]) for part in KEPT}


def test_the_documentation_shows_the_golden_vectors() -> None:
    page = golden.DOCUMENTATION.read_text(encoding="utf-8")
    assert golden.with_tables(page, golden.tables(KEPT)) == page
