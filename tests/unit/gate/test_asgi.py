"""A gate over HTTP: what is sent, what comes back, with which status; and what is not answered."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from es_simhash import Index
from es_simhash.errors import EngineError, UnavailableError, UnreachableError
from es_simhash.gate import Gate, GateOptions, asgi, requests
from es_simhash.gate.asgi import application
from es_simhash.gate.requests import BATCH, AskedDocument, parsed
from es_simhash.gate.server import bound, is_loopback
from tests.support import promtool
from tests.support.corpus import corpus, edited

TEXTS = corpus(40)
Ask = Callable[[httpx.AsyncClient], Awaitable[None]]


@pytest.fixture
def gate(tmp_path: Path) -> Any:
    with Index("news", tmp_path / "engine", fields=["title", "body"]) as index:
        index.init()
    with Gate("news", str(tmp_path / "engine"), state=tmp_path / "state", options=GateOptions(syncs=False)) as made:
        yield made


def talk(gate: Gate, ask: Ask, **options: Any) -> None:
    """Serve a gate in this process, and ask it."""

    async def run() -> None:
        app = application(gate, **options)
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://gate") as client:
                await ask(client)

    asyncio.run(run())


def waiting(work: Callable[..., Any]) -> tuple[Callable[..., Any], threading.Event, threading.Event]:
    """Return work that waits for the last event, and that sets the first one when it begins."""
    begun, goes_on = threading.Event(), threading.Event()

    def slow(*given: Any) -> Any:
        begun.set()
        assert goes_on.wait(30)
        return work(*given)

    return slow, begun, goes_on


def document(id_: str, place: int) -> dict[str, str]:
    return {"id": id_, **TEXTS[place]}


def test_a_document_is_answered_by_an_object_and_a_status(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        copy = {"id": "c", **edited(TEXTS[0], 2)}
        statuses = []
        for path, sent in (
            ("/check", document("a", 0)),
            ("/check", copy),
            ("/check", {"title": {"a": 1}}),
            ("/add", document("a", 0)),
            ("/add", copy),
            ("/add", {"title": {"a": 1}}),
        ):
            reply = await client.post(path, json=sent)
            statuses.append((reply.status_code, reply.json()["verdict"]))
        assert statuses == [
            (200, "new"),
            (200, "near-duplicate"),
            (422, "rejected"),
            (201, "new"),
            (409, "near-duplicate"),
            (422, "rejected"),
        ]
        last = (await client.post("/add", json=copy)).json()
        assert last["accepted"] is False
        assert [each["id"] for each in last["duplicates"]] == ["a"]

    talk(gate, ask)


def test_a_list_is_answered_by_a_list(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        reply = await client.post("/add", json=[document("a", 0), 5, document("b", 0), document("c", 1)])
        assert reply.status_code == 200
        assert [each["verdict"] for each in reply.json()] == ["new", "rejected", "equal", "new"]
        assert (await client.post("/check", json=[])).json() == []

    talk(gate, ask)


def test_lines_are_answered_by_lines_in_their_order_while_they_come(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        lines = [json.dumps(document(str(place), place % 25)).encode() for place in range(250)]
        lines[3] = b"{nonsense"

        async def parts() -> AsyncIterator[bytes]:
            whole = b"\n".join(lines)
            for start in range(0, len(whole), 1000):
                yield whole[start : start + 1000]

        reply = await client.post("/bulk", content=parts())
        assert reply.headers["content-type"] == "application/x-ndjson"
        found = [json.loads(line) for line in reply.text.splitlines()]
        assert [each["id"] for each in found] == [None if place == 3 else str(place) for place in range(250)]
        assert [each["id"] for each in found if each["accepted"]] == [
            *(str(place) for place in range(25) if place != 3),
            "28",
        ]
        assert "not JSON" in found[3]["reason"]

    talk(gate, ask)


def test_clients_at_the_same_time_are_answered_together(gate: Gate) -> None:
    sizes: list[int] = []
    answer = gate.answer

    def counted(asked: list[AskedDocument]) -> Any:
        sizes.append(len(asked))
        return answer(asked)

    gate.answer = counted  # type: ignore[method-assign,assignment]

    async def ask(client: httpx.AsyncClient) -> None:
        replies = await asyncio.gather(*(client.post("/add", json=document(str(n), n % 20)) for n in range(60)))
        assert [reply.status_code for reply in replies].count(201) == 20
        assert len(sizes) < 20
        assert max(sizes) <= BATCH

    talk(gate, ask)


def test_what_one_client_sends_is_not_an_other_ones_error(gate: Gate) -> None:
    answer = gate.answer

    def odd(asked: list[AskedDocument]) -> Any:
        if any(each.id == "odd" for each in asked):
            raise EngineError("It is odd. Correct it.")
        return answer(asked)

    gate.answer = odd  # type: ignore[method-assign,assignment]

    async def ask(client: httpx.AsyncClient) -> None:
        sent = [document("a", 0), document("odd", 1), document("b", 2)]
        replies = await asyncio.gather(*(client.post("/add", json=each) for each in sent))
        assert [reply.status_code for reply in replies] == [201, 503, 201]

    talk(gate, ask)


def test_a_key_makes_a_document_without_an_id_the_same_each_time(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        key, other = {"idempotency-key": "k"}, {"idempotency-key": "other"}
        for headers, status in ((key, 201), (key, 201), (other, 409), ({}, 409)):
            assert (await client.post("/add", json=TEXTS[0], headers=headers)).status_code == status
        for _ in range(2):
            found = (await client.post("/add", json=[TEXTS[1], TEXTS[2]], headers=key)).json()
            assert [(each["id"], each["verdict"]) for each in found] == [("k.0", "new"), ("k.1", "new")]

    talk(gate, ask)


def test_the_id_may_be_in_any_field(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        sent = {"event": {"number": 7}, **TEXTS[0]}
        assert (await client.post("/add", json=sent)).json()["id"] == "7"
        assert (await client.post("/add", json={"_id": "8", **sent, **TEXTS[1]})).json()["id"] == "8"

    talk(gate, ask, id_field="event.number")


def test_without_the_token_nothing_is_answered_but_health(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        for sent in (None, "Bearer wrong", "Bearer ", "secret", "Basic secret", "Bearer s\xe9cret"):
            headers = httpx.Headers({} if sent is None else {"authorization": sent}, "latin-1")
            for path in ("/check", "/add", "/bulk"):
                reply = await client.post(path, json=TEXTS[0], headers=headers)
                assert reply.status_code == 401
                assert reply.headers["www-authenticate"] == "Bearer"
                assert "secret" not in reply.text
            assert (await client.get("/metrics", headers=headers)).status_code == 401
        assert (await client.get("/health")).status_code == 200
        good = {"authorization": "Bearer secret"}
        assert (await client.post("/check", json=TEXTS[0], headers=good)).status_code == 200
        assert (await client.get("/metrics", headers=good)).status_code == 200
        assert gate.pending == 1

    talk(gate, ask, token="secret")


def test_pages_of_others_cannot_use_a_gate_without_a_token(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        headers = {"origin": "https://elsewhere.example"}
        for path in ("/add", "/bulk"):
            assert (await client.post(path, json=TEXTS[0], headers=headers)).status_code == 403

    talk(gate, ask)


@pytest.mark.parametrize(
    ("content", "headers", "status", "reason"),
    [
        (b"{nonsense", {}, 400, "not JSON"),
        (b"x" * 2001, {}, 413, "at most 2,000 bytes"),
        (b"[" * 1999, {}, 413, "nested deeper than 100 levels"),
        (b"\xff\xfe", {}, 400, "not JSON"),
        (b"x", {"content-encoding": "gzip"}, 415, "Compressed"),
    ],
)
def test_what_cannot_be_read_is_refused(
    gate: Gate, content: bytes, headers: dict[str, str], status: int, reason: str
) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        async def parts() -> AsyncIterator[bytes]:
            yield content

        for sent in (content, parts()):
            reply = await client.post("/check", content=sent, headers=headers)
            assert reply.status_code == status
            assert reason in reply.json()["reason"]

    talk(gate, ask, max_body=2000)


def test_a_line_that_is_too_long_ends_the_answer_with_the_reason(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        lines = [json.dumps(document("a", 0)).encode(), b'{"title": "' + b"x" * 5000 + b'"}']

        async def parts() -> AsyncIterator[bytes]:
            for line in lines:
                yield line + b"\n"

        first, last = ((await client.post("/bulk", content=parts())).text).splitlines()
        assert json.loads(first)["verdict"] == "new"
        assert json.loads(last)["verdict"] == "unknown"
        assert json.loads(last)["line"] == 2
        assert "at most 4,000 bytes" in json.loads(last)["reason"]

    talk(gate, ask, max_body=4000)


@pytest.mark.parametrize(
    ("error", "status"), [(UnavailableError("It is busy. Wait."), 429), (UnreachableError("It is away. Wait."), 503)]
)
def test_an_engine_that_cannot_answer_is_a_reason_to_ask_again(gate: Gate, error: EngineError, status: int) -> None:
    def away(_: object) -> Any:
        raise error

    answer, gate.answer = gate.answer, away  # type: ignore[method-assign,assignment]

    async def ask(client: httpx.AsyncClient) -> None:
        reply = await client.post("/check", json=TEXTS[0])
        assert (reply.status_code, reply.headers["retry-after"]) == (status, "5")
        health = await client.get("/health")
        assert (health.status_code, health.json()["ready"], health.json()["reason"]) == (503, False, str(error))
        assert (await client.get("/health/live")).status_code == 200
        gate.answer = answer  # type: ignore[method-assign]
        assert (await client.post("/check", json=TEXTS[0])).status_code == 200
        assert (await client.get("/health")).json()["ready"]

    talk(gate, ask)


def test_a_list_with_an_unknown_answer_is_to_be_sent_again(gate: Gate) -> None:
    answer = gate.answer

    def half(asked: list[AskedDocument]) -> Any:
        return [answer(asked[:1])[0], UnreachableError("The reply was lost. Try again.")]

    gate.answer = half  # type: ignore[method-assign,assignment]

    async def ask(client: httpx.AsyncClient) -> None:
        reply = await client.post("/add", json=[document("a", 0), document("b", 1)])
        assert reply.status_code == 503
        assert [(each["id"], each["verdict"]) for each in reply.json()] == [("a", "new"), ("b", "unknown")]
        assert "Ask again with the same id" in reply.json()[1]["reason"]
        gate.answer = answer  # type: ignore[method-assign]
        reply = await client.post("/add", json=[document("a", 0), document("b", 1)])
        assert (reply.status_code, [each["verdict"] for each in reply.json()]) == (200, ["new", "new"])

    talk(gate, ask)


def test_a_client_without_room_is_to_come_later(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "WAITING", 3)
    slow, begun, goes_on = waiting(gate.answer)
    gate.answer = slow  # type: ignore[method-assign]

    async def ask(client: httpx.AsyncClient) -> None:
        first = asyncio.create_task(client.post("/add", json=document("0", 0)))
        await asyncio.to_thread(begun.wait, 30)
        others = [asyncio.create_task(client.post("/add", json=document(str(n), n))) for n in range(1, 4)]
        while (await client.get("/health")).json()["waiting"] < 3:
            await asyncio.sleep(0)
        late = await client.post("/add", json=document("9", 9))
        assert late.status_code == 429
        assert 1 <= int(late.headers["retry-after"]) <= 60
        # Lines wait: their client is slowed down instead.
        lines = asyncio.create_task(client.post("/bulk", content=json.dumps(document("8", 8))))
        await asyncio.sleep(0)
        goes_on.set()
        assert [reply.status_code for reply in await asyncio.gather(first, *others)] == [201] * 4
        assert json.loads((await lines).text)["accepted"]

    talk(gate, ask)


def test_bodies_that_do_not_fit_together_are_to_come_later(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "AT_WORK", 3000)
    monkeypatch.setattr(requests, "UNCOUNTED", 0)

    async def ask(client: httpx.AsyncClient) -> None:
        sends, reads = asyncio.Event(), asyncio.Event()

        async def slowly() -> AsyncIterator[bytes]:
            whole = json.dumps(document("a", 0)).encode().rjust(2900)
            yield whole[:2800]
            reads.set()
            await sends.wait()
            yield whole[2800:]

        first = asyncio.create_task(client.post("/add", content=slowly()))
        await reads.wait()
        assert (await client.post("/add", json=document("b", 1))).status_code == 429
        sends.set()
        assert (await first).status_code == 201
        assert (await client.post("/add", json=document("b", 1))).status_code == 201

    talk(gate, ask, max_body=3000)


def test_a_gate_that_nobody_asks_looks_into_the_index_by_itself(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "_IDLE", 0.01)

    async def ask(client: httpx.AsyncClient) -> None:
        assert (await client.post("/add", json=document("a", 0))).status_code == 201
        while (await client.get("/health")).json()["pending"]:
            await asyncio.sleep(0)
        assert (await client.post("/check", json=document("b", 0))).json()["verdict"] == "equal"

    talk(gate, ask)


def test_when_it_ends_all_that_waits_is_answered(gate: Gate) -> None:
    async def run() -> None:
        app = application(gate)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gate") as client:
            async with app.router.lifespan_context(app):
                asking = [asyncio.create_task(client.post("/add", json=document(str(n), n))) for n in range(30)]
                while (await client.get("/health")).json()["waiting"] == 0:
                    await asyncio.sleep(0)
            assert [reply.status_code for reply in await asyncio.gather(*asking)] == [201] * 30
            assert (await client.post("/add", json=TEXTS[0])).status_code == 503
            assert (await client.get("/health")).status_code == 503

    asyncio.run(run())


def test_a_long_list_that_waits_when_it_ends_is_answered(gate: Gate) -> None:
    async def run() -> None:
        app = application(gate)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gate") as client:
            async with app.router.lifespan_context(app):
                asking = asyncio.create_task(client.post("/check", json=[document(str(n), n % 40) for n in range(60)]))
                while (await client.get("/health")).json()["waiting"] == 0:
                    await asyncio.sleep(0)
            assert len((await asking).json()) == 60

    asyncio.run(run())


def test_lists_within_the_limit_are_answered_and_longer_ones_refused(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        for count, status in ((1, 200), (requests.DOCUMENTS, 200), (requests.DOCUMENTS + 1, 413)):
            sent = [{"id": str(place), "title": TEXTS[0]["title"]} for place in range(count)]
            reply = await client.post("/check", json=sent)
            assert reply.status_code == status
        assert "at most 1,000 documents. Send shorter lists" in reply.json()["reason"]

    talk(gate, ask)


def test_a_line_beyond_a_limit_is_rejected_and_the_others_are_answered(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        lines = [
            json.dumps(document("a", 0)).encode(),
            b'{"a":' * 500,
            b'{"a":[' + b"1," * 400_000 + b"1]}",
            b"{}",
            b"1" * 2000,
        ]
        found = [json.loads(line) for line in (await client.post("/bulk", content=b"\n".join(lines))).text.splitlines()]
        assert [each["verdict"] for each in found[:3]] == ["new", "rejected", "rejected"]
        assert "nested deeper" in found[1]["reason"]
        assert "250,000 values" in found[2]["reason"]
        assert "digits" in found[4]["reason"]

    talk(gate, ask)


def test_large_bodies_are_parsed_while_others_are_answered(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, begun, goes_on = waiting(parsed)
    monkeypatch.setattr("es_simhash.gate.asgi.parsed", slow)

    async def ask(client: httpx.AsyncClient) -> None:
        large = {**document("a", 0), "more": "x" * 100_000}
        first = asyncio.create_task(client.post("/add", json=large))
        await asyncio.to_thread(begun.wait, 30)
        assert (await client.get("/health/live")).status_code == 200
        assert not first.done()
        goes_on.set()
        assert (await first).status_code == 201

    talk(gate, ask)


def test_patient_clients_leave_room_for_others(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "WAITING", 20)
    slow, begun, goes_on = waiting(gate.answer)
    gate.answer = slow  # type: ignore[method-assign]

    async def ask(client: httpx.AsyncClient) -> None:
        first = asyncio.create_task(client.post("/add", json=document("0", 0)))
        await asyncio.to_thread(begun.wait, 30)
        streams = [
            asyncio.create_task(client.post("/bulk", content=json.dumps(document(f"{n}", n)))) for n in range(1, 39)
        ]
        while (await client.get("/health")).json()["waiting"] < 10:
            await asyncio.sleep(0)
        late = asyncio.create_task(client.post("/add", json=document("39", 39)))
        for _ in range(1000):
            await asyncio.sleep(0)
        assert not late.done()
        goes_on.set()
        assert (await first).status_code == (await late).status_code == 201
        assert all(json.loads(reply.text)["accepted"] for reply in await asyncio.gather(*streams))

    talk(gate, ask)


def test_metrics_are_those_of_what_was_answered(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        await client.post("/add", json=[document("a", 0), document("b", 0), 5])
        await client.post("/check", content=b"{")
        text = (await client.get("/metrics")).text
        for line in (
            'es_simhash_gate_documents_total{index="news",operation="add",verb="gate",verdict="equal"} 1.0',
            'es_simhash_gate_documents_total{index="news",operation="add",verb="gate",verdict="rejected"} 1.0',
            'es_simhash_gate_requests_total{index="news",path="check",status="400",verb="gate"} 1.0',
            'es_simhash_gate_batch_duration_seconds_count{index="news",verb="gate"} 1.0',
            'es_simhash_gate_pending_documents{index="news",verb="gate"} 1.0',
            'es_simhash_gate_expired_documents_total{index="news",verb="gate"} 0.0',
        ):
            assert line in text
        assert promtool.of_metrics(text.encode()) == ""

    talk(gate, ask)


def test_metrics_name_sources_that_send_mostly_duplicates(gate: Gate) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        ratio = 'es_simhash_gate_source_duplicates_ratio{index="news",source="a.example",verb="gate"}'
        rows = [
            {"id": f"{n}", "site": f"{'ab'[n % 2]}.example", **TEXTS[0 if n % 2 == 0 else n // 11]} for n in range(220)
        ]
        assert ratio not in (await client.get("/metrics")).text
        await client.post("/add", json=rows)
        text = (await client.get("/metrics")).text
        assert f"{ratio} 0.99" in text
        assert promtool.of_metrics(text.encode()) == ""

    talk(gate, ask)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.9.9.9"])
def test_addresses_of_this_machine_need_no_token(host: str) -> None:
    assert is_loopback(host)


def test_what_is_sent_does_not_wait_for_more() -> None:
    """asyncio sets TCP_NODELAY for sockets that name their protocol."""
    with bound("127.0.0.1", 0, has_token=False) as at:
        assert at.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "gate.example"])
def test_other_addresses_do(host: str) -> None:
    with pytest.raises(ValueError, match=r"needs a token.*--token-file"):
        bound(host, 0, has_token=False)
