"""Who is measured at making fingerprints."""

from __future__ import annotations

import pytest

from benchmarks.fingerprint_contenders import ours
from es_simhash import Scheme


def test_both_ways_are_measured() -> None:
    pytest.importorskip("es_simhash_native")
    assert [each.name for each in ours("words", Scheme())] == ["es_simhash words, numpy", "es_simhash words, compiled"]
