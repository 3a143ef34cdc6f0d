"""What presets find and cost, held against fingerprints that are really made."""

from __future__ import annotations

import json
import random

import pytest

from es_simhash.cli.show.presets import SIMILARITIES, trade_offs
from es_simhash.documents.documents import Documents
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS
from tests.support.corpus import corpus

HERE = [name for name in PRESETS if name != "chinese-keywords"]  # which needs an extra


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_its_trade_offs(name: str) -> None:
    found, scheme = trade_offs(Scheme.preset(name)), Scheme.preset(name)
    assert found.distance == (scheme.simhash.distance if scheme.simhash else None)
    assert found.similarity == (scheme.verification.similarity if scheme.verification else None)
    assert list(found.recall) == ([str(each) for each in SIMILARITIES] if scheme.minhash else [])


@pytest.mark.parametrize("name", HERE)
def test_bytes_and_keys_are_those_of_a_document(name: str) -> None:
    scheme = Scheme.preset(name)
    stored = Documents(scheme, ["body"]).add_fields({"body": corpus(1)[0]["body"]})["dedup"]
    stored.pop("passages", None)  # which grow with the text
    assert trade_offs(scheme).json_bytes == len(json.dumps(stored, separators=(",", ":")))
    assert trade_offs(scheme).keys == sum(len(stored.get(name, "").split()) for name in ("blocks", "bands"))


def test_recall_is_the_share_of_pairs_that_have_enough_bands_in_common() -> None:
    rng = random.Random(1)
    scheme = Scheme.preset("default")
    assert scheme.minhash
    least = scheme.minhash.shared
    assert least > 1
    found, pairs, shared = trade_offs(scheme).recall["0.4"], 400, 0
    for _ in range(pairs):
        words = [f"w{rng.random()}" for _ in range(900)]
        # 240 / 600 features in common.
        first, second = words[:420], words[180:600]
        a, b = scheme.fingerprints_of_tokens([first, second])
        shared += len(set(scheme.band_keys(a)) & set(scheme.band_keys(b))) >= least
    assert shared / pairs == pytest.approx(found, abs=0.08)  # 3.5 standard deviations
