"""``es-simhash pipeline``: fingerprints that the server makes itself."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import click

from es_simhash.cli.options.connection import Target
from es_simhash.cli.options.index import index_argument, prefix_option
from es_simhash.cli.options.shared import EngineVerb
from es_simhash.cli.show.exits import saying_if_interrupted
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.index import Index
    from es_simhash.plans.install_pipeline import IngestPipeline


@click.command(name="pipeline", cls=EngineVerb)
@index_argument
@prefix_option
@click.option("--install", is_flag=True, help="Store the pipeline on the server, instead of printing it.")
@click.option("--default", is_flag=True, help="With --install: make it the default pipeline of INDEX.")
@click.option("--remove", is_flag=True, help="Take the pipeline away again, also as the default of INDEX.")
def command(
    index: str, prefix: str, install: bool, default: bool, remove: bool, target: Target, output: Output
) -> None:
    """Print or install the ingest pipeline of INDEX, by which the server fingerprints whatever is written.

    It makes the same fields as this program, for schemes of character n-grams. What it cannot do gets the status
    "deferred", which backfill picks up.

    Example: es-simhash pipeline articles --install --default
    """
    from es_simhash.index import Index

    if remove and (install or default):
        raise click.UsageError("--remove undoes what --install and --default do. Choose one.")
    if default and not install:
        raise click.UsageError("--default says how the pipeline is installed. Add --install, or drop it.")
    unsure = "Run the command again." if install or remove else "Nothing was changed."
    with target.opened(output) as engine, saying_if_interrupted(lambda: unsure):
        opened = Index(index, engine, prefix=prefix)
        if remove:
            _remove(output, opened)
        else:
            _show(output, opened.pipeline(install=install, default=default))


def _remove(output: Output, index: Index) -> None:
    done = index.remove_pipeline()
    output.result({"pipeline": done.name, "installed": False, "default_of": done.default_of, "request": None})
    output.report(f"{done.name}: " + (f"removed{_default_of(done.default_of)}" if done.removed else "was not there"))


def _show(output: Output, done: IngestPipeline) -> None:
    body = None if done.installed else done.body
    output.result({"pipeline": done.name, "installed": done.installed, "default_of": done.default_of, "request": body})
    if done.installed:
        output.report(f"{done.name}: installed{_default_of(done.default_of)}")
        if not done.default_of:
            output.note(f"Nothing goes through it yet: write with ?pipeline={done.name}, or add --default.")
    else:
        output.line(_written(done.body))
        output.note(f"For PUT _ingest/pipeline/{done.name}. Nothing was changed; --install does it.")


def _default_of(indices: list[str]) -> str:
    return f", default of {', '.join(indices)}" if indices else ""


def _written(body: object) -> str:
    """JSON for people, each list of numbers in a line."""
    text = json.dumps(body, ensure_ascii=False, indent=2)
    return re.sub(r"\[[-\d,\s]+\]", lambda numbers: " ".join(numbers[0].split()), text)
