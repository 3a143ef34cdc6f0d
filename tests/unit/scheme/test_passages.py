from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Documents, Layout, Passages, Scheme, SchemeError
from es_simhash.scheme import own_fields, passages
from es_simhash.text.tokens.words import words
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
