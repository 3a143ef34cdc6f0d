"""Bodies that come slowly, in any parts, or too many at once; hours pass in no time here.

What JSON holds, found before it is parsed, is what parsing finds.

What a gate takes can be in any request, and its answers are JSON for every client.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Index
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import DocumentError
from es_simhash.gate import Gate, GateOptions, requests
from es_simhash.gate import requests as limits
from es_simhash.gate.requests import (
    MOST_OF_ROUTING,
    Bodies,
    Lines,
    NoDocument,
    Reading,
    RefusedError,
    Shape,
    check_sendable,
    encoded,
    identified,
    memory_of,
    parsed,
    shape_of,
)
from tests.support.any_documents import any_documents, any_text, names
from tests.support.fuzzing import check_message, json_values, nested
from tests.support.timeless import run_timeless

# Parts of a body, each with the seconds that pass before it.
Parts = Iterable[tuple[float, bytes]]


def receiving(parts: Parts, *, ends: bool = True) -> Callable[[], Any]:
    """Return what an application is given to read from; a body that does not end is waited for."""
    left = iter(parts)

    async def receive() -> Any:
        for seconds, part in left:
            await asyncio.sleep(seconds)
            return {"type": "http.request", "body": part, "more_body": True}
        if not ends:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": b"", "more_body": False}

    return receive


def whole(parts: Parts, *, ends: bool = True) -> bytes:
    async def read() -> bytes:
        with Bodies().reading(receiving(parts, ends=ends)) as reading:
            return await reading.whole()

    return run_timeless(read())


def lines(parts: Parts, *, ends: bool = True, answer_takes: float = 0.0) -> list[bytes]:
    found: list[bytes] = []

    async def read() -> None:
        with Bodies().reading(receiving(parts, ends=ends)) as reading:
            async for some in reading.lines():
                found.extend(some)
                await asyncio.sleep(answer_takes)

    run_timeless(read())
    return found


def test_a_slow_upload_that_goes_on_is_read_to_its_end() -> None:
    sent = [(1.0, b"x" * 2048)] * 4096
    assert len(whole(sent)) == requests.BODY


@pytest.mark.parametrize("seconds", [1.0, 29.0])
def test_a_body_that_comes_byte_by_byte_is_refused(seconds: float) -> None:
    with pytest.raises(RefusedError, match=r"Less than 32,768 bytes came in 30 s") as found:
        whole([(seconds, b"x")] * 1000)
    assert found.value.status == 408


def test_a_body_that_stops_is_refused() -> None:
    with pytest.raises(RefusedError, match=r"Send it again, faster"):
        whole([(0.0, b"x" * 1_000_000)], ends=False)


def test_lines_may_come_hours_apart() -> None:
    sent = [(3500.0, b'{"a": 1}\n')] * 20
    assert lines(sent, answer_takes=5000.0) == [b'{"a": 1}'] * 20


def test_the_beginning_of_a_line_may_wait_in_the_buffer_of_its_client() -> None:
    assert lines([(0.0, b"first\nsec"), (3000.0, b"ond\n")]) == [b"first", b"second"]


def test_lines_that_end_for_good_without_the_end_of_the_body_are_not_waited_for() -> None:
    with pytest.raises(RefusedError, match=r"came in 3600 s"):
        lines([(0.0, b"first\n")], ends=False)


def test_the_room_that_a_long_line_takes_is_not_held_for_long() -> None:
    with pytest.raises(RefusedError, match=r"came in 30 s"):
        lines([(0.0, b"x" * 100_000)], ends=False)


@given(
    st.lists(st.sampled_from([b"a", b"bc", b" ", b"", b"{}", b"\r"]), max_size=30),
    st.lists(st.integers(0, 12), max_size=12),
    st.booleans(),
)
def test_lines_are_the_same_however_they_are_parted(sent: list[bytes], places: list[int], ended: bool) -> None:
    text = b"\n".join(sent) + (b"\n" if ended else b"")
    cuts = sorted({min(each, len(text)) for each in places} | {0, len(text)})
    made, found = Lines(100), []
    for start, end in pairwise(cuts):
        for some in made.of(text[start:end]):
            found += some
    assert found + made.last() == [line.strip() for line in text.split(b"\n") if line.strip()]


def test_lines_before_one_that_is_too_long_are_answered_first() -> None:
    found = Lines(5).of(b"one\ntwo\nlonger\nlast\n")
    assert next(found) == [b"one", b"two"]
    with pytest.raises(RefusedError, match=r"A line has at most 5 bytes"):
        next(found)
    with pytest.raises(RefusedError, match=r"A line has at most 5 bytes"):
        list(Lines(5).of(b"without end"))


def test_what_is_announced_takes_no_room_until_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "AT_WORK", 1 << 20)

    async def read() -> None:
        bodies = Bodies(1 << 20)
        slow = [asyncio.create_task(reads(bodies, [(0.0, b"x")], ends=False)) for _ in range(20)]
        await asyncio.sleep(1)
        assert len(await reads(bodies, [(0.0, b"x" * 500_000)] * 2)) == 1_000_000
        for each in slow:
            each.cancel()

    run_timeless(read())


async def reads(bodies: Bodies, parts: Parts, *, ends: bool = True) -> bytes:
    with bodies.reading(receiving(parts, ends=ends)) as reading:
        return await reading.whole()


def test_slow_bodies_make_way_for_others_the_greatest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "AT_WORK", 1 << 20)

    async def read() -> None:
        bodies = Bodies(1 << 20)
        small = asyncio.create_task(reads(bodies, [(0.0, b"x" * 200_000)], ends=False))
        large = asyncio.create_task(reads(bodies, [(0.0, b"x" * 800_000)], ends=False))
        await asyncio.sleep(1)
        # A moment ago they were quick.
        with pytest.raises(RefusedError, match=r"Too many requests are at work"):
            await reads(bodies, [(0.0, b"x" * 500_000)])
        await asyncio.sleep(requests.MAKES_WAY)
        assert len(await reads(bodies, [(0.0, b"x" * 500_000)])) == 500_000
        with pytest.raises(RefusedError, match=r"others needed its room"):
            await large
        assert not small.done()
        small.cancel()
        await asyncio.wait([small])
        assert bodies.at_work == 0

    run_timeless(read())


def test_small_requests_are_read_whatever_others_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "AT_WORK", 1 << 20)
    bodies = Bodies(1 << 20)
    with Reading(bodies, receiving([])) as large, Reading(bodies, receiving([])) as small:
        large.hold((1 << 20) + requests.UNCOUNTED)
        small.hold(requests.UNCOUNTED)
        with pytest.raises(RefusedError, match=r"Too many requests"):
            small.hold(1)
        large.hold(-requests.UNCOUNTED)
        small.hold(1000)
    assert bodies.at_work == 0


TEXTS = st.text(st.characters(), max_size=20) | st.text('[]{},:"\\\n', max_size=20)
FORMS = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=30,
)


def shape_by_parsing(form: Any, level: int = 0) -> Shape:
    """Count what has been parsed: items and containers, where a container with items has one comma less than items."""
    if not isinstance(form, list | dict):
        return Shape(depth=level)
    inner = form if isinstance(form, list) else list(form.values())
    found = [shape_by_parsing(each, level + 1) for each in inner]
    return Shape(
        1 + max(0, len(inner) - 1) + sum(each.values for each in found),
        max(1, len(form)) if level == 0 and isinstance(form, list) else 1,
        1 + sum(each.containers for each in found),
        max([level + 1, *(each.depth for each in found)]),
    )


@given(FORMS, st.booleans(), st.sampled_from([None, 1]), st.integers(1, 40))
def test_the_shape_is_that_of_what_is_parsed(form: Any, escaped: bool, indent: int | None, chunk: int) -> None:
    text = json.dumps(form, ensure_ascii=escaped, indent=indent)
    raw = text.encode("utf-8", "replace")
    # Nothing is so small that it is not counted, or so large that it is counted no further.
    counted = patch.multiple(limits, DEPTH=0, DOCUMENTS=0)
    with patch.object(requests, "_CHUNK", chunk), counted, patch.object(Shape, "problem", None):
        found = shape_of(raw)
    assert found == shape_by_parsing(json.loads(raw))
    bound = shape_of(raw)
    assert (bound.values, bound.documents, bound.depth) >= (found.values, found.documents, found.depth)
    assert bound.problem is None


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[" + b"1," * 3_700_000 + b"1]", r"A list has at most 1,000 documents.*/bulk"),
        (b"[" + b'{"":0},' * 1000 + b"{}]", r"A list has at most 1,000 documents"),
        (b'{"a":[' + b"1," * 250_000 + b"1]}", r"more than 250,000 values"),
        (b'{"a":[' + b"[]," * 125_000 + b"1]}", r"more than 250,000 values"),
        (b"{" + b",".join(b'"k%d":0' % place for place in range(250_100)) + b"}", r"more than 250,000 values"),
        (b"[" * 101 + b"]" * 101, r"nested deeper than 100 levels"),
        (b'{"a":' * 1_000_000, r"nested deeper than 100 levels"),
        (b"[" * 8_000_000, r"nested deeper than 100 levels"),
    ],
)
def test_what_would_take_long_or_much_is_not_parsed(raw: bytes, reason: str) -> None:
    found = parsed(raw)
    assert isinstance(found, NoDocument)
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(found.reason)


@pytest.mark.parametrize(
    "form",
    [
        [{"a": "x"}] * 1000,
        {"vector": [0.125] * 249_000},
        {"text": '[{,"' * 200_000},
        {"text": "\\" * 200_001, "more": '"' * 200_001},
        [[[[1]]]] * 100,
        json.loads("[" * 100 + "]" * 100),
        int("9" * 1000),
        "\ud800",
        [],
        {},
    ],
)
def test_what_is_within_the_limits_is_parsed(form: Any) -> None:
    assert parsed(json.dumps(form).encode()) == form
    assert parsed(b"\xef\xbb\xbf" + json.dumps(form).encode()) == form


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"9" * 1001, "an integer of 1,001 digits"),
        (b"[-" + b"9" * 5_000_000 + b"]", "an integer of 5,000,001 digits"),
        (b"NaN", "NaN is not in it"),
        (b"[-Infinity]", "-Infinity is not in it"),
        (b'"\xed\xa0\x80"', "utf-8"),
        ('{"a": 1}'.encode("utf-16"), "utf-8"),
        (b"", "Expecting value"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(raw: bytes, reason: str) -> None:
    found = parsed(raw)
    assert isinstance(found, NoDocument)
    assert found.reason.startswith("It is not JSON: ")
    assert reason in found.reason


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "é" * 100_000, "北" * 50_000, "a" * 100_000 + "😀", "\ud83d" + "a" * 10**5]
)
@pytest.mark.parametrize("escaped", [True, False])
def test_the_memory_is_enough_for_the_widest_text(text: str, escaped: bool) -> None:
    raw = json.dumps(text, ensure_ascii=escaped).encode("utf-8", "replace")
    assert memory_of(raw, shape_of(raw)) + 1000 > json.loads(raw).__sizeof__()


def problem_of(document: Any, id_: str | None = None) -> str:
    with pytest.raises(DocumentError) as caught:
        identified(document, id_, "news")
    return caught.value.problem


@given(document=any_documents())
def test_what_is_taken_can_be_encoded_and_what_is_not_is_named(document: Any) -> None:
    try:
        action = identified(document, None, "news")
    except DocumentError as error:
        check_message(error)
        return
    json.dumps(action, ensure_ascii=False, allow_nan=False).encode()
    assert 0 < len(action["_id"].encode()) <= 512
    assert isinstance(action.get("_routing", ""), str | int | float)


@given(value=json_values(), key=names | any_text)
def test_any_answer_is_strict_json(value: Any, key: str) -> None:
    form = {"id": key, "reason": f"{value!r}", key: "\ud800"}
    found = json.loads(encoded([form]).decode("utf-8"))
    json.dumps(found, ensure_ascii=False).encode()
    assert encoded([json.loads(encoded(form))]) == b"[" + encoded(form) + b"]"


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"_id": "\ud800"}, r"An id has half of a surrogate pair (U+D800)"),
        ({"_id": ""}, "An id has 1 to 512 bytes, not 0"),
        ({"_id": "é" * 257}, "An id has 1 to 512 bytes, not 514"),
        ({"_routing": "a\udfff"}, "A routing has half of a surrogate pair (U+DFFF)"),
        ({"_routing": "r" * (MOST_OF_ROUTING + 1)}, "A routing has 0 to 32,766 bytes, not 32,767"),
        ({"_routing": ["a"]}, "A routing is a string, not list"),
        ({"_routing": {}}, "A routing is a string, not dict"),
        ({"_routing": float("inf")}, "The field '_routing' has the number inf"),
        ({"a": {"b": ["x", "\ud83d"]}}, "The field 'a.b' has half of a surrogate pair (U+D83D)"),
        ({"a": [{"\udc00": 1}]}, r"The name of the field '\udc00' has half"),
        ({"price": float("nan")}, "The field 'price' has the number nan"),
        ({"_source": {"price": float("-inf")}}, "The field 'price' has the number -inf"),
        ({"a": nested(requests.DEPTH)}, "more than 100 levels"),
        ({"a": nested(50_000)}, "more than 100 levels"),
        ({"a": nested(50_000, "a")}, "more than 100 levels"),
        ({("a", "b"): 1}, "The document is not JSON"),
    ],
)
def test_what_no_engine_takes_is_named(document: Any, problem: str) -> None:
    assert problem in problem_of(document)


def test_what_servers_take_is_taken() -> None:
    for more in (
        {"_id": "é" * 256},
        {"_id": "\0"},
        {"_routing": 7},
        {"_routing": ""},
        {"_routing": "r" * MOST_OF_ROUTING},
    ):
        check_sendable(identified({"a": 10**400, "": None, "b": nested(requests.DEPTH - 1), **more}, None, "news"))


@given(id_=st.text(st.characters(), max_size=300))
def test_an_id_next_to_the_document_is_checked_alike(id_: str) -> None:
    try:
        action = identified({"a": 1}, id_, "news")
    except DocumentError as error:
        check_message(error)
        action = {"_id": id_}
    assert action["_id"] == id_


def test_what_only_python_has_is_left_to_those_who_write_it(tmp_path: Path) -> None:
    engine = EmbeddedEngine(tmp_path / "engine")
    Index("news", engine, fields=["body"]).init()
    document = {
        "_id": "a",
        "body": "A storm hit the coast last night, and trains stood still.",
        "at": datetime(2026, 1, 1),
    }
    for _ in range(2):
        with Gate("news", engine, state=tmp_path / "state", options=GateOptions(syncs=False)) as gate:
            assert [each.kind for each in gate.check([document, {**document, "_id": "b"}])] == ["new", "equal"]
    engine.close()
