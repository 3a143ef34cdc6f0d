"""The desk for review: in a real browser and by raw requests, on files and on real servers."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

import pytest

from es_simhash import Index
from es_simhash.cli.desk.desk import Desk, desk_on_file, desk_on_index
from es_simhash.cli.desk.server import DeskServer
from es_simhash.cli.show.output import Output
from es_simhash.documents.decisions import Decided
from es_simhash.documents.files.decision_file import DecisionFile
from es_simhash.engines.base import Engine
from es_simhash.plans.operations import CreateIndex, DeleteIndex
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
        assert re.search(r"Ben decided on .* are the same", said)


def test_what_a_colleague_says_of_a_pair_is_shown_before_it_is_judged(
    browser: Browser, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 0.0
    monkeypatch.setattr("es_simhash.cli.desk.desk.monotonic", lambda: clock)
    with desk_of(file) as server:
        browser.show(server.address)
        browser.press("r")
        assert "Nothing judged yet." in browser.value("document.body.innerText")
        with desk_of(file, "Ben") as other:
            other.desk.decide(list(other.desk.pair_at(0).positions), "different")
            other.desk.decide(list(other.desk.pair_at(1).positions), "different")
        browser.show(f"http://127.0.0.1:{server.server_port}/review?at=0")
        text = browser.value("document.body.innerText")
        assert re.search(r"Ben decided on .* are different", text)
        assert "Nothing judged yet." in text
        clock = 6.0
        browser.press("s")
        assert "Of 2 judged pairs" in browser.value("document.body.innerText")
        assert "Pair 3 of" in browser.value("document.title")


def test_undo_restores_what_the_same_person_had_said_and_leads_back_to_the_page(browser: Browser, file: Path) -> None:
    with desk_of(file) as before:
        before.desk.decide([0, 1], "same")
    with desk_of(file) as server:
        browser.show(server.address)
        browser.show(f"http://127.0.0.1:{server.server_port}/pair?a=0&b=1")
        browser.press("d")
        browser.press("u")
        assert "Taken back: " in status(browser)
        assert browser.value("document.location.pathname + document.location.search") == "/pair?a=0&b=1"
        assert verdicts(file) == [("same", True, "Mia"), ("different", True, "Mia"), ("same", True, "Mia")]
        browser.press("1")
        browser.press("2")
        chosen = Decided(DecisionFile(f"{file}.decisions.jsonl").read()).canonical
        assert [id_[0] for _, id_ in chosen] == ["1"]
        browser.click("a", "its group")
        said = browser.value("[...document.querySelectorAll('.said')].map(each => each.innerText)")
        assert [each.split(" that ")[1][:4] for each in said] == ["'0<s", "'1<s"]
        browser.show(f"http://127.0.0.1:{server.server_port}/pair?a=0&b=1")
        browser.press("u")
        chosen = Decided(DecisionFile(f"{file}.decisions.jsonl").read()).canonical
        assert [id_[0] for _, id_ in chosen] == ["0"]


def test_a_large_group_is_shown_in_pages_that_say_what_they_show(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    rows = [{"id": f"d{place}", "title": f"T{place}", "body": f"{STORIES[0]} {place}"} for place in range(120)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with desk_of(file) as server:
        browser.show(f"{server.address}&id=d60")
        seen, texts = [], []
        for link in ("First documents", "More documents", "Last documents"):
            browser.click("a", link)
            texts.append(status(browser))
            names = browser.value("[...document.querySelectorAll('tbody th')].map(each => each.textContent)")
            shown = browser.value("document.querySelector('tbody td:nth-child(5)').textContent")
            assert shown.endswith(f"T{names[0][1:]}")
            seen += names
        assert sorted(seen) == sorted(row["id"] for row in rows)
        assert [text.split(",")[0] for text in texts] == [
            "Documents 1 to 50 of 120",
            "Documents 51 to 100 of 120",
            "Documents 101 to 120 of 120",
        ]
        for page in ("page=3", "page=-1", "page=x"):
            browser.show(f"http://127.0.0.1:{server.server_port}/group?n=0&{page}")
            assert "Not found" in browser.value("document.title")


def test_a_reader_of_the_screen_hears_names_roles_landmarks_and_what_was_saved(browser: Browser, file: Path) -> None:
    with desk_of(file) as server:
        browser.show(server.address)
        browser.press("r")
        browser.press("d")
        assert re.match(r"Saved: '.*' and '.*' are different\.", status(browser), re.DOTALL)
        [said] = [each for each in tree(browser) if each["role"] == "status"]
        assert (said["ignored"], said["properties"]["live"]) == (False, "polite")
        browser.press("x")
        assert status(browser).startswith("Of 1 judged pair")
        for path in ("/", "/?size=99", "/group?n=0", "/review?at=0", "/pair?a=0&b=1", "/find?id=nothing"):
            browser.show(f"http://127.0.0.1:{server.server_port}{path}")
            heard = [each for each in tree(browser) if not each["ignored"]]
            controls = [each for each in heard if each["properties"].get("focusable") and each["role"] != "RootWebArea"]
            assert controls
            assert {each["role"] for each in controls} <= {"link", "button", "textbox", "spinbutton", "region"}
            assert all(each["name"].strip() for each in controls)
            assert [each["properties"].get("level") for each in heard if each["role"] == "heading"].count(1) == 1
            assert [each["role"] for each in heard].count("main") == 1
            if path.startswith(("/group", "/review", "/pair")):
                assert "navigation" in {each["role"] for each in heard}
                links = [each["name"] for each in controls if each["role"] == "link"]
                assert len(set(links)) == len(links)
            if path != "/find?id=nothing":
                [said] = [each for each in heard if each["role"] == "status"]
                assert said["properties"]["live"] == "polite"


def tree(browser: Browser) -> Iterator[dict[str, Any]]:
    """Yield the nodes of the accessibility tree."""
    for each in browser.call("Accessibility.getFullAXTree")["nodes"]:
        properties = {item["name"]: item["value"].get("value") for item in each.get("properties", ())}
        named = {name: each.get(name, {}).get("value", "") for name in ("role", "name")}
        yield {"ignored": each["ignored"], "properties": properties, **named}


def status(browser: Browser) -> str:
    return str(browser.value("document.querySelector('[role=status]').textContent"))


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


@pytest.mark.parametrize("count", [1, 2])
def test_without_groups_there_is_nothing_to_review(tmp_path: Path, count: int) -> None:
    file = tmp_path / "few.jsonl"
    rows = [{"id": str(place), "title": "T", "body": STORIES[3 * place]} for place in range(count)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with desk_of(file) as server:
        headers = {"Cookie": f"{server.cookie}={server.token}"}
        asked = ["/", "/?low=0.6&high=0.7", "/review", "/review?at=0", "/group?n=0", "/pair?a=0&b=1", "/find?id=0"]
        found = [answer(server, "GET", path, headers) for path in asked]
        assert found == [200, 200, 200, 404, 404, 404, 404]


def test_a_failure_is_shown_with_what_to_do(file: Path) -> None:
    with desk_of(file) as server:
        headers = {"Cookie": f"{server.cookie}={server.token}"}
        Path(f"{file}.decisions.jsonl").mkdir()
        assert answer(server, "GET", "/review", headers) == 502
        Path(f"{file}.decisions.jsonl").rmdir()
        assert answer(server, "GET", "/review", headers) == 303


def judged_at_once(servers: Sequence[DeskServer]) -> None:
    """Judge every pair of the queue on all servers at the same time, each pair by a request of its own."""

    def judge(server: DeskServer, place: int) -> int:
        host = f"127.0.0.1:{server.server_port}"
        headers = {"Cookie": f"{server.cookie}={server.token}", "Origin": f"http://{host}"}
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        a, b = server.desk.pair_at(place).positions
        return answer(server, "POST", "/decide", headers, f"verdict=different&a={a}&b={b}&at={place}")

    cases = list(product(servers, range(len(servers[0].desk.queue))))
    with ThreadPoolExecutor(2 * len(servers)) as pool:
        assert set(pool.map(lambda case: judge(*case), cases)) == {303}


def test_two_desks_on_one_file_at_once_lose_nothing(file: Path) -> None:
    with desk_of(file, "Mia") as one, desk_of(file, "Ben") as other:
        judged_at_once([one, other])
        assert len(one.desk.answers().wrong) == len(one.desk.queue)
    assert Counter(verdicts(file)) == {("different", True, who): 8 for who in ("Mia", "Ben")}


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


@pytest.mark.each_server
def test_two_desks_on_one_index_at_once_lose_nothing(engine: Engine, names: Callable[[], str]) -> None:
    name, prefix = names(), f"two{uuid4().hex[:8]}"
    engine.perform(CreateIndex(name, {"mappings": {"properties": {"body": {"type": "text"}}}}))
    index, other = (Index(name, engine, fields=["body"], prefix=prefix) for _ in range(2))
    index.init()
    index.add([{"_id": str(place), "body": text} for place, text in enumerate(STORIES)], refresh=True)
    try:
        with (
            desk_on_index(index, [], None, "Mia", Output(quiet=True)) as hers,
            desk_on_index(other, [], None, "Ben", Output(quiet=True)) as his,
            served(hers) as one,
            served(his) as two,
        ):
            judged_at_once([one, two])
            assert len(hers.answers().wrong) == len(hers.queue) == 8
            kept = Counter(each.who for each in index.decisions())
        assert kept == {"Mia": 8, "Ben": 8}
    finally:
        engine.perform(DeleteIndex(f"{prefix}-decisions"))


def test_wrong_usage_is_explained(tmp_path: Path) -> None:
    assert "Drop --decisions" in run("show", "news", "--decisions", "d.jsonl", cwd=tmp_path, code=2).err
    assert "no-such.jsonl" in run("show", "no-such.jsonl", cwd=tmp_path, code=2).err
