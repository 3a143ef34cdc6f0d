from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Strings
from tests.support.texts import any_text

LIMITS = [1, 1 << 30]


@given(st.lists(any_text(), max_size=30), st.sampled_from(LIMITS), st.data())
def test_texts_are_read_by_their_numbers(texts: list[str], limit: int, data: st.DataObject) -> None:
    with Spools(limit) as spools:
        strings = Strings(spools)
        for text in texts:
            strings.append(text)
        strings.flush()
        assert list(strings) == texts
        numbers = sorted(data.draw(st.sets(st.integers(0, len(texts) - 1)))) if texts else []
        assert list(strings.take(numbers)) == [texts[number] for number in numbers]
        rows = np.array(numbers, dtype=np.int64)
        assert strings.sizes(rows).tolist() == [len(texts[number].encode()) for number in numbers]


@pytest.mark.parametrize("limit", LIMITS)
def test_many_empty_texts_are_kept(limit: int) -> None:
    with Spools(limit) as spools:
        strings = Strings(spools)
        for _ in range(10_000):
            strings.append("")
        strings.flush()
        assert list(strings) == [""] * 10_000
