"""A gate over HTTP, as an ASGI application: to be served by itself, or mounted in another.

``POST /check`` and ``POST /add`` take a document or a list of them, ``POST /bulk`` takes a document a line, and answers
a line each, in order, as they come. What many clients ask is answered together: all that waits is one batch, up to a
limit.
"""

from __future__ import annotations

import asyncio
import hmac
import math
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from es_simhash._core.json_codec import Json
from es_simhash._core.rows import as_json
from es_simhash.errors import EsSimhashError, MissingExtraError, UnavailableError
from es_simhash.gate import requests
from es_simhash.gate.gate import Gate
from es_simhash.gate.judging import Verdict
from es_simhash.gate.requests import (
    BATCH,
    ID_FIELD,
    Answer,
    AskedDocument,
    Bodies,
    NoDocument,
    RefusedError,
    Shape,
    answers_as_json,
    asked_of,
    encoded,
    lines_of,
    memory_of,
    parsed,
    shape_of,
)
from es_simhash.live.telemetry import OF_RUNS, Metric, Metrics

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

_Made = TypeVar("_Made")

# Seconds after which a client may ask again when the engine is away.
_AWAY = 5
_NDJSON = "application/x-ndjson"
# Seconds that a client is asked to wait, at most.
_LONGEST = 60
# Seconds without a request after which the gate looks into the index by itself.
_IDLE = 1.0


def application(
    gate: Gate,
    *,
    token: str | None = None,
    id_field: str = ID_FIELD,
    max_body: int = requests.BODY,
    metrics: Metrics | None = None,
) -> Starlette:
    """Return the ASGI application of a gate, which stays open: close it when the application has ended.

    With a ``token``, requests need it as ``Authorization: Bearer …``, except for ``/health``. Mounted in another
    application, its lifespan must be run by that one. It counts in ``metrics`` of a run, or else in its own.
    """
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError:
        raise MissingExtraError("starlette", "gate") from None
    service = _Service(gate, token, id_field, Bodies(max_body), Measures(gate, metrics))
    routes = [
        Route("/check", service.guarded(partial(service.documents, writes=False)), methods=["POST"]),
        Route("/add", service.guarded(partial(service.documents, writes=True)), methods=["POST"]),
        Route("/bulk", _Bulk(service), methods=["POST"]),
        Route("/health", service.health),
        Route("/health/live", service.live),
        Route("/metrics", service.guarded(service.metrics)),
    ]
    return Starlette(routes=routes, lifespan=service.lifespan)


class _Service:
    """What the routes share; large bodies are parsed in threads, one at a time."""

    def __init__(self, gate: Gate, token: str | None, id_field: str, bodies: Bodies, measures: Measures) -> None:
        self.gate = gate
        self.id_field = id_field
        self.bodies = bodies
        self._token = None if token is None else f"Bearer {token}".encode()
        self.measures = measures
        self.batcher: Batcher | None = None
        self._aside = asyncio.Lock()

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Answer while the application runs; in the end, finish what waits."""
        self.batcher = Batcher(self.gate, self.measures.batch)
        answering = asyncio.create_task(self.batcher.run())
        self._aside = asyncio.Lock()
        try:
            yield
        finally:
            self.batcher.stop()
            await answering
            self.batcher = None

    @property
    def ready(self) -> Batcher:
        """What answers."""
        if self.batcher is None:
            raise RefusedError(503, "The gate is not open. Run the application with its lifespan.")
        return self.batcher

    def check_access(self, request: Request) -> None:
        """Refuse a request without the token; without a token, those that a web page of others has a browser send."""
        if self._token is not None:
            given = request.headers.get("authorization", "").encode("latin-1", "replace")
            if not hmac.compare_digest(given, self._token):
                raise RefusedError(401, "The token is missing or wrong. Send it as Authorization: Bearer …")
        elif "origin" in request.headers:
            raise RefusedError(403, "Web pages are not answered without a token. Start the gate with --token-file.")

    async def aside(self, is_long: bool, work: Callable[..., _Made], *arguments: Any) -> _Made:
        """Do what takes long in a thread, so that other clients are answered in the meantime."""
        if not is_long:
            return work(*arguments)
        async with self._aside:
            return await asyncio.to_thread(work, *arguments)

    async def health(self, _: Request) -> Response:
        """Report whether requests are likely to be answered."""
        batcher, problem = self.batcher, None
        if batcher is None:
            problem = "The gate is not open."
        elif batcher.problem is not None:
            problem = str(batcher.problem)
        form: Json = {"live": True, "ready": problem is None, "pending": self.gate.pending}
        form |= {"waiting": batcher.waiting if batcher else 0, "expired": self.gate.expired, "warm": self.gate.is_warm}
        form["set_aside"] = self.gate.set_aside
        return _json(form | ({} if problem is None else {"reason": problem}), 200 if problem is None else 503)

    async def live(self, _: Request) -> Response:
        """Report that the process answers."""
        return _json({"live": True}, 200)

    def guarded(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint for those who may ask, which counts requests, and answers errors as well."""

        async def answered(request: Request) -> Response:
            try:
                self.check_access(request)
                response = await answer(request)
            except Exception as error:
                response = _refused(error)
            self.measures.request(request.scope["path"].rsplit("/", 1)[-1], response.status_code)
            return response

        return answered

    async def metrics(self, _: Request) -> Response:
        """Write the metrics for Prometheus."""
        from starlette.responses import Response

        waiting = self.batcher.waiting if self.batcher else 0
        return Response(self.measures.exposition(waiting), media_type=self.measures.content_type)

    async def documents(self, request: Request, *, writes: bool) -> Response:
        """Answer about a document, or a list."""
        self.bodies.check(request)
        batcher = self.ready
        with self.bodies.reading(request.receive) as reading:
            raw = await reading.whole()
            size, is_long = len(raw), len(raw) > requests.AT_ONCE
            shape = await self.aside(is_long, shape_of, raw)
            if shape.problem is not None:
                raise RefusedError(413, shape.problem)
            reading.hold(await self.aside(is_long, memory_of, raw, shape))
            sent = await self.aside(is_long, parsed, raw, shape)
            del raw
            reading.hold(-size)
            if isinstance(sent, NoDocument):
                raise RefusedError(400, sent.reason)
            key, many = request.headers.get("idempotency-key"), isinstance(sent, list)
            keys = [
                None if key is None else f"{key}.{place}" if many else key for place in range(len(sent) if many else 1)
            ]
            documents = sent if many else [sent]
            asked = [asked_of(each, writes, self.id_field, own) for each, own in zip(documents, keys, strict=True)]
            answers = await batcher.ask(asked, size)
            self.measures.answers(answers, writes)

            def rendered() -> Response:
                forms = answers_as_json(asked, answers, self.gate.name)
                if many:
                    # So that clients that look at nothing else send the list again.
                    unknown = any(not isinstance(each, Verdict) for each in answers)
                    return _json(forms, 503 if unknown else 200, _AWAY if unknown else None)
                return _json(forms[0], _status(answers[0], writes))

            return await self.aside(len(asked) > requests.RENDERED_AT_ONCE, rendered)


class _Bulk:
    """``POST /bulk``: reads and answers at the same time, so that a body of any length takes little memory."""

    def __init__(self, service: _Service) -> None:
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.requests import Request

        request, service = Request(scope, receive), self._service
        status = 200
        try:
            service.check_access(request)
            service.bodies.check_encoding(request)
            batcher = service.ready
        except RefusedError as error:
            status = error.status
            await _refused(error)(scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", _NDJSON.encode())]})
            await self._stream(request, batcher, send)
            await send({"type": "http.response.body", "body": b""})
        service.measures.request("bulk", status)

    async def _stream(self, request: Request, batcher: Batcher, send: Send) -> None:
        service, count = self._service, 0
        key = request.headers.get("idempotency-key")
        try:
            with service.bodies.reading(request.receive) as reading:
                async for lines in reading.lines():
                    keys = [None if key is None else f"{key}.{count + place}" for place in range(len(lines))]
                    size = sum(map(len, lines))
                    is_long = size > requests.AT_ONCE
                    shapes: list[Shape] = await service.aside(is_long, list, map(shape_of, lines))
                    memory = await service.aside(is_long, sum, map(memory_of, lines, shapes))
                    reading.hold(memory)
                    sent: list[Any] = await service.aside(is_long, list, map(parsed, lines, shapes))
                    asked = [asked_of(each, True, service.id_field, own) for each, own in zip(sent, keys, strict=True)]
                    answers = await batcher.ask(asked, size, patiently=True)
                    count += len(lines)
                    service.measures.answers(answers, writes=True)
                    is_long = len(asked) > requests.RENDERED_AT_ONCE
                    body = await service.aside(is_long, lines_of, asked, answers, service.gate.name)
                    reading.hold(-memory)
                    await send({"type": "http.response.body", "body": body, "more_body": True})
        except Exception as error:
            # The status has gone out already.
            reason = error.reason if isinstance(error, RefusedError) else str(error)
            form: Json = as_json(Verdict(None, "unknown", reason=reason)) | {"line": count + 1}
            await send({"type": "http.response.body", "body": encoded(form) + b"\n", "more_body": True})
            if not isinstance(error, RefusedError | EsSimhashError):
                raise


def _status(answer: Answer, writes: bool) -> int:
    if not isinstance(answer, Verdict):
        return 503
    if answer.kind in ("rejected", "no text"):
        return 422
    if not writes:
        return 200
    return 409 if answer.written_to is None else 201


def _refused(error: Exception) -> Response:
    """Return the response for an error."""
    match error:
        case RefusedError():
            return _json({"reason": error.reason}, error.status, error.seconds)
        case BusyError():
            return _json({"reason": str(error)}, 429, error.seconds)
        case UnavailableError():
            return _json({"reason": str(error)}, 429, _AWAY)
        case EsSimhashError():
            return _json({"reason": str(error)}, 503, _AWAY if error.may_pass else None)
    raise error


def _json(form: Any, status: int, seconds: int | None = None) -> Response:
    from starlette.responses import Response

    headers = {} if seconds is None else {"retry-after": str(seconds)}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    return Response(encoded(form), status, headers, "application/json")


class BusyError(UnavailableError):
    """Too many documents wait; ``seconds`` later there may be room."""

    def __init__(self, waiting: int, seconds: int) -> None:
        super().__init__(f"{waiting:,} documents wait for the index. Ask again in {seconds} s.")
        self.seconds = seconds


@dataclass
class _Job:
    asked: Sequence[AskedDocument]
    size: int
    answers: asyncio.Future[list[Answer]]


class Batcher:
    """Hands what waits to a gate, in a thread of its own; ``observe`` gets the size and the seconds of each batch."""

    def __init__(self, gate: Gate, observe: Callable[[int, float], object] = lambda size, seconds: None) -> None:
        self._gate = gate
        self._observe = observe
        self._jobs: deque[_Job] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="es-simhash-gate")
        self._has_jobs = asyncio.Event()
        self._has_room = asyncio.Event()
        self._stops = False
        self._is_idle = False
        self._rate = float(BATCH)
        self.waiting = 0
        # The error of the last batch, if it had one.
        self.problem: BaseException | None = None

    async def ask(self, asked: Sequence[AskedDocument], size: int, *, patiently: bool = False) -> list[Answer]:
        """Return the answers about documents of ``size`` bytes together.

        A client that is not willing to wait for room gets a `BusyError`.
        """
        answers: list[Answer] = []
        for start in range(0, len(asked), BATCH):
            some = asked[start : start + BATCH]
            # What has begun is finished: its client cannot know how far it came.
            answers += await self._ask(some, size * len(some) // len(asked), patiently or start > 0)
        return answers

    async def _ask(self, asked: Sequence[AskedDocument], size: int, patiently: bool) -> list[Answer]:
        if patiently:
            while self.waiting >= self._most_of_patient:
                self._has_room.clear()
                await self._has_room.wait()
        elif self.waiting >= requests.WAITING:
            raise BusyError(self.waiting, self.seconds_to_wait())
        job = _Job(asked, size, asyncio.get_running_loop().create_future())
        self._is_idle = False
        self._jobs.append(job)
        self._count(len(asked))
        self._has_jobs.set()
        return await job.answers

    def seconds_to_wait(self) -> int:
        """Return after how many seconds what waits now should be done."""
        return min(_LONGEST, max(1, math.ceil(self.waiting / self._rate)))

    async def run(self) -> None:
        """Answer until `stop`."""
        watching = asyncio.create_task(self._watch())
        while not (self._stops and not self._jobs):
            await self._has_jobs.wait()
            if batch := self._next():
                await self._answer(batch)
            elif self._is_idle:
                await self._settle()
            if not self._jobs and not self._stops:
                self._has_jobs.clear()
        watching.cancel()
        self._thread.shutdown()

    async def _watch(self) -> None:
        """Notice when nobody has asked for a while."""
        while True:
            self._is_idle = True
            await asyncio.sleep(_IDLE)
            if self._is_idle:
                self._has_jobs.set()

    def stop(self) -> None:
        """Answer what waits, then end."""
        self._stops = True
        self._has_jobs.set()

    @property
    def _most_of_patient(self) -> int:
        """How many may wait when a patient client goes on, so that others find room as well."""
        return max(1, requests.WAITING // 2)

    def _count(self, more: int) -> None:
        self.waiting += more
        if self.waiting < self._most_of_patient:
            self._has_room.set()

    def _next(self) -> list[_Job]:
        """Take the first jobs, up to a batch; a client that has gone away is not answered."""
        batch: list[_Job] = []
        count = size = 0
        while self._jobs:
            job = self._jobs[0]
            if batch and (count + len(job.asked) > BATCH or size + job.size > requests.BATCH_BYTES):
                break
            self._jobs.popleft()
            self._count(-len(job.asked))
            if not job.answers.cancelled():
                batch.append(job)
                count += len(job.asked)
                size += job.size
        return batch

    async def _answer(self, batch: Sequence[_Job]) -> None:
        loop = asyncio.get_running_loop()
        asked = [each for job in batch for each in job.asked]
        began = loop.time()
        try:
            answers = await loop.run_in_executor(self._thread, self._gate.answer, asked)
        except Exception as error:
            if len(batch) > 1 and not isinstance(error, UnavailableError):
                # It may be the fault of one.
                for job in batch:
                    await self._answer([job])
                return
            self.problem = error
            for job in batch:
                if not job.answers.done():
                    job.answers.set_exception(error)
            return
        self.problem = next((each for each in answers if isinstance(each, EsSimhashError)), None)
        seconds = max(loop.time() - began, 1e-6)
        self._rate += 0.2 * (len(asked) / seconds - self._rate)
        self._observe(len(asked), seconds)
        rest = iter(answers)
        for job in batch:
            own = [next(rest) for _ in job.asked]
            if not job.answers.done():
                job.answers.set_result(own)

    async def _settle(self) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._settled)
        except Exception as error:  # the next request gets it, too
            self.problem = error
        else:
            self.problem = None

    def _settled(self) -> None:
        if self.problem is not None:
            self._gate.reach()
        self._gate.settle()


# ---- metrics

DOCUMENTS = Metric(
    "es_simhash_gate_documents_total", "counter", "Documents answered, by verdict.", ("operation", "verdict")
)
REQUESTS = Metric("es_simhash_gate_requests_total", "counter", "Requests answered, by status.", ("path", "status"))
BATCHES = Metric(
    "es_simhash_gate_batch_duration_seconds", "histogram", "Time to judge, note and write a batch of documents."
)
PENDING = Metric("es_simhash_gate_pending_documents", "gauge", "Accepted documents that the index does not show yet.")
WAITING = Metric("es_simhash_gate_waiting_documents", "gauge", "Documents that wait to be judged.")
JOURNAL = Metric("es_simhash_gate_journal_bytes", "gauge", "Size of the journal.")
EXPIRED = Metric(
    "es_simhash_gate_expired_documents_total", "counter", "Accepted documents forgotten before the index had them."
)
SET_ASIDE = Metric(
    "es_simhash_gate_set_aside_records", "gauge", "Records in rejected.jsonl, which the gate cannot use."
)

SOURCES = Metric(
    "es_simhash_gate_source_duplicates_ratio",
    "gauge",
    "Share of duplicates in the first 20 sources that sent mostly duplicates, of 20 documents or more.",
    ("source",),
)

METRICS = (DOCUMENTS, REQUESTS, BATCHES, PENDING, WAITING, JOURNAL, EXPIRED, SET_ASIDE, SOURCES)


def metrics_of(index: str) -> Metrics:
    """Return the metrics of the gate of an index, and of the engine that it works on; nothing is counted yet."""
    return Metrics((*METRICS, *OF_RUNS), verb="gate", index=index)


class Measures:
    """The values of the metrics of one gate, which count in ``metrics``, or by default in new ones."""

    content_type = Metrics.content_type

    def __init__(self, gate: Gate, metrics: Metrics | None = None) -> None:
        self._gate = gate
        self._missing: MissingExtraError | None = None
        self._metrics = metrics
        try:
            self._metrics = metrics or metrics_of(gate.name)
        except MissingExtraError as error:
            self._missing = error

    def batch(self, size: int, seconds: float) -> None:
        """Note a batch."""
        if self._metrics:
            self._metrics.observe(BATCHES, seconds)

    def answers(self, answers: Sequence[Answer], writes: bool) -> None:
        """Note answers."""
        if self._metrics:
            operation = "add" if writes else "check"
            kinds = Counter(each.kind if isinstance(each, Verdict) else "unknown" for each in answers)
            for kind, count in kinds.items():
                self._metrics.add(DOCUMENTS, count, operation=operation, verdict=kind)

    def request(self, path: str, status: int) -> None:
        """Note a request."""
        if self._metrics:
            self._metrics.add(REQUESTS, path=path, status=str(status))

    def exposition(self, waiting: int) -> bytes:
        """Write all values; raise without the extra."""
        if self._metrics is None:
            assert self._missing
            raise self._missing
        self._metrics.set(PENDING, self._gate.pending)
        self._metrics.set(WAITING, waiting)
        self._metrics.set(JOURNAL, self._gate.journal_bytes)
        self._metrics.set(SET_ASIDE, self._gate.set_aside)
        self._metrics.reach(EXPIRED, self._gate.expired)
        for loss in self._gate.answered.measured():
            self._metrics.set(SOURCES, loss.share, source=loss.value)
        return self._metrics.exposition()
