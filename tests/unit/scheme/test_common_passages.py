from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.scheme.passages import Containment, containment, words_of_texts
from es_simhash.scheme.scheme import Scheme
from es_simhash.text.tokens.words import words
from tests.support.texts import any_text

SCHEME = Scheme()
LETTERS = st.lists(st.sampled_from("abc"), max_size=25)


def by_hand(first: list[str], second: list[str], n: int) -> float:
    """The definition: each word that lies in some n consecutive ones which stand in the other text."""
    n = min(n, len(first))
    runs = {tuple(second[i : i + n]) for i in range(len(second) - n + 1)}
    starts = [i for i in range(len(first) - n + 1) if n and tuple(first[i : i + n]) in runs]
    return len({place for i in starts for place in range(i, i + n)}) / len(first) if first else 0.0


@given(LETTERS, LETTERS, st.integers(1, 8))
def test_it_is_the_share_of_words_in_common_passages(first: list[str], second: list[str], n: int) -> None:
    found = containment(SCHEME, " ".join(first), " ".join(second), n)
    assert found == Containment(by_hand(first, second, n), by_hand(second, first, n))


def words_of(text: str) -> list[str]:
    return words(SCHEME.normalisation(text))


@given(any_text(), any_text(), st.integers(1, 8))
def test_a_text_stands_wholly_in_itself_and_in_what_has_its_words(text: str, other: str, n: int) -> None:
    own, whole = words_of(text), f"{other}\n\n{text}\n\n{other}"
    assert containment(SCHEME, text, text, n) == Containment(float(bool(own)), float(bool(own)))
    # A mark may belong to what stands before it.
    if words_of(whole) == [*words_of(other), *own, *words_of(other)]:
        assert containment(SCHEME, text, whole, n).of_first == float(bool(own))


def test_a_changed_word_takes_itself_away_and_what_is_left_too_short() -> None:
    text = [f"word{number}" for number in range(20)]
    changed = [*text[:10], "else", *text[11:]]
    assert containment(SCHEME, " ".join(changed), " ".join(text), 6).of_first == 19 / 20
    changed[13] = "else"
    assert containment(SCHEME, " ".join(changed), " ".join(text), 6).of_first == (10 + 6) / 20


@pytest.mark.parametrize("seed", range(3))
def test_a_passage_with_a_few_changed_words_is_contained_and_another_text_is_not(seed: int) -> None:
    rng = random.Random(seed)
    text = [f"word{rng.randrange(500)}" for _ in range(1000)]
    passage = ["else" if rng.random() < 0.04 else word for word in text[300:400]]
    assert containment(SCHEME, " ".join(passage), " ".join(text), 6).of_first > 0.75
    assert containment(SCHEME, " ".join(reversed(passage)), " ".join(text), 6).of_first < 0.1


def test_runs_are_kept_for_the_next_comparison() -> None:
    [words_of_text] = words_of_texts(SCHEME, ["one two three four"])
    assert words_of_text.distinct_runs(2) is words_of_text.distinct_runs(2)
