"""Requests to a gate and its answers: limits, bodies, documents.

They are read where they apply, when they apply.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from es_simhash._core.humanize import json_text
from es_simhash._core.json_codec import Json, values_at
from es_simhash._core.rows import as_json
from es_simhash.documents.documents import Document, checked_id, id_of
from es_simhash.errors import DocumentError, EngineError
from es_simhash.gate.judging import Verdict
from es_simhash.plans.operations import MOST_ID_BYTES

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive
    from typing_extensions import Self


# Bytes of a body, or of a line of /bulk or standard input.
BODY = 8 << 20
# Bytes of all bodies and lines that are read, parsed or answered at once, with what they take when parsed.
AT_WORK = 128 << 20
# Bytes of each request that are not counted, so that small ones are read whatever others send.
UNCOUNTED = 64 << 10

# Documents of a list.
DOCUMENTS = 1000
# Values (items of lists, and fields of objects) of a body or a line; how deep they nest; digits of an integer.
VALUES = 250_000
DEPTH = 100
DIGITS = 1000

# Documents that may wait for the engine, and bytes of those that are judged together.
WAITING = 1000
BATCH_BYTES = 8 << 20

# Connections at once. Of these, one that waits for its client makes way for a new one.
CONNECTIONS = 1000
# Bytes of a request's head, or of the trailers of its body.
HEAD = 64 << 10
# Requests on one connection that are sent before the first one is answered.
PIPELINED = 16
# Bytes of answers that clients have not read, all together.
UNREAD_BYTES = 64 << 20

# Seconds for which a connection may be without a request, or with the beginning of one.
SILENCE = 60.0
# The bytes of a body, or of a line of more than UNCOUNTED bytes, that come within these seconds, unless it ends.
PROGRESS, STALLED = 32 << 10, 30.0
# Seconds of waiting after which a slow body or line makes way if others need its room.
MAKES_WAY = 5.0
# Seconds for which /bulk waits for the end of a line, or for another one.
PAUSE = 3600.0
# Seconds in which a client reads nothing of what it was answered.
UNREAD = 120.0

# Bytes and documents that are parsed, or rendered, at once; for more, the other clients are answered in the meantime.
AT_ONCE = 16 << 10
RENDERED_AT_ONCE = 20

# Bytes that are looked at together.
_CHUNK = 1 << 16
# Bytes that Python takes for a value, which may be a field with its name, and for a list or an object beyond that.
_OF_VALUE, _OF_CONTAINER = 100, 150
# In UTF-8, what begins the characters that take four bytes, and what continues any.
_WIDE, _CONTINUING = re.compile(rb"[\xf0-\xff]"), bytes(range(0x80, 0xC0))

_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1
_QUOTE, _COMMA = b'",'


@dataclass(frozen=True)
class Shape:
    """Numbers of values, of documents in a list, and of containers, and how deep they nest; or upper bounds of them."""

    values: int = 0
    documents: int = 1
    containers: int = 0
    depth: int = 0

    @property
    def problem(self) -> str | None:
        """What exceeds a limit, and what to do."""
        if self.documents > DOCUMENTS:
            return f"A list has at most {DOCUMENTS:,} documents. Send shorter lists, or a document a line to /bulk."
        if self.depth > DEPTH:
            return f"It is nested deeper than {DEPTH:,} levels. Send flatter documents."
        if self.values > VALUES:
            return (
                f"It has more than {VALUES:,} values, all lists and objects in it together. "
                "Send fewer documents at once, without fields that the index does not need."
            )
        return None


def shape_of(raw: bytes) -> Shape:
    """Return the shape of a body; what exceeds a limit is counted no further."""
    containers = raw.count(b"[") + raw.count(b"{")
    values = containers + raw.count(b",")
    is_list = raw.lstrip()[:1] == b"["
    if containers <= DEPTH and values < DOCUMENTS:
        # Whatever of this stands in strings, it is within the limits.
        return Shape(values, values + 1 if is_list else 1, containers, containers)
    return _counted(raw, is_list)


def memory_of(raw: bytes, shape: Shape) -> int:
    """Return the bytes that Python takes for a body of this shape when it is parsed, at most."""
    if b"\\u" in raw:
        text = 4 * len(raw)
    elif raw.isascii():
        text = len(raw)
    else:
        text = (4 if _WIDE.search(raw) else 2) * len(raw.translate(None, _CONTINUING))
    return text + _OF_VALUE * shape.values + _OF_CONTAINER * shape.containers


def _counted(raw: bytes, is_list: bool) -> Shape:
    if b"\\" in raw:
        # Then each quote begins or ends a string.
        raw = raw.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
    found, quotes, level = Shape(), 0, 0
    for start in range(0, len(raw), _CHUNK):
        part = np.frombuffer(raw, np.uint8, min(_CHUNK, len(raw) - start), start)
        ends = np.cumsum(part == _QUOTE, dtype=np.int32) + quotes
        quotes = int(ends[-1]) & 1
        outside = part[ends & 1 == 0]
        steps = _STEPS[outside]
        levels = np.cumsum(steps, dtype=np.int32) + level
        level = int(levels[-1]) if len(levels) else level
        commas, opened = outside == _COMMA, int(np.count_nonzero(steps == 1))
        found = Shape(
            found.values + opened + int(np.count_nonzero(commas)),
            found.documents + (int(np.count_nonzero(commas & (levels == 1))) if is_list else 0),
            found.containers + opened,
            max(found.depth, int(levels.max(initial=0))),
        )
        if found.problem:
            break
    return found


Answer: TypeAlias = Verdict | EngineError

# Documents that are judged together.
BATCH = 100
# The field with the id of a document that has no _id.
ID_FIELD = "id"
_HALVES = re.compile("[\ud800-\udfff]")


def parsed(raw: bytes, shape: Shape | None = None) -> Any:
    """Parse JSON within the limits of a gate; a `NoDocument` has the reason why it cannot be."""
    if problem := (shape or shape_of(raw)).problem:
        return NoDocument(problem)
    try:
        return _DECODER.decode(raw.decode("utf-8-sig"))
    except ValueError as error:
        return NoDocument(f"It is not JSON: {error}. Send a JSON object.")


def _integer(digits: str) -> int:
    # More than Python's own limit, where it has one, take it seconds.
    if len(digits) > DIGITS:
        raise ValueError(f"an integer of {len(digits):,} digits, where {DIGITS:,} are the most")
    return int(digits)


def _constant(name: str) -> None:
    raise ValueError(f"{name} is not in it")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_constant)


def asked_of(document: Any, writes: bool, id_field: str = ID_FIELD, key: str | None = None) -> AskedDocument:
    """Return a document to ask about; without an ``_id`` its id is in a field, or else it is ``key``."""
    named = key
    if isinstance(document, Mapping) and document.get("_id") is None:
        body = document.get("_source")
        found = list(values_at(body if isinstance(body, Mapping) else document, id_field))
        if len(found) == 1 and isinstance(found[0], str | int) and not isinstance(found[0], bool):
            try:
                named = checked_id({"_id": found[0]})
            except DocumentError as error:
                return AskedDocument(NoDocument(f"The document {error.problem}"), writes)
    return AskedDocument(document, writes, named)


def answers_as_json(asked: Sequence[AskedDocument], answers: Sequence[Answer], index: str) -> list[Json]:
    """Return answers as JSON; an error is that it is unknown what became of the document."""
    verdicts = (
        answer if isinstance(answer, Verdict) else _unknown(each, answer)
        for each, answer in zip(asked, answers, strict=True)
    )
    forms: list[Json] = list(map(as_json, verdicts))
    for match in (match for form in forms for match in form["duplicates"]):
        # One that was accepted, and that the index does not show yet, has no index.
        match["index"] = match["index"] or index
    return forms


def _unknown(asked: AskedDocument, error: EngineError) -> Verdict:
    named = asked.document.get("_id", asked.id) if isinstance(asked.document, Mapping) else asked.id
    reason = f"It is not known whether the document was written: {error} Ask again with the same id."
    return Verdict(None if named is None else str(named), "unknown", reason=reason)


def encoded(form: Any) -> bytes:
    """Return an answer as JSON that any client reads: halves of surrogate pairs, as in a rejected id, are U+FFFD."""
    return _HALVES.sub("\ufffd", json_text(form, separators=(",", ":"))).encode()


def lines_of(asked: Sequence[AskedDocument], answers: Sequence[Answer], index: str) -> bytes:
    """Return answers as NDJSON."""
    return b"".join(encoded(form) + b"\n" for form in answers_as_json(asked, answers, index))


# ---- what a gate takes

_ROUTING = "_routing"
# Bytes of a random id.
_ID_BYTES = 15


class NoDocument:
    """What stands for a document that could not be read; it is rejected in its turn."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


@dataclass(frozen=True)
class AskedDocument:
    """A document that is asked about, and to be written if the answer allows it; ``id`` is for one that has none."""

    document: Document | NoDocument
    writes: bool = False
    id: str | None = None


def identified(document: Any, id_: str | None, index: str) -> Json:
    """Return a document as an action with an id; raise if it cannot be one.

    The id of a document that has none is ``id_``, or a random one.

    A document has its fields next to ``_id`` and ``_routing``, or in ``_source``.
    """
    if isinstance(document, NoDocument):
        raise DocumentError(document.reason)
    if not isinstance(document, Mapping):
        raise DocumentError(f"A document is an object, not {type(document).__name__}. Send the fields of one.")
    if document.get("_op_type", "index") != "index":
        raise DocumentError("A gate takes whole documents, and no updates or deletes. Leave _op_type out.")
    if document.get("_index", index) != index:
        raise DocumentError(f"This is the gate of {index!r}, not of {document['_index']!r:.80}. Leave _index out.")
    try:
        named = checked_id(document)
    except DocumentError as error:
        raise DocumentError(f"The document {error.problem}") from None
    body = document.get("_source")
    if body is None:
        body = {name: value for name, value in document.items() if name not in ("_id", "_index", "_op_type", _ROUTING)}
    elif not isinstance(body, Mapping):
        raise DocumentError(f"The fields of a document are an object, not {type(body).__name__}. Send them in _source.")
    routed = {} if document.get(_ROUTING) is None else {_ROUTING: document[_ROUTING]}
    if named is None:
        named = token_urlsafe(_ID_BYTES) if id_ is None else id_
    action = {"_id": named, **routed, "_source": body}
    check_sendable(action)
    return action


def has_id(document: Any, id_: str | None) -> bool:
    """Return whether a client has named a document, so that it may ask again."""
    return id_ is not None or id_of(document) is not None


# Bytes of a routing: what servers take.
MOST_OF_ROUTING = 32_766


def check_sendable(action: Json) -> None:
    """Raise unless any request can hold an action: its ``_id``, its ``_routing`` and its ``_source``."""
    _check_name("An id", action["_id"], 1, MOST_ID_BYTES)
    routing = action.get("_routing")
    if isinstance(routing, str):
        _check_name("A routing", routing, 0, MOST_OF_ROUTING)
    elif routing is not None and not isinstance(routing, int | float):
        raise DocumentError(f"A routing is a string, not {type(routing).__name__}. Send a string in _routing.")
    try:
        # What only Python has, such as a date, is for the engine's client to encode, or to refuse.
        json.dumps(action, ensure_ascii=False, allow_nan=False, default=_as_text).encode()
        is_deep = _is_deep(action["_source"])
    except RecursionError:
        is_deep = True
    except (ValueError, TypeError) as error:
        raise DocumentError(next(_problems(action), f"The document is not JSON: {error}. Correct it.")) from None
    if is_deep:
        raise DocumentError(f"The document has more than {DEPTH} levels of objects and lists. Flatten it.")


def _as_text(value: Any) -> str:
    try:
        return str(value)
    except Exception as error:  # of somebody else's class
        raise TypeError("") from error


def _check_name(what: str, name: str, least: int, most: int) -> None:
    if problem := _half(name):
        raise DocumentError(f"{what} {problem}")
    if not least <= (length := len(name.encode())) <= most:
        raise DocumentError(f"{what} has {least} to {most:,} bytes, not {length:,}. Send a shorter one.")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH):
        inner = (each for one in level for each in (one.values() if isinstance(one, dict) else one))
        level = [each for each in inner if isinstance(each, dict | list | tuple)]
        if not level:
            return False
    return True


def _problems(action: Json) -> Iterator[str]:
    """Yield what no JSON has, and in which field."""
    waiting: list[tuple[str, Any]] = [(name, action[name]) for name in ("_routing", "_source") if name in action]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str) and (problem := _half(value)):
            yield f"The field {path!r:.80} {problem}"
        elif isinstance(value, float) and not math.isfinite(value):
            problem = f"has the number {value}, which JSON does not allow"
            yield f"The field {path!r:.80} {problem}. Leave it out, or send null."
        elif isinstance(value, dict):
            for name, inner in value.items():
                if problem := _half(str(name)):
                    yield f"The name of the field {name!r:.80} {problem}"
                waiting.append((f"{path}.{name}".removeprefix("_source."), inner))
        elif isinstance(value, list | tuple):
            waiting += [(path, inner) for inner in value]


def _half(text: str) -> str | None:
    """Return what is wrong with a text that is not Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"half of a surrogate pair (U+{ord(text[error.start]):04X})"
        return f"has {half}, so it is not Unicode text. Decode it again, with the right encoding."
    return None


_LINE = re.compile(rb"[^\n]+")
# Bytes up to which a block of a body grows.
_BLOCK = 1 << 16


class RefusedError(Exception):
    """A request that is not answered: its status, why, and perhaps after how many seconds to try again."""

    def __init__(self, status: int, reason: str, seconds: int | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.seconds = seconds


class Blocks:
    """Bytes that come in parts, in blocks that are not moved as they grow: they take no memory but their own."""

    def __init__(self) -> None:
        self._blocks: list[bytearray] = []
        self.size = 0

    def add(self, part: bytes) -> None:
        """Take what comes next."""
        if self._blocks and len(self._blocks[-1]) + len(part) <= _BLOCK:
            self._blocks[-1] += part
        elif part:
            self._blocks.append(bytearray(part))
        self.size += len(part)

    def taken(self) -> bytes:
        """Return all that came, and begin again."""
        blocks, self._blocks, self.size = self._blocks, [], 0
        return b"".join(blocks)


class Lines:
    """Lines of at most ``most`` bytes, made of parts that end anywhere."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rest = Blocks()

    @property
    def rest(self) -> int:
        """The bytes of the line that has not ended."""
        return self._rest.size

    def of(self, part: bytes) -> Iterator[list[bytes]]:
        """Yield the lines that end in a part, up to a batch at once; empty ones are left out."""
        end = part.rfind(b"\n") + 1
        ended = self._rest.taken() + part[:end] if end else b""
        self._rest.add(part[end:])
        some: list[bytes] = []
        for found in _LINE.finditer(ended):
            if found.end() - found.start() > self._most:
                yield some
                raise too_large(self._most, "line")
            if line := found[0].strip():
                some.append(line)
            if len(some) == BATCH:
                yield some
                some = []
        if some:
            yield some
        if self.rest > self._most:
            raise too_large(self._most, "line")

    def last(self) -> list[bytes]:
        """Return the line that nothing ended, if there is one."""
        return [line] if (line := self._rest.taken().strip()) else []


class Bodies:
    """The bytes of bodies at work; ``most`` is the limit of one."""

    def __init__(self, most: int = BODY) -> None:
        self.most = most
        self.at_work = 0
        self._readings: set[Reading] = set()

    def check(self, request: Request) -> None:
        """Refuse a body that says it is too large."""
        self.check_encoding(request)
        given = request.headers.get("content-length", "")
        if given.isdecimal() and int(given) > self.most:
            raise too_large(self.most)

    @staticmethod
    def check_encoding(request: Request) -> None:
        """Refuse compressed bodies, which could be of any size."""
        if request.headers.get("content-encoding", "identity") != "identity":
            raise RefusedError(415, "Compressed bodies are not read. Send the body as it is.")

    def reading(self, receive: Receive) -> Reading:
        """Return a request that is to be read and answered within a ``with``."""
        return Reading(self, receive)

    def make_room(self, size: int, reading: Reading) -> None:
        """Let a body have ``size`` bytes more, those of clients that are waited for if need be."""
        most = max(AT_WORK, self.most)
        if size > 0 and self.at_work + size > most:
            slow = [each for each in self._readings if each is not reading and each.counted and each.makes_way]
            for each in sorted(slow, key=lambda one: one.counted, reverse=True):
                if self.at_work + size > most:
                    each.cut(RefusedError(408, "The body came too slowly, and others needed its room. Send it again."))
        if size > 0 and self.at_work > reading.counted and self.at_work + size > most:
            raise RefusedError(429, "Too many requests are at work. Ask again in 1 s.", 1)
        self.at_work += size

    def begin(self, reading: Reading) -> None:
        """Know a request that is being read."""
        self._readings.add(reading)

    def end(self, reading: Reading) -> None:
        """Have the room of a request again."""
        self._readings.discard(reading)
        self.at_work -= reading.counted


class Reading:
    """A request from its first byte to its answer: what it holds, and how long its client has been waited for."""

    def __init__(self, bodies: Bodies, receive: Receive) -> None:
        self._bodies = bodies
        self._receive = receive
        self._held = 0
        # Seconds of waiting since the client has made progress, and bytes that came in the meantime.
        self._waited = 0.0
        self._gained = 0
        self._since: float | None = None
        self._coming: asyncio.Future[Any] | None = None
        self._cut: RefusedError | None = None

    def __enter__(self) -> Self:
        self._bodies.begin(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._cut is None:
            self._bodies.end(self)

    @property
    def counted(self) -> int:
        """The bytes that others cannot have."""
        return max(0, self._held - UNCOUNTED)

    @property
    def makes_way(self) -> bool:
        """Whether its client has been waited for long enough."""
        if self._since is None:
            return False
        return self._waited + asyncio.get_running_loop().time() - self._since > MAKES_WAY

    def hold(self, size: int) -> None:
        """Hold ``size`` bytes more, or fewer; refuse the request if there is no room."""
        more = max(0, self._held + size - UNCOUNTED) - self.counted
        self._bodies.make_room(more, self)
        self._held += size

    def cut(self, error: RefusedError) -> None:
        """End the waiting for the client."""
        self._bodies.end(self)
        self._cut = error
        if self._coming is not None:
            self._coming.cancel()

    async def whole(self) -> bytes:
        """Read a body."""
        body, most, more = Blocks(), self._bodies.most, True
        while more:
            part, more = await self._part(STALLED)
            if body.size + len(part) > most:
                raise too_large(most)
            self.hold(len(part))
            body.add(part)
        return body.taken()

    async def lines(self) -> AsyncIterator[list[bytes]]:
        """Yield the lines of a body, as many at once as have come; empty ones are left out."""
        lines, more = Lines(self._bodies.most), True
        while more:
            part, more = await self._part(PAUSE if lines.rest <= UNCOUNTED else STALLED)
            self.hold(len(part))
            for some in lines.of(part):
                self._progress()
                yield some
            self.hold(lines.rest - self._held)
        if last := lines.last():
            yield last

    async def _part(self, seconds: float) -> tuple[bytes, bool]:
        """Return what comes next, and whether more does."""
        loop = asyncio.get_running_loop()
        self._since = began = loop.time()
        self._coming = asyncio.ensure_future(self._receive())
        try:
            message = await asyncio.wait_for(self._coming, max(seconds - self._waited, 0.001))
        except asyncio.TimeoutError:
            raise RefusedError(
                408,
                f"Less than {PROGRESS:,} bytes came in {seconds:.0f} s, and not the end. Send it again, faster.",
            ) from None
        except asyncio.CancelledError:
            if self._cut is not None:
                raise self._cut from None
            raise
        finally:
            self._since = None
            self._waited += loop.time() - began
        if self._cut is not None:
            raise self._cut
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "The client has gone away.")
        part: bytes = message.get("body", b"")
        self._gained += len(part)
        if self._gained >= PROGRESS:
            self._progress()
        return part, message.get("more_body", False)

    def _progress(self) -> None:
        self._waited, self._gained = 0.0, 0


def too_large(most: int, what: str = "body") -> RefusedError:
    """Return the refusal of a body, or of a line."""
    return RefusedError(413, f"A {what} has at most {most:,} bytes. Send less at once, or raise --max-body.")
