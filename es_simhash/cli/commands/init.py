"""``es-simhash init``: add the fingerprint fields to an index."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.humanize import counted, json_text
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import json_object_in
from es_simhash.cli.options.index import dry_run_option, index_argument, index_options, policy_options
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output, saying_if_interrupted

if TYPE_CHECKING:
    from es_simhash.index import Index
    from es_simhash.plans.init import Initialised
    from es_simhash.scheme.scheme import Scheme
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
@click.option("--template", is_flag=True, help="Print the fields as a component template, and change nothing.")
@dry_run_option
def command(
    index: str,
    known: dict[str, Any],
    create: str | None,
    scope: Scope | None,
    no_scope: bool,
    groups: WhenGrouped | None,
    template: bool,
    dry_run: bool,
    target: Target,
    output: Output,
) -> None:
    """Add the fingerprint fields to the mapping of INDEX, or create INDEX.

    An existing mapping only grows: nothing else of it changes, and documents stay as they are. --within, --across,
    --window and --groups are kept there, and every command follows them.

    Example: es-simhash init articles --field title --field body
    """
    from es_simhash.engines.base import run
    from es_simhash.plans.text_fields import readable, refuse_absent

    if template:
        _show_template(output, **known)
        return
    body = json_object_in(create) if create else None
    unsure = "Nothing was changed." if dry_run else f"{index} may have the fields already. Run the command again."
    with target.index(output, index, **known) as opened, saying_if_interrupted(lambda: unsure):
        if known["fields"]:
            run(refuse_absent(run(readable(index), opened.engine), known["fields"]), opened.engine)
        done = opened.init(create=body, dry_run=dry_run, policy=_policy(opened, scope, no_scope, groups))
    _show(output, index, known["prefix"], done, dry_run)


def _show_template(output: Output, scheme: Scheme | None, fields: tuple[str, ...] | None, prefix: str) -> None:
    from es_simhash.scheme.mapping import component_template
    from es_simhash.scheme.scheme import Scheme

    scheme = scheme or Scheme.preset("default")
    form = component_template(scheme.mapping(prefix, fields or ()), f"es_simhash, scheme {scheme.name}")
    output.result(form)
    output.line(json_text(form, indent=2))


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


def _show(output: Output, index: str, prefix: str, done: Initialised, dry_run: bool) -> None:
    output.result(done, {"dry_run": dry_run})
    would, say = ("would be ", output.line) if dry_run else ("", output.report)
    for name, added in done.added.items():
        fields = counted(len(added), "field")
        if done.created:
            say(f"{name}: {would}created, with {fields} for fingerprints")
        elif added:
            say(f"{name}: {fields} for fingerprints {would}added")
        elif name in done.bodies:
            say(f"{name}: already has all fields; settings {would}updated")
        else:
            say(f"{name}: already has all fields")
        if added:
            output.detail(f"The fields of {name}: {', '.join(added)}.")
    if not dry_run:
        output.next_step(*(("load", index, "FILE") if done.created else ("backfill", index)), prefix=prefix)
    if dry_run:
        for name, body in done.bodies.items():
            output.line(f"PUT {name}" + ("" if done.created else "/_mapping"))
            output.line(json_text(body, indent=2))
