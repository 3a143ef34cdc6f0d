"""What is planted for the benchmark of passages."""

from __future__ import annotations

import pytest

from benchmarks.quoted import Language, Maker, languages
from es_simhash import Scheme
from es_simhash.scheme.verdict.common_passages import containment

LANGUAGES = {language.name: language for language in languages()}


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)
def test_the_inner_text_of_a_pair_stands_in_the_outer_one_for_the_most_part(language: Language) -> None:
    maker = Maker(language)
    for kind, make in maker.kinds.items():
        pair = make()
        share = containment(Scheme(), language.text(pair.inner), language.text(pair.outer), 6)
        assert 0.6 < share.of_first <= 1.0, kind
        assert share.of_second < 0.8
        assert len(pair.outer) > 1.5 * len(pair.inner)


def test_texts_of_a_language_are_made_of_its_words_and_some_share_a_frame() -> None:
    maker = Maker(LANGUAGES["English"])
    lengths = [len(maker.words(100)) for _ in range(50)]
    assert set(lengths) == {100, 160}
