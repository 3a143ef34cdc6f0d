"""What the doctor says of the texts: it warns of noise that hides copies, and not of clean texts of any kind."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.noise_sets import FRAME, MISREAD
from benchmarks.orthography import old, traditional
from benchmarks.scripts import TEXTS
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.index import Index
from es_simhash.live.doctor.examine import check_noise
from es_simhash.live.doctor.facts import IndexFacts
from tests import ROOT
from tests.support.corpus import corpus
from tests.support.findings import the_one
from tools.translations import LANGUAGES

ENGLISH = [
    path.read_text(encoding="utf-8")[:2000]
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if path.relative_to(ROOT / "docs").parts[0] not in LANGUAGES
]
CHINESE = [f"第{number}条 国家对环境实行保护制度，从业人员应当学会这样说话。" for number in range(30)]
JAPANESE = [f"{number}頁 私は学校へ来るとき、先生が電車の中で本を読んでいるのを見た。" for number in range(30)]


def codes(texts: Sequence[str]) -> list[str]:
    return [each.code for each in check_noise(IndexFacts("articles", 1, 1, {}, {}, None, texts=texts))]


def misread(texts: Sequence[str], share: float) -> list[str]:
    chosen = random.Random(1)
    return ["".join(MISREAD.get(each, each) if chosen.random() < share else each for each in text) for text in texts]


def test_a_third_of_scans_misread_by_a_tenth_are_reported() -> None:
    assert codes([*ENGLISH, *misread(ENGLISH[: len(ENGLISH) // 2], 0.1)]) == ["misread"]


def test_scans_misread_by_a_hundredth_are_found_by_default_and_not_reported() -> None:
    assert codes([*ENGLISH, *misread(ENGLISH, 0.01)]) == []


def test_what_most_of_each_text_shares_is_reported() -> None:
    assert codes([FRAME + text[:400] + FRAME for text in ENGLISH]) == ["boilerplate"]
    assert codes([FRAME + text for text in ENGLISH]) == []


def test_texts_in_simplified_and_in_traditional_characters_are_reported() -> None:
    assert codes([*CHINESE, *map(traditional, CHINESE[:2])]) == ["two-scripts"]
    assert codes([*CHINESE, *JAPANESE, *map(old, JAPANESE)]) == []
    assert codes([traditional(text) for text in CHINESE]) == []


@pytest.mark.parametrize("kind", [kind for kind in TEXTS if "articles" not in kind])
def test_no_language_is_taken_for_noise(kind: str) -> None:
    assert codes(TEXTS[kind].make(60, 600)) == []


def test_neither_code_nor_news_is_taken_for_noise() -> None:
    assert codes([path.read_text(encoding="utf-8") for path in sorted((ROOT / "es_simhash").rglob("*.py"))]) == []
    assert codes([each["body"] for each in corpus(60)]) == []


def test_a_few_texts_show_nothing() -> None:
    assert codes(misread(ENGLISH[:19], 0.2)) == []


def test_the_doctor_samples_the_texts_of_an_index(tmp_path: Path) -> None:
    index = Index("articles", EmbeddedEngine(tmp_path), fields=["body"])
    index.init()
    texts = misread(ENGLISH, 0.1)
    index.add([{"_id": f"{number}", "body": text} for number, text in enumerate(texts)], refresh=True)
    finding = the_one(index.doctor(), "misread")
    assert finding.level == "warning"
    assert "--similarity versions" in finding.remedy
