"""Keys of passages by the compiled kernels are those of numpy, whatever the settings and the texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import TextError
from es_simhash.scheme import passages
from es_simhash.scheme.settings import Passages, Settings
from es_simhash.text.normalise import Normalisation
from tests.support.texts import batches
from tests.unit.native.made import kernels, without_kernels

# Few words, so that runs of them repeat.
some_words = st.lists(st.sampled_from(["a", "bc", "don't", "漢", "字", "ひ", "カタカナ", "\u0301", "!"]), max_size=80)
some_texts = st.lists(st.builds(" ".join, some_words), max_size=5)
any_passages = st.builds(
    Passages, st.integers(1, 8) | st.just(100), st.integers(1, 20) | st.just(1000), st.sampled_from(range(24, 61, 6))
)
LONG = "Eight words in a row, and then some: 漢字 as well. " * 20_000


def by_kernels(settings: Settings, texts: list[str]) -> list[str]:
    assert settings.passages
    chosen = settings.passages
    made: list[str] = settings.by_words.fingerprinter.passages(texts, chosen.words, chosen.window, chosen.key_bits)
    return made


def by_numpy(settings: Settings, texts: list[str]) -> list[str]:
    return without_kernels(lambda: passages.keys_of_texts(settings, texts))


@given(some_texts | batches(), any_passages, st.booleans())
def test_texts_have_the_keys_of_numpy(texts: list[str], chosen: Passages, folded: bool) -> None:
    steps = Normalisation() if folded else Normalisation(nfkc=False, casefold=False, whitespace=False)
    settings = Settings(passages=chosen, normalisation=steps)
    assert by_kernels(settings, texts) == by_numpy(settings, texts)


def test_a_long_text_has_the_keys_of_numpy() -> None:
    settings = Settings(passages=Passages(words=3, window=5))
    assert by_kernels(settings, [LONG, "", LONG[7:]]) == by_numpy(settings, [LONG, "", LONG[7:]])


def test_numpy_has_nothing_to_do_where_the_kernels_make_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, texts = Settings(passages=Passages()), [LONG]
    expected = by_numpy(settings, texts)
    monkeypatch.delattr(passages, "grams")
    assert passages.keys_of_texts(settings, texts) == expected


def test_what_has_no_keys_is_refused() -> None:
    words: Any = Settings().by_words.fingerprinter
    calls: list[Callable[[], Any]] = [
        lambda: words.passages(["a\ud800"], 6, 16, 36),
        lambda: words.passages([None], 6, 16, 36),
        lambda: words.passages(["a"], 0, 16, 36),
        lambda: words.passages(["a"], 6, 0, 36),
        lambda: words.passages(["a"], 6, 16, 35),
        lambda: words.passages(["a"], 6, 16, 66),
        lambda: words.passages(["a"], 6, 16, 0),
    ]
    for call in calls:
        with pytest.raises(kernels.Refused):
            call()
    with pytest.raises(TextError):
        passages.keys_of_texts(Settings(passages=Passages()), ["fine", "a\ud800"])
