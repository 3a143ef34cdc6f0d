"""Values by which losses are counted: read with the fingerprints, and kept with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from es_simhash.errors import InputError
from es_simhash.groups.loss_counts import Values
from es_simhash.groups.losses import losses_of
from es_simhash.index import Index
from tests.support.planted_losses import SITE, planted

ROWS = [
    *planted("filled-in forms"),
    {"id": "bare", "body": "No site and no date has this text, which is like no other."},
]
SITES = Counter(row.get("site", "(none)") for row in ROWS)
YEARS = Counter(str(row.get("published", "(none)"))[:6].partition("-")[0] for row in ROWS)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with Index("news", str(tmp_path_factory.mktemp("noted")), fields=["body"]) as index:
        index.init()
        index.add([{"_id": row["id"], **row} for row in ROWS], refresh=True)
        yield index


def counted(index: Index, **options: Any) -> list[Counter[str]]:
    """Group, and count the values that were read."""
    with index.group(per="site", years="published", **options) as groups:
        noted = groups.corpus.noted
        assert [len(each.codes) for each in noted] == [len(groups.corpus)] * 2
        return [Counter(list(each.names)[code] for code in each.codes) for each in noted]


def test_values_are_read_with_the_fingerprints(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, perform = list[Any](), index.engine.perform

    def noting(operation: Any) -> Any:
        asked.append(operation)
        return perform(operation)

    monkeypatch.setattr(index.engine, "perform", noting)
    assert counted(index) == [SITES, YEARS]
    once = len(asked)
    index.group().close()
    assert 2 * once == len(asked)


def test_each_document_has_its_own_value(index: Index) -> None:
    with index.group(per="site", years="published") as groups:
        sites = {row["id"]: row.get("site", "(none)") for row in ROWS}
        [noted, _] = groups.corpus.noted
        ids = [id_ for _, id_ in groups.corpus.keys(range(len(groups.corpus)))]
        assert [list(noted.names)[code] for code in noted.codes] == [sites[id_] for id_ in ids]
        [loss] = [each for each in losses_of(groups, groups.corpus.noted).by[0].values if each.value == SITE]
        assert loss.documents == 200


def test_parts_keep_values_and_what_they_lack_is_read_later(index: Index, tmp_path: Path) -> None:
    index.group(state=tmp_path, shard=(0, 2), per="site", years="published").close()
    index.group(state=tmp_path, shard=(1, 2)).close()
    assert counted(index, state=tmp_path) == [SITES, YEARS]


def test_a_part_with_values_serves_a_run_without(index: Index, tmp_path: Path) -> None:
    for part in range(2):
        index.group(state=tmp_path, shard=(part, 2), per="site").close()
    with index.group(state=tmp_path) as groups:
        assert (len(groups.corpus), groups.corpus.noted) == (len(ROWS), [])


def test_a_part_whose_values_are_damaged_is_read_again(index: Index, tmp_path: Path) -> None:
    for part in range(2):
        index.group(state=tmp_path, shard=(part, 2), per="site", years="published").close()
    for path in tmp_path.glob("*.npz"):
        with np.load(path) as arrays:
            whole = dict(arrays)
        whole["noted_0"] = np.full_like(whole["noted_0"], 10_000)
        np.savez(path, **whole)
    assert counted(index, state=tmp_path) == [SITES, YEARS]


def test_new_documents_alone_show_no_losses(index: Index) -> None:
    with pytest.raises(InputError, match="Losses are counted of all documents"):
        index.group(incremental=True, per="site")


def test_values_of_pages_are_those_of_all_documents() -> None:
    documents = [{"site": each} for each in ("a", ["b", "c"], "", None, 7, {"x": 1}, "a", "d" * 200)]
    whole = Values("field", "site").of(documents)
    joined = Values.concatenated([Values("field", "site").of([each]) for each in documents])
    assert (joined.names, joined.codes) == (whole.names, whole.codes)
    assert [*whole.names] == ["a", "b", "(none)", "7", "d" * 100]
    assert whole.codes.tolist() == [0, 1, 2, 2, 3, 2, 0, 4]
