"""Who is measured at making fingerprints."""

from __future__ import annotations

import pytest

from benchmarks.fingerprints import ours
from es_simhash import Scheme
from es_simhash._core import native


def test_compiled_loops_are_measured_from_the_first_table() -> None:
    pytest.importorskip("numba")
    native.forget()
    assert [each.name for each in ours("words", Scheme())] == ["es_simhash words, numpy", "es_simhash words, numba"]
