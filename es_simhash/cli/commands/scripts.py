"""``es-simhash scripts``: scripts, search templates and pipelines for work without this program."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import click

from es_simhash._core.json_codec import Json
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.index import index_argument
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output, saying_if_interrupted

if TYPE_CHECKING:
    from es_simhash.documents.stored_scripts import StoredScript
    from es_simhash.index import Index
    from es_simhash.plans.init import IngestPipeline, InstalledScripts

_TEXT = r'"(?:[^"\\]|\\.)*"'
# A list of texts and numbers alone, or a text.
_PART = re.compile(rf"\[\s+(?:(?:{_TEXT}|[-\d.]+),?\s+)+\]|{_TEXT}")


@click.command(name="scripts", cls=EngineVerb)
@index_argument
@click.option("--pipeline", is_flag=True, help="Work on the ingest pipeline of INDEX, in place of the search scripts.")
@click.option(
    "--name",
    metavar="NAME",
    help="Prefix of the scripts' names.  [default: es-simhash, then --prefix if given]",
)
@click.option("--install", is_flag=True, help="Store them on the server, instead of printing them.")
@click.option("--default", is_flag=True, help="With --pipeline --install: make it the default pipeline of INDEX.")
@click.option("--remove", is_flag=True, help="Remove them from the server, also as the default pipeline of INDEX.")
def command(
    index: str,
    prefix: str,
    pipeline: bool,
    name: str | None,
    install: bool,
    default: bool,
    remove: bool,
    target: Target,
    output: Output,
) -> None:
    """Print or install what the server itself can run: search scripts for INDEX, or its ingest pipeline.

    The output can be pasted into Dev Tools. A server stores search scripts and templates for all its indices:
    indices whose fingerprint fields differ need another --name.

    With --pipeline, the server fingerprints whatever is written to INDEX. It writes the same fields as this program,
    for schemes of runs of characters. Documents it cannot fingerprint get the status "deferred", for backfill.

    Example: es-simhash scripts articles --pipeline --install --default
    """
    if remove and (install or default):
        raise click.UsageError("--remove undoes what --install and --default do. Choose one.")
    if default and not (pipeline and install):
        raise click.UsageError("--default is for installing a pipeline. Add --pipeline and --install, or drop it.")
    if name and pipeline:
        raise click.UsageError("--name is for search scripts; a pipeline is named after INDEX. Drop one of them.")
    unsure = "Some may be done. Run the command again." if install or remove else "Nothing was changed."
    with target.index(output, index, prefix=prefix) as opened, saying_if_interrupted(lambda: unsure):
        if pipeline and remove:
            _remove_pipeline(output, opened)
        elif pipeline:
            _show_pipeline(output, opened.pipeline(install=install, default=default))
        elif remove:
            _remove(output, opened, name)
        elif install:
            _show_installed(output, opened.scripts(name), opened.install_scripts(name))
        else:
            for each in opened.scripts(name):
                output.result(each, {"state": None})
                output.line(script_request(each))


def _show_installed(output: Output, scripts: list[StoredScript], done: InstalledScripts) -> None:
    for each in scripts:
        _show(output, each, "installed" if each.name in done.names else "left out")
    if done.left_out:
        output.note("This server has no search templates (Mustache is a module): send it the searches themselves.")


def _remove(output: Output, index: Index, name: str | None) -> None:
    from es_simhash.documents.stored_scripts import stored_scripts

    # Those of an index that got a scope later can be removed, too.
    documents, removed = index.documents, index.remove_scripts(name)
    for each in stored_scripts(documents.scheme, documents.prefix, name):
        if each.name in removed:
            _show(output, each, "removed")
    if not removed:
        output.note("The server had none of these scripts.")


def _show(output: Output, script: StoredScript, state: str) -> None:
    output.result(script, {"state": state})
    output.report(f"{script.name}: {state}")


def _remove_pipeline(output: Output, index: Index) -> None:
    done = index.remove_pipeline()
    output.result({"pipeline": done.name, "installed": False, "default_of": done.default_of, "request": None})
    output.report(f"{done.name}: " + (f"removed{_default_of(done.default_of)}" if done.removed else "was not there"))


def _show_pipeline(output: Output, done: IngestPipeline) -> None:
    from es_simhash.plans.init import path_of_pipeline

    body = None if done.installed else done.body
    output.result({"pipeline": done.name, "installed": done.installed, "default_of": done.default_of, "request": body})
    if done.installed:
        output.report(f"{done.name}: installed{_default_of(done.default_of)}")
        if not done.default_of:
            output.note(f"Documents do not pass through it yet: write with ?pipeline={done.name}, or add --default.")
    else:
        output.line(request("PUT", path_of_pipeline(done.name), done.body))
        output.note("Paste this into Dev Tools, or store it with --install. Nothing was changed.")


def _default_of(indices: list[str]) -> str:
    return f", default of {', '.join(indices)}" if indices else ""


# ---- requests as people paste them into the Dev Tools of Kibana or OpenSearch Dashboards


def request(method: str, path: str, body: Json, *comments: str) -> str:
    """Return a request below its comments; texts of several lines stand between triple quotes."""
    # Only ASCII, which no clipboard and no editor changes.
    written = _PART.sub(_shortened, json.dumps(body, indent=2))
    return "\n".join([*(f"# {each}" for each in comments), f"{method} {path.removeprefix('/')}", written, ""])


def script_request(script: StoredScript) -> str:
    """Return the request that stores a script or a search template, below its purpose and its parameters."""
    use = f"{script.use[0].upper()}{script.use[1:]}. Parameters: {', '.join(script.parameters)}"
    optional = f"; optional: {', '.join(script.optional)}" if script.optional else ""
    return request("PUT", script.path, script.body, f"{use}{optional}.")


def _shortened(found: re.Match[str]) -> str:
    """Write a list on one line, and a text of several lines as it is."""
    if found[0].startswith("["):
        return re.sub(r"\n\s*", "", re.sub(r",\n\s*", ", ", found[0]))
    text: str = json.loads(found[0])
    return f'"""{text}"""' if "\n" in text else found[0]
