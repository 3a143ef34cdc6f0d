"""The table of rarity: what it keeps, how it weighs, and how it is stored.

The built-in table of rarity, which comes with the library.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from importlib.resources import files
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Scheme
from es_simhash.errors import FormatError
from es_simhash.scheme.rarity import FILE, MOST, NAME, UNIT, Rarity, builtin
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import comparable_features, compared, plain, table_for
from es_simhash.text.features import FeatureBatch
from tests.support.fuzzing import examples

GOLDEN = {"documents": 6, "features": "AAABAAMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABgKrAsSgBA=="}
# Hashes whose keys are small numbers, and differ in the bits that no key has.
hashes = st.builds(lambda key, rest: key << 40 | rest, st.integers(0, 40), st.integers(0, 2))
documents = st.lists(st.lists(hashes, max_size=30), max_size=60)


def batch(features: list[list[int]]) -> FeatureBatch:
    offsets = np.cumsum([0, *map(len, features)])
    return FeatureBatch(np.array([each for own in features for each in own], dtype=np.uint64), offsets)


@given(documents, st.sampled_from([0, 50, 1_000_000]))
@examples(60)
def test_a_feature_weighs_by_the_rounded_number_of_documents_that_have_its_key(
    features: list[list[int]], few: int
) -> None:
    with patch("es_simhash.text.features._MERGED_AT_LEAST", few):
        table = Rarity.learn([batch(features[:7]), batch(features[7:20]), batch(features[20:])])
    count = sum(map(bool, features))
    frequencies = Counter(key for own in features for key in {each >> 40 for each in own})
    assert table.documents == count
    for key in range(45):
        n = frequencies[key]
        rounded = 2 ** (min(15, max(1, round(1.5 * math.log2(n)))) / 1.5) if n >= 2 else 0
        expected = round(UNIT * math.log((count + 101) / (max(rounded, count / 50) + 1)))
        assert table.weights_of(np.array([key << 40 | 5], dtype=np.uint64)).tolist() == [max(expected, 1)]


@given(documents)
@examples(40)
def test_what_is_read_is_what_was_written(features: list[list[int]]) -> None:
    table = Rarity.learn([batch(features)])
    read = Rarity.from_json(table.to_json())
    assert read == table
    assert hash(read) == hash(table)
    assert (read.documents, read.keys.tolist(), read.levels.tolist()) == (
        table.documents,
        table.keys.tolist(),
        table.levels.tolist(),
    )


@given(documents)
@examples(40)
def test_an_id_names_what_a_table_says_wherever_it_was_learnt(features: list[list[int]]) -> None:
    table, other_order = Rarity.learn([batch(features)]), Rarity.learn([batch(features[:9]), batch(features[9:])])
    assert table.id == other_order.id == Rarity.from_json(table.to_json()).id
    assert len(table.id) == 8
    one_more = Rarity(table.documents + 1, table.keys, table.levels)
    assert one_more.id != table.id


def test_a_table_with_a_name_has_it_for_an_id() -> None:
    table = Rarity.learn([batch([[1 << 40], [1 << 40]])])
    named = Rarity(table.documents, table.keys, table.levels, "general")
    assert named.id == Rarity.from_json(named.to_json()).id == "general"
    assert table.id != "general"


def test_the_id_never_changes() -> None:
    assert Rarity.from_json(GOLDEN).id == "c3115252"


def table_of(shares: dict[int, float]) -> Rarity:
    """A table of 1,000 documents in which keys have these shares."""
    rows = [[key for key, share in shares.items() if number < 1000 * share] for number in range(1000)]
    return Rarity.learn([batch([[key << 40 for key in [*row, 100 + place]] for place, row in enumerate(rows)])])


def test_joined_tables_have_the_share_of_the_language_in_which_a_feature_is_most_frequent() -> None:
    first, second = table_of({1: 1.0, 2: 0.3, 3: 0.1}), table_of({1: 0.1, 2: 0.3, 4: 0.5})
    joined = Rarity.joined([first, second], 10, "both")
    assert (joined.id, joined.documents, joined.keys.tolist()) == ("both", 1000, [1, 2, 3, 4])
    levels = {key: level for table in (second, first) for key, level in zip(table.keys, table.levels, strict=True)}
    assert joined.levels.tolist() == [levels[1], levels[2], levels[3], levels[4]]
    assert Rarity.joined([second, first], 10, "both") == joined
    assert Rarity.joined([first, second], 2, "both").keys.tolist() == [1, 4]


def test_joined_tables_of_fewer_documents_count_as_much() -> None:
    few = Rarity.learn([batch([[1 << 40]] * 50 + [[2 << 40]] * 50)])
    joined = Rarity.joined([few, table_of({2: 0.1})], 10, "both")
    assert abs(joined.levels.astype(int) - [13, 13]).max() <= 1


def test_features_of_fewer_than_one_in_fifty_documents_all_weigh_the_same() -> None:
    features = [
        [1 << 40, *([2 << 40] if number < 10 else []), *([3 << 40] if number < 20 else [])] for number in range(500)
    ]
    table = Rarity.learn([batch(features)])
    assert table.keys.tolist() == [1, 3]
    weights = table.weights_of(np.array([1 << 40, 2 << 40, 3 << 40, 4 << 40], dtype=np.uint64)).tolist()
    assert weights[1] == weights[3] == round(UNIT * math.log(601 / 11))
    assert weights[0] < weights[2] < weights[1]


@pytest.mark.parametrize("count", [*range(500, 560, 10), *range(800, 1000, 20)])
def test_what_all_documents_have_weighs_little_but_never_less_than_nothing(count: int) -> None:
    weight = Rarity.learn([batch([[5 << 40]] * count)]).weights_of(np.array([5 << 40], dtype=np.uint64))
    assert 0 < weight[0] < UNIT / 2


def test_it_keeps_the_most_frequent_features_and_of_those_as_frequent_the_lowest_keys() -> None:
    often = [key << 40 for key in range(20_000, 20_100)]
    twice = [key << 40 for key in range(0, 20_000)]
    table = Rarity.learn([batch([often + twice, often + twice, often])])
    assert len(table.keys) == MOST
    assert table.keys.tolist() == [*range(MOST - 100), *range(20_000, 20_100)]


def test_the_form_never_changes() -> None:
    table = Rarity.learn([batch([[1 << 40, 300 << 40, 70_000 << 40]] * 4 + [[300 << 40, 5 << 40], [5 << 40]])])
    assert table.to_json() == GOLDEN
    assert Rarity.from_json(GOLDEN).weights_of(np.array([300 << 40, 5 << 40, 6 << 40], dtype=np.uint64)).tolist() == [
        784,
        874,
        1167,
    ]


@pytest.mark.parametrize(
    "form",
    [
        {},
        [],
        None,
        {"documents": 3},
        {**GOLDEN, "id": 7},
        {"documents": "3", "features": "A" * 40},
        {"documents": 3, "features": "?"},
        {"documents": 3, "features": "AAAA"},
        {"documents": 3, "features": "A" * 40 + "AA=="},  # a key that no level counts
        {"documents": 3, "features": "AQ" + "A" * 38},  # a key of level 1 is missing
    ],
)
def test_a_damaged_form_is_refused(form: Any) -> None:
    with pytest.raises(FormatError, match="es-simhash learn"):
        Rarity.from_json(form)


SCHEME = Scheme()


def weights_of(text: str) -> dict[int, int]:
    [features] = comparable_features(plain(compared(SCHEME, SCHEME.verification)), [text])
    assert isinstance(features, np.ndarray)
    return dict(zip(features.tolist(), builtin().weights_of(features).tolist(), strict=True))


def test_it_is_package_data_of_a_few_kilobytes_with_an_id() -> None:
    data = files("es_simhash.scheme").joinpath(FILE).read_bytes()
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
