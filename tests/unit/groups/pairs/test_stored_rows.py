"""Texts in UTF-8, with the hashes by which equal ones are found."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.environment import NATIVE
from es_simhash._core.json_codec import Json
from es_simhash.errors import InputError, InUseError, StorageError
from es_simhash.groups.pairs.stored_rows import (
    Columns,
    Encoded,
    KeptStages,
    Records,
    SortedRuns,
    Spools,
    Strings,
    encoded,
    sorted_pieces,
)
from tests.support.texts import any_text


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


LIMITS = [1, 1 << 30]


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


@pytest.mark.parametrize("limit", LIMITS)
def test_many_empty_texts_are_kept(limit: int) -> None:
    with Spools(limit) as spools:
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


Lists = list[list[int]]

numbers = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 20), st.just(2**64 - 1))
lists_of_numbers = st.lists(st.lists(numbers, max_size=40), max_size=8)


def added(runs: SortedRuns, lists: Lists) -> None:
    for each in lists:
        runs.add(np.array(each, dtype=np.uint64))


@given(lists_of_numbers, st.integers(1, 300), st.sampled_from([1, 7, 1 << 32]))
def test_pieces_hold_all_numbers_in_order_however_few_fit_into_one(lists: Lists, limit: int, grain: int) -> None:
    with Spools(1) as spools:
        arrays = (np.array(each, dtype=np.uint64) for each in lists)
        pieces = [piece.tolist() for piece in sorted_pieces(arrays, spools, limit, grain)]
    assert [number for piece in pieces for number in piece] == sorted(number for each in lists for number in each)
    ends = [(before[-1], after[0]) for before, after in pairwise(pieces) if before and after]
    assert all(one // grain < other // grain for one, other in ends)


def test_pieces_are_hardly_longer_than_what_fits_into_memory() -> None:
    limit, rng = 6_400, np.random.default_rng(1)
    with Spools(1) as spools:
        # An uneven spread, as that of hashed keys never is.
        arrays = ((rng.random(1_000) ** 9 * 2**63).astype(np.uint64) for _ in range(100))
        sizes = [len(piece) for piece in sorted_pieces(arrays, spools, limit)]
    assert sum(sizes) == 100_000
    assert max(sizes) <= limit
    assert len(sizes) < 30


@given(lists_of_numbers, st.integers(1, 300), numbers)
def test_distinct_numbers_come_once_from_any_place_on(lists: Lists, limit: int, low: int) -> None:
    with Spools(1) as spools:
        runs = SortedRuns(spools, limit, distinct=True)
        added(runs, lists)
        every = {number for each in lists for number in each}
        for start in (0, low):
            found = [number for piece in runs.pieces(low=start) for number in piece.tolist()]
            assert found == sorted(number for number in every if number >= start)


def test_numbers_that_fit_stay_in_memory() -> None:
    with Spools(1) as spools:
        runs = SortedRuns(spools, 100, distinct=True)
        for _ in range(1_000):
            runs.add(np.arange(40, dtype=np.uint64))
        assert runs.ends == []
        assert [piece.tolist() for piece in runs.pieces()] == [list(range(40))]


WAYS = ["0", "1"]


@pytest.mark.parametrize("native", WAYS)
@given(texts=st.lists(any_text(), max_size=10))
def test_texts_follow_one_another_and_have_the_beginnings_of_their_sha256(native: str, texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(NATIVE, native)
        made = encoded(texts)
        contents = made.contents()
    assert made.data.decode() == "".join(texts)
    assert made.ends.tolist() == [len("".join(texts[: i + 1]).encode()) for i in range(len(texts))]
    expected = [sha256(text.encode()).digest()[:16] for text in texts]
    assert [row.astype("<u8").tobytes() for row in contents] == expected


@pytest.mark.parametrize("native", WAYS)
def test_halves_of_surrogate_pairs_are_kept(native: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NATIVE, native)
    made = encoded(["a", "\ud83d", "b"])
    assert made.data.decode("utf-8", "surrogatepass") == "a\ud83db"
    assert made.ends.tolist() == [1, 4, 5]


def test_ends_beyond_the_texts_are_left_to_numpy() -> None:
    kernels = pytest.importorskip("es_simhash_native")
    data, ends = encoded(["one", "two"])
    for wrong in (ends + 1, ends[::-1].copy(), -ends):
        with pytest.raises(kernels.Refused):
            kernels.contents(data, wrong)
    assert len(Encoded(data, ends).contents()) == 2
