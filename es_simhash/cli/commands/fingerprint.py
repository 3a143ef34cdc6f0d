"""``es-simhash fingerprint``: the fingerprint of a text."""

from __future__ import annotations

import click

from es_simhash.cli.options.connection import Verb
from es_simhash.cli.options.files import text_file_option, text_in
from es_simhash.cli.options.index import scheme_option, scheme_or_default
from es_simhash.cli.show.output import Output


@click.command(name="fingerprint", cls=Verb)
@click.argument("text", required=False)
@text_file_option
@scheme_option
def command(text: str | None, file: str | None, scheme: str | None, output: Output) -> None:
    """Show the fingerprint of TEXT, and the keys by which an index finds it.

    Example: es-simhash fingerprint "The quick brown fox jumps over the lazy dog"
    """
    from es_simhash.scheme import own_fields

    if (text is None) == (file is None):
        raise click.UsageError("Give the text, or --file.")
    if file is not None:
        text = text_in(file)
    chosen = scheme_or_default(scheme)
    texts = [text or ""]
    [batch] = chosen.fingerprint_batches(texts)
    [stored] = own_fields.write(chosen, chosen.id, texts, batch)
    output.result(stored)
    output.table(["field", "value"], list(stored.items()))
