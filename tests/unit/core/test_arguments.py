"""Wrong names and types of arguments are refused in the words of the caller."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import es_simhash
from es_simhash import connect
from es_simhash.errors import ArgumentError, EsSimhashError, InputError

# Their types would be wrong.
Index: Any = es_simhash.Index
dedup: Any = es_simhash.dedup


@pytest.fixture
def index(tmp_path: Path) -> Any:
    index = Index("articles", tmp_path, fields=["body"])
    index.init()
    index.add([{"_id": "1", "body": "It rains on the old town today."}], refresh=True)
    return index


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda index: index.find(id="1", simlarity=0.5), "similarity"),
        (lambda index: index.find_many(ids=["1"], sizes=5).__iter__().__next__(), "size"),
        (lambda index: list(index.check([], similarty="near")), "similarity"),
        (lambda index: index.search({}, distinkt=True), "distinct"),
        (lambda index: index.explain("1", "1", numberz=1.0), "numbers"),
        (lambda index: index.backfill(refresh_stal=True), "refresh_stale"),
        (lambda index: index.doctor(paralel=2), "parallel"),
        (lambda index: index.reindex("other", alias=["news"]), "aliases"),
        (lambda index: index.remove_fields(max_rates=3.0), "max_rate"),
        (lambda index: index.group(similarly=0.5), "similarity"),
        (lambda index: index.copies(["1"], contains=0.5), "containment"),
        (lambda index: Index("articles", ".", field=["body"]), "fields"),
        (lambda index: dedup(["a"], similar=0.5), "similarity"),
    ],
)
def test_a_misspelt_argument_is_answered_with_the_nearest(
    index: Any, call: Callable[[Any], object], argument: str
) -> None:
    with pytest.raises(ArgumentError, match=rf"Did you mean '{argument}'\?") as caught:
        call(index)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda index: index.find(id=1), r"argument id cannot be 1 \(int\). Give a string"),
        (lambda index: index.find(b"text"), r"argument text cannot be b'text' \(bytes\)"),
        (lambda index: index.find(id="1", size="5"), r"argument size cannot be '5' \(str\). Give a whole number"),
        (lambda index: index.find(id="1", estimate=1), r"argument estimate cannot be 1 \(int\). Give True or False"),
        (lambda index: index.find(id="1", distance=True), r"argument distance cannot be True \(bool\)"),
        (lambda index: index.find(id="1", scope="tenant"), r"argument scope cannot be 'tenant' \(str\). Give a Scope"),
        (lambda index: index.delete("12"), r"argument ids cannot be '12' \(str\). Give a list"),
        (lambda index: index.copies("12"), r"argument ids cannot be '12' \(str\). Give a list"),
        (lambda index: list(index.find_many(ids="12")), r"argument ids cannot be '12' \(str\). Give a list"),
        (lambda index: list(index.find_many("text")), r"argument texts cannot be 'text' \(str\). Give a list"),
        (lambda index: index.add({"_id": "1"}), r"argument documents cannot be .* \(dict\). Give a list"),
        (lambda index: index.add(7), r"argument documents cannot be 7 \(int\). Give a list"),
        (lambda index: index.group(strip="x"), r"argument strip cannot be 'x' \(str\). Give a list"),
        (
            lambda index: index.group(threads="2"),
            r"argument threads cannot be '2' \(str\). Give a whole number or None",
        ),
        (lambda index: index.backfill(accept="closed"), r"argument accept cannot be 'closed' \(str\)"),
        (lambda index: index.reindex("other", aliases="news"), r"argument aliases cannot be 'news' \(str\)"),
        (lambda index: Index(None), r"argument name cannot be None \(NoneType\). Give the name of an index"),
        (lambda index: Index("articles", ".", prefix=5), r"argument prefix cannot be 5 \(int\). Give a string"),
        (lambda index: dedup({"1": "text"}), r"argument documents cannot be .* \(dict\). Give a list"),
        (lambda index: dedup(7), r"argument documents cannot be 7 \(int\). Give a list"),
        (lambda index: dedup(["a"], scheme=7), r"argument scheme cannot be 7 \(int\). Give a Scheme, or the name"),
        (lambda index: dedup(["a"], memory="1 GB"), r"argument memory cannot be '1 GB' \(str\). Give a whole number"),
    ],
)
def test_a_value_of_a_wrong_type_is_named_with_what_is_expected(
    index: Any, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        call(index)


def test_a_target_that_is_none_is_named_by_its_type() -> None:
    with pytest.raises(EsSimhashError, match="Cannot connect to a int"):
        connect(7)  # type: ignore[arg-type]


def test_a_long_value_is_cut(index: Any) -> None:
    with pytest.raises(ArgumentError) as caught:
        index.find(id="1", size="9" * 10_000)
    assert len(str(caught.value)) < 200
