"""Bits that flip in the files of embedded indices, and writers that do not come to their end."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from es_simhash import AsyncIndex, Index
from es_simhash._core.json_codec import Json
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import IndexStateError, MissingError
from es_simhash.plans.operations import Action, Bulk, CheckFiles, Count, FilesChecked, Search
from tests.support.commands import environment, run

ALL: Json = {"match_all": {}}
# How many bits of each file are flipped, one at a time.
FLIPS = 40
# What each file is, by the end of its name; the locks are empty.
KINDS = (
    "mapping.json", "seal", "meta.json", ".managed.json",
    ".idx", ".pos", ".term", ".store", ".fast", ".fieldnorm", ".del",
)  # fmt: skip


def written(directory: Path, *batches: range) -> Path:
    """An index of documents that were written, and in part written again, by batches."""
    engine = EmbeddedEngine(directory)
    for batch in batches:
        actions = [Action("index", str(i), {"t": f"all of w{i} and w{i * i}", "n": i}) for i in batch]
        engine.perform(Bulk("a", actions, refresh=True))
    engine.close()
    return directory / "a"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("sound"), range(300), range(20), range(290, 330))


@pytest.fixture
def index(sound: Path, tmp_path: Path) -> Path:
    """A copy of the index, to be damaged."""
    return Path(shutil.copytree(sound, tmp_path / "a"))


def flip(file: Path, bit: int) -> None:
    """Flip a bit, or flip it back. The file stays as it is otherwise: threads may have it mapped."""
    with file.open("r+b") as opened:
        opened.seek(bit // 8)
        [byte] = opened.read(1)
        opened.seek(bit // 8)
        opened.write(bytes([byte ^ 1 << bit % 8]))


def bits(file: Path) -> list[int]:
    """Some bits of a file, and the first and last of its bytes."""
    size = 8 * file.stat().st_size
    random = Random(file.suffix)
    return [0, 7, size - 8, size - 1, *(random.randrange(size) for _ in range(FLIPS))]


def check(index: Path) -> FilesChecked:
    engine = EmbeddedEngine(index.parent)
    checked = engine.perform(CheckFiles("a"))
    engine.close()
    return checked


def count(index: Path) -> int:
    engine = EmbeddedEngine(index.parent)
    try:
        return engine.perform(Count("a", ALL))
    finally:
        engine.close()


def test_the_files_of_an_index_are_of_these_kinds(sound: Path) -> None:
    files = {file for file in sound.iterdir() if not file.name.endswith(".lock")}
    assert {file.name for file in files if file.name.endswith(KINDS)} == {file.name for file in files}
    assert all(any(file.name.endswith(kind) for file in files) for kind in KINDS)
    assert check(sound) == FilesChecked(len(files), sum(file.stat().st_size for file in files), [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_bit_that_flips_in_a_file_is_noticed(index: Path, kind: str) -> None:
    for file in (file for file in index.iterdir() if file.name.endswith(kind)):
        for bit in bits(file):
            flip(file, bit)
            assert file.name in [damage.file for damage in check(index).damaged], (file.name, bit)
            flip(file, bit)
    assert check(index).damaged == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_off_or_missing_is_noticed(index: Path, kind: str) -> None:
    file = next(file for file in index.iterdir() if file.name.endswith(kind))
    content = file.read_bytes()
    for size in (0, 1, len(content) // 2, len(content) - 1):
        file.write_bytes(content[:size])
        assert file.name in [damage.file for damage in check(index).damaged], size
    file.unlink()
    if kind == "mapping.json":
        with pytest.raises(MissingError):
            check(index)
    elif kind in ("seal", ".managed.json"):
        assert check(index).damaged == []
        written(index.parent, range(1000, 1010))
        assert (count(index), check(index).damaged) == (340, [])
    else:
        assert file.name in [damage.file for damage in check(index).damaged]


_USE = """
import sys
from pathlib import Path
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import EngineError
from es_simhash.plans.operations import *
from tests.system.engines.embedded.test_damage import bits, flip

index = Path(sys.argv[1])
operations = [
    Search("a", {"query": {"match": {"t": "all w17"}}, "size": 400}),
    GetDocuments("a", ["3", "299", "none"]),
    Sample("a", 5, {"match_all": {}}),
    CheckFiles("a"),
]
for file in sorted(index.iterdir()):
    for bit in bits(file) if file.stat().st_size else []:
        flip(file, bit)
        engine = EmbeddedEngine(index.parent)
        for operation in operations:
            try:
                engine.perform(operation)
            except EngineError as error:
                assert str(index) in str(error), error
        engine.close()
        flip(file, bit)
print("All ended.")
"""


def test_using_a_damaged_index_raises_errors_that_name_it_or_no_error(index: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _USE, str(index)],
        capture_output=True,
        encoding="utf-8",
        env=environment({}),
        check=False,
    )
    assert done.stdout == "All ended.\n", done.stderr[-3000:]


def test_an_index_that_was_closed_is_not_read_whole_when_it_is_opened(index: Path) -> None:
    [longest] = sorted(index.glob("*.idx"), key=lambda file: file.stat().st_size)[-1:]
    flip(longest, 100)
    assert count(index) == 330


def test_the_list_of_segments_is_compared_whenever_an_index_is_opened(index: Path) -> None:
    meta = index / "meta.json"
    meta.write_text(meta.read_text().replace('"deletes"', '"deleted"', 1))
    with pytest.raises(IndexStateError, match=r"meta\.json.*changed since the index was closed.*Restore"):
        count(index)


def kill_a_writer(directory: Path) -> None:
    """Let a process write more documents, and end in the midst of it."""
    lines = """
import os, sys
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.plans.operations import Action, Bulk
engine = EmbeddedEngine(sys.argv[1])
for i in range(1000, 1010):
    engine.perform(Bulk("a", [Action("index", str(i), {"t": f"w{i}", "n": i})], refresh=True))
engine.perform(Bulk("a", [Action("index", "lost", {})]))
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", lines, str(directory)], env=environment({}), check=False)
    assert done.returncode == -9


def test_after_a_writer_was_killed_files_are_compared_when_the_index_is_opened(index: Path) -> None:
    kill_a_writer(index.parent)
    assert not (index / "seal").exists()
    assert check(index).damaged == []
    assert count(index) == 340
    # Of a file that another kept after the first: all are looked at, whichever.
    file = max(index.glob("*.store"), key=lambda file: file.stat().st_size)
    flip(file, 1000)
    for _ in range(2):
        with pytest.raises(IndexStateError, match=rf"{file.name}.*its checksum is \d+.*Restore the index from a copy"):
            count(index)
    flip(file, 1000)
    written(index.parent, range(1))
    assert (index / "seal").exists()
    flip(file, 1000)
    assert count(index) == 340


def test_a_writer_compares_files_before_it_writes_if_the_last_one_was_killed(index: Path) -> None:
    engine = EmbeddedEngine(index.parent)
    assert engine.perform(Count("a", ALL)) == 330
    kill_a_writer(index.parent)
    file = max(index.glob("*.store"), key=lambda file: file.stat().st_size)
    flip(file, 1000)
    with pytest.raises(IndexStateError, match=rf"{file.name}.*is damaged"):
        engine.perform(Bulk("a", [Action("index", "1", {})]))
    engine.close()
    assert {path.name for path in index.glob("*.store")} >= {file.name}
    flip(file, 1000)
    written(index.parent, range(1))
    assert count(index) == 340


@pytest.mark.skipif(os.name == "nt", reason="nobody is seen to write on Windows")
def test_files_are_not_compared_on_opening_while_another_process_writes(index: Path) -> None:
    writer = EmbeddedEngine(index.parent)
    writer.perform(Bulk("a", [Action("index", "new", {})], refresh=True))
    flip(max(index.glob("*.store"), key=lambda file: file.stat().st_size), 1000)
    assert count(index) == 331
    assert len(check(index).damaged) == 1
    writer.close()


def test_an_index_of_an_older_version_has_no_checksums_of_its_own_and_gets_them(index: Path) -> None:
    mapping = index / "mapping.json"
    stored = json.loads(mapping.read_text())
    del stored["crc"]
    mapping.write_text(json.dumps(stored))
    (index / "seal").unlink()
    assert check(index).damaged == []
    assert count(index) == 330
    engine = EmbeddedEngine(index.parent)
    engine.perform(Bulk("a", [Action("index", "1", {"new": 1})]))
    engine.close()
    assert "crc" in json.loads(mapping.read_text())
    assert (index / "seal").exists()
    assert engine_hits(index) == 331 - 1


def engine_hits(index: Path) -> int:
    engine = EmbeddedEngine(index.parent)
    found: int = engine.perform(Search("a", {"query": ALL}))["hits"]["total"]["value"]
    engine.close()
    return found


def test_a_version_without_seals_may_write_in_between(index: Path, tmp_path: Path) -> None:
    sealed = (index / "seal").read_bytes()
    written(index.parent, range(400, 410))
    (index / "seal").write_bytes(sealed)
    assert count(index) == 340
    assert check(index).damaged == []


def test_the_command_names_what_is_damaged_and_what_to_do(tmp_path: Path) -> None:
    documents = tmp_path / "documents.jsonl"
    documents.write_text("".join(json.dumps({"id": str(i), "body": f"text {i} " * 9}) + "\n" for i in range(9)))
    place = str(tmp_path / "engine")
    run("load", "a", str(documents), "--field", "body", "--id-field", "id", "--url", place)
    assert "as they were written" in run("info", "a", "--check", "--url", place).out
    [store] = (tmp_path / "engine" / "a").glob("*.store")
    flip(store, 5)
    done = run("info", "a", "--check", "--url", place, code=4)
    assert f"a/{store.name}: its checksum is " in done.err
    assert done.err.endswith("Restore the index from a copy, or delete its directory and load the documents again.\n")
    assert done.out == ""
    store.write_bytes(b"")
    assert f"a/{store.name}: it has only 0 bytes" in run("info", "*", "--check", "--url", place, code=4).err


@pytest.mark.parametrize("name", ["seal", ".managed.json"])
def test_a_damaged_file_that_is_not_needed_can_be_deleted(index: Path, name: str) -> None:
    flip(index / name, 70)
    said = run("info", "a", "--check", "--url", str(index.parent), code=4).err
    assert f"a/{name}: " in said
    assert said.endswith("Close the index and delete the damaged files: it is complete without them.\n")
    (index / name).unlink()
    assert check(index).damaged == []


def test_files_are_checked_from_python_too(index: Path) -> None:
    with Index("a", index.parent) as opened:
        found = opened.check_files()
    assert found == check(index)

    async def checked() -> FilesChecked:
        async with AsyncIndex("a", index.parent) as opened:
            return await opened.check_files()

    assert asyncio.run(checked()) == found


def test_a_missing_index_has_no_files(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="The index 'a' does not exist"):
        check(tmp_path / "a")
