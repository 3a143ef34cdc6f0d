"""Whatever documents clients send, each is answered, others are answered as usual, and the gate starts again."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from es_simhash import Index, Policy, Scope
from es_simhash.engines.connect import connect
from es_simhash.gate import Gate, GateOptions
from es_simhash.gate.requests import answers_as_json, asked_of, encoded, parsed
from tests.support.any_documents import any_documents, as_json
from tests.support.commands import environment
from tests.support.corpus import corpus
from tests.support.fuzzing import examples
from tests.support.gate_process import GateProcess, made_index

TEXTS = corpus(40)
VERDICTS = {"new", "near-duplicate", "equal", "out of scope", "no text", "rejected"}
NEVER_TAKEN = ("no text", "rejected")
HALF_AN_ID = {"id": "\ud800", "title": "a", "body": "A storm hit the coast last night. Trains stood still until noon."}

_lines = any_documents().map(as_json) | st.binary(min_size=1, max_size=20).filter(lambda line: b"\n" not in line)
lines = _lines.filter(lambda line: bool(line.strip()))
json_lines = any_documents().map(as_json)
requests = st.tuples(st.sampled_from(["/check", "/add"]), st.lists(json_lines, min_size=1, max_size=4)) | st.tuples(
    st.just("/bulk"), st.lists(lines, min_size=1, max_size=4)
)
# Headers are in Latin-1.
keys = st.none() | st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=600)
ends = st.sampled_from(["kill", "stop"])


def in_a_place(usual: int) -> settings:
    """About half as many examples, each in a folder of its own."""
    return settings(examples(usual), suppress_health_check=[HealthCheck.function_scoped_fixture])


def good(number: int) -> Any:
    """A document like no other, which every gate takes."""
    return {"_id": f"good-{number}", "tenant": "ours", **TEXTS[number]}


def read(answer: bytes) -> Any:
    """Read an answer as strict clients do."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    found = json.loads(answer.decode("utf-8"), parse_constant=refuse)
    json.dumps(found, ensure_ascii=False).encode()
    return found


def check_answers(answers: Sequence[Any], sent: Sequence[bytes]) -> None:
    """Check the answers about some documents: the last is a good one."""
    assert len(answers) == len(sent)
    for each in answers:
        assert each["verdict"] in VERDICTS, each
        if each["verdict"] in NEVER_TAKEN:
            assert each["reason"]
            assert not each["accepted"]
            assert each["written_to"] is None
    assert (answers[-1]["verdict"], answers[-1]["accepted"]) == ("new", True), answers[-1]


@contextmanager
def index_at(place: str) -> Iterator[str]:
    """An index in whose mapping tenants are strings."""
    with made_index(place, Policy(scope=Scope(within=("tenant",)))) as name:
        with Index(name, place) as index:
            index.add([{"_id": "first", "tenant": "ours", **TEXTS[-1]}], refresh=True)
        yield name


def ask(gate: GateProcess, path: str, body: bytes, key: str | None = None) -> tuple[int, bytes]:
    """Ask once: a gate whose engine answers answers, too."""
    headers = {"content-type": "application/json"} | ({} if key is None else {"idempotency-key": key})
    with closing(http.client.HTTPConnection(*gate.address, timeout=120)) as connection:
        connection.request("POST", path, body, headers)
        with connection.getresponse() as reply:
            return reply.status, reply.read()


def check_request(gate: GateProcess, path: str, sent: Sequence[bytes], key: str | None) -> None:
    if path == "/bulk":
        status, content = ask(gate, path, b"\n".join(sent), key)
        answers = [read(line) for line in content.splitlines()]
    else:
        status, content = ask(gate, path, b"[" + b",".join(sent) + b"]", key)
        if status == 400:  # it is not JSON for Python: a number of too many digits, or nested too deeply
            assert "Send a JSON object" in read(content)["reason"]
            return
        if status == 413:  # the body is refused before a document of it is read
            assert "nested deeper than" in read(content)["reason"]
            return
        answers = read(content)
    assert status == 200, content
    check_answers(answers, sent)


@in_a_place(8)
@given(history=st.lists(requests, min_size=1, max_size=5), key=keys, end=ends)
@example(history=[("/check", [as_json(HALF_AN_ID)]), ("/add", [as_json(HALF_AN_ID)])], key="é" * 300, end="stop")
def test_any_request_over_http_is_answered_and_the_gate_starts_again(
    place: str,
    tmp_path_factory: pytest.TempPathFactory,
    history: list[tuple[str, list[bytes]]],
    key: str | None,
    end: str,
) -> None:
    cwd = tmp_path_factory.mktemp("gate")
    target = place if "://" in place else str(cwd / "engine")
    with index_at(target) as name:
        gate = GateProcess(name, "--url", target, "--state", "state", cwd=cwd)
        gate.start()
        try:
            for number, (path, sent) in enumerate(history):
                check_request(gate, path, [*sent, as_json(good(number))], key)
            if end == "stop":
                assert gate.stop() == 0
            else:
                gate.kill()
            gate.start()
            for number in range(len(history)):
                again = read(ask(gate, "/check", as_json(good(number)))[1])
                assert (again["id"], again["verdict"]) == (f"good-{number}", "new")
            assert not (cwd / "state" / "rejected.jsonl").exists()
            assert gate.stop() == 0
        finally:
            if gate.is_running:
                gate.kill()


@in_a_place(8)
@given(history=st.lists(st.lists(lines, max_size=6), min_size=1, max_size=3), writes=st.booleans())
@example(history=[[as_json(HALF_AN_ID)]], writes=False)
def test_any_lines_are_answered_by_lines_and_so_are_the_next(
    place: str, tmp_path_factory: pytest.TempPathFactory, history: list[list[bytes]], writes: bool
) -> None:
    cwd = tmp_path_factory.mktemp("gate")
    target = place if "://" in place else str(cwd / "engine")
    with index_at(target) as name:
        command = [sys.executable, "-m", "es_simhash", "gate", name, "--url", target, "--stdin", "--quiet"]
        for number, sent in enumerate(history):
            whole = [*sent, as_json(good(number))]
            done = subprocess.run(
                [*command, *(["--write"] if writes else [])],
                input=b"\n".join(whole),
                capture_output=True,
                cwd=cwd,
                env=environment({}),
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            check_answers([read(line) for line in done.stdout.splitlines()], whole)


@in_a_place(60)
@given(
    history=st.lists(
        st.tuples(st.booleans(), st.lists(lines, min_size=1, max_size=4), st.booleans()), min_size=1, max_size=6
    ),
    mode=st.sampled_from(["refuse", "advise"]),
)
def test_any_documents_leave_a_state_that_the_next_gate_reads(
    place: str,
    tmp_path_factory: pytest.TempPathFactory,
    history: list[tuple[bool, list[bytes], bool]],
    mode: Any,
) -> None:
    cwd = tmp_path_factory.mktemp("gate")
    options = GateOptions(mode, syncs=False)
    target = place if "://" in place else str(cwd / "engine")
    with index_at(target) as name, closing(connect(target)) as engine:
        for number, (writes, sent, is_killed) in enumerate(history):
            whole = [*sent, as_json(good(number))]
            with Gate(name, engine, state=cwd / f"state-{number}", options=options) as gate:
                asked = [asked_of(parsed(line), writes) for line in whole]
                forms = answers_as_json(asked, gate.answer(asked), name)
                check_answers([read(encoded(form)) for form in forms], whole)
                if not is_killed:
                    gate.settle()
                shutil.copytree(cwd / f"state-{number}", cwd / f"state-{number + 1}")
        with Gate(name, engine, state=cwd / f"state-{len(history)}", options=options) as gate:
            assert gate.check([good(number) for number in range(len(history))])[-1].kind == "new"
            assert gate.set_aside == 0
