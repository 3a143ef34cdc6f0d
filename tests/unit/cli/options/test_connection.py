"""Options that verbs share: before the verb or after it."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from es_simhash.cli.options.connection import CONNECTION, OUTPUT, EngineVerb, Verb
from es_simhash.cli.options.target import Target
from es_simhash.cli.process import run
from es_simhash.cli.program import COMMANDS, app
from es_simhash.cli.show.output import Output
from tests.support.commands import only


def given(*arguments: str) -> tuple[Target, Output]:
    """What a verb on an engine gets."""
    group = click.Group(params=[*CONNECTION, *OUTPUT], callback=lambda **_: None)

    @group.command("verb", cls=EngineVerb)
    def command(target: Target, output: Output) -> tuple[Target, Output]:
        return target, output

    with only({}):
        target, output = group.main(arguments, standalone_mode=False)
    return target, output


def test_a_shared_option_stands_before_the_verb_or_after_it() -> None:
    assert given("--url", "here", "--json", "verb") == given("verb", "--url", "here", "--json")
    target, output = given("-q", "verb", "--url", "here")
    assert (target.place, output) == ("here", Output(quiet=True))


def test_the_one_after_the_verb_wins() -> None:
    target, _ = given("--url", "one", "verb", "--url", "another")
    assert target.place == "another"
    target, _ = given("--url", "https://x", "--api-key", "a", "verb", "--insecure")
    assert (target.login is not None, target.tls["verify_certs"]) == (True, False)


def test_an_empty_one_after_the_verb_is_refused() -> None:
    with pytest.raises(click.UsageError, match="--url is empty"):
        given("--url", "one", "verb", "--url", "")


def test_a_connection_before_a_verb_without_an_engine_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--url", "x", "schemes"]) == 2
    assert "schemes works without an engine. Drop --url." in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_each_verb_has_its_own_help_by_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == run(["help", name]) == 0
    by_option, by_verb = capsys.readouterr().out.split(f"Usage: es-simhash {name}")[1:]
    assert by_option == by_verb


def test_all_connection_options_are_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "connection"]) == 0
    shown = capsys.readouterr().out
    assert all(f"--{str(option.name).replace('_', '-')}" in shown for option in CONNECTION)
    with click.Context(app, **app.context_settings) as context:
        verbs = [app.get_command(context, name) for name in COMMANDS]
        shared = {option.name for option in (*CONNECTION, *OUTPUT)}
        assert not [each for verb in verbs if isinstance(verb, Verb) for each in verb.params if each.name in shared]


def test_what_there_is_no_help_for_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "nothing"]) == 2
    assert "There is no help for 'nothing'. Choose a verb" in capsys.readouterr().err
    assert run(["help", "completion"]) == 2
    assert "Write help completion SHELL, with one of bash, zsh, fish." in capsys.readouterr().err


def test_what_asynchronous_clients_import_is_not_imported() -> None:
    script = (
        "import atexit, sys; from es_simhash.cli.process import main\n"
        "names = ('aiohttp.client', 'elastic_transport')\n"
        "atexit.register(lambda: print([name for name in names if name in sys.modules]))\n"
        "main(['info', 'news', '--url', 'http://127.0.0.1:1', '--quiet'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "['elastic_transport']\n", done.stderr
