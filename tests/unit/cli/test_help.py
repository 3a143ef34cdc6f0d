"""The help of the command line: verbs and options under headings, and what is answered to a misspelt one."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import click
import pytest

from es_simhash.cli.options.connection import CONNECTION, HEADINGS, OWN, ConnectionVerb, under_headings
from es_simhash.cli.program import COMMANDS, app
from es_simhash.cli.program import HEADINGS as VERBS
from tests.support.commands import run

# What fits a screen.
LINES, COLUMNS = 50, 80


def verb(name: str) -> click.Command:
    found = app.get_command(click.Context(app), name)
    assert found
    return found


def sections(text: str) -> list[str]:
    return re.findall(r"^(\w[\w ]*):$", text, re.MULTILINE)


def test_the_help_of_all_fits_a_screen_and_has_each_verb_under_its_heading() -> None:
    shown = run("--help").out
    assert len(shown.splitlines()) <= LINES
    assert max(map(len, shown.splitlines())) <= COLUMNS
    assert sections(shown) == [*VERBS, "Options"]
    assert re.findall(r"^  (\w+) {2,}\S", shown, re.MULTILINE) == list(COMMANDS)
    assert list(VERBS)[-5:] == ["Index", "Search", "Files", "Quality", "Server"]


def test_it_says_where_a_login_option_is_found() -> None:
    assert "es-simhash VERB --help lists its options, such as how to log in." in " ".join(run("--help").out.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_verb_lists_its_options_under_known_headings_and_the_connection_last(name: str) -> None:
    shown = sections(run(name, "--help").out)
    assert shown == [each for each in (OWN, *HEADINGS) if each in shown]
    if isinstance(verb(name), ConnectionVerb):
        assert shown[-1] == "Connection"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_listed_once(name: str) -> None:
    with click.Context(verb(name), info_name=name) as context:
        options = [each for each in verb(name).get_params(context) if isinstance(each, click.Option)]
    listed = [id(each) for _, under in under_headings(options) for each in under]
    assert sorted(listed) == sorted(map(id, options))


def test_each_name_under_a_heading_is_that_of_an_option() -> None:
    there = set()
    for name in COMMANDS:
        with click.Context(verb(name), info_name=name) as context:
            there |= {max(each.opts, key=len)[2:] for each in verb(name).get_params(context) if each.opts}
    known = list(chain.from_iterable(HEADINGS.values()))
    assert sorted(known) == sorted(set(known))
    assert set(known) <= there


def test_the_help_of_a_verb_leads_to_every_way_to_log_in() -> None:
    connection = run("group", "--help").out.partition("\nConnection:\n")[2]
    assert re.findall(r"^  --([\w-]+)", connection, re.MULTILINE) == list(HEADINGS["Connection"])
    assert {option.opts[0][2:] for option in CONNECTION} == set(HEADINGS["Connection"])


def test_a_date_is_of_the_scope_only_where_a_window_is() -> None:
    assert "--date" in run("group", "--help").out.partition("\nScope:\n")[2].partition("\nLong jobs:")[0]
    assert "Scope:" not in run("dashboard", "--help").out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["grup", "news"], "No such verb: grup. Did you mean group?"),
        (["dedupe", "news"], "No such verb: dedupe. Did you mean dedup?"),
        (["quux"], "No such verb: quux. es-simhash --help lists the verbs."),
        (["group", "news", "--wirte"], "No such option: --wirte. Did you mean --write?"),
        (["find", "news", "--similarty", "0.5"], "No such option: --similarty. Did you mean --similarity?"),
        (["find", "news", "--api-keyfile", "key"], "Did you mean --api-key-file?"),
    ],
)
def test_what_is_misspelt_is_answered_with_the_nearest(given: list[str], said: str) -> None:
    assert said in run(*given, code=2).err


def test_the_flag_for_details_reaches_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("es_simhash.cli.show.presets.show_presets", seen.append)
    run("info")
    run("info", "-v")
    run("--verbose", "info")
    assert [each.is_verbose for each in seen] == [False, True, True]
