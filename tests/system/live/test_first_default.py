"""Indices of the first default work on by it, and are copied to the present one, which finds the same and more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from es_simhash import Index, Scheme
from es_simhash._core.json_codec import Json
from es_simhash.engines.connect import connect
from es_simhash.errors import SchemeMismatchError
from tests.support.commands import run
from tests.support.corpus import corpus, edited
from tests.support.whole_indices import FIELDS, new_names
from tools import stored_forms

FORMS = json.loads(stored_forms.NAMES.read_text(encoding="utf-8"))["forms of schemes"]
FIRST = Scheme.from_json(json.dumps(FORMS["a1de65baa9dd"]))
COPIES = {f"copy of {number}": str(number) for number in range(12)}
DOCUMENTS: dict[str, Json] = {
    **{str(number): text for number, text in enumerate(corpus(30))},
    **{copy: edited(corpus(30)[int(original)], edits=2) for copy, original in COPIES.items()},
}
SIMPLIFIED = "台风过后，沿海许多居民自星期一晚上起停电，抢修队预计周末前修复所有线路，学校停课至星期四。"
TRADITIONAL = "颱風過後，沿海許多居民自星期一晚上起停電，搶修隊預計週末前修復所有線路，學校停課至星期四。"


@pytest.fixture
def name(place: str) -> Iterator[Callable[[], str]]:
    engine = connect(place)
    with new_names(engine) as names:
        yield names
    engine.close()


@pytest.fixture
def first(place: str, name: Callable[[], str]) -> str:
    """An index that was made by the first default."""
    made = name()
    with Index(made, place, scheme=FIRST, fields=FIELDS) as index:
        index.init()
        index.add([{"_id": id_, **document} for id_, document in DOCUMENTS.items()], refresh=True)
    return made


def found(index: Index) -> dict[str, set[str]]:
    """Find the near-duplicates of each document by its id."""
    matches = index.find_many(ids=list(DOCUMENTS))
    return {id_: {match.id for match in each} for id_, each in zip(DOCUMENTS, matches, strict=True) if list(each)}


def groups(index: Index) -> set[frozenset[str]]:
    with index.group() as grouped:
        return {frozenset(member.id for member in group.members) for group in grouped}


EXPECTED = {id_: {other} for pair in COPIES.items() for id_, other in (pair, pair[::-1])}
GROUPS = {frozenset(pair) for pair in COPIES.items()}


def test_an_index_of_the_first_default_works_on_by_it(tmp_path: Path, place: str, first: str) -> None:
    assert FIRST.id == "a1de65baa9dd" != Scheme().id
    with Index(first, place, fields=FIELDS) as index:
        assert index.init().added == {first: []}
        assert index.scheme.id == FIRST.id
        assert "stop" not in {finding.level for finding in index.doctor()}
        assert (found(index), groups(index)) == (EXPECTED, GROUPS)
        index.add([{"_id": "new", **edited(DOCUMENTS["20"])}], refresh=True)
        [checked] = index.check([{"_id": "newer", **edited(DOCUMENTS["20"], seed=2)}])
        assert {match.id for match in checked.in_index} == {"20", "new"}
        with pytest.raises(SchemeMismatchError, match=FIRST.id):
            Index(first, place, scheme=Scheme()).find(id="1")
    run("backfill", first, "--field", "title", "--field", "body", cwd=tmp_path, ES_SIMHASH_URL=place)
    with Index(first, place) as index:
        assert (index.info().scheme, index.info().statuses["ok"]) == (FIRST.id, len(DOCUMENTS) + 1)


def test_a_copy_by_the_present_default_finds_the_same_and_more(
    tmp_path: Path, place: str, first: str, name: Callable[[], str]
) -> None:
    copy = name()
    run("reindex", first, copy, "--scheme", "default", cwd=tmp_path, ES_SIMHASH_URL=place)
    with Index(first, place) as old, Index(copy, place) as new:
        assert new.scheme.id == Scheme().id
        new.refresh()
        assert found(new) == found(old) == EXPECTED
        assert groups(new) == groups(old) == GROUPS
        for id_, document in DOCUMENTS.items():
            both = [{match.id for match in index.find(doc=document)} for index in (old, new)]
            assert both == [{id_, *EXPECTED.get(id_, ())}] * 2
        for index in (old, new):
            index.add([{"_id": "simplified", "body": SIMPLIFIED}], refresh=True)
        assert [match.id for match in new.find(doc={"body": TRADITIONAL})] == ["simplified"]
        assert list(old.find(doc={"body": TRADITIONAL})) == []
    with pytest.raises(SchemeMismatchError, match="Search them separately"):
        Index(f"{first},{copy}", place).find(id="1")


def test_fields_of_the_present_default_are_made_next_to_those_of_the_first(place: str, first: str) -> None:
    with Index(first, place, fields=FIELDS, prefix="dedup2") as new:
        new.init()
        assert new.backfill().written == len(DOCUMENTS)
        new.refresh()
        assert new.scheme.id == Scheme().id
        assert (found(new), groups(new)) == (EXPECTED, GROUPS)
    with Index(first, place) as old:
        assert old.scheme.id == FIRST.id
        assert (found(old), groups(old)) == (EXPECTED, GROUPS)
