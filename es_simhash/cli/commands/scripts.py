"""``es-simhash scripts``: what a server can keep, so that people search without this program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from es_simhash.cli.options.connection import Target
from es_simhash.cli.options.index import index_argument, prefix_option
from es_simhash.cli.options.shared import EngineVerb
from es_simhash.cli.show.exits import saying_if_interrupted
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.documents.painless.stored_scripts import StoredScript
    from es_simhash.plans.install_scripts import InstalledScripts


@click.command(name="scripts", cls=EngineVerb)
@index_argument
@prefix_option
@click.option(
    "--name", metavar="NAME", help="What all names begin with.  [default: es-simhash, and a prefix other than dedup]"
)
@click.option("--install", is_flag=True, help="Put them on the server, instead of printing them.")
@click.option("--remove", is_flag=True, help="Take them off the server again.")
def command(
    index: str, prefix: str, name: str | None, install: bool, remove: bool, target: Target, output: Output
) -> None:
    """Print or install scripts and search templates for INDEX, by which it is searched without this program.

    They are printed as they are pasted into Dev Tools. A server keeps them for all of its indices: they serve each with
    the same fields of fingerprints, while those with others need another --name.

    Example: es-simhash scripts articles --install
    """
    from es_simhash.index import Index

    if install and remove:
        raise click.UsageError("--remove undoes what --install does. Choose one.")
    unsure = "Some may be done. Run the command again." if install or remove else "Nothing was changed."
    with target.opened(output) as engine, saying_if_interrupted(lambda: unsure):
        opened = Index(index, engine, prefix=prefix)
        scripts = {each.name: each for each in opened.scripts(name)}
        if install:
            _install(output, scripts, opened.install_scripts(name))
        elif remove:
            _remove(output, scripts, opened.remove_scripts(name))
        else:
            for each in scripts.values():
                _tell(output, each, None)
                output.line(_in_dev_tools(each))


def _install(output: Output, scripts: dict[str, StoredScript], done: InstalledScripts) -> None:
    for name, each in scripts.items():
        state = "installed" if name in done.names else "left out"
        _tell(output, each, state)
        output.report(f"{name}: {state}")
    if done.left_out:
        output.note("This server knows no search templates (Mustache is a module): send it the searches themselves.")


def _remove(output: Output, scripts: dict[str, StoredScript], removed: list[str]) -> None:
    for name in removed:
        _tell(output, scripts[name], "removed")
        output.report(f"{name}: removed")
    if not removed:
        output.note("There was none of them.")


def _tell(output: Output, each: StoredScript, state: str | None) -> None:
    told = {"name": each.name, "use": each.use, "parameters": each.parameters, "optional": each.optional}
    output.result({**told, "path": each.path, "body": each.body, "state": state})


def _in_dev_tools(each: StoredScript) -> str:
    """The request as people write it there: a text of several lines stands between three quotes."""
    parameters = ", ".join([*each.parameters, *(f"[{name}]" for name in each.optional)])
    script = each.body["script"]
    lang, source = json.dumps(script["lang"]), script["source"].strip("\n")
    body = f'{{\n  "script": {{\n    "lang": {lang},\n    "source": """\n{source}\n"""\n  }}\n}}'
    return f"# {each.use}; parameters: {parameters}\nPUT {each.path.removeprefix('/')}\n{body}\n"
