"""Shards that several machines read, and stages that a run goes on with, on every engine."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import InputError
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.stored_rows import KeptStages
from es_simhash.index import Index
from es_simhash.plans.operations import OpenReader
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler
from tests.support.whole_indices import fill, fingerprinted

ORIGINALS = corpus(20)
DOCUMENTS: dict[str, Json] = {
    **{str(i): document for i, document in enumerate(ORIGINALS)},
    **{f"{i} copy {k}": edited(ORIGINALS[i], k, seed=10 * i + k) for i in range(12) for k in range(3)},
}

Names = set[frozenset[str]]


@pytest.fixture
def index(engine: Engine, meddler: Meddler, names: Callable[[], str]) -> Index:
    """An index whose documents have fingerprints, twelve of them with copies, equal ones and edited ones."""
    return fingerprinted(engine, meddler, names(), DOCUMENTS)


def groups(index: Index, options: GroupOptions) -> Names:
    with index.group(**vars(options)) as grouped:
        assert grouped.counts.documents == len(DOCUMENTS)
        return {frozenset(member.id for member in group.members) for group in grouped}


@pytest.mark.parametrize(("shards", "part"), [(1, 200), (2, 9), (3, 4)])
def test_groups_of_shards_that_machines_read_alone_are_those_of_the_whole(
    index: Index, meddler: Meddler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: int, part: int
) -> None:
    monkeypatch.setattr("es_simhash.groups.of_index.stored_fingerprints.PART", part)
    whole = groups(index, GroupOptions())
    assert sum(map(len, whole)) >= 12 * 4
    together, read = tmp_path / "together", 0
    for number in reversed(range(shards)):
        machine = tmp_path / str(number)
        with index.group(state=machine, shard=(number, shards)) as found:
            assert found.corpus.is_shard
            assert list(found) == []
            read += found.counts.documents
            with pytest.raises(InputError, match="no groups to write"):
                index.write_groups(found)
        shutil.copytree(machine, together, dirs_exist_ok=True)
    assert read == len(DOCUMENTS)
    meddler.seen.clear()
    assert groups(index, GroupOptions(state=together)) == whole
    assert not any(isinstance(operation, OpenReader) for operation in meddler.seen)
    assert list(together.iterdir()) == []


def test_what_a_missing_shard_should_have_read_is_read(index: Index, tmp_path: Path) -> None:
    with index.group(state=tmp_path, shard=(1, 3)) as found:
        assert found.counts.documents < len(DOCUMENTS)
    assert groups(index, GroupOptions(state=tmp_path)) == groups(index, GroupOptions())


@pytest.mark.parametrize("damage", ["empty", "short", "changed"])
def test_a_damaged_part_is_read_again(index: Index, tmp_path: Path, damage: str) -> None:
    whole = groups(index, GroupOptions())
    index.group(state=tmp_path, shard=(0, 1)).close()
    for path in tmp_path.glob("*.npz"):
        content = path.read_bytes()
        middle = len(content) // 2
        changed = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        path.write_bytes({"empty": b"", "short": content[:middle], "changed": changed}[damage])
    assert groups(index, GroupOptions(state=tmp_path)) == whole


def test_parts_that_do_not_fit_together_are_refused(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, part in enumerate((200, 5)):
        monkeypatch.setattr("es_simhash.groups.of_index.stored_fingerprints.PART", part)
        index.group(state=tmp_path / str(number), shard=(number, 2)).close()
    shutil.copytree(tmp_path / "0", tmp_path / "1", dirs_exist_ok=True)
    with pytest.raises(InputError, match=r"by 4 and 16, which do not fit together.*Delete those that are fewer"):
        index.group(state=tmp_path / "1")
    with pytest.raises(InputError, match=r"by 4, .*or not 3 shards"):
        index.group(state=tmp_path / "0", shard=(0, 3))


class StoppedError(Exception):
    """What stops a run."""


def test_a_run_that_was_stopped_at_any_stage_goes_on_with_the_next_one(
    index: Index, meddler: Meddler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = groups(index, GroupOptions())
    ended: list[str] = []
    end = KeptStages.end

    def stopping(stages: KeptStages, stage: str, note: Json) -> None:
        end(stages, stage, note)
        ended.append(f"{stage} {note.get('counts', {}).get('tables', '')}")
        raise StoppedError

    monkeypatch.setattr(KeptStages, "end", stopping)
    options = GroupOptions(state=tmp_path)
    while True:
        try:
            found = groups(index, options)
        except StoppedError:
            assert list(tmp_path.glob("*.npz"))
        else:
            break
        meddler.seen.clear()
    assert found == whole
    assert list(tmp_path.iterdir()) == []
    assert len(set(ended)) == len(ended) > 30
    # Each run but the first has read the files of the parts alone.
    assert not any(isinstance(operation, OpenReader) for operation in meddler.seen)


def test_stages_of_other_documents_or_options_are_not_taken(
    index: Index, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(stages: KeptStages, stage: str, note: Json) -> None:
        end(stages, stage, note)
        raise StoppedError

    end = KeptStages.end
    with monkeypatch.context() as patched:
        patched.setattr(KeptStages, "end", stop)
        with pytest.raises(StoppedError):
            index.group(state=tmp_path)
    for path in tmp_path.glob("*.npz"):
        path.unlink()
    fill(engine, index.name, {"new": index.documents.add_fields(ORIGINALS[19])})
    with index.group(state=tmp_path, max_bucket=50) as grouped:
        assert {"19", "new"} in [{member.id for member in group.members} for group in grouped]
