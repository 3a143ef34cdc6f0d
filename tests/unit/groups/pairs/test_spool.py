from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

from es_simhash.errors import StorageError
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Records


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


@pytest.mark.parametrize("limit", [1, 1 << 30], ids=["in files", "in memory"])
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
