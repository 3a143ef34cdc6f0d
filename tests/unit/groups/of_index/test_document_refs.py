"""References to documents, as columns of what was read."""

from __future__ import annotations

import json
from typing import Any

from es_simhash.groups.of_index.stored_fingerprints import DocumentRefs, RefColumns
from es_simhash.groups.pairs.spool import Spools
from es_simhash.live.sweep.reading import DocumentRef

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
