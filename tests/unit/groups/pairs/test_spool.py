from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import StorageError
from es_simhash.groups.pairs.spool import Columns, Records, Spools, Strings
from tests.support.texts import any_text

LIMITS = [1, 1 << 30]


@pytest.fixture(params=LIMITS, ids=["in files", "in memory"])
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
    assert np.array_equal(np.concatenate(list(columns.columns(1, 3))), table[:, 1:3])
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


def test_many_empty_texts_are_kept(spools: Spools) -> None:
    strings = Strings(spools)
    for _ in range(10_000):
        strings.append("")
    strings.flush()
    assert list(strings) == [""] * 10_000


def test_temporary_files_have_no_name_that_could_be_left_behind(tmp_path: Path) -> None:
    with Spools(1, tmp_path) as spools:
        records = Records(spools, "u8")
        records.append(np.arange(1_000))
        assert list(tmp_path.iterdir()) == []
        assert len(np.concatenate(list(records))) == 1_000


def test_a_directory_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with (
        Spools(1, tmp_path / "missing") as spools,
        pytest.raises(StorageError, match=r"missing.*Name a directory"),
    ):
        Records(spools, "u8").append(np.arange(10))


@pytest.mark.parametrize("limit", LIMITS, ids=["in files", "in memory"])
def test_spools_that_nobody_closed_are_closed_when_nobody_holds_them(
    limit: int, recwarn: pytest.WarningsRecorder
) -> None:
    spools = Spools(limit)
    files = [spools.spool() for _ in range(3)]
    for file in files:
        file.write(b"kept for a while")
    held: dict[str, object] = {"spools": spools, "files": files}
    held["itself"] = held  # found by the collector only
    del spools, files, file, held
    gc.collect()
    assert not [warning for warning in recwarn if issubclass(warning.category, ResourceWarning)]
