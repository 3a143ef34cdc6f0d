from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Columns, Records


@pytest.fixture(params=[1, 1 << 30], ids=["in files", "in memory"])
def spools(request: pytest.FixtureRequest) -> Iterator[Spools]:
    with Spools(request.param) as spools:
        yield spools


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8"])
def test_rows_and_columns_are_read_as_they_were_appended(spools: Spools, dtype: str) -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 256, (5_000, 3)).astype(dtype)
    columns = Columns(spools, 3, dtype)
    for part in np.split(table, [10, 10, 2_500, 4_600]):
        columns.append(part)
    assert len(columns) == len(table)
    assert np.array_equal(np.concatenate(list(columns.columns(range(1, 3)))), table[:, 1:3])
    rows = np.flatnonzero(rng.random(len(table)) < 0.01)
    assert np.array_equal(columns.take(rows), table[rows])
    assert np.array_equal(columns.take(np.arange(5_000)), table)
    assert columns.take(np.arange(0)).shape == (0, 3)
    columns.settle()
    assert np.array_equal(columns.take(rows), table[rows])
    assert np.array_equal(columns.at(rows[::-1]), table[rows[::-1]])


def test_columns_can_be_read_and_appended_in_turns(spools: Spools) -> None:
    columns = Columns(spools, 1, "u8")
    for count in range(4):
        columns.append(np.full((1_500, 1), count))
        assert columns.take(np.array([len(columns) - 1])).tolist() == [[count]]


def test_records_are_read_any_number_of_times(spools: Spools) -> None:
    records = Records(spools, [("a", "u4"), ("b", "f8")])
    rows = np.zeros(200_000, dtype=[("a", "u4"), ("b", "f8")])
    rows["a"] = np.arange(len(rows))
    for part in np.array_split(rows, 3):
        records.append(part)
    assert len(records) == len(rows)
    for _ in range(2):
        assert np.array_equal(np.concatenate(list(records)), rows)
