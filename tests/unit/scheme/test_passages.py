""""""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from es_simhash import Documents, Layout, Passages, Scheme, SchemeError
from es_simhash.scheme import own_fields, passages
from es_simhash.scheme.passages import Containment, containment, grams, minima, words_of_texts
from es_simhash.text.hashing import BASE, fmix64
from es_simhash.text.words import words
from tests.support.texts import any_text

SCHEME = Scheme(passages=Passages())
DOCUMENTS = Documents(SCHEME, ["text"])
VOCABULARIES = {
    "en": ([f"word{number}" for number in range(300)], " "),
    "zh": ([chr(0x4E00 + number) for number in range(300)], ""),
    "ja": ([*map(chr, range(0x3041, 0x3090)), *("カタカナ", "ページ", "山", "川", "東京")], "、"),
}


def keys(text: str, scheme: Scheme = SCHEME) -> set[str]:
    return passages.keys_in(fields(text, scheme))


def fields(text: str, scheme: Scheme = SCHEME) -> dict[str, Any]:
    own: dict[str, Any] = Documents(scheme, ["text"]).add_fields({"text": text})["dedup"]
    return own


def test_a_scheme_without_passages_does_not_mention_them() -> None:
    assert "passages" not in json.loads(Scheme().to_json())
    assert "passages" not in own_fields.names(Scheme())


def test_passages_are_in_the_json_form_the_id_the_mapping_and_the_fields() -> None:
    assert Scheme.from_json(SCHEME.to_json()) == SCHEME
    others = [Passages(words=7), Passages(window=8), Passages(key_bits=30)]
    ids = {Scheme().id, SCHEME.id, *(Scheme(passages=each).id for each in others)}
    assert len(ids) == 5
    assert own_fields.properties(SCHEME)["passages"] == own_fields.properties(SCHEME)["bands"]
    assert "passages" in own_fields.names(SCHEME)
    assert "passages" not in own_fields.compared_names(SCHEME)
    assert own_fields.deferred(SCHEME)["passages"] is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"words": 0},
        {"words": True},
        {"words": 2.0},
        {"window": 0},
        {"window": 10_000},
        {"key_bits": 31},
        {"key_bits": 6},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SchemeError, match=next(iter(wrong)) + "|bits"):
        Passages(**wrong)


def test_what_is_not_a_passages_is_refused() -> None:
    with pytest.raises(SchemeError, match="passages"):
        Scheme(passages=6)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", VOCABULARIES)
@given(data=st.data())
def test_texts_share_a_key_of_every_run_of_the_guaranteed_length(language: str, data: st.DataObject) -> None:
    vocabulary, gap = VOCABULARIES[language]
    drawn = data.draw(st.randoms(use_true_random=False))
    length = Passages().guarantee
    while True:  # Katakana side by side are one word
        run = gap.join(drawn.choices(vocabulary, k=length))
        if len(words(run)) == length:
            break
    before, after = (gap.join(drawn.choices(vocabulary, k=drawn.randrange(40))) for _ in range(2))
    first, second = f"{before}。{run}。{after}", f"{after}. {run}! {before}"
    assert keys(first) & keys(second)


@given(any_text(), any_text())
def test_keys_are_distinct_and_in_order_whatever_else_is_in_the_batch(a: str, b: str) -> None:
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    batch = DOCUMENTS.add_fields_to_all([{"text": a}, {"text": b}, {"text": f"{b} {a}"}])
    for text, made in zip((a, b, f"{b} {a}"), batch, strict=True):
        stored = made["dedup"]
        assert stored == fields(text)
        own = stored.get("passages", "").split()
        numbers = [[digits.index(digit) for digit in key] for key in own]
        assert numbers == sorted(numbers)
        assert len(set(own)) == len(own)
        assert bool(own) == (len(words(SCHEME.normalisation(text))) >= Passages().words)


@pytest.mark.parametrize("form", ["text", "keyword", "fields"])
def test_keys_lie_as_those_of_a_kind_and_as_a_list_where_there_is_a_field_for_each(form: Any) -> None:
    text = " ".join(f"word{number}" for number in range(60))
    scheme = replace(SCHEME, layout=Layout(form))
    stored = fields(text, scheme)["passages"]
    assert isinstance(stored, str if form == "text" else list)
    assert keys(text, scheme) == keys(text)
    kind = own_fields.properties(scheme)["passages"]["type"]
    assert kind == ("text" if form == "text" else "keyword")


def test_tokens_and_hash_of_the_scheme_play_no_part_but_normalisation_and_html_do() -> None:
    text = "Some <b>words</b> of a Text that are repeated, repeated, and not much more than that."
    others = Scheme(passages=Passages(), hash="fnv1a", weights="tf", simhash=None)
    assert keys(text) == keys(text, others) == keys(text.upper())
    stripped = replace(SCHEME, html=True)
    assert keys(text, stripped) == keys(text.replace("<b>", "").replace("</b>", ""))


def test_a_query_asks_for_all_runs_of_a_short_text_and_for_the_chosen_ones_of_a_long_one() -> None:
    rng = random.Random(1)
    hashes = np.array([rng.getrandbits(63) for _ in range(200)], dtype=np.uint64)
    every, are_chosen = passages.query_keys(SCHEME, hashes[:133], most=128)
    assert (len(every), are_chosen) == (128, False)
    some, are_chosen = passages.query_keys(SCHEME, hashes[:134], most=128)
    assert are_chosen
    assert set(some) < set(passages.query_keys(SCHEME, hashes[:134], most=129)[0])


def test_stored_keys_that_are_not_texts_are_none() -> None:
    assert passages.keys_in({"passages": ["a", 1, None]}) == {"a"}
    assert passages.keys_in({"passages": 7}) == passages.keys_in({}) == set()


PLAIN_SCHEME = Scheme()
LETTERS = st.lists(st.sampled_from("abc"), max_size=25)


def by_hand(first: list[str], second: list[str], n: int) -> float:
    """The definition: each word that lies in some n consecutive ones which stand in the other text."""
    n = min(n, len(first))
    runs = {tuple(second[i : i + n]) for i in range(len(second) - n + 1)}
    starts = [i for i in range(len(first) - n + 1) if n and tuple(first[i : i + n]) in runs]
    return len({place for i in starts for place in range(i, i + n)}) / len(first) if first else 0.0


@given(LETTERS, LETTERS, st.integers(1, 8))
def test_it_is_the_share_of_words_in_common_passages(first: list[str], second: list[str], n: int) -> None:
    found = containment(PLAIN_SCHEME, " ".join(first), " ".join(second), n)
    assert found == Containment(by_hand(first, second, n), by_hand(second, first, n))


def words_of(text: str) -> list[str]:
    return words(PLAIN_SCHEME.normalisation(text))


@given(any_text(), any_text(), st.integers(1, 8))
def test_a_text_stands_wholly_in_itself_and_in_what_has_its_words(text: str, other: str, n: int) -> None:
    own, whole = words_of(text), f"{other}\n\n{text}\n\n{other}"
    assert containment(PLAIN_SCHEME, text, text, n) == Containment(float(bool(own)), float(bool(own)))
    # A mark may belong to what stands before it.
    if words_of(whole) == [*words_of(other), *own, *words_of(other)]:
        assert containment(PLAIN_SCHEME, text, whole, n).of_first == float(bool(own))


def test_a_changed_word_takes_itself_away_and_what_is_left_too_short() -> None:
    text = [f"word{number}" for number in range(20)]
    changed = [*text[:10], "else", *text[11:]]
    assert containment(PLAIN_SCHEME, " ".join(changed), " ".join(text), 6).of_first == 19 / 20
    changed[13] = "else"
    assert containment(PLAIN_SCHEME, " ".join(changed), " ".join(text), 6).of_first == (10 + 6) / 20


@pytest.mark.parametrize("seed", range(3))
def test_a_passage_with_a_few_changed_words_is_contained_and_another_text_is_not(seed: int) -> None:
    rng = random.Random(seed)
    text = [f"word{rng.randrange(500)}" for _ in range(1000)]
    passage = ["else" if rng.random() < 0.04 else word for word in text[300:400]]
    assert containment(PLAIN_SCHEME, " ".join(passage), " ".join(text), 6).of_first > 0.75
    assert containment(PLAIN_SCHEME, " ".join(reversed(passage)), " ".join(text), 6).of_first < 0.1


def test_runs_are_kept_for_the_next_comparison() -> None:
    [words_of_text] = words_of_texts(PLAIN_SCHEME, ["one two three four"])
    assert words_of_text.distinct_runs(2) is words_of_text.distinct_runs(2)


TOKENS = st.integers(0, 5)
TEXTS = st.lists(st.lists(TOKENS, max_size=30), max_size=6)
SIZES = st.integers(1, 9)


def given_as_arrays(texts: list[list[int]]) -> tuple[Any, Any]:
    tokens = np.array([token for text in texts for token in text], dtype=np.uint64)
    return tokens, np.cumsum([0, *map(len, texts)])


def parts(hashes: Any, offsets: Any) -> list[list[int]]:
    return [hashes[start:end].tolist() for start, end in pairwise(offsets.tolist())]


def gram(tokens: list[int]) -> int:
    """The definition, token by token."""
    value = len(tokens)
    for token in tokens:
        value = (value * BASE + token) % 2**64
    return int(fmix64(np.array([value], dtype=np.uint64))[0])


@given(TEXTS, SIZES)
@example([[0] * 6], 8)
@example([[0] * 4], 6)
def test_grams_are_those_of_the_definition_and_lie_within_a_text(texts: list[list[int]], n: int) -> None:
    found = parts(*grams(*given_as_arrays(texts), n))
    assert found == [[gram(text[i : i + n]) for i in range(len(text) - n + 1)] for text in texts]


@given(TEXTS, SIZES, SIZES)
def test_each_window_has_its_smallest_hash_and_a_short_text_is_one_window(
    texts: list[list[int]], n: int, window: int
) -> None:
    hashes, offsets = grams(*given_as_arrays(texts), n)
    found = parts(*minima(hashes, offsets, window))
    for chosen, own in zip(found, parts(hashes, offsets), strict=True):
        windows = [own[i : i + window] for i in range(max(len(own) - window, 0) + 1)] if own else []
        smallest = [min(each) for each in windows]
        assert chosen == [each for i, each in enumerate(smallest) if not i or each != smallest[i - 1]]


@given(st.lists(TOKENS, max_size=20), st.lists(TOKENS, max_size=20), st.data(), SIZES, SIZES)
def test_texts_with_a_run_of_that_length_in_common_share_a_hash(
    before: list[int], after: list[int], data: st.DataObject, n: int, window: int
) -> None:
    run = data.draw(st.lists(TOKENS, min_size=n + window - 1, max_size=n + window - 1))
    texts = [[*before, *run, *after], [*after, *run, *before]]
    first, second = parts(*minima(*grams(*given_as_arrays(texts), n), window))
    assert set(first) & set(second)


def test_of_random_hashes_the_share_of_the_paper_is_chosen() -> None:
    hashes = np.random.default_rng(1).integers(0, 2**63, 100_000).astype(np.uint64)
    chosen, _ = minima(hashes, np.array([0, len(hashes)]), 16)
    assert abs(len(chosen) / len(hashes) - 2 / 17) < 0.003
