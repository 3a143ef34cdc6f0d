"""The others who write to an index, and what they know of its documents: theirs alone are the sources."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

from es_simhash._core.json_codec import Json
from es_simhash.documents.decisions import Decision
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import driven
from es_simhash.plans.decided import decide
from tests.system.histories.generations import TIME, Generations
from tests.system.histories.history import Behind, Blow, How, Saying, Start, Upset, Write
from tests.system.histories.target import Target

FIELDS = ("title", "body")
# A field that the ``_source`` of some indices leaves out.
SECRET = "secret"
# A field of theirs that may lie in the object of ours.
NOTE = "note"
_FAMILIES = 4
_LETTERS = str.maketrans("0123456789", "ghijklmnop")
_MOMENT = "2026-01-01T00:00:00Z"


def text(serial: int) -> str:
    """A text that there is once: like every fourth of them, and unlike the others."""
    family = serial % _FAMILIES
    words = (sha256(f"{family} {position}".encode()).hexdigest()[:6] for position in range(40))
    return " ".join([" ".join(words).translate(_LETTERS), f"only{serial}"])


def family_of(text: str) -> int:
    """Which of the texts are like this one."""
    return int(text.rsplit(maxsplit=1)[-1].removeprefix("only")) % _FAMILIES


@dataclass(frozen=True)
class Known:
    """What the others know of a document: its source without our fields, or None where it is deleted.

    ``version`` is that of their last change, ``serial`` and ``text_serial`` say when they last changed it and its text,
    and ``steps`` are versions between theirs. The ``secret`` is in no source, and is lost by an update. A document that
    they never changed is ``as_begun``.
    """

    source: Json | None
    routing: str | None
    version: int
    serial: int
    text_serial: int
    secret: str | None = None
    steps: int = 0
    as_begun: bool = False

    @property
    def query(self) -> str:
        return "" if self.routing is None else f"&routing={quote(self.routing)}"


@dataclass
class Others:
    """Those who write to an index, straight to where it is; ``new`` documents are only in a file, by their ids."""

    target: Target
    index: str
    documents: Documents
    has_secrets: bool = False
    known: dict[int, Known] = field(default_factory=dict)
    serial: int = 0
    new: dict[str, Json] = field(default_factory=dict)
    generations: Generations | None = None
    said: list[Decision] = field(default_factory=list)
    said_at: int = 0

    @property
    def behind(self) -> Behind:
        """What its name is of."""
        if self.generations is None:
            return "index"
        return "stream" if self.generations.is_stream else "alias"

    @property
    def copy(self) -> str:
        """The name that a copy of the index is to have."""
        return f"{self.index}-copy"

    def begin(self, number: int, start: Start) -> tuple[Json, str | None]:
        """The document of a number as it is at the start, with its routing value."""
        self.serial += 1
        source = {"title": "a title", "body": text(self.serial), "number": self.serial, "tag": f"tag {number}"}
        if start.state == "unreadable":
            source["title"] = {"en": "a title"}
        elif start.state == "empty":
            source |= {"title": None, "body": ""}
        elif start.state == "shared":
            source[self.documents.prefix] = {NOTE: f"note {number}"}
        if self.behind == "stream":
            source[TIME] = _MOMENT
        # A data stream takes no routing values.
        may_be_routed = self.target.is_server and self.behind != "stream"
        routing = f"place {number % 3}" if start.routed and may_be_routed else None
        secret = self._secret()
        self.known[number] = Known(source, routing, 1, self.serial, self.serial, secret, as_begun=True)
        return self._as_at_the_start(start.state, source) | _hidden(secret), routing

    def _as_at_the_start(self, state: str, source: Json) -> Json:
        own = {}
        if state == "done":
            return self.documents.add_fields(source)
        if state == "stale":
            own = self.documents.add_fields({**source, "body": text(0)})
        elif state == "deferred":
            own = {self.documents.prefix: {"status": "deferred"}}
        return {**own, **source}

    def _secret(self) -> str | None:
        return f"secret {self.serial}" if self.has_secrets else None

    def write_new(self, path: Path, count: int) -> None:
        """Write this many new documents to a file; the text of one of them cannot be read."""
        for number in range(count):
            self.serial += 1
            title = {"en": "a title"} if number == count // 2 else "a title"
            id_ = f"new {number}"
            self.new[id_] = {"id": id_, "title": title, "body": text(self.serial), "number": self.serial}
            if self.behind == "stream":
                self.new[id_][TIME] = _MOMENT
        path.write_text("".join(json.dumps(each) + "\n" for each in self.new.values()), encoding="utf-8")

    def take(self, hits: Mapping[str, Json]) -> None:
        """Take the versions of documents as they are by now for those of the others."""
        for number, known in self.known.items():
            version = hits[id_of(number)]["_version"] if id_of(number) in hits else known.version
            self.known[number] = replace(known, version=version, steps=0)

    def happen(self, what: Write | Saying | Upset | Blow) -> None:
        """Do something to a document, or have something happen to the index or its cluster."""
        match what:
            case Blow():
                self.target.undergo(what, self.index)
            case Write(how, number):
                self._write(how, number % len(self.known))
            case Saying():
                self._say(what)
            case Upset.ROLLOVER:
                assert self.generations
                self.generations.roll_over()
            case Upset.REFRESH:
                self._ask("POST", "_refresh")
            case Upset.NEW_TERM:
                self._ask("POST", "_close?wait_for_active_shards=0")
                self._ask("POST", "_open?wait_for_active_shards=1")

    def by_id(self) -> Iterator[tuple[str, Known]]:
        """All documents that there are or were, by their ids."""
        return ((id_of(number), known) for number, known in self.known.items())

    def values(self) -> Iterator[tuple[str, str, Any]]:
        """The subject of a search: the id of a document, a field, and a value or word of it."""
        for number, now in self.known.items():
            source = now.source or {}
            for field_ in ("number", "tag"):
                if field_ in source:
                    yield id_of(number), field_, source[field_]
            if now.secret is not None and now.source is not None:
                yield id_of(number), SECRET, now.secret
            if source.get("body"):
                yield id_of(number), "body", source["body"].split()[-1]

    def _say(self, saying: Saying) -> None:
        self.serial += 1
        self.said_at = self.serial
        decision = saying.decision(self.index, [id_of(number) for number in self.known])
        driven(decide(self.index, self.documents.prefix, [decision]), self.target.perform)
        self.said.append(decision)

    def _write(self, how: How, number: int) -> None:
        self.serial += 1
        now = self.known[number]
        if now.source is None or how in ("put", "put by helper", "move"):
            self._put(number, now, how)
        elif how == "delete":
            self._send("DELETE", number, replace(now, source=None))
        elif how == "copy":
            kept = self._ask("GET", f"_doc/{_path(number)}?{now.query}")["_source"]
            new = {"body": text(self.serial)}
            self._send("PUT", number, replace(now, source=now.source | new, secret=None), kept | new)
        else:
            part = {"number": self.serial} if how == "number" else {"body": text(self.serial)}
            then = replace(now, source=now.source | part, secret=None)
            self._update(number, then, part, by_helper=how == "text by helper")

    def _put(self, number: int, now: Known, how: How) -> None:
        source = {"title": "a title", "body": text(self.serial), "number": self.serial, "tag": f"tag {number}"}
        if how == "move":
            if now.source is not None:
                self._send("DELETE", number, replace(now, source=None))
                now = self.known[number]
            now = replace(now, routing=f"place {self.serial}" if self.target.is_server else None)
        body = self.documents.add_fields(source) if how == "put by helper" else source
        secret = self._secret()
        self._send("PUT", number, replace(now, source=source, secret=secret), body | _hidden(secret))

    def _update(self, number: int, then: Known, part: Json, by_helper: bool) -> None:
        action: Json = {"_op_type": "update", "_id": id_of(number), "doc": part}
        if by_helper:
            [action] = self.documents.actions([action])
        # A task of the server may write at the same moment.
        path = f"_update/{_path(number)}?retry_on_conflict=9{then.query}"
        reply = self._ask("POST", path, {"doc": action["doc"]})
        self._keep(number, then, reply)

    def _send(self, method: str, number: int, then: Known, body: Json | None = None) -> None:
        self._keep(number, then, self._ask(method, f"_doc/{_path(number)}?{then.query}", body))

    def _keep(self, number: int, then: Known, reply: Json) -> None:
        """Note the document, and how often it was changed between the last change of the others and this one."""
        before = self.known[number]
        version = reply["_version"]
        between = 0 if before.source is None else version - before.version - 1
        is_same_text = before.source and then.source and before.source["body"] == then.source["body"]
        self.known[number] = replace(
            then,
            version=version,
            serial=self.serial,
            text_serial=before.text_serial if is_same_text else self.serial,
            steps=before.steps + between,
            as_begun=False,
        )

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        reply = self.target.request(method, f"/{self.index}/{path}", body)
        assert reply.status < HTTPStatus.MULTIPLE_CHOICES, reply
        return reply.body


def _hidden(secret: str | None) -> Json:
    return {} if secret is None else {SECRET: secret}


def id_of(number: int) -> str:
    return f"d {number}"


def _path(number: int) -> str:
    return quote(id_of(number), safe="")
