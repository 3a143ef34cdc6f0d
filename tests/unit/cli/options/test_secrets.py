"""A secret goes to the server that it is for, and nowhere else: not to the terminal, a log, or a file."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from es_simhash.cli.process import run
from es_simhash.scheme.scheme import Scheme
from tests.support.http_server import Answer, serving
from tests.support.traces import collected

SECRET = "hunter2hunter2"
FORMS = (
    SECRET,
    base64.b64encode(f"indexer:{SECRET}".encode()).decode(),
    base64.b64encode(f"id:{SECRET}".encode()).decode(),
)

WAYS = ("url", "environment", "password file", "api key", "api key file", "profile")
REFUSED = Answer({"error": {"type": "security_exception", "reason": "unable to authenticate"}, "status": 401}, 401)
OVERLOADED = Answer({"error": {"type": "es_rejected_execution_exception", "reason": "full"}, "status": 429}, 429)
PROXY = Answer("<html>Bad gateway</html>", 502, "text/html")


def rejecting(request: str) -> Answer:
    """A server that takes no document."""
    error = {"type": "mapper_parsing_exception", "reason": "failed to parse"}
    item = {"index": {"_index": "news", "_id": "1", "status": 400, "error": error}}
    if request == "GET /":
        return Answer({"version": {"number": "9.1.0"}, "tagline": "You Know, for Search"})
    if request.startswith("GET /news/_mapping"):
        return Answer({"news": {"mappings": Scheme.preset("default").mapping(fields=["body"])}})
    return Answer({"errors": True, "items": [item], "acknowledged": True, "_shards": {"failed": 0}})


def login(way: str, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Hand over the secret in one of the ways that there are; what stands on the command line for it."""
    (folder / "secret").write_text(SECRET if "password" in way else f"id:{SECRET}")
    at = ["--url", url]
    if way == "url":
        return ["--url", url.replace("://", f"://indexer:{SECRET}@")]
    if way == "environment":
        monkeypatch.setenv("ES_SIMHASH_PASSWORD", SECRET)
        return [*at, "--user", "indexer"]
    if way == "password file":
        return [*at, "--user", "indexer", "--password-file", str(folder / "secret")]
    if way == "api key":
        monkeypatch.setenv("ES_SIMHASH_API_KEY", f"id:{SECRET}")
        return at
    if way == "api key file":
        return [*at, "--api-key-file", str(folder / "secret")]
    config = folder / "config.toml"
    config.write_text(f'[profiles.p]\nurl = "{url}"\nuser = "indexer"\npassword = "{SECRET}"\n')
    config.chmod(0o600)
    monkeypatch.setenv("ES_SIMHASH_CONFIG", str(config))
    return ["--profile", "p"]


@pytest.mark.parametrize(
    "answer", [REFUSED, OVERLOADED, PROXY, rejecting], ids=["refused", "overloaded", "proxy", "taken"]
)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_nothing_that_a_run_says_or_writes_holds_its_secret(
    log_format: str,
    way: str,
    answer: Answer | Callable[[str], Answer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "login").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("news.jsonl").write_text('{"id": "1", "body": "a storm hit the coast"}\n[]\n')
    caplog.set_level(logging.DEBUG)
    shown_elsewhere = ["--log-format", log_format, "--metrics-file", "news.prom"]
    with serving(answer) as server, collected() as traces:
        options = login(way, server.url, tmp_path / "login", monkeypatch)
        code = run(["--debug", "load", "news", "news.jsonl", "--field", "body", *options, *shown_elsewhere])
    assert server.requests
    assert code in (1, 3, 4)
    shown = capsys.readouterr()
    written = [path.read_text() for path in Path.cwd().iterdir()]
    everything = "\n".join([shown.out, shown.err, caplog.text, traces.everything(), *written])
    assert "localhost" in everything or "127.0.0.1" in everything
    assert [form for form in FORMS if form in everything] == []
    assert Path("news.prom").exists()
    assert "es_simhash.run.id" in everything
    if answer is rejecting:
        assert Path("rejected.jsonl").exists()
