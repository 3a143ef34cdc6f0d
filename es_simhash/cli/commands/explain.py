"""``es-simhash explain``: why two documents, or two texts, are near-duplicates or not."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import click

from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import documents_in, is_named_like_a_file, rarity_option, report_option, text_in
from es_simhash.cli.options.index import near_options, scheme_option, scheme_or_default
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.explanation import show
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.plans.explanation import Explanation
    from es_simhash.scheme.scheme import Scheme

_PAIR = 2
_SHOWN = 3


@click.command(name="explain", cls=EngineVerb)
@click.argument("index", required=False, metavar="[INDEX|FILE]")
@click.argument("ids", nargs=-1, metavar="[A B]")
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="File with one of the texts; - for standard input.",
)
@click.option("--text", "texts", multiple=True, help="One of the texts.")
@scheme_option
@near_options
@rarity_option
@report_option
def command(
    index: str | None,
    ids: tuple[str, ...],
    files: tuple[str, ...],
    texts: tuple[str, ...],
    scheme: str | None,
    rarity_file: str | None,
    report_file: str | None,
    prefix: str,
    target: Target,
    output: Output,
    **criteria: Any,
) -> None:
    """Explain why the documents with the ids A and B, of INDEX or FILE, are near-duplicates or not.

    The text fields of FILE are guessed, as by try. Without INDEX or FILE, compare two texts: give two of --file and
    --text. Of one text, show the fingerprint, and the keys by which an index finds it.

    Example: es-simhash explain articles 42 43 --report why.html
    """
    file = index if index and is_named_like_a_file(index) else None
    index = None if file else index
    if index and scheme:
        raise click.UsageError("An index has its own scheme. Drop --scheme, or give two texts.")
    if index and rarity_file:
        raise click.UsageError("An index has its own rarity table. Drop --rarity, or give two texts.")
    given = len(files) + len(texts)
    if index is None and given == 1 and not file:
        if rarity_file or report_file or any(value is not None for value in criteria.values()):
            raise click.UsageError("One text is compared with nothing. Give another, or only --scheme with this one.")
        _show_fingerprint(output, scheme_or_default(scheme), _given_texts(files, texts)[0][1])
        return
    if index and len(ids) == _PAIR and not given:
        with target.opened(output) as engine:
            explanation = _of_documents(index, engine, ids, prefix, criteria)
    elif file and len(ids) == _PAIR and not given:
        explanation = _of_texts(_in_file(file, ids, output), scheme_or_default(scheme), rarity_file, criteria)
    elif index is None and given == _PAIR and not file:
        explanation = _of_texts(_given_texts(files, texts), scheme_or_default(scheme), rarity_file, criteria)
    else:
        raise click.UsageError(
            "Give an index or a file and two ids, such as news.csv 42 43; or one or two texts, such as --file a.txt "
            "--file b.txt."
        )
    if report_file:
        _write_report(report_file, explanation)
        output.note(f"The report is in {report_file}.")
    show(output, explanation)


def _show_fingerprint(output: Output, scheme: Scheme, text: str) -> None:
    """Show what is stored of a text."""
    from es_simhash.scheme import own_fields

    [batch] = scheme.fingerprint_batches([text])
    [stored] = own_fields.write(scheme, scheme.id, [text], batch)
    output.result(stored)
    output.table(["field", "value"], list(stored.items()))


def _of_documents(index: str, engine: Any, ids: tuple[str, ...], prefix: str, criteria: dict[str, Any]) -> Explanation:
    from es_simhash.index import Index

    first, second = ids
    return Index(index, engine, prefix=prefix).explain(first, second, **criteria)


def _of_texts(
    texts: list[tuple[str, str]], scheme: Scheme, rarity_file: str | None, criteria: dict[str, Any]
) -> Explanation:
    from es_simhash.cli.jobs.files import rarity_in
    from es_simhash.plans.explanation import examine, explain
    from es_simhash.plans.find_options import FindOptions
    from es_simhash.scheme.verifier import Verifier, table_for

    first, second = (examine(scheme, name, text) for name, text in texts)
    wanted = FindOptions(**criteria).criteria(scheme)
    table = table_for(scheme, wanted.verification, rarity_in(rarity_file, scheme))
    verifier = Verifier(scheme, wanted.verification, table) if wanted.verification else None
    return explain(scheme, wanted, (first, second), verifier=verifier)


def _given_texts(files: tuple[str, ...], texts: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the name and the text of each."""
    if files.count("-") > 1:
        raise click.UsageError("Standard input is one text. Name a file for the other.")
    given = [(f"text {number}", text) for number, text in enumerate(texts, 1)]
    return [*((path, text_in(path)) for path in files), *given]


def _in_file(path: str, ids: tuple[str, ...], output: Output) -> list[tuple[str, str]]:
    """Return the ids and texts of documents, with ids as dedup writes them: ID, or FILE:LINE:ID."""
    from es_simhash.documents.guess import SAMPLE, guess

    found = documents_in(path, output)
    sample = list(islice(found, SAMPLE))
    fields = guess(each.document for each in sample).texts
    texts: dict[str, str] = {}
    for each in chain(sample, found):
        for name in {*ids}.intersection((each.id, f"{each.file}:{each.line}:{each.id}")) - texts.keys():
            texts[name] = each.text_of(fields)
        if len(texts) == len({*ids}):
            break
    if missing := [name for name in ids if name not in texts]:
        first = ", ".join(each.id for each in sample[:_SHOWN])
        raise click.UsageError(f"{path} has no document with the id {missing[0]!r}. Its first ids are: {first}.")
    if fields:
        output.note(f"Text: {', '.join(fields)}.")
    return [(name, texts[name]) for name in ids]


def _write_report(path: str, explanation: Explanation) -> None:
    from es_simhash.cli.reports.explanation_page import explanation_page
    from es_simhash.documents.files.output import whole_file

    with whole_file(path) as out:
        out.write(explanation_page(explanation))
