"""The summary of ``dedup`` and ``group``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import as_json
from es_simhash.cli.show.form_detection import forms_sentences
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.documents.sources import WithoutText
    from es_simhash.groups.corpus import Corpus
    from es_simhash.groups.groups import Counts, Groups
    from es_simhash.groups.of_index.writing import GroupsWritten
    from es_simhash.scheme.query import Criteria

_REASONS = 10
_KEYS = 3


def show_groups(
    output: Output,
    groups: Groups[Corpus],
    *,
    ids: str,
    written: GroupsWritten | None = None,
    without_text: WithoutText | None = None,
) -> None:
    """Print what was found, and written; ``ids`` is the form in which documents are named."""
    counts, corpus = groups.counts, groups.corpus
    table = groups.rarity.id if groups.rarity else None
    for index, reason in corpus.unread.items():
        output.warn(f"Left out: the index {index!r} {reason}.")
    if corpus.options.shard:
        output.note(f"{counted(counts.documents, 'document')} read. When the shards are read, group without --shard.")
    else:
        output.note(_summary(counts) if counts.documents else "There are no documents to group.")
        _show_decisive(output, groups.criteria, table)
    if without_text and without_text.count:
        output.note(f"{without_text.sentence} They are in no group.")
    for note in replace(counts, empty=0).notes if without_text else counts.notes:
        output.note(note)
    hot = _hot_keys(groups)
    for key in hot[:_KEYS]:
        output.note(f"{key['documents']:,} documents share {key['key']} of document {key['id']!r}.")
    show_valley(output, counts.valley)
    if said := forms_sentences(groups.forms, groups.criteria):
        output.note(said)
    if written:
        _show_written(output, written)
    numbers = {"decided_by": groups.criteria.decided_by, "table": table, "ids": ids, "forms": groups.forms}
    known = {"hot_keys": hot, "unread": corpus.unread, "written": written}
    output.result({"summary": {**as_json(counts), **numbers, **known}})


def _hot_keys(groups: Groups[Corpus]) -> list[Json]:
    names = groups.corpus.named([key.position for key in groups.hot_keys])
    return [
        {"key": key.name, "documents": key.documents, "id": name}
        for key, name in zip(groups.hot_keys, names, strict=True)
    ]


def show_valley(output: Output, valley: float | None) -> None:
    """Print where the similarities of texts have a valley, if they have one, and what to do about it."""
    if valley is not None:
        output.note(
            f"Your texts part at {valley:g}: many pairs are less similar, many more, and few as similar. "
            f"To part them there: --similarity {valley:g}"
        )


def were_written(documents: int) -> str:
    """Return a sentence with the number of documents."""
    return f"{counted(documents, 'document was', 'documents were')} written."


def _show_written(output: Output, written: GroupsWritten) -> None:
    output.note(were_written(written.written))
    if written.lost:
        output.note(f"{written.lost:,} were changed or deleted meanwhile, and are in no group.")
    for rejected in written.rejected[:_REASONS]:
        output.warn(rejected.reason)


def _show_decisive(output: Output, criteria: Criteria, table: str | None) -> None:
    """Say what decided: fingerprints, or texts by a table of rarity."""
    if criteria.is_estimate:
        output.note("Fingerprints alone decided: similarities are estimates.")
    elif table:
        output.note(f"Texts were compared by the table of rarity {table}.")


def _summary(counts: Counts) -> str:
    found = ", ".join(
        [
            counted(counts.documents, "document"),
            counted(counts.groups, "group"),
            counted(counts.duplicates, "duplicate"),
        ]
    )
    return f"{found} ({counted(counts.identical, 'pair')} of equal texts, {counts.near:,} of similar ones)."
