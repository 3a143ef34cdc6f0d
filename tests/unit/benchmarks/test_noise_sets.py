"""Planted copies and noise are what their names say."""

from __future__ import annotations

from collections import defaultdict

import pytest

from benchmarks import noise_sets
from benchmarks.git_sets import Member

TEXT = "The 12 owls met at 7 in the old mill. " * 40


@pytest.fixture(autouse=True)
def _posts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = tuple(TEXT + "xyz"[number % 3] * (number // 3) for number in range(noise_sets.POSTS))
    monkeypatch.setattr(noise_sets, "_posts", lambda: texts)
    for name, text in {"laws": "国家对环境实行保护制度", "aozora": "私は彼の声を聞いていた"}.items():
        works = [Member(f"{n}", f"{n // 2 if n < 10 else n}", text + chr(0x4E00 + n) * 9) for n in range(600)]
        monkeypatch.setattr(noise_sets, name, lambda works=works: iter(works))


@pytest.mark.parametrize("name", noise_sets.SETS)
def test_ids_are_unique_and_a_set_is_the_same_each_time(name: str) -> None:
    members = list(noise_sets.SETS[name]())

    assert len({member.id for member in members}) == len(members)
    assert members == list(noise_sets.SETS[name]())


@pytest.mark.parametrize("name", ["planted_english", "planted_chinese", "chains", "stamped"])
def test_planted_clusters_have_two_to_forty_texts_that_differ(name: str) -> None:
    clusters = [texts for texts in _clusters(name).values() if len(texts) > 1]

    assert len(clusters) == noise_sets.CLUSTERS
    assert {len(texts) for texts in clusters} <= set(noise_sets.SIZES)
    assert all(len(set(texts)) > 1 for texts in clusters)


@pytest.mark.parametrize(("name", "share"), [("ocr_1", 0.01), ("ocr_5", 0.05), ("ocr_10", 0.1)])
def test_characters_are_misread_as_often_as_asked_for(name: str, share: float) -> None:
    # Nothing else is read as a "b" or a "0", so that each of them is a misread "h" or "o".
    letters = "".join(original for original, _ in _pairs(name))
    misread = sum(copy.count("b") + copy.count("0") for _, copy in _pairs(name))

    assert misread / (letters.count("h") + letters.count("o")) == pytest.approx(share, rel=0.2)


def test_redacted_copies_have_no_digits_and_are_else_the_same() -> None:
    for original, copy in _pairs("redacted"):
        assert copy == "".join("X" if each.isdigit() else each for each in original)


def test_framed_texts_share_their_frame() -> None:
    members = list(noise_sets.SETS["framed"]())

    assert all(
        member.text.startswith(noise_sets.FRAME) and member.text.endswith(noise_sets.FRAME) for member in members
    )


def test_forms_with_other_numbers_are_apart() -> None:
    by_text: dict[str, set[str]] = defaultdict(set)
    for member in noise_sets.SETS["forms"]():
        by_text[member.id.split("/")[0]].add(member.cluster)

    assert [len(clusters) for clusters in by_text.values()] == [1, 2] * (noise_sets.POSTS // 2)


@pytest.mark.parametrize(
    ("name", "before", "written"),
    [
        ("traditional", "国家对环境实行保护制度", "國家對環境實行保護制度"),
        ("old_spelling", "私は彼の声を聞いていた", "私は彼の聲を聞いてゐた"),
        ("kana", "私は彼の声を聞いていた", "わたしはかれの声をきいていた"),
    ],
)
def test_copies_in_another_orthography_are_of_works_that_are_there_once(name: str, before: str, written: str) -> None:
    pairs = _pairs(name)

    assert len(pairs) == noise_sets.COPIED
    assert all(original.startswith(before) and copy.startswith(written) for original, copy in pairs)
    assert len({original for original, _ in pairs}) == len(pairs)


def _clusters(name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for member in noise_sets.SETS[name]():
        found[member.cluster].append(member.text)
    return found


def _pairs(name: str) -> list[tuple[str, str]]:
    return [(texts[0], texts[1]) for texts in _clusters(name).values() if len(texts) == 2]
