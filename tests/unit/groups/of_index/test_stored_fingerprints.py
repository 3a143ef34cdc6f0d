"""Values by which losses are counted: read with the fingerprints, and kept with them.

References to documents, as columns of what was read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from es_simhash.errors import InputError
from es_simhash.groups.loss_counts import Values
from es_simhash.groups.losses import losses_of
from es_simhash.groups.of_index.stored_fingerprints import DocumentRefs, RefColumns
from es_simhash.groups.pairs.stored_rows import Spools
from es_simhash.index import Index
from es_simhash.live.sweep.reading import DocumentRef
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


HITS: list[Any] = [
    {"_index": "i", "_id": "1/é", "_seq_no": 7, "_primary_term": 2},
    {"_index": "i", "_id": "2", "_routing": "there"},
    {"_index": "j", "_id": "3", "_seq_no": 0, "_primary_term": 1},
]
STORED: list[Any] = [{"scheme": "x"}, {"group": "g", "group_size": 2, "similarity": None}, {"distance": 3}]
# What the saved parts of stopped runs hold.
FORM: list[Any] = [
    [{"index": "i", "id": "1/é", "routing": None, "version": {"if_seq_no": 7, "if_primary_term": 2}}, {}],
    [{"index": "i", "id": "2", "routing": "there", "version": {}}, {"group": "g", "group_size": 2}],
    [{"index": "j", "id": "3", "routing": None, "version": {"if_seq_no": 0, "if_primary_term": 1}}, {"distance": 3}],
]


def test_documents_are_saved_in_a_form_that_never_changes() -> None:
    form = json.loads(json.dumps(RefColumns.of(HITS, STORED).to_json()))
    assert form == FORM
    assert RefColumns.from_json(form).to_json() == RefColumns.of(HITS, STORED).to_json()


def test_pages_are_put_together_and_read_again() -> None:
    pages = [RefColumns.of(HITS[:2], STORED[:2]), RefColumns.of([], []), RefColumns.of(HITS[2:], STORED[2:])]
    whole = RefColumns.concatenated(pages)
    assert whole.to_json() == RefColumns.of(HITS, STORED).to_json()
    with Spools(1 << 20) as spools:
        for parts in ([whole], pages):
            refs = DocumentRefs(spools)
            for part in parts:
                refs.append(part)
            refs.flush()
            assert len(refs) == 3
            assert refs.take([0, 1, 2]) == [DocumentRef(**ref) for ref, _ in FORM]
            assert list(refs.stored_groups()) == [(1, FORM[1][1]), (2, FORM[2][1])]


def test_what_is_in_a_provisional_group_is_new_and_joins_nothing() -> None:
    hits = [
        {"_index": "i", "_id": f"{i}", "_seq_no": number, "_primary_term": 1} for i, number in enumerate([1, 1, 9, 9])
    ]
    stored: list[Any] = [{"group": "g"}, {}, {}, {"group": "g", "group_size": 2}]
    with Spools(1 << 20) as spools:
        refs = DocumentRefs(spools)
        refs.append(RefColumns.of(hits, stored))
        refs.flush()
        assert refs.changed_after(0, [5]).tolist() == [True, False, True, False]
        assert [side.tolist() for side in refs.joined()[0]] == [[3], [3]]


def test_a_group_whose_documents_are_not_as_many_as_it_says_is_not_whole() -> None:
    hits = [{"_index": "i", "_id": f"{i}"} for i in range(6)]
    sizes = {0: ("a", 2), 1: ("b", 2), 2: ("a", 2), 4: ("b", 3), 5: ("c", 1)}
    stored: list[Any] = [
        dict(zip(("group", "group_size"), sizes[i], strict=True)) if i in sizes else {} for i in range(6)
    ]
    with Spools(1 << 20) as spools:
        refs = DocumentRefs(spools)
        refs.append(RefColumns.of(hits, stored))
        refs.flush()
        (first, second), are_whole = refs.joined()
    assert (first.tolist(), second.tolist()) == ([0, 1, 0, 1, 5], [0, 1, 2, 4, 5])
    assert are_whole.tolist() == [True, False, True, False, True]
