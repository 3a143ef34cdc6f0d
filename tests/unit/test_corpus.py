"""The demo's corpus: what it says of its kinds holds, measured by the exact Jaccard similarity of 5-grams."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import unicodedata
from collections import Counter
from functools import cache
from itertools import combinations
from statistics import median

import pytest

from examples.corpus import KINDS, LANGUAGES, CorpusDocument, language, make_corpus

DIGEST = """
import hashlib
from examples.corpus import make_corpus
print(hashlib.sha256(repr(make_corpus(90)).encode()).hexdigest())
"""


def grams(text: str) -> set[str]:
    """The character 5-grams, by the plainest code that there is for them."""
    folded = " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())
    return {folded[i : i + 5] for i in range(len(folded) - 4)}


def jaccard(first: CorpusDocument, second: CorpusDocument) -> float:
    a, b = grams(first.text), grams(second.text)
    return len(a & b) / len(a | b)


@cache
def all_documents() -> list[CorpusDocument]:
    return make_corpus(600)


def of_kind(kind: str) -> list[CorpusDocument]:
    return [each for each in all_documents() if each.kind == kind]


def with_originals(kind: str) -> list[tuple[CorpusDocument, CorpusDocument]]:
    by_id = {each.id: each for each in all_documents()}
    return [(by_id[each.family], each) for each in of_kind(kind)]


def within_families(kind: str) -> list[float]:
    pairs = combinations(of_kind(kind), 2)
    return [jaccard(first, second) for first, second in pairs if first.family == second.family]


def units(document: CorpusDocument) -> list[str]:
    return [unit.strip() for unit in language(document.language).units(document.body)]


def edit_distance(a: list[str], b: list[str]) -> int:
    """Levenshtein's distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def test_the_same_seed_makes_the_same_corpus_in_every_process() -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    done = subprocess.run([sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == hashlib.sha256(repr(make_corpus(90)).encode()).hexdigest()


def test_another_seed_makes_another_corpus() -> None:
    assert not {each.body for each in make_corpus(90)} & {each.body for each in make_corpus(90, seed=2)}


@pytest.mark.parametrize("size", [100, 300, 2000])
def test_a_corpus_of_any_size_has_all_kinds_in_all_languages(size: int) -> None:
    documents = make_corpus(size)
    assert size - 3 < len(documents) <= size
    assert len({each.id for each in documents}) == len(documents)
    assert {(each.language, each.kind) for each in documents} == {(code, kind) for code in LANGUAGES for kind in KINDS}
    assert set(Counter(each.language for each in documents).values()) == {size // 3}


@pytest.mark.parametrize("code", LANGUAGES)
def test_originals_are_unlike_each_other(code: str) -> None:
    originals = [grams(each.text) for each in of_kind("original") if each.language == code]
    similarities = sorted(len(a & b) / len(a | b) for a, b in combinations(originals, 2))
    assert similarities[int(0.95 * len(similarities))] < 0.2
    assert similarities[-1] < 0.5


def test_copies_are_of_originals_in_their_language() -> None:
    for kind in ("copy", "variant", "edited", "reordered", "truncated"):
        for original, copy in with_originals(kind):
            assert original.kind == "original"
            assert original.language == copy.language


def test_exact_copies_are_equal() -> None:
    assert all(original.text == copy.text for original, copy in with_originals("copy"))


def test_variants_differ_in_characters_but_not_in_features() -> None:
    for original, variant in with_originals("variant"):
        assert original.text != variant.text
        assert grams(original.text) == grams(variant.text)


def test_variants_have_half_width_kana_and_capitals_and_full_width_letters() -> None:
    texts = {code: "".join(each.text for each in of_kind("variant") if each.language == code) for code in LANGUAGES}
    assert "ｽﾞ" in texts["ja"]
    assert "ズ" not in texts["ja"]
    assert "THE " in texts["en"]
    assert "Ｔｈｅ　" in texts["en"]
    assert not {"，", "1"} & set(texts["zh"])


def test_edited_copies_differ_in_up_to_one_unit_of_twenty() -> None:
    for original, edited in with_originals("edited")[::6]:
        before = units(original)
        assert 1 <= edit_distance(before, units(edited)) <= max(1, round(0.05 * len(before)))


def test_edited_copies_are_similar() -> None:
    assert all(0.6 < jaccard(*pair) < 1 for pair in with_originals("edited"))


def test_truncated_copies_are_beginnings() -> None:
    for original, truncated in with_originals("truncated"):
        beginning = truncated.body.removesuffix("…")
        assert original.body.startswith(beginning)
        assert 0.49 < len(language(original.language).units(beginning)) / len(units(original)) <= 0.95
        assert 0.4 < jaccard(original, truncated) < 1


def test_reordered_copies_have_the_same_characters_in_another_order() -> None:
    for original, reordered in with_originals("reordered"):
        assert original.body != reordered.body
        assert Counter(original.body.split()) == Counter(reordered.body.split()) or original.language != "en"
        assert Counter("".join(original.body.split())) == Counter("".join(reordered.body.split()))
        assert 0.6 < jaccard(original, reordered) < 1


def test_texts_of_one_template_look_like_duplicates() -> None:
    similarities = within_families("template")
    assert 0.4 < median(similarities) < 0.8
    assert max(similarities) > 0.6
    assert max(similarities) < 1


def test_texts_of_one_site_share_header_and_footer_only() -> None:
    similarities = within_families("boilerplate")
    assert min(similarities) > 0.1
    assert max(similarities) < 0.6
    for first, second in combinations(of_kind("boilerplate"), 2):
        if first.family == second.family:
            (header, *_, footer), (other_header, *_, other_footer) = first.body.split("\n\n"), second.body.split("\n\n")
            assert (header, footer) == (other_header, other_footer)
