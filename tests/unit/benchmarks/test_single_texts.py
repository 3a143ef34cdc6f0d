"""Single calls are measured with numpy and with the compiled kernels."""

from __future__ import annotations

import os

import pytest

from benchmarks import single_texts
from es_simhash._core.environment import native


def test_each_way_has_objects_of_its_own_made_in_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("es_simhash_native")
    monkeypatch.setenv("ES_SIMHASH_NATIVE", "as it was")
    made = []

    def calls(texts: object) -> dict[str, single_texts.Call]:
        made.append(native() is not None)
        return {"call": lambda place: None}

    monkeypatch.setattr(single_texts, "_calls", calls)
    times = single_texts._times(["text"], 3)
    assert made == [False, True]
    assert {way: len(found["call"]) for way, found in times.items()} == dict.fromkeys(
        ("numpy", "compiled"), 3 * single_texts.ROUNDS
    )
    assert os.environ["ES_SIMHASH_NATIVE"] == "as it was"
