"""Neither threads nor kernels change a result."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import Any

import pytest

from es_simhash.errors import TextError
from es_simhash.groups.corpus import default_threads
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.scheme.scheme import Scheme

SCHEME = Scheme.preset("default")
TEXTS = [sha256(bytes([i % 250, i % 37])).hexdigest() for i in range(9_000)]


def test_the_result_depends_neither_on_threads_nor_on_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for native in ("1", "0"):
        monkeypatch.setenv("ES_SIMHASH_NATIVE", native)
        for threads in (1, 3):
            with group_texts(((text, text) for text in TEXTS), SCHEME, GroupOptions(threads=threads)) as found:
                pairs = [batch.tobytes() for batch in found.pairs()]
                results.append((found.counts, pairs, found.firsts.tolist()))
    assert all(each == results[0] for each in results)


@pytest.mark.parametrize("native", ["0", "1"])
def test_a_text_that_cannot_be_used_is_named_by_its_position(native: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ES_SIMHASH_NATIVE", native)
    texts: list[Any] = [*TEXTS, "\ud800", *TEXTS]
    options = GroupOptions(threads=2)
    with (
        pytest.raises(TextError, match="Text 9000 has the lone surrogate"),
        group_texts(((str(i), t) for i, t in enumerate(texts)), SCHEME, options),
    ):
        pass


def test_all_cores_are_used_by_default() -> None:
    assert 1 <= default_threads() <= (os.cpu_count() or 1)
