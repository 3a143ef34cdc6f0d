from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from es_simhash.errors import StorageError
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stages import KeptStages
from es_simhash.groups.pairs.stored_rows import Columns, Records

OF = {"documents": 3}


def rows_of(directory: Path) -> list[int]:
    with Spools(1, stages=KeptStages(directory, OF)) as spools:
        return [row for some in Records(spools, "u8", "rows") for row in some.tolist()]


def test_rows_are_kept_up_to_the_end_of_the_last_stage(tmp_path: Path) -> None:
    stages = KeptStages(tmp_path / "state", OF)
    with Spools(1, stages=stages) as spools:
        rows = Records(spools, "u8", "rows")
        rows.append(np.arange(3))
        stages.end("one", {"number": 1})
        rows.append(np.arange(5))
    assert rows_of(tmp_path / "state") == [0, 1, 2]
    again = KeptStages(tmp_path / "state", OF)
    assert (again.note("one"), again.note("two")) == ({"number": 1}, None)
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_what_no_stage_has_ended_is_not_kept(tmp_path: Path) -> None:
    with Spools(1, stages=KeptStages(tmp_path, OF)) as spools:
        Records(spools, "u8", "rows").append(np.arange(3))
    assert rows_of(tmp_path) == []


def test_stages_of_another_job_are_deleted(tmp_path: Path) -> None:
    stages = KeptStages(tmp_path, {"documents": 4})
    with Spools(1, stages=stages) as spools:
        Records(spools, "u8", "rows").append(np.arange(3))
        stages.end("one", {})
    assert KeptStages(tmp_path, OF).note("one") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("count", [0, 1, 2_047, 2_048, 5_000])
def test_complete_columns_are_opened_again(tmp_path: Path, count: int) -> None:
    table = np.random.default_rng(count).integers(0, 1 << 60, (count, 3), dtype=np.uint64)
    stages = KeptStages(tmp_path, OF)
    with Spools(1, stages=stages) as spools:
        columns = Columns(spools, 3, "u8", name="table")
        columns.append(table)
        columns.complete()
        stages.end("one", {})
    with Spools(1, stages=KeptStages(tmp_path, OF)) as spools:
        again = Columns(spools, 3, "u8", name="table")
        assert len(again) == count
        assert np.array_equal(again.take(np.arange(count)), table)
        found = np.concatenate([np.empty((0, 2), dtype=np.uint64), *again.columns(1, 3)])
        assert np.array_equal(found, table[:, 1:])


def test_spools_without_a_name_are_not_kept(tmp_path: Path) -> None:
    with Spools(1, tmp_path, KeptStages(tmp_path / "state", OF)) as spools:
        Records(spools, "u8").append(np.arange(100))
        assert list((tmp_path / "state").iterdir()) == []


def test_a_directory_that_cannot_hold_stages_is_named(tmp_path: Path) -> None:
    (tmp_path / "stages.json").write_text("[1]", encoding="ascii")
    with pytest.raises(StorageError, match=r"Name a directory with enough room that only this job uses"):
        KeptStages(tmp_path, OF)
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="file"):
        KeptStages(tmp_path / "file", OF)
