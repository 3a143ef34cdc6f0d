"""The HTML report on groups among the documents of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from itertools import islice
from typing import Any

import numpy as np

from es_simhash._core.json_paths import Json
from es_simhash._core.stages import counted_arrays, counted_each
from es_simhash.cli.reports.group_report import Collector, Omitted, Setup
from es_simhash.cli.reports.html.groups import report_page
from es_simhash.documents.files import FileDocument
from es_simhash.groups.of_index.result import Group, Member
from es_simhash.groups.pairs.deduplicator import Deduplicator
from es_simhash.groups.pairs.diameters import diameters
from es_simhash.groups.pairs.nearness import values_of
from es_simhash.groups.pairs.result import Duplicates
from es_simhash.scheme.scheme import Scheme


def report_on_files(
    duplicates: Duplicates,
    again: Iterable[FileDocument],
    setup: Setup,
    dates: Sequence[Any],
) -> str:
    """Return the page; documents are read ``again`` for the excerpts. ``dates`` has one for each document, or none."""
    collector = Collector(setup)
    later: list[int] = []
    for group, positions in _groups(duplicates):
        collector.add(group)
        later += [each for each in positions if duplicates.standing.firsts[each] != each] if dates else []
    for pairs in duplicates.pairs():
        collector.add_pairs(pairs)
    collector.add_dates(dates[position] for position in later)

    def fetch(keys: Sequence[tuple[str, str]]) -> list[Json | None]:
        wanted = {id_ for _, id_ in keys}
        found: dict[str, Json] = {}
        for each in counted_each("Reading examples", again, duplicates.counts.documents):
            if each.id in wanted:
                found.setdefault(each.id, dict(each.document))
        return [found.get(id_) for _, id_ in keys]

    counts = duplicates.counts
    omitted = Omitted(counts.empty, counts.cut_off)
    return report_page(collector.report(counts, fetch, [], omitted, duplicates.forms))


def setup_for(
    name: str,
    deduplicator: Deduplicator,
    scheme: Scheme,
    fields: Sequence[str],
    canonical: str,
    strip: Sequence[str],
    date_field: str | None,
) -> Setup:
    """Return the settings that the page shows."""
    return Setup(
        name=name,
        scheme=scheme,
        criteria=deduplicator.criteria,
        fields=fields,
        canonical=canonical,
        strip=strip,
        max_bucket=deduplicator.max_bucket,
        date_field=date_field,
        made_at=datetime.now(timezone.utc),
        scope=deduplicator.scope,
    )


def _groups(duplicates: Duplicates) -> Iterator[tuple[Group, list[int]]]:
    """Yield the groups, named by their numbers, with the positions of their documents."""
    nearness, number = duplicates.nearness, 0
    batches = duplicates.groups_in_turn()
    for some in counted_arrays("Measuring groups", batches, len(duplicates.groups), "groups"):
        positions = np.concatenate(some)
        canonicals = duplicates.standing.firsts[positions].astype(np.int64)
        near = nearness.between(canonicals, positions)
        ids = map(duplicates.ids_of, (positions.tolist(), canonicals.tolist()))
        rows = zip(*ids, (positions == canonicals).tolist(), values_of(near), strict=True)
        members = (Member("", *own, *values) for *own, values in rows)
        for each, diameter in zip(some, diameters(nearness, some, near), strict=True):
            yield Group(str(number), tuple(islice(members, len(each))), diameter), each
            number += 1
