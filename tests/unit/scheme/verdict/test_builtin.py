"""The built-in table of rarity, which comes with the library."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np

from es_simhash import Scheme
from es_simhash.scheme.verdict.rarity import FILE, NAME, Rarity, builtin
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import comparable_features, compared, plain, table_for

SCHEME = Scheme()


def weights_of(text: str) -> dict[int, int]:
    [features] = comparable_features(plain(compared(SCHEME, SCHEME.verification)), [text])
    assert isinstance(features, np.ndarray)
    return dict(zip(features.tolist(), builtin().weights_of(features).tolist(), strict=True))


def test_it_is_package_data_of_a_few_kilobytes_with_an_id() -> None:
    data = files("es_simhash.scheme.verdict").joinpath(FILE).read_bytes()
    assert 40_000 < len(data) < 80_000
    assert json.loads(data) == builtin().to_json()
    assert builtin().id == Rarity.from_json(json.loads(data)).id == NAME
    assert builtin() is builtin()


def test_what_many_pages_of_a_language_have_weighs_less_than_what_few_have() -> None:
    for common, rare in (("which", "zyzzyva"), ("可以", "饕餮"), ("します", "蹴鞠")):
        assert max(weights_of(common).values()) < min(weights_of(rare).values())


def test_it_decides_where_features_weigh_by_rarity_and_none_was_learnt() -> None:
    learnt = Rarity.learn([])
    assert table_for(SCHEME, SCHEME.verification, None) is builtin()
    assert table_for(SCHEME, SCHEME.verification, learnt) is learnt
    assert table_for(SCHEME, None, learnt) is None
    assert table_for(SCHEME, Verification(weights="scheme"), learnt) is None
