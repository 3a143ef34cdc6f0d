"""The HTML report on groups among the documents of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from itertools import islice
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash._core.stages import counted_arrays, counted_each
from es_simhash.cli.reports.groups.collector import Collector, Omitted, Setup
from es_simhash.cli.reports.html.groups import report_page
from es_simhash.documents.files import FileDocument
from es_simhash.groups.of_index.result import Group, Member
from es_simhash.groups.pairs.deduplicator import Deduplicator
from es_simhash.groups.pairs.diameters import diameters
from es_simhash.groups.pairs.linkage import groups_in_batches
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
        later += positions[1:] if dates else []
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
    return report_page(collector.report(counts, fetch, [], Omitted(counts.empty, counts.cut_off)))


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
        linkage=deduplicator.linkage,
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
    batches = groups_in_batches(duplicates.groups)
    for some in counted_arrays("Measuring groups", batches, len(duplicates.groups), "groups"):
        positions = [position for each in some for position in each]
        nearness.load(positions)
        near = nearness.to_firsts(some)
        named = zip(duplicates.ids_of(positions), values_of(near), strict=True)
        members = (Member("", id_, *values) for id_, values in named)
        for each, diameter in zip(some, diameters(nearness, some, near), strict=True):
            yield Group(str(number), tuple(islice(members, len(each))), diameter), each
            number += 1
