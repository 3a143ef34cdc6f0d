"""``es-simhash dedup``: the groups of near-duplicates in files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from es_simhash.cli.options.connection import Verb
from es_simhash.cli.options.files import Files, input_options, output_file, rarity_option
from es_simhash.cli.options.group import check_outputs, group_options, groups_file_options
from es_simhash.cli.options.index import scheme_option, scheme_or_default, texts_option
from es_simhash.cli.options.metrics import metrics_options
from es_simhash.cli.process import take_little_memory
from es_simhash.cli.show.exits import after, saying_if_interrupted
from es_simhash.cli.show.groups import show_deduplicated
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.cli.jobs.file_ids import FileIds
    from es_simhash.documents.files import FileDocument
    from es_simhash.groups.pairs.result import Duplicates
    from es_simhash.scheme.scope import Scope


@click.command(name="dedup", cls=Verb)
@input_options
@texts_option
@scheme_option
@group_options("in the files")
@click.option(
    "--threads",
    type=click.IntRange(1),
    metavar="N",
    help="Number of threads.  [default: all cores]",
)
@rarity_option
@click.option(
    "--state", type=click.Path(file_okay=False), help="Keep each stage in this directory, to resume a stopped run."
)
@groups_file_options
@metrics_options
@output_file("--canonical-only", "canonical_file", help="Write the documents without their duplicates to this file.")
def command(
    files: Files,
    fields: tuple[str, ...],
    scheme: str | None,
    output: Output,
    memory: int,
    threads: int | None,
    rarity_file: str | None,
    canonical: str,
    strip: tuple[str, ...],
    groups_file: str | None,
    pairs_file: str | None,
    output_format: str,
    canonical_file: str | None,
    report_file: str | None,
    date_field: str | None,
    scope: Scope | None,
    **criteria: Any,
) -> int:
    """Find the groups of near-duplicates in FILEs (- is standard input), without an index.

    Print a line for each group: the canonical document, and its duplicates. Pairs and documents are written as JSON
    lines.

    Example: es-simhash dedup news.jsonl more.csv.gz --field body --canonical-only unique.jsonl
    """
    from es_simhash.cli.jobs.file_ids import FileIds
    from es_simhash.cli.jobs.file_texts import NamedFields, read_texts
    from es_simhash.cli.jobs.rarity_file import rarity_in
    from es_simhash.documents.files import whole_file
    from es_simhash.documents.sources import patterns
    from es_simhash.groups.pairs.deduplicator import Deduplicator

    named = {
        "--output": groups_file,
        "--canonical-only": canonical_file,
        "--pairs": pairs_file,
        "--report": report_file,
    }
    check_outputs(named, date_field, scope, output_format, output.as_json)
    _check_files(files, named)
    ids = FileIds(files.paths)
    noted, stripped = _Noted(canonical, fields, date_field), patterns(strip)
    chosen, wanted = scheme_or_default(scheme), NamedFields(fields, scope, noted.canonical, date_field)
    rarity = rarity_in(rarity_file, chosen)
    deduplicator = Deduplicator(chosen, rarity=rarity, memory=memory, threads=threads, scope=scope, **criteria)
    if rarity_file and not deduplicator.weighs_rarity:
        raise click.UsageError("These criteria do not ask how rare features are. Leave --rarity out.")
    take_little_memory()
    printed = "" if groups_file else " What is printed above may not be all."
    with ExitStack() as stack:
        stack.enter_context(saying_if_interrupted(lambda: f"No output files were written.{printed}"))
        # They are opened first, so that hours of work are not in vain; and the input may be one of them.
        out = {option: stack.enter_context(whole_file(path)) for option, path in named.items() if path}
        with files.opened(output, "Reading") as (found, rejects, advance):
            read = noted.noting(read_texts(found, fields, rejects, wanted, stripped))
            documents = ((each.key, text, each.document) if scope else (each.key, text) for each, text in read)

            def on_progress(done: int) -> None:
                output.run.count({"read": done, "rejected": rejects.count})
                advance(done, rejects.count)

            duplicates = stack.enter_context(deduplicator.run(wanted.checked(documents), on_progress, noted.rank))
        output.warn(wanted.warning)
        output.warn(ids.choose(duplicates))
        duplicates.written = ids.written
        _write(duplicates, files, fields, output_format, out, ids)
        _ = duplicates.forms  # while the texts are there
        if report_out := out.get("--report"):
            from es_simhash.cli.jobs.dedup_report import report_on_files, setup_for

            setup = setup_for(", ".join(files.paths), deduplicator, chosen, fields, canonical, strip, date_field)
            report_out.write(report_on_files(duplicates, map(ids.named, files.read(_forget)), setup, noted.dates))
    show_deduplicated(output, duplicates, deduplicator.criteria, wanted.without_text, ids.form)
    return after(rejects.count, rejects.may_pass)


def _write(
    duplicates: Duplicates,
    files: Files,
    fields: tuple[str, ...],
    output_format: str,
    out: Mapping[str, IO[str]],
    ids: FileIds,
) -> None:
    from es_simhash.cli.jobs.dedup_output import write_canonical, write_groups, write_pairs
    from es_simhash.cli.jobs.file_texts import read_texts

    write_groups(duplicates, output_format, out.get("--output", sys.stdout))
    if pairs_out := out.get("--pairs"):
        write_pairs(duplicates, pairs_out)
    if canonical_out := out.get("--canonical-only"):
        again = read_texts(map(ids.named, files.read(_forget)), fields, _forget)
        write_canonical(again, duplicates, canonical_out)


class _Noted:
    """The values of documents that ``--canonical`` and ``--date`` need, noted while documents are read."""

    def __init__(self, canonical: str, fields: tuple[str, ...], date_field: str | None) -> None:
        from es_simhash.groups.canonical import canonical_named

        self.canonical = canonical_named(canonical, fields)
        if canonical == "longest" and not fields:
            raise click.UsageError("The longest text is that of certain fields. Name them with --field.")
        self._ranks: list[Any] = []
        self._date_field = date_field
        self.dates: list[Any] = []

    @property
    def rank(self) -> Callable[[int], Any] | None:
        """The sort key of a document by its position; None for the order of the files."""
        return self._ranks.__getitem__ if self.canonical.fields else None

    def noting(self, found: Iterable[tuple[FileDocument, str]]) -> Iterator[tuple[FileDocument, str]]:
        """Yield the same documents, and note their values."""
        from es_simhash._core.json_paths import values_at

        for each, text in found:
            if self.canonical.fields:
                self._ranks.append(self.canonical.rank(dict(each.document)))
            if self._date_field:
                self.dates.append(next(values_at(each.document, self._date_field), None))
            yield each, text


def _check_files(files: Files, named: dict[str, str | None]) -> None:
    again = " and ".join(name for name in ("--canonical-only", "--report") if named[name])
    if again and any(path == "-" or Path(path).is_fifo() for path in files.paths):
        raise click.UsageError(
            f"{again} would read the files once more, which standard input and pipes cannot be. Give files."
        )
    for first, second in combinations(named, 2):
        if named[first] and named[first] == named[second]:
            raise click.UsageError(f"{first} and {second} are the same file. Name two.")


def _forget(_: object) -> None:
    """Ignore a rejection that has been reported before."""
