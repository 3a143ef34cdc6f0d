"""Indices of the embedded engine on disks that are read-only or full, and with few open files allowed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.plans.operations import Action, Bulk
from tests.support.commands import environment
from tests.support.disks import Disk, disk

COUNT = 600
LOAD = ("--field", "body", "--id-field", "id", "--url")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Disk]:
    with disk(tmp_path / "disk", "2m") as found:
        if found is None:
            pytest.skip("NOT TESTED: this user can mount no disk here, to fill it (unshare --map-root-user --mount)")
        yield found


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose documents take more than such a disk has."""
    path = tmp_path_factory.mktemp("documents") / "documents.jsonl"
    lines = ({"id": str(i), "body": Random(i).randbytes(2000).hex(" ", 3)} for i in range(COUNT))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def held(small: Disk) -> int:
    """How many documents the index has; none of its files is damaged."""
    shown = small.command("info", "a", "--check", "--json", "--url", str(small.directory)).out
    number: int = json.loads(shown)["documents"]
    return number


# --- nothing more can be written


def test_a_load_that_fills_the_disk_reports_what_is_written_and_resumes_when_there_is_room(
    small: Disk, documents: Path
) -> None:
    place = str(small.directory)
    first = small.directory.parent / "first.jsonl"
    first.write_text("".join(documents.read_text().splitlines(keepends=True)[:5]))
    small.command("load", "a", str(first), *LOAD, place)
    full = small.command("load", "a", str(documents), *LOAD, place, code=4)
    assert "No space left on device" in full.err
    assert "Make room on its disk" in full.err
    # Its threads may find the disk full before the first request is answered, or before the last one.
    if "written" in full.err.replace("cannot be written", ""):
        assert "\n0 documents written to a before the error.\n" in full.err
        assert re.search("[56]00 changes that were reported as written are not in it. Make room on its disk", full.err)
    assert held(small) == 5
    assert int(small.run("sh", "-c", f"du -k -s {place}").out.split()[0]) < 200
    small.mount("-o", "remount,size=64m", place)
    assert small.command("load", "a", str(documents), *LOAD, place).out == f"a: {COUNT:,} documents written.\n"
    assert held(small) == COUNT


_UNTIL_FULL = """
import sys
from pathlib import Path
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import EngineError, WritesLostError
from es_simhash.plans.operations import Action, Bulk, Count, DeleteIndex, Refresh

place = Path(sys.argv[1])
filling = place / "filling"
for free in (0, 8192, 40_000, 100_000, 200_000, 400_000):
    engine = EmbeddedEngine(place)
    engine.perform(Bulk("a", [Action("index", "0", {"n": 0})], refresh=True))
    written, saved, lost = 1, 1, 0
    size = 2_000_000
    while size:
        try:
            with filling.open("ab") as file:
                file.write(b"x" * size)
        except OSError:
            size //= 2
    with filling.open("r+b") as file:
        file.truncate(max(filling.stat().st_size - free, 0))
    try:
        for i in range(1, 201):
            engine.perform(Bulk("a", [Action("index", f"{i}-{j}", {f"f{i}": f"{i} {j} " * 20}) for j in range(20)]))
            written += 20
            if i % 10 == 0:
                engine.perform(Refresh("a"))
                saved = written
    except EngineError as error:
        lost = error.lost if isinstance(error, WritesLostError) else 0
        assert "No space left on device" in str(error), error
        assert "Make room on its disk" in str(error), error
    engine.close()
    filling.unlink()
    engine = EmbeddedEngine(place)
    found = engine.perform(Count("a", {"match_all": {}}))
    assert found == written - lost == saved, (free, found, written, lost, saved)
    engine.perform(Bulk("a", [Action("index", "after", {"n": 1})], refresh=True))
    assert engine.perform(Count("a", {"match_all": {}})) == found + 1
    engine.perform(DeleteIndex("a"))
    engine.close()
    print(written - lost)
"""


def test_on_any_full_disk_the_engine_reports_the_number_of_lost_changes(small: Disk) -> None:
    saved = set(map(int, small.python(_UNTIL_FULL).split()))
    assert 1 in saved
    assert len(saved) > 2


FILL = "head -c 3000000 /dev/zero >"


def test_a_mapping_that_does_not_fit_the_disk_stays_unchanged(small: Disk) -> None:
    place = str(small.directory)
    small.command("init", "a", "--field", "body", "--url", place)
    small.run("sh", "-c", f"{FILL} {place}/filling", code=None)
    fields = [argument for i in range(200) for argument in ("--field", f"{i}" * 50)]
    other = ("init", "a", *fields, "--prefix", "other", "--url", place)
    assert "No space left on device. Make room on its disk, and try again" in small.command(*other, code=4).err
    assert ".new" not in small.run("ls", f"{place}/a").out
    assert held(small) == 0
    small.run("rm", f"{place}/filling")
    small.command(*other)


def test_an_index_that_does_not_fit_the_disk_is_not_created(small: Disk) -> None:
    place = str(small.directory)
    small.run("sh", "-c", f"{FILL} {place}/filling", code=None)
    done = small.command("init", "a", "--field", "body", "--url", place, code=4)
    assert "No space left on device. Make room on its disk" in done.err
    assert small.run("ls", "-A", place).out == "filling\n"


# --- nothing can be written


def test_a_read_only_disk_can_be_searched_and_errors_say_that_it_is_read_only(small: Disk, documents: Path) -> None:
    place = str(small.directory)
    few = small.directory.parent / "few.jsonl"
    few.write_text("".join(documents.read_text().splitlines(keepends=True)[:20]))
    small.command("load", "a", str(few), *LOAD, place)
    small.mount("-o", "remount,ro", place)
    assert held(small) == 20
    reading = (
        ("find", "a", "--id", "7"),
        ("find", "a", "--id", "7", "--prefix", "none", "--field", "body"),
        ("check", "a", str(few)),
        ("explain", "a", "7", "8"),
        ("group", "a"),
        ("doctor", "a"),
    )
    small.commands(*[(*each, "--url", place) for each in reading])
    writing = (
        ("load", "a", str(few)),
        ("load", "b", str(few), "--field", "body"),
        ("init", "a", "--field", "body", "--prefix", "other"),
        ("group", "a", "--write"),
        ("remove", "a", "--yes"),
        ("reindex", "a", "b"),
    )
    for refused in small.commands(*[(*each, "--url", place) for each in writing], code=4):
        assert "Read-only file system. Write to a copy of the directory on another file system" in refused.err
        assert "delete" not in refused.err
        assert "are not in it" not in refused.err


_READER = """
import sys, tempfile
from pathlib import Path
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.plans.operations import Action, Bulk, Count, GetDocuments

writable, read_only = Path(sys.argv[1], "writable"), Path(sys.argv[1], "read-only")
tempfile.tempdir = str(writable / "temporary")
writer, reader = EmbeddedEngine(writable / "engine"), EmbeddedEngine(read_only / "engine")
for i in range(30):
    writer.perform(Bulk("a", [Action("index", str(i), {"n": i})], refresh=True))
    assert reader.perform(Count("a", {"match_all": {}})) == i + 1
    assert reader.perform(GetDocuments("a", [str(i)]))[0]["_source"] == {"n": i}
writer.close()
assert reader.perform(Count("a", {"range": {"n": {"gte": 0}}})) == 30
assert list(Path(tempfile.tempdir).iterdir()) == []
"""


def test_a_reader_of_a_read_only_disk_sees_what_is_written_elsewhere_and_leaves_nothing_behind(small: Disk) -> None:
    place = str(small.directory)
    small.run("mkdir", "-p", f"{place}/writable/temporary", f"{place}/read-only")
    small.mount("--bind", f"{place}/writable", f"{place}/read-only")
    small.mount("-o", "remount,bind,ro", f"{place}/read-only")
    small.python(_READER)


# --- somebody else's directory


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Path]:
    """A directory of an index that all may read, and nobody may write but root, who tries it as somebody else."""
    with TemporaryDirectory() as name:
        place = Path(name, "engine")
        engine = EmbeddedEngine(place)
        engine.perform(Bulk("a", [Action("index", "1", {"n": 1})]))
        engine.close()
        for path in (Path(name), place, place / "a"):
            path.chmod(0o755 if path == Path(name) else 0o555)
        for file in (place / "a").iterdir():
            file.chmod(file.stat().st_mode & ~0o222)
        yield place
        for path in (place, place / "a"):
            path.chmod(0o755)


_SOMEBODY = """
import os, sys
import tantivy
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import EngineError
from es_simhash.plans.operations import *

if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
engine = EmbeddedEngine(sys.argv[1])
for operation in sys.argv[2:]:
    try:
        print(engine.perform(eval(operation)))
    except EngineError as error:
        print(error)
engine.close()
"""


def as_somebody(place: Path, *operations: str, lines: str = _SOMEBODY) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", lines, str(place), *operations],
        capture_output=True,
        encoding="utf-8",
        env=environment({}),
        check=True,
    )
    return done.stdout.splitlines()


COUNT_ALL = "Count('a', {'match_all': {}})"


def test_an_index_that_this_user_may_not_write_can_be_read(public: Path) -> None:
    counted, checked = as_somebody(public, COUNT_ALL, "CheckFiles('a')")
    assert counted == "1"
    assert checked.endswith("damaged=[])")
    writing = ("Bulk('a', [Action('index', '2', {})])", "DeleteIndex('a')", "CreateIndex('b', {})")
    for refused in as_somebody(public, *writing):
        assert "cannot be written: Permission denied. Write as a user who may" in refused


def test_a_file_that_this_user_may_not_read_is_not_damage(public: Path) -> None:
    next((public / "a").glob("*.store")).chmod(0)
    for refused in as_somebody(public, COUNT_ALL, "CheckFiles('a')"):
        assert "cannot be read: Permission denied. Let this user read the directory" in refused


# --- too many open files


_MANY_FILES = """
import os, resource, sys
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import EngineError
from es_simhash.plans.operations import *

EmbeddedEngine(sys.argv[1])
files = [open(os.devnull) for _ in range(3)]
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (files[-1].fileno() + 1, most))
said = []
while files:
    engine = EmbeddedEngine(sys.argv[1])
    try:
        print(engine.perform(eval(sys.argv[2])))
    except EngineError as error:
        print(error)
    files.pop().close()
"""


def test_too_many_open_files_are_not_damage_either(public: Path) -> None:
    shown = as_somebody(public, COUNT_ALL, lines=_MANY_FILES)
    assert "Too many open files. Allow more open files (ulimit -n)" in shown[0]
    assert not [line for line in shown if "delete" in line]
