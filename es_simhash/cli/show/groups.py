"""The summary of ``dedup`` and ``group``: groups, groups that look like forms, and what would be lost."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import IO, TYPE_CHECKING

import click

from es_simhash._core.humanize import counted, shortened
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import as_json, cell
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from pathlib import Path

    from es_simhash.cli.jobs.groups import Link, MemberFields
    from es_simhash.documents.sources import WithoutText
    from es_simhash.groups.corpus import Corpus
    from es_simhash.groups.groups import Counts, Groups
    from es_simhash.groups.losses import Alarm, Losses
    from es_simhash.groups.of_index.writing import GroupsWritten
    from es_simhash.groups.options import GroupOptions
    from es_simhash.scheme.query import Criteria


_REASONS = 10
_KEYS = 3
_LARGEST = 20


def how_to_resume(state: str | Path | None) -> str:
    """Return what to say to people who interrupted a run."""
    return "Run the same command again to resume." if state else "To resume interrupted runs, add --state DIRECTORY."


def show_groups(
    output: Output,
    groups: Groups[Corpus],
    *,
    ids: str,
    losses: Losses | None = None,
    written: GroupsWritten | None = None,
    without_text: WithoutText | None = None,
) -> None:
    """Print what was found, and written; ``ids`` is the form in which documents are named."""
    counts, corpus = groups.counts, groups.corpus
    table = groups.rarity.id if groups.rarity else None
    for index, reason in corpus.unread.items():
        output.warn(f"Left out: the index {index!r} {reason}.")
    if undated := corpus.undated_note:
        output.warn(f"Warning: {undated}")
    if corpus.options.shard:
        output.note(f"{counted(counts.documents, 'document')} read. When all parts are read, group without --part.")
    else:
        output.note(_summary(counts))
        _show_details(output, groups, table)
    if without_text and without_text.count:
        output.note(f"{without_text.sentence} They are in no group.")
    for note in replace(counts, empty=0).notes if without_text else counts.notes:
        output.note(note)
    hot = _hot_keys(groups)
    for key in hot[:_KEYS]:
        output.note(f"{key['documents']:,} documents share text with {key['id']!r}: often a footer, or a template.")
        output.detail(f"They share {key['key']}.")
    show_valley(output, natural_threshold(counts, corpus.options, groups.criteria, is_asked=output.is_verbose))
    if said := forms_sentences(groups.forms, groups.criteria):
        output.note(said)
    if written:
        _show_written(output, written, is_part=corpus.options.filter is not None)
    numbers = {"decided_by": groups.criteria.decided_by, "table": table, "ids": ids, "forms": groups.forms}
    known = {"hot_keys": hot, "unread": corpus.unread, "losses": losses, "written": written}
    output.result({"summary": {**as_json(counts), **numbers, **known}})


def print_groups(
    output: Output,
    groups: Groups[Corpus],
    path: str | None,
    file: IO[str] | None,
    link: Link | None = None,
    asked: MemberFields | None = None,
) -> None:
    """Write the groups to a file or to standard output; on a terminal, print a table of the largest ones."""
    from es_simhash.cli.jobs.groups import format_of, write_groups

    if file or output.as_json or not sys.stdout.isatty():
        write_groups(groups, format_of(path), file or sys.stdout, link, asked)
    elif asked:
        _print_members(output, groups, asked)
    else:
        _print_largest(output, groups)


def _print_members(output: Output, groups: Groups[Corpus], asked: MemberFields) -> None:
    """Print the members of the largest groups with the fields asked for."""
    from es_simhash.cli.jobs.groups import member_rows

    rows = islice(member_rows(groups, ["id", "similarity"], asked), _LARGEST)
    output.table(["group", "id", "similarity", *asked.fields], [[*map(shortened, map(cell, row))] for row in rows])
    output.note("--output FILE writes all members.")


def _print_largest(output: Output, groups: Groups[Corpus]) -> None:
    shown = groups.shown()
    output.table(shown.columns, list(islice(shown.rows, _LARGEST)))
    more = len(groups) - _LARGEST
    if more > 0:
        output.note(f"and {counted(more, 'group')} more: --output FILE writes all of them.")


def _hot_keys(groups: Groups[Corpus]) -> list[Json]:
    names = groups.corpus.named([key.position for key in groups.hot_keys])
    return [
        {"key": key.name, "documents": key.documents, "id": name}
        for key, name in zip(groups.hot_keys, names, strict=True)
    ]


def show_valley(output: Output, valley: float | None) -> None:
    """Print a natural threshold, at a valley of the similarities, if the texts have one."""
    if valley is not None:
        output.note(f"{valley_sentence(valley)} To use it: --similarity {valley:g}")


def natural_threshold(
    counts: Counts, options: GroupOptions, criteria: Criteria, *, is_asked: bool = False
) -> float | None:
    """Return the natural threshold to suggest, if any: none to people who named one, and a lower one only if asked."""
    if options.similarity is not None or counts.valley is None:
        return None
    is_above = criteria.similarity is not None and counts.valley > criteria.similarity
    return counts.valley if is_above or is_asked else None


def valley_sentence(valley: float) -> str:
    """Return what to say of a valley of the similarities."""
    return f"Few pairs are about {valley:g} similar, so {valley:g} is a natural threshold here."


def were_written(documents: int) -> str:
    """Return a sentence with the number of documents."""
    return f"{counted(documents, 'document was', 'documents were')} written."


def _show_written(output: Output, written: GroupsWritten, *, is_part: bool) -> None:
    from es_simhash.groups.of_index.writing import changes_in_words

    output.note(were_written(written.written))
    for change in changes_in_words(written.options, written.changed_options):
        output.note(change)
    if written.changed_options and is_part:
        output.note("Only what the filter matches is grouped so. The next sync groups all documents as before.")
    if written.lost:
        output.note(f"{written.lost:,} were changed or deleted in the meantime, and are in no group.")
    for rejected in written.rejected[:_REASONS]:
        output.warn(rejected.reason)


def _show_details(output: Output, groups: Groups[Corpus], table: str | None) -> None:
    """Show which pairs were found, and what decided: fingerprints, or texts weighted by a table of rarity."""
    counts = groups.counts
    output.detail(f"{counted(counts.identical, 'pair')} of equal texts, {counts.near:,} of similar texts.")
    if groups.criteria.is_estimate:
        output.note("Similarities are estimates, based on fingerprints alone.")
    elif table:
        output.detail(f"The rarity table {table} weights the texts.")


def _summary(counts: Counts) -> str:
    if not counts.documents:
        return "No documents to group."
    found = counted(counts.documents, "document")
    if not counts.groups:
        return f"{found}, no near-duplicates."
    return f"{found}, {counted(counts.groups, 'group')}, {counted(counts.duplicates, 'duplicate')}."


_EXAMPLES = 3


def forms_sentences(forms: Sequence[str], criteria: Criteria) -> str:
    """Return what to say of groups that look like forms, by the ids of their first documents; empty if there are none.

    ``--numbers`` is named unless it is on.
    """
    if not forms:
        return ""
    named = ", ".join(map(repr, forms[:_EXAMPLES]))
    if len(forms) == 1:
        look, check = f"The group of document {named} looks like a form: its", "Check it"
    else:
        such = "those" if len(forms) <= _EXAMPLES else "such as those"
        look, check = f"{len(forms):,} groups look like forms, {such} of documents {named}: their", "Check one"
    said = f"{look} documents differ in the same places. {check} before you delete duplicates."
    if criteria.verification and criteria.verification.numbers:
        return said
    return f"{said} With --numbers 0.5, documents with different numbers are not duplicates."


_MOST = 5


def show_alarms(output: Output, alarms: Sequence[Alarm], of: str = "") -> None:
    """Print some alarms, each after what it is ``of``."""
    for alarm in alarms[:_MOST]:
        output.warn(f"{of}{alarm.sentence}")
    if len(alarms) > _MOST:
        output.warn(f"{len(alarms) - _MOST:,} more like this: --json shows all.")


def show_losses(output: Output, losses: Losses | None, most: float | None, *, with_total: bool) -> None:
    """Print alarms; stop before anything is written if more than the share ``most`` would go."""
    if losses is None:
        return
    from es_simhash.groups.loss_counts import percent

    if with_total and losses.duplicates:
        output.note(losses.sentence)
    show_alarms(output, losses.alarms)
    if most is not None and (found := losses.over(most)):
        of, loss = found
        raise click.ClickException(
            f"{percent(loss.share)} of {of} would go ({loss.duplicates:,} of {loss.documents:,}), more than --max-loss "
            f"{percent(most)}. Nothing was written. Look at these duplicates, or allow more."
        )
