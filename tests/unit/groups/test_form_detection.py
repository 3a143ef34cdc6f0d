"""Groups look like forms where their documents differ in the same places, and not where they are edited copies."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.families import LANGUAGES, LENGTHS, SHARES, family
from es_simhash import Scheme, dedup
from es_simhash.groups.form_detection import is_form
from examples.corpus import COPIERS, Writer, language
from tests.support.filled_forms import filled
from tests.support.texts import any_text

SCHEME = Scheme()
TEMPLATES = range(4)


def forms(texts: list[str]) -> tuple[str, ...]:
    documents = [(str(number), text) for number, text in enumerate(texts)]
    with dedup(documents, scheme=SCHEME, threads=1, similarity=0.5) as found:
        return found.forms


@pytest.mark.parametrize("code", LANGUAGES)
def test_texts_of_one_template_look_like_a_form(code: str) -> None:
    named = [is_form(SCHEME, filled(code, template, 9, seed)) for template in TEMPLATES for seed in range(10)]
    assert sum(named) >= 0.8 * len(named)


@pytest.mark.parametrize("size", [5, 30, 100])
@pytest.mark.parametrize("characters", LENGTHS)
@pytest.mark.parametrize("code", LANGUAGES)
def test_edited_copies_with_another_date_and_counter_do_not(code: str, characters: int, size: int) -> None:
    for seed, share in enumerate(SHARES):
        texts = family(code, characters, share, size, seed)
        assert not is_form(SCHEME, texts[:9])
        assert forms(texts) == ()


@pytest.mark.parametrize("kind", ["edited", "reordered", "truncated"])
@pytest.mark.parametrize("code", LANGUAGES)
def test_copies_that_are_edited_cut_off_or_in_another_order_do_not(code: str, kind: str) -> None:
    own = language(code)
    for seed in range(20):
        rng = random.Random(seed)
        story = Writer(own, rng).story(8)
        assert not is_form(SCHEME, [own.body(COPIERS[kind](rng, own, story)) for _ in range(9)])


def test_what_is_the_same_in_all_others_is_an_edit_of_the_first() -> None:
    old = (
        "The office in Mill Street opens at eight, the one in Church Street at nine, and the library not at all today."
    )
    new = old.replace("Mill", "Bridge").replace("nine", "ten").replace("library", "museum")
    assert not is_form(SCHEME, [old, *(f"{new} {word}" for word in ("once", "twice", "thrice", "again"))])


@given(st.integers(0, 3), st.permutations(range(8)))
def test_the_order_of_those_after_the_first_makes_no_difference(template: int, order: list[int]) -> None:
    for first, *others in (filled("en", template, 9), family("en", 200, 0.02, 9, template)):
        assert is_form(SCHEME, [first, *others]) == is_form(SCHEME, [first, *(others[place] for place in order)])


@given(st.lists(any_text(), max_size=9))
def test_any_texts_can_be_asked_about(texts: list[str]) -> None:
    assert is_form(SCHEME, texts) in (True, False)
    assert not is_form(SCHEME, texts[:1] * 9)


def test_huge_texts_are_looked_at_in_part_and_three_are_too_few() -> None:
    texts = [f"{text}\n" * 10_000 for text in filled("en", 0, 4)]
    assert is_form(SCHEME, texts)
    assert not is_form(SCHEME, texts[:3])


def test_equal_texts_count_once() -> None:
    texts = filled("zh", 0, 4)
    assert forms([text for text in texts for _ in range(2500)]) == ("0",)
    assert forms(texts[:1] * 10_000) == ()


def test_fingerprints_alone_say_nothing() -> None:
    documents = [(str(number), text) for number, text in enumerate(filled("en", 0, 9))]
    with dedup(documents, scheme=SCHEME, threads=1, similarity=0.5, estimate=True) as found:
        assert (len(found), found.forms) == (1, ())
