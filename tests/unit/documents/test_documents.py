""""""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from itertools import islice
from threading import Thread, current_thread
from types import MappingProxyType
from typing import Any

import pytest
from elasticsearch.helpers.actions import expand_action as expand_for_elasticsearch
from hypothesis import given
from hypothesis import strategies as st
from opensearchpy.helpers.actions import expand_action as expand_for_opensearch

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents, Task
from es_simhash.documents.sources import Rejected, body_of_action, with_some_text
from es_simhash.errors import DocumentError, InputError
from es_simhash.scheme.own_fields import content_hash, names
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout
from es_simhash.text.tokens import Custom
from tests.support.fuzzing import examples
from tests.support.texts import any_text

TEXT = "Near-duplicate detection finds what was copied, 轉載 and コピー, and changed a little."
DOCUMENT = {"title": "Copies", "body": {"text": TEXT}, "year": 2026}
BAD = {"title": {"en": "an object"}}

OWN = Documents(Scheme(), ["title", "body.text"])
SMALL = Documents(Scheme(minhash=None), ["title"], "near")


def expected_fields(documents: Documents, text: str) -> Json:
    """The fields of a text, made of its fingerprint alone, in the layout ``keyword``."""
    scheme = documents.scheme
    fingerprint = scheme.fingerprint(text)
    stored: Json = {"content": content_hash(text), "scheme": scheme.id, "status": fingerprint.status}
    if fingerprint.simhash is not None:
        stored |= {"simhash": f"{fingerprint.simhash:016x}", "blocks": scheme.block_keys(fingerprint)}
    if fingerprint.minhash is not None:
        stored["bands"] = scheme.band_keys(fingerprint)
    return stored


# --- documents ---


def test_the_fields_are_those_of_the_fingerprint_of_the_joined_text() -> None:
    documents = Documents(Scheme(layout=Layout("keyword")), ["title", "body.text"])
    assert documents.text_of(DOCUMENT) == f"Copies\n{TEXT}"
    assert documents.add_fields(DOCUMENT) == {**DOCUMENT, "dedup": expected_fields(documents, f"Copies\n{TEXT}")}


@examples(25)
@given(st.lists(st.fixed_dictionaries({}, optional={"title": any_text(), "body": any_text()}), max_size=6))
def test_every_document_among_many_has_the_fields_of_its_own_text(given: list[Json]) -> None:
    documents = Documents(Scheme(layout=Layout("keyword")), ["title", "body"], "near")
    # If all lack a text, none comes back.
    given = [*given, {"title": "the last"}]
    expected = [{**each, "near": expected_fields(documents, documents.text_of(each))} for each in given]
    assert list(documents.add_fields_to_all(given)) == expected


def test_a_document_without_text_is_empty() -> None:
    stored = OWN.add_fields({"year": 2026})["dedup"]
    assert stored == {"content": content_hash(""), "scheme": OWN.scheme.id, "status": "empty"}


def test_names_of_metadata_are_plain_fields_of_a_document() -> None:
    document = {"_id": "1", "_op_type": "delete", "_source": "press", "title": TEXT}
    assert OWN.add_fields(document) == {**document, "dedup": OWN.add_fields({"title": TEXT})["dedup"]}


@pytest.mark.parametrize("document", [DOCUMENT, MappingProxyType(DOCUMENT)])
def test_documents_are_never_altered(document: Any) -> None:
    before = deepcopy(DOCUMENT)
    added = OWN.add_fields(document)
    added["title"] = added["dedup"] = None
    assert before == DOCUMENT


def test_fields_are_replaced_in_a_document_that_has_them() -> None:
    once = OWN.add_fields(DOCUMENT)
    assert OWN.add_fields(once) == once
    changed = OWN.add_fields({**once, "title": "Other copies"})
    assert changed["dedup"] != once["dedup"]
    assert OWN.add_fields({**once, "title": None, "body": None})["dedup"].keys() == {"content", "scheme", "status"}


def test_two_prefixes_live_in_one_document() -> None:
    both = SMALL.add_fields(OWN.add_fields(DOCUMENT))
    assert both["dedup"] == OWN.add_fields(DOCUMENT)["dedup"]
    assert both["near"] == SMALL.add_fields(DOCUMENT)["near"]


def test_source_fields_and_prefix_are_checked() -> None:
    assert Documents(Scheme(), "title").fields == ("title",)
    with pytest.raises(InputError, match="one or more text fields"):
        Documents(Scheme(), [])
    with pytest.raises(InputError, match="letters, digits"):
        Documents(Scheme(), ["title"], "a.b")


# --- actions, as the clients take them ---

ACTIONS: list[Json] = [
    {"_index": "i", "_id": "1", "_source": DOCUMENT},
    {"_index": "i", "_id": "2", **DOCUMENT},
    {"_op_type": "create", "_id": "3", "_routing": "r", "pipeline": "p", "_source": {"title": "x"}},
    {"_op_type": "create", "_id": 4, "routing": "r", "version": 5, "version_type": "external", **DOCUMENT},
    {"_op_type": "update", "_id": "5", "doc": DOCUMENT, "_retry_on_conflict": 3},
    {"_op_type": "update", "_id": "5", "doc": {"title": None, "body": {"text": ""}}},
    {"_op_type": "update", "_id": "6", "if_seq_no": 1, "if_primary_term": 1, "doc": {"title": "only"}},
    {"_op_type": "update", "_id": "7", "doc": {"year": 2027}, "detect_noop": False},
    {"_op_type": "update", "_id": "8", "doc": DOCUMENT, "doc_as_upsert": True},
    {"_op_type": "update", "_id": "9", "_source": {"doc": {"title": "only"}, "upsert": DOCUMENT}},
    {"_op_type": "update", "_id": "10", "script": {"source": "ctx._source.year++"}, "upsert": DOCUMENT},
    {"_op_type": "update", "_id": "11", "script": "ctx._source.year++"},
    {"_op_type": "delete", "_id": "12", "_routing": "r"},
    {"_op_type": "delete", "_id": "13"},
]
Expand = Callable[[Any], tuple[Json, Json | None]]


def with_fields(body: Json | None, kind: str) -> Json | None:
    """The body of a bulk request with the fields of its documents."""
    if body is None:
        return None
    if kind != "update":
        return OWN.add_fields(body)
    nulls = dict.fromkeys((*names(OWN.scheme), "group"))
    made = dict(body)
    if "upsert" in body:
        made["upsert"] = OWN.add_fields(body["upsert"])
    if "body" in body.get("doc", {}):
        made["doc"] = {**body["doc"], "dedup": nulls | OWN.add_fields(body["doc"])["dedup"]}
    elif "title" in body.get("doc", {}):
        made["doc"] = {**body["doc"], "dedup": nulls | {"status": "deferred"}}
    return made


@pytest.mark.parametrize(
    "expand", [expand_for_elasticsearch, expand_for_opensearch], ids=["elasticsearch", "opensearch"]
)
def test_clients_send_each_action_as_before_but_with_the_fields(expand: Expand) -> None:
    sent = [expand(action) for action in OWN.actions(ACTIONS)]
    assert len(sent) == len(ACTIONS)
    for action, (header, body) in zip(ACTIONS, sent, strict=True):
        header_before, body_before = expand(action)
        assert header == header_before
        assert body == with_fields(body_before, *header)


def test_actions_are_never_altered() -> None:
    before = deepcopy(ACTIONS)
    made = list(OWN.actions(ACTIONS))
    assert before == ACTIONS
    assert made == list(OWN.actions([MappingProxyType(action) for action in ACTIONS]))


# --- batches ---


def numbered(count: int, bad: Iterable[int] = ()) -> Iterator[Json]:
    """Actions, some unreadable."""
    bad = set(bad)
    return ({"_id": f"id{i}", "_source": BAD if i in bad else {"title": f"Number {i}"}} for i in range(count))


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1000, 1001])
def test_any_number_of_actions_comes_back_in_order(count: int) -> None:
    made = list(SMALL.actions(numbered(count)))
    assert [action["_id"] for action in made] == [f"id{i}" for i in range(count)]
    for i in {0, 498, 499, 500, 501, 999, 1000} & set(range(count)):
        assert made[i]["_source"] == SMALL.add_fields({"title": f"Number {i}"})


def test_actions_are_read_a_batch_at_a_time_and_one_batch_ahead() -> None:
    read = 0

    def endless() -> Iterator[Json]:
        nonlocal read
        while True:
            read += 1
            yield {"title": "x"}

    made = SMALL.actions(endless())
    assert read == 0
    assert len(list(islice(made, 3))) == 3
    assert read == 1000
    assert len(list(islice(made, 497))) == 497
    assert read == 1000
    next(made)
    assert read == 1500


def mistyped(count: int, **last: str) -> Iterator[Json]:
    """Actions whose documents lack the text field, and a last one that has what is given."""
    for i in range(count):
        yield {"_id": str(i), "_source": {"titel": f"Number {i}", "n": i}}
    if last:
        yield {"_id": "last", "_source": last}


@pytest.mark.parametrize("count", [1, 2, 30, 1000, 5000])
def test_actions_without_any_text_are_not_made_and_the_fields_there_are_named(count: int) -> None:
    there = r"They have: titel, n\. Did you mean 'titel' instead of"
    message = rf"None of .*{min(count, 1000):,} document.* has the field title.*{there}"
    rejected: list[Rejected] = []
    with pytest.raises(DocumentError, match=message):
        next(SMALL.actions(mistyped(count), rejected.append))
    with pytest.raises(DocumentError, match=message):
        next(SMALL.add_fields_to_all(each["_source"] for each in mistyped(count)))
    with pytest.raises(DocumentError, match=message):
        asyncio.run(collected(SMALL.async_actions(asynchronous(list(mistyped(count))))))
    assert rejected == []


@pytest.mark.parametrize("count", [0, 1, 999])
def test_documents_without_text_are_made_if_another_has_one(count: int) -> None:
    made = list(SMALL.actions(mistyped(count, title="A title")))
    assert [each["_id"] for each in made] == [*map(str, range(count)), "last"]
    assert [each["_source"][SMALL.prefix]["status"] for each in made[:-1]] == ["empty"] * count
    assert made == asyncio.run(collected(SMALL.async_actions(mistyped(count, title="A title"))))
    assert list(SMALL.actions(mistyped(count, title=""))) != []


def test_actions_that_bring_no_document_need_no_text() -> None:
    changes: list[Json] = [{"_op_type": "delete", "_id": "1"}, {"_op_type": "update", "_id": "2", "doc": {"n": 1}}]
    assert list(SMALL.actions(changes)) == changes


@pytest.mark.parametrize(
    "action", [{"_source": {"n": "x" * (1 << 20)}}, {"_op_type": "update", "_id": "1", "doc": {"n": "x" * (1 << 20)}}]
)
def test_no_more_than_a_few_megabytes_are_held_back(action: Json) -> None:
    read = 0

    def endless() -> Iterator[Json]:
        nonlocal read
        while True:
            read += 1
            yield action

    with suppress(DocumentError):
        list(islice(with_some_text(endless(), ["title"], body_of_action), 1))
    assert read == 8


class Watched(Mapping[str, Any]):
    """A document that notes which threads look at it."""

    def __init__(self, document: Json, threads: set[Thread]) -> None:
        self.document, self.threads = document, threads

    def __getitem__(self, name: str) -> Any:
        self.threads.add(current_thread())
        return self.document[name]

    def __iter__(self) -> Iterator[str]:
        self.threads.add(current_thread())
        return iter(self.document)

    def __len__(self) -> int:
        return len(self.document)


def test_the_thread_of_the_caller_which_sends_them_neither_reads_nor_copies_documents() -> None:
    threads: set[Thread] = set()
    # The caller's looks for a text, which the first document has.
    first: Json = {"_id": 0, "_source": {"title": "Number 0"}}
    actions = [first, *({"_id": i, "_source": Watched({"title": f"Number {i}"}, threads)} for i in (1, 2))]
    assert [action["_id"] for action in SMALL.actions(actions)] == [0, 1, 2]
    assert threads
    assert current_thread() not in threads


@pytest.mark.parametrize("bad", [0, 250, 499, 500, 501, 750, 1001])
def test_what_stands_before_an_error_is_made_and_the_error_names_the_document(bad: int) -> None:
    made = SMALL.actions(numbered(1002, [bad]))
    assert [action["_id"] for action in islice(made, bad)] == [f"id{i}" for i in range(bad)]
    with pytest.raises(
        DocumentError, match=f"^Document 'id{bad}' has a value of type dict in the source field 'title'"
    ):
        next(made)


def test_a_document_without_an_id_is_named_by_its_place() -> None:
    actions = [{"title": "x"}] * 600 + [BAD]
    with pytest.raises(DocumentError, match=r"^Document 600 has a value of type dict"):
        list(SMALL.actions(actions))


BADS = [0, 3, 4, 499, 500, 700, 1001]


def test_rejected_documents_are_reported_and_the_others_are_done() -> None:
    rejected: list[Rejected] = []
    made = list(SMALL.actions(numbered(1002, BADS), rejected.append))
    assert [action["_id"] for action in made] == [f"id{i}" for i in range(1002) if i not in BADS]
    assert [each.position for each in rejected] == BADS
    assert [each.id for each in rejected] == [f"id{i}" for i in BADS]
    assert rejected[0].reason == (
        "Document 'id0' has a value of type dict in the source field 'title'. Choose a field of text."
    )


def test_a_rejected_document_without_an_id_has_its_place() -> None:
    rejected: list[Rejected] = []
    assert list(SMALL.actions(["raw json"], rejected.append)) == []  # type: ignore[list-item]
    assert rejected == [Rejected(position=0, reason="Document 0 is of type str. Give a mapping.")]


def test_a_document_is_reported_before_those_after_it_are_yielded() -> None:
    events: list[str | None] = []
    for action in SMALL.actions(numbered(4, [0, 2]), lambda rejected: events.append(f"-{rejected.id}")):
        events.append(action["_id"])
    assert events == ["-id0", "id1", "-id2", "id3"]


def test_an_error_of_on_reject_comes_through() -> None:
    def stop(rejected: Rejected) -> None:
        raise KeyError(rejected.id)

    with pytest.raises(KeyError, match="id1"):
        list(SMALL.actions(numbered(3, [1]), stop))


def test_long_texts_that_are_not_fingerprinted_together_have_the_fields_of_their_own() -> None:
    titles = [f"{word} " * 30_000 for word in ("many", "words", "in", "large", "chapters")]
    made = SMALL.add_fields_to_all({"title": title} for title in titles)
    assert list(made) == [SMALL.add_fields({"title": title}) for title in titles]


# --- texts that cannot be fingerprinted ---


def words(text: str) -> Any:
    return 5 if "bad" in text else text.split()


PICKY = Documents(Scheme(tokens=Custom("picky", words), minhash=None), ["title"])


def test_a_text_that_cannot_be_cut_is_named_by_its_document_and_the_others_are_done() -> None:
    titles = ["one two", "bad", "three", "bad", "bad", "four"]
    actions = [{"_id": f"id{i}", "title": title} for i, title in enumerate(titles)]
    rejected: list[Rejected] = []
    made = list(PICKY.actions(actions, rejected.append))
    assert made == [PICKY.add_fields(actions[i]) for i in (0, 2, 5)]
    assert [(each.id, each.position) for each in rejected] == [("id1", 1), ("id3", 3), ("id4", 4)]
    assert rejected[0].reason == "Document 'id1' is a int, not a list of tokens. Give a list."
    with pytest.raises(DocumentError, match=r"^Document 'id1' is a int"):
        list(PICKY.actions(actions))


@pytest.mark.parametrize("key", ["doc", "upsert"])
def test_an_action_with_a_text_that_cannot_be_cut_is_rejected_once(key: str) -> None:
    action = {"_op_type": "update", "_id": "1", "doc": {"title": "one"}, "upsert": {"title": "two"}}
    rejected: list[Rejected] = []
    made = list(PICKY.actions([{**action, key: {"title": "bad"}}, {"title": "after"}], rejected.append))
    assert made == [PICKY.add_fields({"title": "after"})]
    assert [each.position for each in rejected] == [0]


def test_a_batch_of_nothing_but_texts_that_cannot_be_cut_is_rejected() -> None:
    rejected: list[Rejected] = []
    assert list(PICKY.actions(({"title": "bad"} for _ in range(1000)), rejected.append)) == []
    assert [each.position for each in rejected] == list(range(1000))


def test_what_fails_in_the_caller_s_own_function_comes_through() -> None:
    def broken(text: str) -> list[str]:
        raise ZeroDivisionError(text)

    documents = Documents(Scheme(tokens=Custom("broken", broken), minhash=None), ["title"])
    with pytest.raises(ZeroDivisionError):
        list(documents.actions([{"title": "x"}], lambda rejected: None))


# --- async ---


async def collected(made: AsyncIterator[Json]) -> list[Json]:
    return [action async for action in made]


async def asynchronous(actions: Iterable[Json]) -> AsyncIterator[Json]:
    for action in actions:
        await asyncio.sleep(0)
        yield action


@pytest.mark.parametrize("form", [iter, asynchronous], ids=["from sync", "from async"])
@pytest.mark.parametrize("count", [0, 1, 500, 501, 1001])
def test_async_actions_are_the_same(form: Callable[[Iterable[Json]], Any], count: int) -> None:
    bad = [i for i in (2, 499, 500, 1000) if i < count]
    rejected: list[Rejected] = []
    expected_rejected: list[Rejected] = []
    made = asyncio.run(collected(SMALL.async_actions(form(numbered(count, bad)), rejected.append)))
    assert made == list(SMALL.actions(numbered(count, bad), expected_rejected.append))
    assert rejected == expected_rejected
    assert len(rejected) == len(bad)


@pytest.mark.parametrize("form", [iter, asynchronous], ids=["from sync", "from async"])
def test_async_actions_name_the_wrong_document(form: Callable[[Iterable[Json]], Any]) -> None:
    with pytest.raises(DocumentError, match=re.escape("Document 'id600' has a value")):
        asyncio.run(collected(SMALL.async_actions(form(numbered(601, [600])))))


def test_async_actions_of_every_form_are_the_same() -> None:
    assert asyncio.run(collected(OWN.async_actions(asynchronous(ACTIONS)))) == list(OWN.actions(ACTIONS))


def test_async_actions_are_read_a_batch_at_a_time() -> None:
    read = 0

    async def endless() -> AsyncIterator[Json]:
        nonlocal read
        while True:
            read += 1
            yield {"title": "x"}

    async def first() -> Json:
        return await anext(SMALL.async_actions(endless()))

    assert asyncio.run(first()) == SMALL.add_fields({"title": "x"})
    assert read == 500


SETTINGS = Scheme(minhash=None)
TARGET = Documents(SETTINGS, ("title", "body"), "dedup")
# All that the scheme writes: what an update does not set, it takes out.
NULLS = dict.fromkeys(("simhash", "blocks", "content", "scheme", "status", "group"))
DEFERRED = NULLS | {"status": "deferred"}


def texts(action: Any, target: Documents = TARGET) -> dict[str, str | None]:
    """The text of each document in an action, by where it lies; None where it is not known."""
    task = Task(target, action)
    assert task.problem is None
    return {name: slot.text for name, slot in task.slots.items()}


def done(action: Any, target: Documents = TARGET) -> Json:
    """The action with fields that show the text which they are of."""
    task = Task(target, action)
    for slot in task.slots.values():
        if slot.text is not None:
            slot.fields = (slot.fields or {}) | {"content": slot.text}
    return task.result()


def frozen(value: Any) -> Any:
    """The same in mappings that cannot be altered."""
    if isinstance(value, dict):
        return MappingProxyType({name: frozen(inner) for name, inner in value.items()})
    return value


FULL = {"title": "a", "body": "b", "n": 1}
MARKED = {**FULL, "dedup": {"content": "a\nb"}}
# What each action becomes.
BULK_ACTIONS: dict[str, tuple[Json, Json]] = {
    "index by default": ({"_id": "1", "_source": FULL}, {"_id": "1", "_source": MARKED}),
    "index": ({"_op_type": "index", "_source": FULL}, {"_op_type": "index", "_source": MARKED}),
    "create": ({"_op_type": "create", "_source": FULL}, {"_op_type": "create", "_source": MARKED}),
    "flat index": ({"_id": 1, "_index": "i", **FULL}, {"_id": 1, "_index": "i", **MARKED}),
    "flat create": (
        {"_op_type": "create", "routing": "r", **FULL},
        {"_op_type": "create", "routing": "r", **MARKED},
    ),
    "metadata": (
        {"_id": "1", "_index": "i", "_routing": "r", "pipeline": "p", "if_seq_no": 1, "_source": FULL},
        {"_id": "1", "_index": "i", "_routing": "r", "pipeline": "p", "if_seq_no": 1, "_source": MARKED},
    ),
    "no source field": ({"_source": {"n": 1}}, {"_source": {"n": 1, "dedup": {"content": ""}}}),
    "delete": ({"_op_type": "delete", "_id": "1"}, {"_op_type": "delete", "_id": "1"}),
    "update of all": (
        {"_op_type": "update", "_id": "1", "doc": FULL},
        {"_op_type": "update", "_id": "1", "doc": {**FULL, "dedup": NULLS | {"content": "a\nb"}}},
    ),
    "update of some": (
        {"_op_type": "update", "_id": "1", "doc": {"title": "a"}},
        {"_op_type": "update", "_id": "1", "doc": {"title": "a", "dedup": DEFERRED}},
    ),
    "update of none": (
        {"_op_type": "update", "_id": "1", "doc": {"n": 1}},
        {"_op_type": "update", "_id": "1", "doc": {"n": 1}},
    ),
    "update in _source": (
        {"_op_type": "update", "_id": "1", "_source": {"doc": FULL, "detect_noop": False}},
        {
            "_op_type": "update",
            "_id": "1",
            "_source": {"doc": {**FULL, "dedup": NULLS | {"content": "a\nb"}}, "detect_noop": False},
        },
    ),
    "update to null": (
        {"_op_type": "update", "_id": "1", "doc": {"title": "a", "body": None}},
        {
            "_op_type": "update",
            "_id": "1",
            "doc": {"title": "a", "body": None, "dedup": NULLS | {"content": "a"}},
        },
    ),
    "doc as upsert": (
        {"_op_type": "update", "_id": "1", "doc": FULL, "doc_as_upsert": True},
        {
            "_op_type": "update",
            "_id": "1",
            "doc": {**FULL, "dedup": NULLS | {"content": "a\nb"}},
            "doc_as_upsert": True,
        },
    ),
    "doc and upsert": (
        {"_op_type": "update", "_id": "1", "doc": {"title": "a"}, "upsert": FULL},
        {"_op_type": "update", "_id": "1", "doc": {"title": "a", "dedup": DEFERRED}, "upsert": MARKED},
    ),
    "script": (
        {"_op_type": "update", "_id": "1", "script": {"source": "ctx._source.n++"}},
        {"_op_type": "update", "_id": "1", "script": {"source": "ctx._source.n++"}},
    ),
    "script and upsert": (
        {"_op_type": "update", "_id": "1", "script": "x", "upsert": FULL},
        {"_op_type": "update", "_id": "1", "script": "x", "upsert": MARKED},
    ),
}
each_action = pytest.mark.parametrize(("action", "expected"), BULK_ACTIONS.values(), ids=BULK_ACTIONS)


@each_action
def test_each_form_of_action_gets_the_fields_where_its_documents_lie(action: Json, expected: Json) -> None:
    assert done(action) == expected


@each_action
def test_actions_of_frozen_mappings_are_the_same(action: Json, expected: Json) -> None:
    result = done(frozen(action))
    assert result == expected
    assert type(result) is dict


@each_action
def test_the_caller_s_objects_are_never_altered(action: Json, expected: Json) -> None:
    before = deepcopy(action)
    result = done(action)
    assert action == before
    # Nor by what is done with the result at its own levels.
    result["_id"] = "changed"
    for slot in ("_source", "doc", "upsert", "dedup"):
        if slot in result:
            result[slot] = None
    assert action == before


@each_action
def test_a_second_time_adds_nothing(action: Json, expected: Json) -> None:
    assert done(done(action)) == done(action)


def test_documents_are_recognised_by_their_place() -> None:
    assert texts({"_source": FULL}) == texts(FULL) == {"": "a\nb"}
    assert texts({"_op_type": "update", "doc": FULL, "upsert": {"title": "u"}}) == {"upsert": "u", "doc": "a\nb"}
    assert texts({"_op_type": "update", "doc": {"title": "a"}}) == {"doc": None}
    assert texts({"_op_type": "delete"}) == texts({"_op_type": "update", "script": "x"}) == {}


def test_doc_and_upsert_are_plain_names_in_a_document() -> None:
    plain = {"title": "a", "doc": {"title": "x"}, "upsert": 1, "script": "s"}
    assert done({"_source": plain}) == {"_source": {**plain, "dedup": {"content": "a"}}}
    assert done(plain) == {**plain, "dedup": {"content": "a"}}


# --- partial updates ---

NESTED = Documents(SETTINGS, ("a.b", "a.c"), "dedup")


@pytest.mark.parametrize(
    ("doc", "text"),
    [
        ({"a": {"b": "x", "c": "y"}}, "x\ny"),
        ({"a.b": "x", "a": {"c": "y"}}, "x\ny"),
        ({"a": {"b": None, "c": None}}, ""),
        ({"a": [{"b": "x"}, {"c": "y"}]}, "x\ny"),
        ({"a": {"b": "x"}}, None),
        ({"a": {"b": None}}, None),
        ({"a.c": None, "n": 1}, None),
    ],
)
def test_an_update_is_deferred_unless_it_gives_every_source_field(doc: Json, text: str | None) -> None:
    assert texts({"_op_type": "update", "doc": doc}, NESTED) == {"doc": text}


@pytest.mark.parametrize("doc", [{"a": {"d": "x"}}, {"n": 1}, {"a": {}}, {}, None])
def test_an_update_next_to_the_source_fields_gets_no_fields(doc: Json | None) -> None:
    action = {"_op_type": "update", "_id": "1", "doc": doc}
    assert texts(action, NESTED) == {}
    assert done(action, NESTED) == action


@pytest.mark.parametrize("doc", [{"a": None}, {"a": []}, {"a": {"b": []}}, {"a": [{"d": 1}]}, {"a": "x"}])
def test_an_update_that_takes_a_source_field_away_does_not_leave_its_fingerprint(doc: Json) -> None:
    assert texts({"_op_type": "update", "doc": doc}, NESTED) != {}


def test_an_update_takes_out_what_the_new_fingerprint_lacks() -> None:
    """An empty text has neither simhash nor blocks, and merging would leave the old ones."""
    task = Task(TARGET, {"_op_type": "update", "doc": {"title": None, "body": ""}})
    slot = task.slots["doc"]
    slot.fields = (slot.fields or {}) | {"content": "47DEQpj8", "scheme": "id", "status": "empty"}
    expected = NULLS | {"content": "47DEQpj8", "scheme": "id", "status": "empty"}
    assert task.result()["doc"]["dedup"] == expected


@pytest.mark.parametrize("doc", [{"title": "a"}, {"n": 1}, {}, {"body": None}])
def test_an_upsert_of_a_doc_needs_every_source_field(doc: Json) -> None:
    task = Task(TARGET, {"_op_type": "update", "doc": doc, "doc_as_upsert": True})
    assert task.problem
    assert "is upserted without all of its source fields. Give title, body" in task.problem


def test_a_doc_that_is_not_upserted_may_have_some() -> None:
    assert texts({"_op_type": "update", "doc": {"title": "a"}, "doc_as_upsert": False}) == {"doc": None}


def test_what_a_script_upserts_is_deferred() -> None:
    action = {"_op_type": "update", "_id": "1", "scripted_upsert": True, "script": "x", "upsert": {}}
    assert done(action)["upsert"]["dedup"]["status"] == "deferred"


# --- the object of our fields ---


@pytest.mark.parametrize("form", ["index", "update"])
def test_what_else_lies_in_our_object_stays(form: str) -> None:
    old = {"simhash": "ff", "status": "ok", "note": "keep", "group": {"id": 1}}
    document = {**FULL, "dedup": old}
    if form == "index":
        assert done(document)["dedup"] == {"content": "a\nb", "note": "keep", "group": {"id": 1}}
    else:
        result = done({"_op_type": "update", "doc": document})
        assert result["doc"]["dedup"] == NULLS | {"content": "a\nb", "note": "keep", "group": {"id": 1}}
    assert old == {"simhash": "ff", "status": "ok", "note": "keep", "group": {"id": 1}}


@pytest.mark.parametrize("empty", [None, {}, []])
def test_an_empty_object_is_filled(empty: Any) -> None:
    assert done({**FULL, "dedup": empty}) == MARKED


@pytest.mark.parametrize("value", ["text", 5, [{"simhash": "ff"}]])
def test_another_value_in_the_place_of_our_object_is_refused(value: Any) -> None:
    with pytest.raises(
        DocumentError, match=rf"where the fields belong in 'dedup', a value of type {type(value).__name__}"
    ):
        done({**FULL, "dedup": value})


@pytest.mark.parametrize("value", ["", 0, False])
def test_a_false_value_in_the_place_of_our_object_is_refused(value: Any) -> None:
    with pytest.raises(DocumentError):
        done({**FULL, "dedup": value})


def test_our_fields_under_dotted_names_are_replaced() -> None:
    assert "dedup.simhash" not in done({**FULL, "dedup.simhash": "ff"})


# --- what is not an action ---


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        ("raw json", "is of type str. Give a mapping."),
        (b"{}", "is of type bytes. Give a mapping."),
        (None, "is of type NoneType. Give a mapping."),
        (["a"], "is of type list. Give a mapping."),
        ({"_source": "text"}, "has a body of type str. Give a mapping."),
        ({"_source": None}, "has a body of type NoneType. Give a mapping."),
        ({"_op_type": "update", "doc": ["a"]}, "has a doc of type list. Give a mapping."),
        ({"_op_type": "update", "upsert": "a"}, "has an upsert of type str. Give a mapping."),
        ({"_op_type": "upsert", "title": "a"}, "has the _op_type 'upsert'. Give index, create, update or delete."),
        ({"_op_type": None}, "has the _op_type None. Give index, create, update or delete."),
    ],
)
def test_what_is_not_an_action_has_a_problem(action: Any, problem: str) -> None:
    task = Task(TARGET, action)
    assert task.problem == problem
    assert task.slots == {}
    with pytest.raises(DocumentError, match=re.escape(problem)):
        task.result()


@pytest.mark.parametrize("key", ["doc", "upsert"])
def test_a_text_that_cannot_be_read_is_a_problem_of_the_whole_action(key: str) -> None:
    bad = {"title": {"en": "x"}, "body": "b"}
    action = {"_op_type": "update", "upsert": FULL, "doc": FULL, key: bad}
    task = Task(TARGET, action)
    assert task.problem == "has a value of type dict in the source field 'title'. Choose a field of text."
    assert task.slots == {}


@pytest.mark.parametrize("wanted", [True, ["title"]])
def test_an_update_may_ask_for_the_document(wanted: Any) -> None:
    action = {"_op_type": "update", "_id": "1", "_source": wanted, "doc": FULL}
    assert done(action) == {**action, "doc": {**FULL, "dedup": NULLS | {"content": "a\nb"}}}


@pytest.mark.parametrize(
    ("action", "id_"),
    [({"_id": "x"}, "x"), ({"_id": 5}, "5"), ({"_id": 0}, "0"), ({"title": "a"}, None), ("raw", None)],
)
def test_an_action_is_named_by_its_id(action: Any, id_: str | None) -> None:
    assert Task(TARGET, action).id == id_


@pytest.mark.parametrize("id_", [[1], {"a": 1}, True, 1.0, b"x", ("x",)])
@pytest.mark.parametrize("kind", ["index", "create", "update", "delete"])
def test_an_id_is_a_text_or_a_whole_number(id_: Any, kind: str) -> None:
    task = Task(TARGET, {"_op_type": kind, "_id": id_, "_source": {"title": "a"}})
    with pytest.raises(DocumentError, match=r"has the _id .* Give a text or a whole number"):
        task.result()


@pytest.mark.parametrize("id_", ["x", "", 7, -1, 12345678901234567890, None])
def test_other_ids_are_kept(id_: Any) -> None:
    assert done({"_id": id_, "_source": {"title": "a"}})["_id"] == id_
