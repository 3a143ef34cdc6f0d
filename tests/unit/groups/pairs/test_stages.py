from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.errors import InputError, InUseError, StorageError
from es_simhash.groups.pairs.spool import KeptStages, Spools
from es_simhash.groups.pairs.stored_rows import Records

OF = {"documents": 3}


def begun(directory: Path, of: Json = OF) -> KeptStages:
    stages = KeptStages(directory)
    stages.begin(of)
    return stages


def rows_of(directory: Path) -> list[int]:
    with Spools(1, stages=begun(directory)) as spools:
        return [row for some in Records(spools, "u8", "rows") for row in some.tolist()]


def test_rows_are_kept_up_to_the_end_of_the_last_stage(tmp_path: Path) -> None:
    stages = begun(tmp_path / "state")
    with Spools(1, stages=stages) as spools:
        rows = Records(spools, "u8", "rows")
        rows.append(np.arange(3))
        stages.end("one", {"number": 1})
        rows.append(np.arange(5))
    assert rows_of(tmp_path / "state") == [0, 1, 2]
    again = begun(tmp_path / "state")
    assert (again.note("one"), again.note("two")) == ({"number": 1}, None)
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_directories_made_for_a_job_are_removed_with_its_stages_by_whichever_run_ends(tmp_path: Path) -> None:
    stages = begun(tmp_path / "new" / "state")
    stages.end("one", {})
    stages.close()
    again = begun(tmp_path / "new" / "state")
    assert (stages.is_resumed, again.is_resumed) == (False, True)
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_stopped_before_the_end_of_its_first_stage_leaves_no_directories(tmp_path: Path) -> None:
    KeptStages(tmp_path / "new" / "state").close()
    with Spools(1, tmp_path, begun(tmp_path / "new" / "state")) as spools:
        Records(spools, "u8", "rows").append(np.arange(3))
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_was_killed_in_its_first_stage_is_not_resumed_and_leaves_no_directories(tmp_path: Path) -> None:
    killed = begun(tmp_path / "new" / "state")
    killed.file("rows").close()
    killed._claim.give_up()
    again = begun(tmp_path / "new" / "state")
    assert not again.is_resumed
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_what_no_stage_has_ended_is_not_kept(tmp_path: Path) -> None:
    with Spools(1, stages=begun(tmp_path)) as spools:
        Records(spools, "u8", "rows").append(np.arange(3))
    assert rows_of(tmp_path) == []


def kept_by_another_job(directory: Path) -> None:
    with Spools(1, stages=begun(directory, {"documents": 4})) as spools:
        Records(spools, "u8", "rows").append(np.arange(3))
        spools.stages.end("one", {})


def test_stages_of_another_job_are_deleted(tmp_path: Path) -> None:
    kept_by_another_job(tmp_path / "state")
    stages = begun(tmp_path / "state")
    assert stages.note("one") is None
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["stages.json"]
    stages.close()
    assert not (tmp_path / "state").exists()


def test_stages_of_another_job_are_an_error_to_one_that_does_not_begin_again(tmp_path: Path) -> None:
    kept_by_another_job(tmp_path)
    stages = KeptStages(tmp_path)
    with pytest.raises(InputError, match="keeps the stages of a job with other documents or options"):
        stages.begin(OF, restart=False)
    stages.close()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="nothing locks directories")
def test_no_second_job_keeps_its_stages_in_a_directory_that_is_in_use(tmp_path: Path) -> None:
    first = begun(tmp_path / "state")
    with pytest.raises(InUseError, match=r"state\. Wait until it ends, or name another one"):
        KeptStages(tmp_path / "state")
    first.close()
    begun(tmp_path / "state").remove()


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "[1]",
        "{",
        "[" * 200_000,
        '{"of": {"documents": 3}, "sizes": {"rows.spool": "3"}, "notes": {"one": {}}}',
        '{"of": {"documents": 3}, "sizes": {}, "notes": [], "digest": "00"}',
    ],
)
def test_a_manifest_that_no_job_wrote_is_named(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "stages.json").write_text(manifest, encoding="ascii")
    with pytest.raises(StorageError, match=r"stages\.json is damaged, or of another program.*Delete"):
        begun(tmp_path)


@given(st.data())
def test_a_manifest_that_was_changed_anywhere_is_named(data: st.DataObject) -> None:
    with TemporaryDirectory() as name:
        kept_by_another_job(Path(name))
        manifest = Path(name) / "stages.json"
        content = bytearray(manifest.read_bytes())
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        manifest.write_bytes(content)
        with pytest.raises(StorageError, match=r"stages\.json"):
            begun(Path(name))


def test_a_file_with_less_than_its_stages_left_is_named(tmp_path: Path) -> None:
    kept_by_another_job(tmp_path)
    (tmp_path / "rows.spool").write_bytes(b"")
    with (
        Spools(1, stages=begun(tmp_path, {"documents": 4})) as spools,
        pytest.raises(StorageError, match=r"rows\.spool is damaged, or of another program"),
    ):
        Records(spools, "u8", "rows")


def test_spools_without_a_name_are_not_kept(tmp_path: Path) -> None:
    with Spools(1, tmp_path, begun(tmp_path / "state")) as spools:
        Records(spools, "u8").append(np.arange(100))
        assert [path.name for path in (tmp_path / "state").iterdir()] == ["stages.json"]


def test_a_directory_that_cannot_hold_stages_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="file"):
        KeptStages(tmp_path / "file")
