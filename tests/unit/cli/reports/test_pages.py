""""""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from es_simhash.cli.reports.explanation_page import explanation_page
from es_simhash.cli.reports.page import page, section, style
from es_simhash.plans.explanation import Explanation, examine, explain
from es_simhash.plans.similarities import Keys
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.text.tokens import Words
from tests.support.html_reader import Reader

EVIL = "<script>alert('x')</script> & \"quoted\" </style><img src=x onerror=alert(1)> 近似重复"


def test_a_page_allows_nothing_to_be_loaded_or_run() -> None:
    made = page(EVIL, section(EVIL, EVIL))
    read = Reader(made)
    assert "script" not in dict(read.elements)
    [policy] = [each["content"] for _, each in read.elements if each.get("http-equiv") == "Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    assert read.text.count(EVIL) == 3
    assert made.startswith("<!doctype html>")


def test_the_style_has_light_and_dark_and_loads_nothing() -> None:
    assert "prefers-color-scheme: dark" in style()
    names = re.findall(r"(--[\w-]+):", style())
    assert len(names) == 2 * len(set(names)), "each colour has a value for light and one for dark"
    assert set(re.findall(r"var\((--[\w-]+)\)", style())) == set(names)
    assert not re.search(r"url\(|@import|</", style())


# ---- the page of an explanation

A = f"The quick brown fox jumps over the lazy dog. {EVIL} And then it does so again and again."
B = A.replace("jumps", "jumped").replace("again and", "once more and")


def explained(
    a: str = A, b: str = B, scheme: Scheme | None = None, names: tuple[str, str] = (EVIL, "b")
) -> Explanation:
    scheme = scheme or Scheme()
    first, second = (examine(scheme, name, text) for name, text in zip(names, (a, b), strict=True))
    return explain(scheme, Criteria.of(scheme), (first, second))


def test_all_that_texts_and_ids_hold_is_shown_as_text() -> None:
    read = Reader(explanation_page(explained()))
    tags = {tag for tag, _ in read.elements}
    assert not tags & {"script", "img", "link", "iframe"}
    assert not [name for _, each in read.elements for name in each if name.startswith("on") or name in ("src", "href")]
    assert EVIL in read.text


def test_the_page_says_all_that_is_known() -> None:
    found = explained()
    read = Reader(explanation_page(found))
    assert found.verdict.sentence in read.text
    assert f"{found.evidence.similarity.exact:.2f}" in read.text
    assert sum(tag == "mark" for tag, _ in read.elements) == 2 * len(found.evidence.bits.differing)  # type: ignore[union-attr]
    assert [tag for tag, _ in read.elements if tag in ("del", "ins")].count("del") == 2
    for heading in ("Documents", "Similarity", "SimHash", "Bands of MinHash", "Passages", "Features", "Text"):
        assert heading in read.text


def test_the_page_has_the_longest_passage_as_it_stands_in_both_texts() -> None:
    found = explained("One two, THREE four five six. Seven!", "one two three four five six and eight nine")
    read = Reader(explanation_page(found)).text
    assert "The longest has 6 words." in read
    assert "One two, THREE four five six" in read
    assert f"{EVIL} in b0.86b in {EVIL}0.67" in read
    assert "The longest" not in Reader(explanation_page(explained("one two", "one three"))).text


@pytest.mark.parametrize(
    ("scheme", "missing"),
    [(Scheme.preset("strict"), "Bands of MinHash"), (Scheme(simhash=None), "SimHash")],
)
def test_sections_that_the_scheme_lacks_are_left_out(scheme: Scheme, missing: str) -> None:
    assert missing not in Reader(explanation_page(explained(scheme=scheme))).text


def test_empty_texts_have_a_page() -> None:
    read = Reader(explanation_page(explained("", "")))
    assert "there is no text in" in read.text
    assert "SimHash" not in read.text


def test_a_weight_other_than_1_is_shown_and_a_similarity_without_weights() -> None:
    scheme = Scheme(tokens=Words(), weights="tf")
    read = Reader(explanation_page(explained("a a a b", "a a b c", scheme)))
    assert "without weights" in read.text
    assert "weight 3" in read.text


def test_long_texts_are_shortened_where_equal_and_marked_where_not_compared() -> None:
    same = "word " * 1000
    one, other = ("".join(f"{name}{i} " for i in range(20_000)) for name in "xy")
    text = Reader(explanation_page(explained(same + one + same, same + other + same))).text
    assert "characters of both are the same" in text
    assert "characters were not compared" in text
    assert "x15000" not in text


def test_the_result_of_the_engine_is_shown() -> None:
    found = explained()
    keys = found.evidence.bands
    assert keys
    for engine, result in ((keys.agree, "has the same result"), ([], "has a different result")):
        asked = Keys(keys.a, keys.b, keys.agree, keys.needed, keys.probability, engine)
        shown = replace(found, evidence=replace(found.evidence, bands=asked))
        assert result in Reader(explanation_page(shown)).text
