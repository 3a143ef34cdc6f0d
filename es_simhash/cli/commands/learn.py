"""``es-simhash learn``: how rare features are, in an index or in files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import Files, input_options, output_file
from es_simhash.cli.options.index import scheme_option, scheme_or_default, texts_option
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import FINE, Output, after, show_learnt

if TYPE_CHECKING:
    from es_simhash.scheme.scheme import Scheme


@click.command(name="learn", cls=EngineVerb)
@partial(input_options, metavar="INDEX|FILE...")
@texts_option
@scheme_option
@output_file("--output", "-o", "rarity_file", help="Learn from files, and write the rarity table to this file.")
def command(
    files: Files,
    fields: tuple[str, ...],
    scheme: str | None,
    prefix: str,
    rarity_file: str | None,
    target: Target,
    output: Output,
) -> int:
    """Learn which phrases are common in INDEX: they then count less when its texts are compared.

    With --output, learn from FILEs (- is standard input), for --rarity of dedup, evaluate and explain. The same texts
    give the same result. Before the first learning, built-in values are used.

    Example: es-simhash learn news.jsonl --field body --output rarity.json
    """
    if rarity_file:
        return _learn_from_files(files, fields, scheme_or_default(scheme), rarity_file, output)
    if fields or scheme:
        raise click.UsageError("An index has its own settings and fields. Drop --scheme and --field, or add --output.")
    if len(files.paths) > 1:
        raise click.UsageError("Name one index; or give --output, the file to write, to learn from files.")
    with target.index(output, files.paths[0], prefix=prefix) as index:
        _check_scheme(index.scheme)
        learnt = index.learn()
    show_learnt(output, learnt)
    output.result(learnt)
    return FINE


def _learn_from_files(files: Files, fields: tuple[str, ...], scheme: Scheme, path: str, output: Output) -> int:
    from es_simhash.cli.jobs.files import NamedFields, read_texts, write_rarity
    from es_simhash.groups.of_texts import learn
    from es_simhash.live.learning import now
    from es_simhash.scheme.learnt_rarity import LearntRarity

    _check_scheme(scheme)
    named = NamedFields(fields)
    with files.opened(output, "Reading") as (found, rejects, advance):

        def texts() -> Iterator[str]:
            for _, text in named.checked(read_texts(found, fields, rejects, named)):
                yield text
                advance(named.count, rejects.count)

        learnt = LearntRarity(learn(scheme, texts()), now(), named.count)
    write_rarity(path, learnt, scheme)
    output.warn(named.warning)
    show_learnt(output, learnt, path)
    output.result(learnt)
    return after(rejects.count, rejects.may_pass)


def _check_scheme(scheme: Scheme) -> None:
    from es_simhash.scheme.verifier import is_by_rarity

    if not is_by_rarity(scheme, scheme.verification):
        raise click.UsageError("This scheme compares texts without a rarity table, so learning has no effect.")
