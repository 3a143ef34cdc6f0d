"""Options that verbs share: before the verb or after it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import click
import pytest

from es_simhash.cli.options.connection import JOB, SHARED, EngineVerb, Verb
from es_simhash.cli.options.target import Target
from es_simhash.cli.process import run
from es_simhash.cli.program import COMMANDS, app
from es_simhash.cli.show.output import Output
from tests.support.commands import only


def group_of(command: Any, **options: Any) -> click.Group:
    """A program with one verb on an engine."""
    group = click.Group(params=[*SHARED], callback=lambda **_: None)
    group.command("verb", cls=EngineVerb, **options)(command)
    return group


def given(*arguments: str) -> tuple[Target, Output]:
    """What a verb on an engine gets."""

    def command(target: Target, prefix: str, output: Output) -> tuple[Target, Output]:
        return target, output

    with only({}):
        target, output = group_of(command).main(arguments, standalone_mode=False)
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
    assert run(["--url", "x", "dedup", "news"]) == 2
    assert "dedup does not use --url. Drop it." in capsys.readouterr().err


def test_a_verb_gets_the_prefix_and_the_patience_that_it_takes() -> None:
    def command(target: Target, output: Output, **values: Any) -> dict[str, Any]:
        return values

    def values(*arguments: str, **options: Any) -> Any:
        with only({}):
            return group_of(command, **options).main(arguments, standalone_mode=False)

    assert values("verb") == {"prefix": "dedup"}
    assert values("--prefix", "one", "verb", "--prefix", "other") == {"prefix": "other"}
    assert values("verb", more=JOB) == {"prefix": "dedup", "patience": 600.0}
    assert values("--patience", "0", "verb", more=JOB)["patience"] == 0


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (["--patience", "3", "find", "news", "--text", "x"], "find does not use --patience."),
        (["--metrics-port", "0", "info", "news"], "info does not use --metrics-port."),
        (
            ["--prefix", "p", "--patience", "1", "dedup", "news"],
            "dedup does not use --prefix and --patience. Drop them.",
        ),
        (["find", "news", "--patience", "3"], "No such option"),
    ],
)
def test_what_means_nothing_to_a_verb_is_refused(
    given: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(given) == 2
    assert name in capsys.readouterr().err


def test_no_verb_has_an_option_of_its_own_that_others_share() -> None:
    with click.Context(app, **app.context_settings) as context:
        verbs = [app.get_command(context, name) for name in COMMANDS]
        shared = {option.name for option in SHARED}
        assert not [each for verb in verbs if isinstance(verb, Verb) for each in verb.params if each.name in shared]


def test_what_asynchronous_clients_import_is_not_imported() -> None:
    script = (
        "import atexit, sys; from es_simhash.cli.process import main\n"
        "names = ('aiohttp.client', 'elastic_transport')\n"
        "atexit.register(lambda: print([name for name in names if name in sys.modules]))\n"
        "main(['info', 'news', '--url', 'http://127.0.0.1:1', '--quiet'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "['elastic_transport']\n", done.stderr


def test_a_shell_completes_verbs_and_the_options_that_they_take() -> None:
    def proposed(*words: str) -> set[str]:
        asked = {"COMP_WORDS": " ".join(("es-simhash", *words)), "COMP_CWORD": str(len(words))}
        environment = {**os.environ, **asked, "_ES_SIMHASH_COMPLETE": "bash_complete"}
        program = [sys.executable, "-m", "es_simhash"]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
        return set(done.stdout.replace("plain,", "").split())

    assert proposed("ex") == {"explain"}
    assert proposed("load", "--metrics") == {"--metrics-port", "--metrics-file"}
    assert proposed("find", "--metrics") == set()


def test_without_a_verb_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) in (0, 2)  # click changed its mind in 8.2
    shown = capsys.readouterr()
    assert "Search:" in shown.out + shown.err
