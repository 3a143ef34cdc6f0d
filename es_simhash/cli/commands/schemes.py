"""``es-simhash schemes``: the presets, and the mapping of a scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.harmless import json_text
from es_simhash.cli.options.connection import INDEX, Verb
from es_simhash.cli.options.index import field_option, read_scheme
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.cli.show.trade_offs import TradeOffs

_LEGEND = """\
sure: SimHashes that differ in at most this many bits are always found.
near: the default minimum of the Jaccard similarity J.
J=: the share of pairs with this similarity that is found; below "near", comparing them is wasted time.
keys: the number of keys of a document in the index, and of look-ups of a query.
bytes: what the fields add to a document's JSON; keys of passages add about 0.8 bytes a word.
docs/benchmarks.md has what they add to an index."""


@click.command(name="schemes", cls=Verb, more=INDEX)
@click.option(
    "--mapping", "scheme", metavar="PRESET|FILE", help="Print the mapping of this scheme, for PUT INDEX/_mapping."
)
@field_option
@click.option("--template", is_flag=True, help="Print a component template, for PUT _component_template/NAME.")
def command(scheme: str | None, fields: tuple[str, ...], prefix: str, template: bool, output: Output) -> None:
    """List the presets with their use, recall and cost, or print the mapping of a scheme.

    --field, --prefix and --template are for --mapping.

    Example: es-simhash schemes --mapping short --field title
    """
    if scheme is not None:
        _show_mapping(output, scheme, fields, prefix, template)
    elif fields or template:
        raise click.UsageError("--field and --template are for a mapping. Add --mapping, or drop them.")
    else:
        _show_presets(output)


def _show_mapping(output: Output, name: str, fields: tuple[str, ...], prefix: str, template: bool) -> None:
    from es_simhash.scheme.mapping import component_template

    scheme = read_scheme(name, "--mapping")
    mapping = scheme.mapping(prefix, fields)
    form = component_template(mapping, f"es_simhash, scheme {scheme.name}") if template else mapping
    output.result(form)
    output.line(json_text(form, indent=2))


def _show_presets(output: Output) -> None:
    from es_simhash.cli.show.trade_offs import SIMILARITIES, trade_offs
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.settings import PRESETS

    uses, numbers = [], []
    for name, preset in PRESETS.items():
        scheme = Scheme.preset(name)
        found = trade_offs(scheme)
        output.result({"name": name, "id": scheme.id, "use": preset.use}, found)
        uses.append([name, scheme.id, preset.use])
        numbers.append([name, *_cells(found)])
    output.table(["preset", "id", "use"], uses)
    output.line()
    output.table(["preset", "sure", "near", *(f"J={each}" for each in SIMILARITIES), "keys", "bytes"], numbers)
    output.line(_LEGEND)


def _cells(found: TradeOffs) -> list[Any]:
    from es_simhash.cli.show.trade_offs import SIMILARITIES

    sure = None if found.distance is None else f"{found.distance} bits"
    near = None if found.similarity is None else str(found.similarity)
    shares: list[Any] = [f"{share:.1%}" for share in found.recall.values()] or [None] * len(SIMILARITIES)
    return [sure, near, *shares, found.keys, found.json_bytes]
