"""A journal keeps whole records, whatever happens to the end of its file."""

from __future__ import annotations

import json
import math
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import InUseError, StorageError
from es_simhash.gate.state import Journal, SetAside, StateFolder
from tests.support.fuzzing import nested

EVENTS = st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers()), min_size=1, max_size=4)


def written(path: Path, records: list[list[dict[str, object]]]) -> list[int]:
    """Write records; return the length of the file after each."""
    journal, lengths = Journal(path, syncs=False), [0]
    for events in records:
        journal.append(events)
        lengths.append(path.stat().st_size)
    journal.close()
    return lengths


def read(path: Path) -> list[dict[str, object]]:
    journal = Journal(path, syncs=False)
    found = list(journal.events())
    journal.close()
    return found


@given(records=st.lists(EVENTS, max_size=4), data=st.data())
def test_a_file_that_ends_anywhere_has_the_records_that_are_whole(
    tmp_path_factory: pytest.TempPathFactory, records: list[list[dict[str, object]]], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal"
    lengths = written(path, records)
    end = data.draw(st.integers(0, lengths[-1]))
    path.write_bytes(path.read_bytes()[:end])
    whole = max(place for place, length in enumerate(lengths) if length <= end)
    assert read(path) == [event for events in records[:whole] for event in events]
    assert path.stat().st_size == lengths[whole]


@pytest.mark.parametrize("rest", [bytes(500), b"\xff" * 500, b"\x05\0\0\0"])
def test_what_follows_the_last_whole_record_is_cut_off_and_written_over(tmp_path: Path, rest: bytes) -> None:
    path = tmp_path / "journal"
    written(path, [[{"n": 1}]])
    path.write_bytes(path.read_bytes() + rest)
    journal = Journal(path)
    journal.append([{"n": 2}])
    journal.close()
    assert read(path) == [{"n": 1}, {"n": 2}]


def test_damage_before_the_last_record_is_an_error_that_names_the_place(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    lengths = written(path, [[{"n": 1}], [{"n": 2}], [{"n": 3}]])
    content = bytearray(path.read_bytes())
    content[lengths[1] + 12] ^= 1
    path.write_bytes(content)
    with pytest.raises(StorageError, match=f"damaged at byte {lengths[1]}.*move it away"):
        Journal(path)


@given(place=st.integers(0, 3), records=st.lists(EVENTS, min_size=2, max_size=4), data=st.data())
def test_a_damaged_length_before_the_last_record_is_an_error_that_names_the_place(
    tmp_path_factory: pytest.TempPathFactory, place: int, records: list[list[dict[str, object]]], data: st.DataObject
) -> None:
    """A length that points beyond the end of the file looks like that of a record that was cut off."""
    path = tmp_path_factory.mktemp("journal") / "journal"
    lengths = written(path, records)
    start = data.draw(st.sampled_from(lengths[:-2]))
    content = bytearray(path.read_bytes())
    content[start + place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    with pytest.raises(StorageError, match=f"damaged at byte {start:,}.*move it away"):
        Journal(path)
    assert path.read_bytes() == content


def test_a_record_is_its_length_its_checksum_and_deflated_json(tmp_path: Path) -> None:
    """The format is permanent: a later version reads what an earlier one left."""
    path = tmp_path / "journal"
    payload = zlib.compress(json.dumps([{"to": "", "action": {"_id": "é"}}]).encode())
    path.write_bytes(len(payload).to_bytes(4, "little") + zlib.crc32(payload).to_bytes(4, "little") + payload)
    assert read(path) == [{"to": "", "action": {"_id": "é"}}]


def test_a_journal_made_again_has_just_what_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, syncs=False)
    while not journal.is_overgrown(1):
        journal.append([{"n": n, "text": f"{n * 7919 % 10007:0>9}" * 9} for n in range(500)])
    before = journal.size
    journal.replace(event for event in journal.events() if event["n"] == 3)
    assert journal.size == path.stat().st_size < before / 100
    journal.append([{"n": "more"}])
    assert [event["n"] for event in journal.events()][-2:] == [3, "more"]
    assert not journal.is_overgrown(2)
    journal.close()
    assert [each.name for each in tmp_path.iterdir()] == ["journal"]


def test_a_journal_is_made_again_only_if_most_of_it_is_needed_no_more(tmp_path: Path) -> None:
    """Neither how it was opened nor the events of what is gone count, but the share that is remembered."""
    journal = Journal(tmp_path / "journal", syncs=False)
    for start in range(0, 40_000, 500):
        journal.append([{"n": n, "text": sha256(b"%d" % n).hexdigest()} for n in range(start, start + 500)])
    journal.append([{"gone": [["", "1"]]}])
    assert [journal.is_overgrown(count) for count in (40_000, 20_001, 100)] == [False, False, True]
    journal.close()
    opened = Journal(tmp_path / "journal", syncs=False)
    assert sum(1 for _ in opened.events()) == 40_000 + 1
    assert [opened.is_overgrown(count) for count in (40_000, 20_001, 100)] == [False, False, True]
    opened.replace(event for event in opened.events() if event.get("n", 0) % 2)
    assert not opened.is_overgrown(20_000)
    opened.close()


def test_a_record_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    journal.append([{"n": 1}])

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("es_simhash.gate.state._sync", full)
        with pytest.raises(StorageError, match=r"No space left.*Nothing was accepted"):
            journal.append([{"n": 2}])
    journal.append([{"n": 3}])
    assert [event["n"] for event in journal.events()] == [1, 3]
    journal.close()


def test_a_folder_belongs_to_one_process_and_one_index(tmp_path: Path) -> None:
    first = StateFolder(tmp_path / "a", {"index": "news"})
    with pytest.raises(InUseError, match="Another gate uses the folder"):
        StateFolder(tmp_path / "a", {"index": "news"})
    first.close()
    with pytest.raises(StorageError, match=r"the state of another gate.*Name another folder"):
        StateFolder(tmp_path / "a", {"index": "other"})
    StateFolder(tmp_path / "a", {"index": "news"}).close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"file/state.*Name another one by --state"):
        StateFolder(tmp_path / "file" / "state", {"index": "news"})


@pytest.mark.parametrize(
    "record", [b"\xff", 5, {"gone": 1}, {"action": {"_id": "\ud800"}}, {"action": {"_id": "a", "n": math.nan}}]
)
def test_what_is_set_aside_is_a_line_of_json_each(tmp_path: Path, record: Any) -> None:
    aside = SetAside(tmp_path / "rejected.jsonl")
    aside.add([(record, "Why."), ({"action": {"_id": "a"}}, "Why.")])
    lines = [json.loads(line) for line in (tmp_path / "rejected.jsonl").read_bytes().splitlines()]
    assert isinstance(lines[0]["record"], str)
    assert lines[1] == {"reason": "Why.", "id": "a", "record": {"action": {"_id": "a"}}}
    assert SetAside(tmp_path / "rejected.jsonl").count == aside.count == 2


def test_what_is_nested_deeply_is_set_aside_under_its_id(tmp_path: Path) -> None:
    aside = SetAside(tmp_path / "rejected.jsonl")
    aside.add(
        ({"action": {"_id": "deep", "_source": nested(depth)}}, "Why.") for depth in (10, *range(880, 1_010), 200_000)
    )
    lines = [json.loads(line) for line in (tmp_path / "rejected.jsonl").read_bytes().splitlines()]
    assert {each["id"] for each in lines} == {"deep"}
    assert "record" in lines[0]
    assert "record" not in lines[-1]


def test_a_file_for_what_is_set_aside_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "rejected.jsonl").mkdir()
    with pytest.raises(StorageError, match=r"rejected.jsonl.*correct its permissions"):
        SetAside(tmp_path / "rejected.jsonl")
