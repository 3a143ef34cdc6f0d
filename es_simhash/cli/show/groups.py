"""The summaries of ``dedup`` and ``group``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted
from es_simhash.cli.show.forms import forms_json, forms_sentences
from es_simhash.cli.show.output import Output
from es_simhash.cli.show.refused import note_refused

if TYPE_CHECKING:
    from es_simhash.documents.text_sought import WithoutText
    from es_simhash.groups.of_index.result import Grouped
    from es_simhash.groups.of_index.writing import GroupsWritten
    from es_simhash.groups.pairs.result import Counts, Duplicates
    from es_simhash.scheme.query import Criteria

_REASONS = 10
_KEYS = 3


def show_deduplicated(
    output: Output, duplicates: Duplicates, criteria: Criteria, without_text: WithoutText, ids: str
) -> None:
    """Print what ``dedup`` found."""
    counts, table = duplicates.counts, _table(duplicates)
    output.note(_summary(counts))
    note_refused(output, counts.refused)
    _show_decisive(output, criteria, table)
    if without_text.count:
        output.note(f"{without_text.sentence} They are in no group.")
    elif counts.empty:
        output.note(f"{counted(counts.empty, 'document')} without text to compare.")
    show_unscoped(output, counts)
    if counts.left_out:
        output.note(f"{counts.left_out:,} comparisons of documents with very common keys were left out.")
    if missed := missing(counts):
        output.note(missed)
    show_valley(output, counts.valley)
    _show_forms(output, duplicates.forms, criteria)
    numbers = {**asdict(counts), "decided_by": criteria.decided_by, "table": table, "ids": ids}
    output.result({"summary": {**numbers, "forms": forms_json(duplicates.forms)}})


def show_grouped(output: Output, grouped: Grouped, written: GroupsWritten | None, criteria: Criteria) -> None:
    """Print what ``group`` found and wrote."""
    counts, table = grouped.counts, _table(grouped)
    for index, reason in grouped.unread.items():
        output.warn(f"Left out: the index {index!r} {reason}.")
    if grouped.is_shard:
        output.note(f"{counted(counts.documents, 'document')} read. When the shards are read, group without --shard.")
    else:
        output.note(_summary(counts) if counts.documents else "There are no documents to group.")
        note_refused(output, counts.refused)
        _show_decisive(output, criteria, table)
    if grouped.new is not None:
        output.note(f"{grouped.new:,} of them were compared with the others; the rest had been.")
    if grouped.others:
        output.note(
            f"{counted(grouped.others, 'document has', 'documents have')} an empty text, or no whole fingerprint."
        )
    show_unscoped(output, counts)
    hot = [
        {"key": key.name, "documents": key.documents, "index": index, "id": id_}
        for key in grouped.hot_keys
        for index, id_ in grouped.keys([key.position])
    ]
    for key in hot[:_KEYS]:
        output.note(f"{key['documents']:,} documents share {key['key']} of document {key['id']!r}.")
    if counts.left_out or counts.cut_off:
        output.note(
            f"{counts.left_out:,} comparisons of documents with very common keys were left out; "
            f"{counts.cut_off:,} times a document was not compared because of --max-bucket."
        )
    show_valley(output, counts.valley)
    _show_forms(output, grouped.forms, criteria)
    if written:
        _show_written(output, written)
    numbers = {**asdict(counts), "others": grouped.others, "new": grouped.new, "unread": grouped.unread}
    numbers |= {"decided_by": criteria.decided_by, "table": table, "forms": forms_json(grouped.forms)}
    output.result({"summary": {**numbers, "hot_keys": hot, "written": asdict(written) if written else None}})


def missing(counts: Counts) -> str:
    """Return a sentence on the near-duplicates that comparisons left out may have missed; empty if it is unknown."""
    if counts.missed is None:
        return ""
    missed = counts.missed
    return (
        f"{counted(missed.drawn, 'document')} drawn at random, compared with all others, had {missed.found:,} "
        f"near-duplicates in other groups: about {missed.pairs:,} ({missed.low:,} to {missed.high:,}) near-duplicate "
        "pairs may be missing."
    )


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


def _table(found: Duplicates | Grouped) -> str | None:
    """Return the id of the table of rarity that texts were compared by."""
    return found.rarity.id if found.rarity else None


def _show_decisive(output: Output, criteria: Criteria, table: str | None) -> None:
    """Say what decided: fingerprints, or texts by a table of rarity."""
    if criteria.is_estimate:
        output.note("Fingerprints alone decided: similarities are estimates.")
    elif table:
        output.note(f"Texts were compared by the table of rarity {table}.")


def _show_forms(output: Output, forms: Sequence[str], criteria: Criteria) -> None:
    if said := forms_sentences(forms, criteria):
        output.note(said)


def show_unscoped(output: Output, counts: Counts) -> None:
    """Print how many documents are in no group because their scope is unknown."""
    if counts.unscoped:
        documents = counted(counts.unscoped, "document lacks", "documents lack")
        output.note(f"{documents} a value of the scope, or its date cannot be read: in no group.")


def _summary(counts: Counts) -> str:
    found = ", ".join(
        [
            counted(counts.documents, "document"),
            counted(counts.groups, "group"),
            counted(counts.duplicates, "duplicate"),
        ]
    )
    return f"{found} ({counted(counts.identical, 'pair')} of equal texts, {counts.near:,} of similar ones)."
