"""``es-simhash mapping``: what an index must be told."""

from __future__ import annotations

import json

import click

from es_simhash.cli.options.index import field_options, scheme_named, scheme_option
from es_simhash.cli.options.shared import Verb
from es_simhash.cli.show.output import Output


@click.command(name="mapping", cls=Verb)
@scheme_option
@field_options
@click.option("--template", is_flag=True, help="As a component template, for PUT _component_template/NAME.")
def command(scheme: str | None, fields: tuple[str, ...], prefix: str, template: bool, output: Output) -> None:
    """Print the mapping of a scheme's fields, for PUT INDEX/_mapping.

    Example: es-simhash mapping --scheme short --field title
    """
    from es_simhash.scheme.mapping import component_template
    from es_simhash.scheme.scheme import Scheme

    chosen = scheme_named(scheme) or Scheme.preset("default")
    mapping = chosen.mapping(prefix, fields)
    form = component_template(mapping, f"es_simhash, scheme {chosen.name}") if template else mapping
    output.result(form)
    output.line(json.dumps(form, ensure_ascii=False, indent=2))
