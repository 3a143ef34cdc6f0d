"""Whatever stands on the command line, in a profile or in a URL: a run ends with a code, and says what is wrong."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.environment import CONFIG
from es_simhash.cli.options.files import json_object
from es_simhash.cli.options.target import SETTINGS, deployment, is_server, profile_named, server_at
from es_simhash.cli.process import run
from es_simhash.cli.program import COMMANDS, app
from tests.support.fuzzing import damaged_bytes, fuzzed_in_a_directory, json_values

# What would wait for a network, or for somebody to answer, is left out.
PLACES = ("engine.db", "docs.jsonl", "other.json", ".", "missing", "")
VALUES = (
    *PLACES,
    "-1",
    "0",
    "1",
    "0.5",
    "nan",
    "1e999",
    "9" * 30,
    "default",
    "[]",
    '{"term": {"a": 1}}',
    "a,b",
    "ｘ",
    "\udcff",
)


# No system hands over a NUL.
ANY_WORD = st.text(st.characters(exclude_characters="\0"), max_size=5)


def options_of(command: str) -> list[str]:
    with click.Context(app, **app.context_settings) as context:
        found = app.get_command(context, command)
        assert found
        parameters = found.get_params(context)
    names = [name for parameter in parameters if isinstance(parameter, click.Option) for name in parameter.opts]
    return [name for name in names if name not in {"--url", "--cloud-id", "--kibana-url"}]


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    command = draw(st.sampled_from(sorted(COMMANDS)))
    words = st.sampled_from(options_of(command)) | st.sampled_from(VALUES) | ANY_WORD
    return [
        command,
        *draw(st.lists(words, max_size=6)),
        "--url",
        draw(st.sampled_from(["engine.db", "", "ftp://x", "a@b"])),
    ]


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.jsonl").write_text('{"id": "1", "text": "a storm hit the coast"}\n{"id": 2}\n[]\n')
    (tmp_path / "other.json").write_text('{"settings": 1}')
    return tmp_path


@fuzzed_in_a_directory
@given(arguments=command_lines())
def test_any_command_line_ends_with_a_known_code_and_a_reason(
    arguments: list[str], directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a process of its own, where what standard error cannot encode is escaped.
    said = io.BytesIO()
    stdout, stderr = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(said, errors="backslashreplace")
    with open("docs.jsonl", encoding="utf-8") as stdin, monkeypatch.context() as patched:
        for name, stream in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr)):
            patched.setattr(f"sys.{name}", stream)
        code = run(arguments)
        stderr.flush()
    assert code in (0, 1, 2, 3, 4)
    assert b"This is a bug" not in said.getvalue()
    assert code == 0 or said.getvalue()


@given(text=st.text(max_size=20) | st.sampled_from(["1" * 5000, "[" * 100_000, "{}"]) | json_values().map(json.dumps))
def test_an_option_that_is_json_is_an_object_or_is_refused(text: str) -> None:
    try:
        assert isinstance(json_object(text, "--filter", "{}"), dict)
    except click.UsageError as error:
        assert_says(error, "--filter is not a JSON object")


def assert_says(error: click.UsageError, words: str) -> None:
    assert words in error.message


def assert_hides(error: click.UsageError, secret: str) -> None:
    assert secret not in error.message


URLS = st.from_regex(r"(https?://)?[\w:@\[\]%/?#.-]{0,10}hunter2[\w:@\[\]%/?#.-]{0,10}", fullmatch=True) | st.text(
    max_size=12
)


@given(url=URLS)
def test_a_url_is_a_server_with_a_port_or_a_directory_or_is_refused_without_its_password(url: str) -> None:
    try:
        if is_server(url):
            assert server_at(url).address.lower().startswith(("http://", "https://"))
    except click.UsageError as error:
        assert_hides(error, "hunter2")


@given(cloud_id=st.text(max_size=30) | st.binary(max_size=30).map(lambda raw: f"name:{raw.hex()}"))
def test_a_cloud_id_is_a_server_or_is_refused(cloud_id: str) -> None:
    pytest.importorskip("elasticsearch")
    try:
        assert deployment(cloud_id).address.startswith("https://")
    except click.UsageError as error:
        assert_says(error, "The cloud ID cannot be read")


PROFILES = b"""
[profiles.p]
url = "https://x:9200"
user = "u"
password = "hunter2"
insecure = true
[profiles.q]
url = "db"
"""


@fuzzed_in_a_directory
@given(content=damaged_bytes(PROFILES), name=st.sampled_from(["p", "q", "r"]))
def test_a_damaged_profile_is_used_or_refused_without_its_secrets(content: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(content)
    (tmp_path / "config.toml").chmod(0o600)
    try:
        given_settings: Any = profile_named(name, {CONFIG: str(tmp_path / "config.toml")})
        assert set(given_settings.values) <= set(SETTINGS)
    except click.UsageError as error:
        assert_hides(error, "hunter2")
