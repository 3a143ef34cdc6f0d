"""The quotations planted for the benchmark of passages."""

from __future__ import annotations

from benchmarks.quoted import Maker, languages
from es_simhash import Scheme
from es_simhash.scheme.passages import containment


def test_the_inner_text_of_a_pair_stands_in_the_outer_one_for_the_most_part() -> None:
    for language in languages():
        for kind, make in Maker(language).kinds.items():
            pair = make()
            share = containment(Scheme(), language.text(pair.inner), language.text(pair.outer), 6)
            assert 0.6 < share.of_first <= 1.0, (language.name, kind)
            assert share.of_second < 0.8, (language.name, kind)
            assert len(pair.outer) > 1.5 * len(pair.inner), (language.name, kind)


def test_texts_of_a_language_are_made_of_its_words_and_some_share_a_frame() -> None:
    maker = Maker(next(languages()))
    lengths = [len(maker.words(100)) for _ in range(50)]
    assert set(lengths) == {100, 160}
