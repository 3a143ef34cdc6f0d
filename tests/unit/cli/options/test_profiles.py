"""Profiles: settings of targets in the user's file."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import click
import pytest

from es_simhash.cli.options.connection import CONNECTION
from es_simhash.cli.options.setting_origins import SETTINGS, Given, config_file, profile_named
from tests.support.cli_targets import target_of

SECRET = "m4rk3r"
WITH_SECRETS = (
    f'url = "https://h"\nuser = "bob"\npassword = "{SECRET}"',
    f'url = "https://h"\napi_key = "{SECRET}"',
    f'url = "https://bob:{SECRET}@h"',
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "own settings.toml"


def profile(path: Path, name: str = "p") -> Given:
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
