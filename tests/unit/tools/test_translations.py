"""Translations have the code of the English pages and keep up with their prose; the tool notices if they do not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT
from tools import translations
from tools.translations import LANGUAGES, has_fallen_behind, marked_as_current, with_current_code

ENGLISH = (
    "# Title\n\n<!-- indices: news -->\n\nSome prose.\n\n```console\n$ ls\nold\n```\n\n<!-- a\n```json\n{}\n```\n-->\n"
)
PAGE = (
    "# 标题\n\n<!-- translated from: page.md -->\n<!-- indices: x -->\n\n正文。\n\n"
    "```console\n```\n\n<!-- b\n```\n```\n-->\n"
)

pages = pytest.mark.parametrize("path", [*translations.translations()], ids=lambda path: str(path.relative_to(ROOT)))


@pytest.fixture
def english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(translations, "ROOT", tmp_path)
    path = tmp_path / "page.md"
    path.write_text(ENGLISH, encoding="utf-8")
    return path


@pages
def test_a_translation_has_the_code_of_the_english_page(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert with_current_code(text) == text, "python -m tools.translations"


@pages
def test_a_translation_has_not_fallen_behind(path: Path) -> None:
    assert not has_fallen_behind(path.read_text(encoding="utf-8")), (
        f"translate it, then: python -m tools.translations {path}"
    )


def test_each_language_has_the_same_pages() -> None:
    first, *others = (
        {path.relative_to(ROOT / "docs" / language) for path in (ROOT / "docs" / language).rglob("*.md")}
        for language in LANGUAGES
    )
    assert first
    assert others == [first]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_readmes_have_the_same_measurements_and_presets(language: str) -> None:
    english, translated = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", f"README.{language}.md"))
    measured = re.compile(r"\b\d+[.,]\d+\b", re.ASCII)
    assert sorted(measured.findall(translated)) == sorted(measured.findall(english))
    names = re.compile(r"^\| `(.+?)`", re.MULTILINE)
    assert names.findall(translated) == names.findall(english)


def test_the_tables_of_words_translate_the_same_words() -> None:
    tables = [
        re.findall(
            r"^\| ([a-z -]+) \| (.+?) \|", (ROOT / "docs" / language / "index.md").read_text("utf-8"), re.MULTILINE
        )
        for language in LANGUAGES
    ]
    words = [[english for english, _ in table] for table in tables]
    assert len(words[0]) == 10
    assert words[0] == words[1]


def test_pages_use_the_fixed_translation_of_near_duplicate() -> None:
    """Another common translation of the word must not slip in."""
    for language, other in (("zh-CN", "准重复"), ("ja", "準重複")):
        for path in (ROOT / f"README.{language}.md", *(ROOT / "docs" / language).rglob("*.md")):
            assert other not in path.read_text(encoding="utf-8"), path


def test_code_and_settings_are_copied_and_prose_is_not(english: Path) -> None:
    renewed = with_current_code(PAGE)
    assert "<!-- indices: news -->" in renewed
    assert "```console\n$ ls\nold\n```" in renewed
    assert "<!-- b\n```json\n{}\n```\n-->" in renewed
    assert "正文。" in renewed
    assert "prose" not in renewed


def test_a_changed_output_leaves_a_translation_current_and_changed_prose_does_not(english: Path) -> None:
    page = marked_as_current(PAGE)
    assert has_fallen_behind(PAGE)
    assert not has_fallen_behind(page)
    english.write_text(ENGLISH.replace("old", "new"), encoding="utf-8")
    assert not has_fallen_behind(page)
    english.write_text(ENGLISH.replace("Some prose", "Other prose"), encoding="utf-8")
    assert has_fallen_behind(page)
    assert not has_fallen_behind(marked_as_current(page))


def test_a_block_that_a_translation_lacks_is_named(english: Path) -> None:
    english.write_text(f"{ENGLISH}\n```python\n1\n```\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.md has 3 blocks and settings, not 4"):
        with_current_code(PAGE)
