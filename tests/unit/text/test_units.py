from __future__ import annotations

import pytest
from hypothesis import given

from es_simhash.errors import TextError
from es_simhash.text.features import batch, is_continuation
from tests.support.texts import batches


@given(batches())
def test_a_batch_keeps_its_texts(texts: list[str]) -> None:
    assert batch(texts).texts() == texts


@given(batches())
def test_what_is_not_a_continuation_begins_a_code_point(texts: list[str]) -> None:
    together = batch(texts)
    assert (~is_continuation(together.units)).sum() == sum(map(len, texts))


def test_a_lone_surrogate_is_refused_with_its_place() -> None:
    with pytest.raises(TextError, match=r"Text 1 has .*U\+D800 at character 2.*right encoding"):
        batch(["fine", "ab\ud800"])


@pytest.mark.parametrize("wrong", [None, b"bytes", 3])
def test_what_is_not_a_string_is_refused_by_type(wrong: object) -> None:
    with pytest.raises(TextError, match=f"Text 1 .*{type(wrong).__name__}"):
        batch(["fine", wrong])  # type: ignore[list-item]
