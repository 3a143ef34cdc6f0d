from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Passages, Scheme
from es_simhash.plans.explain.similarities import SharedPassages, shared_passages

LETTERS = st.lists(st.sampled_from("abc"), max_size=20)


def longest(first: list[str], second: list[str]) -> list[str]:
    """The first longest run in common, place by place."""
    found: list[str] = []
    for i in range(len(first)):
        for j in range(len(second)):
            length = 0
            while first[i : i + length + 1] == second[j : j + length + 1] and max(i, j) + length < len(first + second):
                if i + length >= len(first) or j + length >= len(second):
                    break
                length += 1
            if length > len(found):
                found = first[i : i + length]
    return found


@given(LETTERS, LETTERS)
def test_the_longest_passage_is_the_first_longest_run_of_words_in_common(first: list[str], second: list[str]) -> None:
    found = shared_passages(Scheme(), (" ".join(first), " ".join(second)))
    wanted = longest(first, second)
    assert (found.words, found.in_first, found.in_second) == (len(wanted), " ".join(wanted), " ".join(wanted))


def test_a_passage_is_shown_as_it_stands_in_each_text() -> None:
    texts = "He said: “The QUICK brown fox — jumps”, and left.", "the quick Brown fox: jumps. Again."
    found = shared_passages(Scheme(passages=Passages(words=3)), texts)
    assert found == SharedPassages(5 / 9, 5 / 6, 3, 5, "The QUICK brown fox — jumps", "the quick Brown fox: jumps")


def test_of_a_long_passage_the_beginning_is_shown_and_markup_is_not_part_of_it() -> None:
    text = "<p>" + "word " * 200
    found = shared_passages(Scheme(html=True), (text, text))
    assert (found.words, found.of_first) == (200, 1.0)
    assert found.in_first == f"{'word ' * 60}…"


def test_texts_without_words_share_nothing() -> None:
    assert shared_passages(Scheme(), ("", "!")) == SharedPassages(0.0, 0.0, 6, 0, "", "")
