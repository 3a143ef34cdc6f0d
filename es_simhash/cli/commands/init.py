"""``es-simhash init``: add the fingerprint fields to an index."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.harmless import json_text
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import json_object_in
from es_simhash.cli.options.index import index_argument, index_options
from es_simhash.cli.options.run import dry_run_option
from es_simhash.cli.options.scope import policy_options
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.exits import saying_if_interrupted
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.index import Index
    from es_simhash.plans.init import Initialised
    from es_simhash.scheme.scope import Policy, Scope, WhenGrouped


@click.command(name="init", cls=EngineVerb)
@index_argument
@index_options
@click.option(
    "--create",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Create the index with the settings and mappings in this JSON file.",
)
@policy_options
@dry_run_option
def command(
    index: str,
    known: dict[str, Any],
    create: str | None,
    scope: Scope | None,
    no_scope: bool,
    groups: WhenGrouped | None,
    dry_run: bool,
    target: Target,
    output: Output,
) -> None:
    """Add the fingerprint fields to the mapping of INDEX, or create INDEX.

    An existing mapping only grows: nothing else of it changes, and documents stay as they are. --within, --across,
    --window and --groups are kept there, and every command follows them.

    Example: es-simhash init articles --field title --field body
    """
    from es_simhash.index import Index

    body = json_object_in(create) if create else None
    unsure = "Nothing was changed." if dry_run else f"{index} may have the fields already. Run the command again."
    with target.opened(output) as engine, saying_if_interrupted(lambda: unsure):
        opened = Index(index, engine, **known)
        done = opened.init(create=body, dry_run=dry_run, policy=_policy(opened, scope, no_scope, groups))
    _show(output, done, dry_run)


def _policy(opened: Index, scope: Scope | None, no_scope: bool, groups: WhenGrouped | None) -> Policy | None:
    """Return the policy of the index with what the options change; None if they change nothing."""
    from es_simhash.errors import MappingError, MissingError
    from es_simhash.scheme.scope import Policy

    if scope and no_scope:
        raise click.UsageError("Give a scope, or --no-scope.")
    if not scope and not no_scope and groups is None:
        return None
    policy = Policy()
    with suppress(MappingError, MissingError):
        policy = opened.documents.policy
    return Policy(None if no_scope else scope or policy.scope, groups or policy.groups)


def _show(output: Output, done: Initialised, dry_run: bool) -> None:
    output.result(done, {"dry_run": dry_run})
    would, say = ("would be ", output.line) if dry_run else ("", output.report)
    for name, added in done.added.items():
        if done.created:
            say(f"{name}: {would}made, with {', '.join(added)}")
        elif added:
            say(f"{name}: {would}given {', '.join(added)}")
        elif name in done.bodies:
            say(f"{name}: has all fields already; its scheme and policy {would}noted anew")
        else:
            say(f"{name}: has all fields already")
    if dry_run:
        for name, body in done.bodies.items():
            output.line(f"PUT {name}" + ("" if done.created else "/_mapping"))
            output.line(json_text(body, indent=2))
