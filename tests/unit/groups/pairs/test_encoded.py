"""Texts in UTF-8, with the hashes by which equal ones are found."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.environment import NATIVE
from es_simhash.groups.pairs.stored_rows import Encoded, encoded
from tests.support.texts import any_text

WAYS = ["0", "1"]


@pytest.mark.parametrize("native", WAYS)
@given(texts=st.lists(any_text(), max_size=10))
def test_texts_follow_one_another_and_have_the_beginnings_of_their_sha256(native: str, texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(NATIVE, native)
        made = encoded(texts)
        contents = made.contents()
    assert made.data.decode() == "".join(texts)
    assert made.ends.tolist() == [len("".join(texts[: i + 1]).encode()) for i in range(len(texts))]
    expected = [sha256(text.encode()).digest()[:16] for text in texts]
    assert [row.astype("<u8").tobytes() for row in contents] == expected


@pytest.mark.parametrize("native", WAYS)
def test_halves_of_surrogate_pairs_are_kept(native: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NATIVE, native)
    made = encoded(["a", "\ud83d", "b"])
    assert made.data.decode("utf-8", "surrogatepass") == "a\ud83db"
    assert made.ends.tolist() == [1, 4, 5]


def test_ends_beyond_the_texts_are_left_to_numpy() -> None:
    kernels = pytest.importorskip("es_simhash_native")
    data, ends = encoded(["one", "two"])
    for wrong in (ends + 1, ends[::-1].copy(), -ends):
        with pytest.raises(kernels.Refused):
            kernels.contents(data, wrong)
    assert len(Encoded(data, ends).contents()) == 2
