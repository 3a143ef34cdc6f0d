"""The desk for review: in a real browser and by raw requests, on files and on real servers."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from urllib.parse import quote, urlsplit

import pytest

from es_simhash import Index
from es_simhash.cli.desk.desk import Desk
from es_simhash.cli.desk.server import DeskServer
from es_simhash.cli.jobs.review import desk_on_file, desk_on_index
from es_simhash.cli.show.output import Output
from es_simhash.documents.files.decision_file import DecisionFile
from es_simhash.engines.base import Engine
from es_simhash.plans.operations import CreateIndex
from tests.support.browser import PHONE, Browser, started
from tests.support.commands import environment, lines, run
from tests.support.corpus import corpus, edited

EVIL = "<script>alert(1)</script>\"'&\u202e\n😀/..%2f"
STORIES = [edited(text, count, seed=seed)["body"] for seed, text in enumerate(corpus(4)) for count in (1, 2, 6)]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from started(tmp_path_factory.mktemp("browser"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Twelve documents of four stories; ids and titles are hostile."""
    path = tmp_path / "news.jsonl"
    rows = [{"id": f"{place}{EVIL}", "title": EVIL, "body": text} for place, text in enumerate(STORIES)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@contextmanager
def served(desk: Desk) -> Iterator[DeskServer]:
    with DeskServer(desk) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def desk_of(file: Path, who: str = "Mia") -> Iterator[DeskServer]:
    decisions = DecisionFile(f"{file}.decisions.jsonl")
    opened = desk_on_file(str(file), ["body"], ["title"], None, decisions, who, Output(quiet=True))
    with opened as desk, served(desk) as server:
        yield server


def verdicts(file: Path) -> list[tuple[str, bool, str]]:
    return [(each.verdict, each.holds, each.who) for each in DecisionFile(f"{file}.decisions.jsonl").read()]


# ---- in a browser


def test_people_judge_pairs_by_keys_and_every_answer_is_kept_at_once(browser: Browser, file: Path) -> None:
    with desk_of(file) as server:
        browser.show(server.address)
        assert browser.value("document.querySelector('h1').textContent").startswith("Groups in")
        browser.press("r")
        assert "Pair 1 of 8" in browser.value("document.title")
        browser.press("d")
        assert verdicts(file) == [("different", True, "Mia")]
        browser.press("s")
        browser.press("2")
        assert verdicts(file)[1:] == [("same", True, "Mia"), ("canonical", True, "Mia")]
        browser.press("u")
        assert verdicts(file)[3:] == [("canonical", False, "Mia")]
        browser.press("x")
        assert "Pair 4 of 8" in browser.value("document.title")
        browser.press("ArrowLeft")
        assert "Of 2 judged pairs, 1 was wrong" in browser.value("document.body.innerText")
        assert browser.complaints == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_hostile_documents_are_shown_as_they_are_on_a_phone_too(browser: Browser, file: Path, colours: str) -> None:
    with desk_of(file) as server:
        browser.show(server.address, width=PHONE, colours=colours)
        for path in ("/", "/group?n=0", "/review?at=0", "/pair?a=0&b=1"):
            browser.show(f"http://127.0.0.1:{server.server_port}{path}", width=360, colours=colours)
            assert "<script>alert(1)</script>" in browser.value("document.body.innerText")
            assert browser.value("document.documentElement.scrollWidth") <= 360
            assert browser.complaints == []
            assert {urlsplit(each).netloc for each in browser.requests} == {f"127.0.0.1:{server.server_port}"}


def test_the_group_of_a_document_is_found_by_whatever_id(browser: Browser, file: Path) -> None:
    with desk_of(file) as server:
        browser.show(server.address)
        browser.value(f"document.querySelector('[name=id]').value = {json.dumps(f'4{EVIL}'.replace(chr(10), ' '))}")
        browser.show(f"http://127.0.0.1:{server.server_port}/find?id=4{quoted(EVIL)}")
        assert browser.value("document.querySelector('h1').textContent").startswith("Group ")
        browser.show(f"http://127.0.0.1:{server.server_port}/find?id=nothing")
        assert "is in no group" in browser.value("document.body.innerText")


def test_groups_are_filtered_by_size_similarity_and_the_value_of_a_field(browser: Browser, file: Path) -> None:
    with desk_of(file) as server:
        browser.show(server.address)
        counts = {}
        for query in ("", "size=4", "low=0.99", "value=nothing", f"value={quoted(EVIL)}"):
            browser.show(f"http://127.0.0.1:{server.server_port}/?{query}")
            counts[query] = browser.value("document.querySelectorAll('tbody tr').length")
        assert list(counts.values()) == [4, 0, 0, 0, 4]


def test_two_people_at_once_lose_nothing_and_see_what_the_other_said(browser: Browser, file: Path) -> None:
    with desk_of(file, "Mia") as one, desk_of(file, "Ben") as other:
        for server, key in ((one, "d"), (other, "s")):
            browser.show(server.address)
            browser.show(f"http://127.0.0.1:{server.server_port}/review?at=0")
            browser.press(key)
        assert verdicts(file) == [("different", True, "Mia"), ("same", True, "Ben")]
        browser.show(f"http://127.0.0.1:{one.server_port}/review?at=0")
        said = browser.value("document.body.innerText")
        assert re.search(r"Mia decided on .* are different", said)
        assert re.search(r"Ben decided on .* are same", said)


# ---- by raw requests


def test_browsers_that_go_away_leave_no_trace(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with desk_of(file) as server:
        for error in (BrokenPipeError, ConnectionResetError):
            try:
                raise error
            except error:
                server.handle_error(None, None)
    assert capfd.readouterr().err == ""


def test_only_its_own_pages_reach_the_desk(file: Path) -> None:
    with desk_of(file) as server:
        host, token = f"127.0.0.1:{server.server_port}", server.token
        cookie = {"Cookie": f"{server.cookie}={token}"}
        form = {**cookie, "Origin": f"http://{host}", "Content-Type": "application/x-www-form-urlencoded"}
        body = "verdict=same&a=0&b=1"
        assert answer(server, "GET", "/") == 403
        assert answer(server, "GET", "/desk.js") == 403
        assert answer(server, "GET", "/?token=wrong") == 403
        assert answer(server, "GET", "/", {"Cookie": f"{server.cookie}=wrong"}) == 403
        assert answer(server, "GET", "/", {"Cookie": "a;;=\x01"}) == 403
        assert answer(server, "GET", "/", {**cookie, "Host": "evil.example"}) == 421
        assert answer(server, "GET", "/", cookie) == 200
        for path in (
            "/../pages.py",
            "/nothing",
            "/group?n=99",
            "/group?n=-1",
            "/group",
            "/pair?a=0&b=x",
            "/review?at=99",
        ):
            assert answer(server, "GET", path, cookie) == 404
        assert answer(server, "POST", "/decide", cookie, body) == 403
        assert answer(server, "POST", "/decide", {**form, "Origin": "https://evil.example"}, body) == 403
        assert answer(server, "POST", "/decide", {**form, "Origin": "null"}, body) == 403
        assert answer(server, "POST", "/decide", {**form, "Content-Type": "application/json"}, "{}") == 415
        assert answer(server, "POST", "/decide", {**form, "Content-Length": "70000"}, "") == 413
        assert answer(server, "POST", "/decide", {**form, "Content-Length": "-1"}, "") == 413
        assert answer(server, "POST", "/decide", form, "verdict=maybe&a=0&b=1") == 404
        assert answer(server, "PUT", "/", cookie) == 501
        assert verdicts(file) == []
        assert answer(server, "POST", "/decide", form, body) == 303
        assert verdicts(file) == [("same", True, "Mia")]


def answer(server: DeskServer, method: str, path: str, headers: dict[str, str] | None = None, body: str = "") -> int:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    try:
        connection.request(method, path, body.encode() if body else None, headers or {})
        return connection.getresponse().status
    finally:
        connection.close()


def quoted(text: str) -> str:
    return quote(text, safe="")


# ---- the command


def test_decisions_made_on_the_desk_are_obeyed_by_dedup_and_moved_by_files(file: Path) -> None:
    command = [sys.executable, "-m", "es_simhash", "show", file.name, "--field", "body"]
    process = subprocess.Popen(
        command,
        cwd=file.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment({"LOGNAME": "Ben"}),
    )
    assert process.stdout
    address = urlsplit(process.stdout.readline().strip())
    port, token = int(address.port or 0), address.query.removeprefix("token=")
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Cookie": f"desk-{port}={token}", "Origin": f"http://127.0.0.1:{port}"}
    headers["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request("POST", "/decide", b"verdict=different&a=0&b=1&at=0", headers)
    assert connection.getresponse().status == 303
    connection.close()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "1 decision made here." in said
    assert "es-simhash dedup news.jsonl --decisions news.jsonl.decisions.jsonl" in said
    groups = lines(
        run("dedup", file.name, "--field", "body", "--decisions", "news.jsonl.decisions.jsonl", cwd=file.parent)
    )
    assert not any({f"0{EVIL}", f"1{EVIL}"} <= {each["id"] for each in group["members"]} for group in groups)
    [exported] = lines(run("show", file.name, "--export", cwd=file.parent))
    assert (exported["label"], exported["who"]) == (0, "Ben")
    (file.parent / "others.jsonl").write_text(json.dumps({"id": "7", "alone": True}) + "\n")
    assert "1 decision imported." in run("show", file.name, "--import", "others.jsonl", cwd=file.parent).err
    assert len(lines(run("show", file.name, "--export", cwd=file.parent))) == 2


def test_decisions_on_an_index_are_made_in_a_browser_and_obeyed_by_groups(
    browser: Browser, engine: Engine, names: Callable[[], str]
) -> None:
    index = Index(names(), engine, fields=["body"])
    engine.perform(CreateIndex(index.name, {"mappings": {"properties": {"body": {"type": "text"}}}}))
    index.init()
    index.add([{"_id": str(place), "body": text} for place, text in enumerate(STORIES)], refresh=True)
    with desk_on_index(index, ["body"], None, "Mia", Output(quiet=True)) as desk, served(desk) as server:
        browser.show(server.address)
        browser.press("r")
        browser.press("d")
        assert "Of 1 judged pair" in browser.value("document.body.innerText")
        [decision] = index.decisions()
    a, b = (id_ for _, id_ in decision.documents)
    with index.group() as groups:
        assert not any({a, b} <= set(ids) for ids in groups.ids())
        assert "1 decision of people followed." in groups.counts.notes
    # The desk shows what the rule says, so that answers measure it.
    with desk_on_index(index, [], None, "Mia", Output(quiet=True)) as desk:
        assert len(desk.answers().are_right) == 1


def test_wrong_usage_is_explained(tmp_path: Path) -> None:
    assert "Drop --decisions" in run("show", "news", "--decisions", "d.jsonl", cwd=tmp_path, code=2).err
    assert "no-such.jsonl" in run("show", "no-such.jsonl", cwd=tmp_path, code=2).err
