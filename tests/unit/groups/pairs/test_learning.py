"""Learning from texts as they come: from the same ones in whatever order, in parts or whole."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from random import Random
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Scheme
from es_simhash.groups import of_texts
from es_simhash.groups.of_texts import LowestTexts, learn_from
from es_simhash.scheme.own_fields import content_hash
from es_simhash.scheme.verdict.verifier import rarity_of
from tests.support.fuzzing import examples

SCHEME = Scheme()
TEXTS = st.lists(st.text("abc 文档", max_size=12), max_size=40)


@given(texts=TEXTS, order=st.randoms(use_true_random=False), size=st.integers(1, 9), most=st.integers(1, 20))
@examples(60)
def test_the_texts_with_the_lowest_content_hashes_are_learnt_from(
    texts: list[str], order: Random, size: int, most: int
) -> None:
    lowest, shuffled = LowestTexts(), list(texts)
    order.shuffle(shuffled)
    with patch.object(of_texts, "SAMPLE", most):
        for start in range(0, len(shuffled), size):
            lowest.add(shuffled[start : start + size])
        found = list(lowest.found().values())
    assert found == sorted({*texts}, key=content_number)[:most]


@given(texts=TEXTS)
@examples(20)
def test_a_deduplicator_learns_from_its_documents_each_text_once(texts: list[str]) -> None:
    documents = [(str(number), text) for number, text in enumerate(texts * 2)]
    assert learn_from(documents, SCHEME) == rarity_of(SCHEME, sorted({*texts}))


def content_number(text: str) -> int:
    return int.from_bytes(urlsafe_b64decode(content_hash(text)), "big")
