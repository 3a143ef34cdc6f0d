"""``es-simhash dedup``: the groups of near-duplicates in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from es_simhash.cli.options.connection import METRICS, Verb
from es_simhash.cli.options.files import Files, input_options, output_file, rarity_option
from es_simhash.cli.options.index import (
    check_outputs,
    decisions_option,
    group_options,
    groups_file_options,
    loss_options,
    scheme_option,
    scheme_or_default,
    state_option,
    texts_option,
)
from es_simhash.cli.process import take_little_memory
from es_simhash.cli.show.groups import how_to_resume, print_groups, show_groups, show_losses
from es_simhash.cli.show.output import Output, after, saying_if_interrupted

if TYPE_CHECKING:
    from es_simhash.cli.jobs.files import FileIds
    from es_simhash.documents.files import FileDocument
    from es_simhash.groups.groups import Groups
    from es_simhash.groups.losses import Losses
    from es_simhash.groups.of_texts import TextCorpus
    from es_simhash.scheme.scope import Scope


@click.command(name="dedup", cls=Verb, more=METRICS)
@input_options
@texts_option
@scheme_option
@group_options("in the files")
@rarity_option
@decisions_option
@state_option
@groups_file_options
@output_file(
    "--canonical-only",
    "canonical_file",
    help="Write the documents without their duplicates to this file; as CSV or TSV if it is named so.",
)
@loss_options
def command(
    files: Files,
    fields: tuple[str, ...],
    scheme: str | None,
    output: Output,
    rarity_file: str | None,
    decisions_file: str | None,
    canonical: str,
    strip: tuple[str, ...],
    date_field: str | None,
    scope: Scope | None,
    shown: tuple[str, ...],
    per: str | None,
    max_loss: float | None,
    asked: dict[str, Any],
    **named_files: str | None,
) -> int:
    """Find all groups of near-duplicates in FILEs (- is standard input), without an index.

    Print a line of JSON for each group, or on a terminal a table of the largest ones. A group has several canonical
    documents if it is a chain of small changes: each comes before its own duplicates. To see what the documents say,
    add --source with their fields, or --report.

    Example: es-simhash dedup news.csv --field body --source title --output groups.csv --canonical-only unique.csv
    """
    from es_simhash.cli.jobs.files import FileIds, NamedFields, rarity_in, read_texts
    from es_simhash.cli.jobs.groups import NotedValues, delimiter_of
    from es_simhash.documents.files import whole_file
    from es_simhash.documents.sources import patterns
    from es_simhash.groups.canonical import canonical_named
    from es_simhash.groups.of_texts import group_texts
    from es_simhash.groups.options import GroupOptions

    named = {option: named_files[name] for option, name in _FILES.items()}
    check_outputs(named, date_field, scope)
    _check_files(files, named, shown)
    ids, chosen, dates = FileIds(files.paths), scheme_or_default(scheme), list[Any]()
    decisions_file = decisions_file or _decisions_next_to(files.paths)
    rarity, order = rarity_in(rarity_file, chosen), canonical_named(canonical, fields)
    options = GroupOptions(canonical=order, rarity=rarity, scope=scope, decisions=decisions_file or (), **asked)
    if rarity_file and not options.weighs_rarity(chosen):
        raise click.UsageError("These options compare texts without a rarity table. Leave --rarity out.")
    wanted = NamedFields(fields, scope, order, date_field, (*shown, *([per] if per else [])))
    asking = (named["--canonical-only"], named["--report"], per, max_loss is not None)
    noted = NotedValues(per, date_field, is_wanted=any(asking))
    take_little_memory()
    printed = "" if named["--output"] else " The output above may be incomplete."
    said = f"No output files were written.{printed} {how_to_resume(options.state)}"
    with saying_if_interrupted(lambda: said), ExitStack() as held, ExitStack() as stack:
        # They are opened first, so that hours of work are not lost; and the input may be one of them.
        out = {option: stack.enter_context(whole_file(path)) for option, path in named.items() if path}
        with files.opened(output, "Reading") as (found, rejects, advance):
            read = noted.noting(read_texts(found, fields, rejects, wanted, patterns(strip)))
            read = _noting(read, date_field, dates) if date_field else read
            read = _noting_names(read, files) if delimiter_of(named["--canonical-only"]) else read
            has_values = scope or order.fields
            documents = ((each.key, text, each.document) if has_values else (each.key, text) for each, text in read)

            def on_progress(done: int) -> None:
                output.run.count({"read": done, "rejected": rejects.count})
                advance(done, rejects.count)

            on_read = _naming(output, ids, lambda: wanted.warning)
            groups = held.enter_context(group_texts(wanted.checked(documents), chosen, options, on_progress, on_read))
        losses = noted.losses(groups)
        show_losses(output, losses, max_loss, with_total=bool(named["--canonical-only"]))
        _write(output, groups, files, fields, shown, named, out, ids)
        if report_out := out.get("--report"):
            report_out.write(_report(groups, files, fields, date_field, dates, losses))
        show_groups(output, groups, ids=ids.form, losses=losses, without_text=wanted.without_text)
        if len(groups) and not (named["--canonical-only"] or output.as_json):
            suffix = ".csv" if delimiter_of(files.paths[0]) else ".jsonl"
            output.note(f"To keep only canonical documents, add --canonical-only unique{suffix}.")
    return after(rejects.count, rejects.may_pass)


def _decisions_next_to(paths: Sequence[str]) -> str | None:
    """Return the file in which `show` keeps decisions on the documents of a file, if it is there."""
    from es_simhash.documents.files.decision_file import decisions_of

    return (
        next((there for there in map(decisions_of, paths) if Path(there).exists()), None) if len(paths) == 1 else None
    )


_FILES = {
    "--output": "groups_file",
    "--canonical-only": "canonical_file",
    "--pairs": "pairs_file",
    "--report": "report_file",
}


def _naming(output: Output, ids: FileIds, warning: Callable[[], str]) -> Callable[[TextCorpus], None]:
    """Return what chooses how documents are called as soon as all are read."""

    def on_read(corpus: TextCorpus) -> None:
        output.warn(warning())
        output.warn(ids.give(corpus))

    return on_read


def _write(
    output: Output,
    groups: Groups[TextCorpus],
    files: Files,
    fields: tuple[str, ...],
    shown: tuple[str, ...],
    named: Mapping[str, str | None],
    out: Mapping[str, IO[str]],
    ids: FileIds,
) -> None:
    from es_simhash.cli.jobs.files import read_texts
    from es_simhash.cli.jobs.groups import delimiter_of, format_of, write_canonical, write_pairs

    asked = None
    if shown:
        from es_simhash.cli.jobs.groups_report import fields_in_files

        asked = fields_in_files(groups, shown, _read_again(files, fields))
    print_groups(output, groups, named["--output"], out.get("--output"), asked=asked)
    if pairs_out := out.get("--pairs"):
        write_pairs(groups, format_of(named["--pairs"]), pairs_out)
    if canonical_out := out.get("--canonical-only"):
        again = read_texts(map(ids.named, files.read(_forget)), fields, _forget)
        write_canonical(groups, again, canonical_out, list(files.columns), delimiter_of(named["--canonical-only"]))


def _report(
    groups: Groups[TextCorpus],
    files: Files,
    fields: tuple[str, ...],
    date_field: str | None,
    dates: Sequence[Any],
    losses: Losses | None,
) -> str:
    from es_simhash.cli.jobs.groups_report import documents_in_files, duplicates_of, report_on

    return report_on(
        groups,
        ", ".join(files.paths),
        fields,
        scope=groups.corpus.options.scope,
        dates=(dates[place] for place in duplicates_of(groups)) if dates else (),
        date_field=date_field,
        fetch=documents_in_files(_read_again(files, fields), len(groups.corpus)),
        losses=losses,
    )


def _read_again(files: Files, fields: tuple[str, ...]) -> Iterator[FileDocument]:
    """Yield the documents that were grouped, in the same order."""
    from es_simhash.cli.jobs.files import read_texts

    return (each for each, _ in read_texts(files.read(_forget), fields, _forget))


def _noting(
    found: Iterable[tuple[FileDocument, str]], field: str, dates: list[Any]
) -> Iterator[tuple[FileDocument, str]]:
    """Yield the same documents, and note their dates."""
    from es_simhash._core.json_codec import values_at

    for each, text in found:
        dates.append(next(values_at(each.document, field), None))
        yield each, text


def _noting_names(found: Iterable[tuple[FileDocument, str]], files: Files) -> Iterator[tuple[FileDocument, str]]:
    """Yield the same documents, and note the names in them: the columns of a table where files have none."""
    for each, text in found:
        files.columns.update(dict.fromkeys(each.document))
        yield each, text


def _check_files(files: Files, named: dict[str, str | None], shown: tuple[str, ...]) -> None:
    again = " and ".join(name for name in ("--canonical-only", "--report", "--source") if named.get(name, shown))
    if again and any(path == "-" or Path(path).is_fifo() for path in files.paths):
        raise click.UsageError(
            f"{again} would read the files once more, which standard input and pipes cannot be. Give files."
        )
    for first, second in combinations(named, 2):
        if named[first] and named[first] == named[second]:
            raise click.UsageError(f"{first} and {second} are the same file. Name two.")


def _forget(_: object) -> None:
    """Ignore a rejection that has been reported before."""
