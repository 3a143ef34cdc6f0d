"""Logstash's configuration as far as the documentation uses it, and what its plugins for HTTP send and make of answers.

Written after version 2.0.0 of logstash-filter-http and 6.0.1 of logstash-output-http.
"""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

Event = dict[str, Any]
# Sends a method, a URL, headers and a body; returns the status, the content type and the body.
Send = Callable[[str, str, Mapping[str, str], bytes], tuple[int, str, bytes]]

OPTIONS = {
    ("filter", "http"): {
        "url", "verb", "headers", "query", "body", "body_format", "target_body", "target_headers",
        "tag_on_request_failure", "tag_on_json_failure",
    },
    ("filter", "drop"): {"percentage"},
    ("filter", "mutate"): {"add_tag", "add_field"},
    ("output", "http"): {
        "url", "http_method", "headers", "content_type", "retry_failed", "retryable_codes", "ignorable_codes",
        "mapping", "format", "http_compression", "message",
    },
}  # fmt: skip
_TOKENS = re.compile(r'\s+|#.*|"(?P<text>[^"]*)"|(?P<number>\d+)|(?P<sign>=>|==|[{}\[\],])|(?P<word>@?\w+)')
_RETRIED = (429, 500, 502, 503, 504)


@dataclass(frozen=True)
class Plugin:
    """A plugin with its options."""

    name: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class If:
    """Steps for the events that have all these fields, or one of some values in the first of them."""

    fields: tuple[str, ...]
    values: tuple[str, ...]
    steps: tuple[Plugin | If, ...]


class Configuration:
    """A file of Logstash's configuration, or the body of one of its sections."""

    def __init__(self, text: str, section: str | None = None) -> None:
        self._tokens = [(found.lastgroup, found[found.lastgroup]) for found in _read(text) if found.lastgroup]
        self._at = 0
        self.section = section or self._take("word")
        if section is None:
            self._take("sign", "{")
        self.steps = tuple(self._steps())

    def _steps(self) -> Iterator[Plugin | If]:
        while self._at < len(self._tokens) and not self._takes("}"):
            name = self._take("word")
            yield self._condition() if name == "if" else self._plugin(name)

    def _plugin(self, name: str) -> Plugin:
        options = {}
        self._take("sign", "{")
        while not self._takes("}"):
            option = self._take("word")
            self._take("sign", "=>")
            options[option] = self._value()
        assert set(options) <= OPTIONS[self.section, name], f"{self.section} {name} has no such option"
        return Plugin(name, options)

    def _condition(self) -> If:
        fields, values = [self._field()], list[str]()
        while self._takes("and"):
            fields.append(self._field())
        if self._takes("in"):
            values = self._value()
        self._take("sign", "{")
        return If(tuple(fields), tuple(values), tuple(self._steps()))

    def _field(self) -> str:
        path = ""
        while self._takes("["):
            _, name = self._tokens[self._at]
            self._at += 1
            self._take("sign", "]")
            path += f"[{name}]"
        assert path, f"a field is missing before {self._tokens[self._at]}"
        return path

    def _value(self) -> Any:
        if self._takes("{"):
            made = {}
            while not self._takes("}"):
                key = self._take("text")
                self._take("sign", "=>")
                made[key] = self._value()
            return made
        if self._takes("["):
            items = []
            while not self._takes("]"):
                items.append(self._value())
                self._takes(",")
            return items
        kind, value = self._tokens[self._at]
        self._at += 1
        return int(value) if kind == "number" else value

    def _takes(self, sign: str) -> bool:
        is_it = self._tokens[self._at][1] == sign and self._tokens[self._at][0] != "text"
        self._at += is_it
        return is_it

    def _take(self, kind: str, value: str | None = None) -> str:
        found = self._tokens[self._at]
        assert found[0] == kind, f"{found} instead of {value or kind}"
        assert value in (None, found[1]), f"{found} instead of {value}"
        self._at += 1
        return found[1]


def _read(text: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(text):
        found = _TOKENS.match(text, at)
        assert found, f"Logstash would not read {text[at : at + 20]!r}"
        yield found
        at = found.end()


def filtered(steps: Iterable[Plugin | If], event: Event, send: Send) -> Event | None:
    """Return what filters make of an event, or None if they drop it."""
    for step in steps:
        if isinstance(step, If):
            if not _holds(step, event):
                continue
            if filtered(step.steps, event, send) is None:
                return None
        elif step.name == "drop":
            return None
        elif step.name == "mutate":
            event.setdefault("tags", []).extend(step.options.get("add_tag", []))
            event.update({name: sprintf(event, text) for name, text in step.options.get("add_field", {}).items()})
        else:
            _ask(step.options, event, send)
    return event


def written(output: Plugin, events: list[Event], send: Send) -> str:
    """Send a batch of events; return what becomes of it: success, retry or failure."""
    options = output.options
    assert options["format"] == "json_batch"
    mapped = [
        _each(event, options["mapping"]) if "mapping" in options else _without_metadata(event) for event in events
    ]
    headers = {**options.get("headers", {}), "Content-Type": "application/json"}
    status, _, _ = send(options["http_method"].upper(), options["url"], headers, _json(mapped))
    if 200 <= status <= 299 or status in options.get("ignorable_codes", ()):
        return "success"
    return "retry" if status in options.get("retryable_codes", _RETRIED) else "failure"


def sending_to(address: tuple[str, int]) -> Send:
    """Return what sends requests to an address, whichever their URL names."""

    def send(method: str, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str, bytes]:
        with closing(http.client.HTTPConnection(*address, timeout=120)) as connection:
            connection.request(method, urlsplit(url).path, body, {"User-Agent": "Manticore 0.9.1", **headers})
            with connection.getresponse() as reply:
                return reply.status, reply.headers["content-type"], reply.read()

    return send


def sprintf(event: Event, text: str) -> str:
    """Put fields of an event into a text; the names of those that it lacks stay as they are."""

    def value(found: re.Match[str]) -> str:
        field = found[1] if found[1].startswith("[") else f"[{found[1]}]"
        known = _get(event, field)
        return found[0] if known is None else str(known)

    return re.sub(r"%\{([^}]+)\}", value, text)


def _ask(options: Mapping[str, Any], event: Event, send: Send) -> None:
    """Do what the http filter does."""
    assert options["body_format"] == "json"
    headers = {**_each(event, options.get("headers", {})), "content-type": "application/json"}
    body = _json(_each(event, options["body"]))
    try:
        status, kind, answer = send(options.get("verb", "GET"), sprintf(event, options["url"]), headers, body)
    except OSError:
        status, kind, answer = 0, "", b""
    if not 200 <= status <= 299:
        event.setdefault("tags", []).extend(options.get("tag_on_request_failure", ["_httprequestfailure"]))
    elif "application/json" in [part.strip() for part in kind.split(";")]:
        _set(event, options["target_body"], json.loads(answer))
    else:
        _set(event, options["target_body"], answer.decode().strip())


def _holds(condition: If, event: Event) -> bool:
    found = [_get(event, field) for field in condition.fields]
    return found[0] in condition.values if condition.values else all(each not in (None, False) for each in found)


def _each(event: Event, made: Any) -> Any:
    if isinstance(made, dict):
        return {sprintf(event, key): _each(event, value) for key, value in made.items()}
    return [_each(event, each) for each in made] if isinstance(made, list) else sprintf(event, made)


def _get(event: Event, field: str) -> Any:
    found: Any = event
    for name in re.findall(r"\[([^\]]+)\]", field):
        if isinstance(found, dict):
            found = found.get(name)
        else:
            found = found[int(name)] if isinstance(found, list) and int(name) < len(found) else None
    return found


def _set(event: Event, field: str, value: Any) -> None:
    *path, last = re.findall(r"\[([^\]]+)\]", field)
    for name in path:
        event = event.setdefault(name, {})
    event[last] = value


def _without_metadata(event: Event) -> Event:
    return {name: value for name, value in event.items() if name != "@metadata"}


def _json(made: Any) -> bytes:
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()
