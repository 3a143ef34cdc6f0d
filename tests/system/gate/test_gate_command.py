"""``es-simhash gate``: as a service and on lines, in processes of its own."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from es_simhash.gate import requests
from tests.support.commands import environment, lines, run, run_alone
from tests.support.corpus import corpus, edited
from tests.support.gate_process import GateProcess

TEXTS = corpus(12)
FIELDS = ("--field", "title", "--field", "body")


def document(id_: str, place: int) -> dict[str, str]:
    return {"id": id_, **TEXTS[place]}


def as_lines(*documents: Any) -> str:
    return "".join(json.dumps(each) + "\n" for each in documents)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[GateProcess]:
    run("init", "news", *FIELDS, cwd=tmp_path)
    gate = GateProcess("news", cwd=tmp_path)
    gate.start()
    yield gate
    if gate.is_running:
        gate.kill()


def test_lines_are_answered_by_lines(tmp_path: Path) -> None:
    run("init", "news", *FIELDS, cwd=tmp_path)
    sent = as_lines(document("a", 0), {"id": "b", **edited(TEXTS[0], 2)}, document("c", 1)) + "{\n\n" + as_lines(5)
    done = run_alone("gate", "news", "--stdin", cwd=tmp_path, stdin=sent)
    found = lines(done)
    assert [each["verdict"] for each in found] == ["new", "near-duplicate", "new", "rejected", "rejected"]
    assert [each["id"] for each in found[:3]] == ["a", "b", "c"]
    assert "5 documents were answered." in done.err
    # It only said yes, and remembers that.
    again = lines(run_alone("gate", "news", "--stdin", "--write", cwd=tmp_path, stdin=as_lines(document("d", 1))))
    assert [(each["verdict"], each["duplicates"][0]["id"]) for each in again] == [("equal", "c")]
    written = lines(run_alone("gate", "news", "--stdin", "--write", cwd=tmp_path, stdin=as_lines(document("c", 1))))
    assert written[0]["written_to"] == "news"
    assert [
        match["id"] for match in lines(run("find", "news", "--id", "c", "--json", cwd=tmp_path))[0]["matches"]
    ] == []


def test_each_line_is_answered_as_it_comes_and_sigterm_ends_in_between(tmp_path: Path) -> None:
    run("init", "news", *FIELDS, cwd=tmp_path)
    command = [sys.executable, "-m", "es_simhash", "gate", "news", "--stdin", "--quiet"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment({})
    ) as process:
        assert process.stdin
        assert process.stdout
        for id_, place, verdict in (("a", 0, "new"), ("b", 0, "equal"), ("c", 1, "new")):
            process.stdin.write(as_lines(document(id_, place)))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["verdict"] == verdict
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_lines_that_were_not_answered_before_a_kill_may_be_sent_again(tmp_path: Path) -> None:
    run("init", "news", *FIELDS, cwd=tmp_path)
    command = [sys.executable, "-m", "es_simhash", "gate", "news", "--stdin", "--write", "--quiet"]
    documents = [document(str(place), place) for place in range(12)]
    answered: list[Any] = []
    for _ in range(3):
        with subprocess.Popen(
            command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment({})
        ) as process:
            assert process.stdin
            assert process.stdout
            for each in documents[len(answered) : len(answered) + 4]:
                process.stdin.write(as_lines(each))
                process.stdin.flush()
                answered.append(json.loads(process.stdout.readline()))
            process.kill()
    assert [(each["id"], each["verdict"]) for each in answered] == [(str(place), "new") for place in range(12)]
    again = lines(run_alone(*command[3:], cwd=tmp_path, stdin=as_lines(*documents, {**documents[3], "id": "copy"})))
    assert [each["verdict"] for each in again] == ["new"] * 12 + ["equal"]
    [info] = lines(run("info", "news", "--json", cwd=tmp_path))
    assert info["documents"] == 12


def test_a_service_says_where_it_listens_and_ends_well(tmp_path: Path, service: GateProcess) -> None:
    assert service.ask("/add", document("a", 0))[0] == 201
    assert service.ask("/add", document("b", 0))[0] == 409
    assert service.stop() == 0
    # All of it is in the index, for others to write on.
    assert "1 document written" in run("load", "news", "-", cwd=tmp_path, stdin=as_lines(document("c", 1))).out
    [info] = lines(run("info", "news", "--json", cwd=tmp_path))
    assert info["documents"] == 2


def test_what_is_in_flight_is_answered_before_the_end(service: GateProcess) -> None:
    found: list[Any] = []
    with closing(http.client.HTTPConnection(*service.address, timeout=60)) as connection:
        connection.putrequest("POST", "/bulk")
        connection.putheader("transfer-encoding", "chunked")
        connection.endheaders()

        def send(text: str) -> None:
            connection.send(f"{len(text.encode()):x}\r\n{text}\r\n".encode())

        send(as_lines(document("a", 0)))
        reply = connection.getresponse()
        found.append(json.loads(reply.readline()))
        stopped = Thread(target=service.stop)
        stopped.start()
        # It does not listen any more, but goes on with what it has begun.
        send(as_lines(document("b", 1)))
        send(as_lines(document("c", 1)))
        connection.send(b"0\r\n\r\n")
        found += [json.loads(line) for line in reply.read().splitlines()]
        reply.close()
        stopped.join(60)
    assert [(each["id"], each["verdict"]) for each in found] == [("a", "new"), ("b", "new"), ("c", "equal")]


def test_the_token_comes_from_a_file_or_the_environment(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("file-secret\n", encoding="utf-8")
    run("init", "news", *FIELDS, cwd=tmp_path)
    for options, variables, token in (
        (("--token-file", "token"), {"ES_SIMHASH_GATE_TOKEN": "other"}, "file-secret"),
        ((), {"ES_SIMHASH_GATE_TOKEN": "env-secret"}, "env-secret"),
    ):
        gate = GateProcess("news", *options, port="0.0.0.0:0", cwd=tmp_path, variables=variables)
        gate.start()
        try:
            assert gate.ask("/check", TEXTS[0])[0] == 401
            assert gate.ask("/check", TEXTS[0], {"authorization": f"Bearer {token}"})[0] == 200
        finally:
            gate.kill()


def test_other_machines_are_not_answered_without_a_token(tmp_path: Path) -> None:
    done = run("gate", "news", "--port", "0.0.0.0:9280", cwd=tmp_path, code=2)
    assert list(tmp_path.iterdir()) == []
    assert "needs a token there" in done.err
    assert "--token-file" in done.err


def test_a_port_that_is_taken_is_named(tmp_path: Path, service: GateProcess) -> None:
    done = run("gate", "news", "--state", "other", "--port", str(service.address[1]), cwd=tmp_path, code=2)
    assert f"cannot listen at 127.0.0.1:{service.address[1]}" in done.err
    assert not (tmp_path / "other").exists()
    done = run("gate", "news", "--port", "0", cwd=tmp_path, code=3)
    assert "Another gate uses the folder" in done.err


def test_options_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    assert "--write is for --stdin" in run("gate", "news", "--write", cwd=tmp_path, code=2).err


@pytest.mark.parametrize("package", ["starlette.applications", "uvicorn", "httptools"])
def test_a_missing_package_names_its_command_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    done = run("gate", "news", cwd=tmp_path, code=2)
    assert re.search(r"pip install '[^']+\[gate\]'", done.err)
    assert list(tmp_path.iterdir()) == []
    # Lines need no package.
    run("init", "news", *FIELDS, cwd=tmp_path)
    sent = as_lines(document("a", 0))
    assert lines(run("gate", "news", "--stdin", cwd=tmp_path, stdin=sent))[0]["verdict"] == "new"


def test_a_line_that_is_too_long_ends_the_lines(tmp_path: Path) -> None:
    run("init", "news", *FIELDS, cwd=tmp_path)
    sent = as_lines(document("a", 0)) + "x" * (requests.BODY + 1)
    done = run_alone("gate", "news", "--stdin", cwd=tmp_path, stdin=sent, code=2)
    assert [each["verdict"] for each in lines(done)] == ["new"]
    assert f"A line has at most {requests.BODY:,} bytes" in done.err
