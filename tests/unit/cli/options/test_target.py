"""Profiles: settings of targets in the user's file.

A secret goes to the server that it is for, and nowhere else: not to the terminal, a log, or a file.
"""

from __future__ import annotations

import base64
import logging
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from es_simhash.cli.options.connection import CONNECTION
from es_simhash.cli.options.target import SETTINGS, OriginSettings, config_file, profile_named
from es_simhash.cli.process import run
from es_simhash.scheme.scheme import Scheme
from tests.support.cli_targets import target_of
from tests.support.http_server import Answer, serving
from tests.support.traces import collected

SECRET = "m4rk3r"
WITH_SECRETS = (
    f'url = "https://h"\nuser = "bob"\npassword = "{SECRET}"',
    f'url = "https://h"\napi_key = "{SECRET}"',
    f'url = "https://bob:{SECRET}@h"',
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "own settings.toml"


def profile(path: Path, name: str = "p") -> OriginSettings:
    return profile_named(name, {"ES_SIMHASH_CONFIG": str(path)})


def refusal(path: Path, name: str = "p") -> str:
    with pytest.raises(click.UsageError) as raised:
        profile(path, name)
    assert SECRET not in raised.value.message
    return raised.value.message


# ---- the file


def test_the_file_is_the_one_that_the_environment_names() -> None:
    assert config_file({"ES_SIMHASH_CONFIG": "a.toml", "XDG_CONFIG_HOME": "/etc/xdg"}) == Path("a.toml")


def test_else_it_is_in_the_directory_for_configurations() -> None:
    assert config_file({"XDG_CONFIG_HOME": "/xdg"}) == Path("/xdg/es-simhash/config.toml")
    for variables in ({}, {"XDG_CONFIG_HOME": "", "ES_SIMHASH_CONFIG": ""}):
        assert config_file(variables) == Path.home() / ".config" / "es-simhash" / "config.toml"


def test_a_file_that_is_not_there(path: Path) -> None:
    said = refusal(path)
    assert f"{path} does not exist" in said
    assert said.endswith("or name another file in ES_SIMHASH_CONFIG.")


def test_a_file_that_is_not_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")
    assert "is not UTF-8" in refusal(path)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"[profiles.p]\npassword = {SECRET}", "line 2, column 12"),
        (f'[profiles.p]\npassword "{SECRET}"', "line 2, column 10"),
        (f'[profiles.p]\npassword = "{SECRET}', "end of document"),
        (f'[profiles.p]\n"{SECRET}" = 1\n"{SECRET}" = 2\n', "line 3, column 13"),
    ],
)
def test_what_is_not_toml_is_identified_by_its_place_alone(path: Path, text: str, where: str) -> None:
    path.write_text(text)
    assert f"{path} is not TOML: it cannot be read at {where}" in refusal(path)


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "{a=" * 100_000, "[" + "a." * 50_000 + "a]"])
def test_a_file_that_is_nested_too_deeply_is_named(path: Path, text: str) -> None:
    path.write_text(text)
    assert str(path) in refusal(path)


# ---- a profile


def test_the_settings_of_a_profile_are_those_of_the_options_and_the_password() -> None:
    options = {option.name for option in CONNECTION}
    assert list(SETTINGS) == [name for name in SETTINGS if name in options or name == "password"]
    assert SETTINGS.keys() | {"profile"} == options | {"password"}


def test_settings_are_named_by_the_profile(path: Path) -> None:
    path.write_text('[profiles.p]\nurl = "https://h"\nuser = "bob"\ninsecure = true\n')
    given = profile(path)
    assert given.values == {"url": "https://h", "user": "bob", "insecure": True}
    assert given.name("user") == "user in [profiles.p]"


def test_what_is_false_is_not_set(path: Path) -> None:
    path.write_text('[profiles.p]\nurl = "https://h"\ninsecure = false\n')
    assert "insecure" not in profile(path).values


def test_paths_begin_where_the_file_is_or_at_home(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    path.write_text(
        '[profiles.p]\nurl = "index"\npassword_file = "~/secret"\nca_certs = "/etc/ca.pem"\n[profiles.q]\nurl="~/index"'
    )
    assert profile(path).values == {
        "url": str(path.parent / "index"),
        "password_file": "/home/me/secret",
        "ca_certs": "/etc/ca.pem",
    }
    assert profile(path, "q").values == {"url": "/home/me/index"}


@pytest.mark.parametrize("text", ["", "profiles = 1", "[other]", "[profiles]\np = 1", "[profiles.q]", "[[profiles.p]]"])
def test_a_profile_that_is_not_there(path: Path, text: str) -> None:
    path.write_text(text)
    assert f"{path} has no profile p" in refusal(path)


def test_a_profile_that_is_not_there_among_others(path: Path) -> None:
    path.write_text('[profiles.a]\nurl = "x"\n[profiles.b]\nurl = "y"')
    assert f"{path} has no profile p, but a, b." in refusal(path)


def test_an_unknown_setting_is_named_and_so_are_the_known_ones(path: Path) -> None:
    path.write_text(f'[profiles.p]\nurl = "https://h"\npasswrd = "{SECRET}"')
    said = refusal(path)
    assert f"[profiles.p] in {path} has passwrd, which is not known" in said
    assert all(setting in said for setting in SETTINGS)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_value_of_another_type_is_named_and_not_shown(path: Path, setting: str) -> None:
    kind, fits = ("true or false", "true") if SETTINGS[setting] is bool else ("a string", f'"{SECRET}"')
    for value in {"1", "1.5", "true", "1979-05-27", f'["{SECRET}"]', f'"{SECRET}"'} - {fits}:
        path.write_text(f"[profiles.p]\n{setting} = {value}")
        assert f"[profiles.p] in {path} has a {setting} that is not {kind}." in refusal(path)


def test_an_empty_value_is_refused(path: Path) -> None:
    for setting in ("ca_certs", "user", "password_file"):
        path.write_text(f'[profiles.p]\nurl = "https://h"\n{setting} = ""')
        assert f"{setting} in [profiles.p] is empty" in refusal(path)


def test_an_unknown_distribution_is_refused(path: Path) -> None:
    path.write_text('[profiles.p]\nurl = "https://h"\ndistribution = "solr"')
    assert "Choose elasticsearch or opensearch." in refusal(path)


def test_a_profile_without_a_target_is_refused(path: Path) -> None:
    path.write_text('[profiles.p]\nuser = "bob"')
    assert "names no target. Give it a url" in refusal(path)


def test_a_url_that_is_not_a_url_is_not_taken_for_a_path(path: Path) -> None:
    path.write_text(f'[profiles.p]\nurl = "bob:{SECRET}@h:9200"')
    path.chmod(0o600)
    assert "begins with neither http:// nor https://" in refusal(path)


def test_two_logins_in_a_profile(path: Path) -> None:
    path.write_text('[profiles.p]\nurl = "https://h"\nuser = "bob"\napi_key_file = "k"')
    with pytest.raises(click.UsageError, match=r"Drop api_key_file in \[profiles.p\], or else user in"):
        target_of("--profile", "p", ES_SIMHASH_CONFIG=str(path))


# ---- secrets


@pytest.mark.parametrize("text", WITH_SECRETS)
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_secret_is_refused_where_others_may_read_it(path: Path, text: str, mode: int) -> None:
    path.write_text(f"[profiles.p]\n{text}")
    path.chmod(mode)
    said = refusal(path)
    assert f"{path} holds a secret" in said
    assert said.endswith(f"Run: chmod 600 {shlex.quote(str(path))}")


@pytest.mark.parametrize("text", WITH_SECRETS)
def test_the_command_that_is_named_makes_it_right(path: Path, text: str) -> None:
    path.write_text(f"[profiles.p]\n{text}")
    path.chmod(0o644)
    subprocess.run(refusal(path).partition("Run: ")[2], shell=True, check=True)
    assert SECRET in str(profile(path).values)
    assert SECRET not in repr(profile(path))


def test_without_a_secret_everybody_may_read_it(path: Path) -> None:
    path.write_text(f'[profiles.p]\nurl = "https://bob@h"\npassword_file = "f"\n[profiles.q]\n{WITH_SECRETS[0]}')
    path.chmod(0o644)
    assert profile(path).values["password_file"] == str(path.parent / "f")


LOGIN_SECRET = "hunter2hunter2"
FORMS = (
    LOGIN_SECRET,
    base64.b64encode(f"indexer:{LOGIN_SECRET}".encode()).decode(),
    base64.b64encode(f"id:{LOGIN_SECRET}".encode()).decode(),
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
    (folder / "secret").write_text(LOGIN_SECRET if "password" in way else f"id:{LOGIN_SECRET}")
    at = ["--url", url]
    if way == "url":
        return ["--url", url.replace("://", f"://indexer:{LOGIN_SECRET}@")]
    if way == "environment":
        monkeypatch.setenv("ES_SIMHASH_PASSWORD", LOGIN_SECRET)
        return [*at, "--user", "indexer"]
    if way == "password file":
        return [*at, "--user", "indexer", "--password-file", str(folder / "secret")]
    if way == "api key":
        monkeypatch.setenv("ES_SIMHASH_API_KEY", f"id:{LOGIN_SECRET}")
        return at
    if way == "api key file":
        return [*at, "--api-key-file", str(folder / "secret")]
    config = folder / "config.toml"
    config.write_text(f'[profiles.p]\nurl = "{url}"\nuser = "indexer"\npassword = "{LOGIN_SECRET}"\n')
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
