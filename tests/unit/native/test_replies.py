"""Replies to searches mean the same to the compiled kernels as to Python's reader, or are left to it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from es_simhash._core.search_hits import names_of, values_of
from es_simhash.documents.documents import Documents, texts_of_hits
from es_simhash.live.backfill.fingerprinting import ReadDocument
from es_simhash.scheme.scheme import Scheme
from tests.support.fuzzing import damaged_bytes
from tests.unit.native.test_json import NUMBERS, OTHERS, STRINGS, spelled_objects, values

kernels = pytest.importorskip("es_simhash_native")

FIELDS, PREFIX = ["a", "b.c"], "own"
DOCUMENTS = Documents(Scheme(), FIELDS, PREFIX)
USUAL = {
    '"_index"': ['"i"', '"i"', '"é"'],
    '"_id"': ['"1"', '"\U0001f600"'],
    '"_seq_no"': ["7", "0", "999999999999999999"],
    '"_primary_term"': ["1"],
    '"_source"': ['{"a": "x", "b": {"c": ["y", 1.50]}}', '{"b.c": "y"}', "{}"],
}
MORE = ['"_routing"', '"_version"', '"sort"', '"_score"', r'"\u005fid"', r'"_\u0073ource"', *USUAL]
OWN = ['"own"', '"own.scheme"', '"owner"', r'"\u006fwn"', '"a"', '"b"']


@st.composite
def members(draw: st.DrawFn, names: list[str]) -> list[tuple[str, str]]:
    return draw(st.lists(st.tuples(st.sampled_from(names), values), max_size=2))


@st.composite
def hits(draw: st.DrawFn) -> str:
    """A hit as a server writes it, with a few other members, or with one missing."""
    usual = {name: draw(st.sampled_from(choice)) for name, choice in USUAL.items()}
    if draw(st.integers(0, 5)) == 0:
        usual.pop(draw(st.sampled_from(list(usual))))
    if '"_source"' in usual and draw(st.booleans()):
        inner = [usual['"_source"'][1:-1]] + [f"{name}: {value}" for name, value in draw(members(OWN))]
        usual['"_source"'] = "{" + ",".join(filter(None, inner)) + "}"
    return "{" + ",".join(f"{name}:{value}" for name, value in [*usual.items(), *draw(members(MORE))]) + "}"


@st.composite
def replies(draw: st.DrawFn) -> bytes:
    found = ",".join(draw(st.lists(hits() | spelled_objects(values), max_size=4)))
    about = draw(members(['"hits"', '"total"', r'"h\u0069ts"']))
    rest = draw(members(['"took"', '"hits"', '"pit_id"', '"error"']))
    inner = ",".join([f'"hits":[{found}]', *(f"{name}:{value}" for name, value in about)])
    return ("{" + ",".join([*(f"{name}:{value}" for name, value in rest), f'"hits": {{{inner}}}']) + "}").encode()


def check(reply: bytes) -> list[Any]:
    """Compare all that is read of a reply; return its hits, none if it is refused."""
    try:
        read = kernels.search_reply(reply, FIELDS, PREFIX)
    except kernels.Refused:
        return []
    expected = json.loads(reply)
    found: list[Any] = read["hits"].pop("hits")
    whole: list[Any] = expected["hits"].pop("hits")
    assert repr((read.pop("hits"), read)) == repr((expected.pop("hits"), expected))
    for each, hit in zip(found, whole, strict=True):
        if isinstance(each, tuple):
            assert ReadDocument.parse(DOCUMENTS, each) == ReadDocument.parse(DOCUMENTS, hit)
        else:
            assert repr(each) == repr(hit)
    return found


@given(replies() | replies().flatmap(damaged_bytes))
@example(b'{"hits":{"id":0},"hits": {"hits":[]}}')
def test_any_reply_is_read_as_python_reads_it_or_left_to_it(reply: bytes) -> None:
    event(f"with texts: {any(isinstance(hit, tuple) for hit in check(reply))}")


@given(st.sampled_from([*NUMBERS, *STRINGS, *OTHERS]), st.sampled_from([*USUAL, '"_routing"', '"a"', '"b.c"']))
def test_every_odd_value_in_a_hit_is_read_as_python_reads_it(value: str, name: str) -> None:
    usual = {name: choice[0] for name, choice in USUAL.items()}
    if name in ('"a"', '"b.c"'):
        usual['"_source"'] = f"{{{name}: {value}}}"
    else:
        usual[name] = value
    hit = ",".join(f"{name}:{value}" for name, value in usual.items())
    check(f'{{"hits":{{"hits":[{{{hit}}},{{{hit}}}]}}}}'.encode())


def reply_of(*sources: dict[str, Any]) -> bytes:
    found = [
        {"_index": "i", "_id": str(i), "_seq_no": i, "_primary_term": 1, "_source": source, "sort": [i]}
        for i, source in enumerate(sources)
    ]
    return json.dumps({"took": 3, "hits": {"hits": found}}).encode()


def test_hits_are_texts_and_our_objects_but_for_the_last() -> None:
    sources = {"a": 'x "é"\n', "b": {"c": ["y", 1.5]}}, {"a": "x", "own": {"scheme": 1}}, {"own": 1}, {"a": "z"}
    found = check(reply_of(*sources))
    assert found[:2] == [("i", "0", None, 0, 1, 'x "é"\n\ny\n1.5', None), ("i", "1", None, 1, 1, "x", {"scheme": 1})]
    assert [type(hit) for hit in found] == [tuple, tuple, dict, dict]
    assert found[-1]["sort"] == [3]


def test_the_name_of_an_index_is_one_string_for_all_hits() -> None:
    found = check(reply_of({}, {}, {}))
    assert found[0][0] is found[1][0]


@given(replies() | replies().flatmap(damaged_bytes))
@example(b'{"hits": {"hits":[{"_index":"i","_id":"1","_source":null}]}}')
def test_hits_made_when_asked_for_are_those_that_python_reads(reply: bytes) -> None:
    try:
        read = kernels.search_hits(reply)
    except kernels.Refused:
        event("refused")
        return
    expected = json.loads(reply)
    found: Any = read["hits"].pop("hits")
    whole: list[Any] = expected["hits"].pop("hits")
    assert repr((read.pop("hits"), read)) == repr((expected.pop("hits"), expected))
    assert repr(list(found)) == repr(whole)
    assert len(found) == len(whole)
    assert names_of(found) == names_of(whole)
    for name in (PREFIX, "a"):
        assert repr(values_of(found, name)) == repr(values_of(whole, name))
    places = range(len(whole))[::2]
    assert texts_of_hits(DOCUMENTS, found, places) == texts_of_hits(DOCUMENTS, whole, places)


def test_a_reply_with_a_hit_that_names_no_document_is_left_to_python() -> None:
    hit = '{"_index": "i", "_id": "1", "_source": {}}'
    assert len(kernels.search_hits(f'{{"hits": {{"hits": [{hit}]}}}}'.encode())["hits"]["hits"]) == 1
    for bad in ('{"_id": "1"}', '{"_index": "i", "_id": 1}', '{"_index": "i", "_id": "1", "_source": []}', "{}"):
        with pytest.raises(kernels.Refused):
            kernels.search_hits(f'{{"hits": {{"hits": [{hit}, {bad}]}}}}'.encode())


def test_there_is_no_hit_behind_the_last() -> None:
    found = kernels.search_hits(reply_of({"a": "x"}, {"a": "y"}))["hits"]["hits"]
    assert found[-1] == found[1]
    for place in (2, -3):
        with pytest.raises(IndexError):
            found[place]
