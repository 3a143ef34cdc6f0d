"""The HTML report on groups, of an index or of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from es_simhash._core.batches import counted_each
from es_simhash._core.humanize import json_text
from es_simhash._core.json_codec import Json, parse_json, values_at
from es_simhash.cli.jobs.groups import Link, MemberFields
from es_simhash.cli.reports.group_report import Fetch, GroupingSettings, SharedKey, report_of
from es_simhash.cli.reports.groups_page import report_page
from es_simhash.documents.files import FileDocument
from es_simhash.documents.sources import SourceFilter
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups, Member
from es_simhash.groups.losses import Losses
from es_simhash.groups.pairs.stored_rows import Strings
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope

if TYPE_CHECKING:
    from es_simhash.groups.of_index.corpus import IndexCorpus

_AT_ONCE = 1000


def report_on(
    groups: Groups[Corpus],
    name: str,
    fields: Sequence[str],
    *,
    scope: Scope | None,
    dates: Iterable[Any],
    date_field: str | None,
    fetch: Fetch,
    link: Link | None = None,
    losses: Losses | None = None,
) -> str:
    """Return the page; ``dates`` are those of the duplicates, group by group, and ``link`` links the groups."""
    setup = GroupingSettings(
        name=name,
        scheme=cast("Scheme", groups.corpus.settings),
        criteria=groups.criteria,
        fields=fields,
        options=groups.corpus.options,
        scope=scope,
        date_field=date_field,
        made_at=datetime.now(timezone.utc),
        link=link,
    )
    report = report_of(
        setup,
        groups.counts,
        groups,
        groups.pairs(),
        dates,
        fetch,
        shared_keys=_shared_keys(groups),
        forms=groups.forms,
        warnings=[alarm.sentence for alarm in losses.alarms] if losses else (),
    )
    return report_page(report)


def _shared_keys(groups: Groups[Corpus]) -> list[SharedKey]:
    hot = groups.hot_keys
    keys = groups.corpus.keys([key.position for key in hot])
    return [
        SharedKey(key.name, key.documents, Member(index, id_, id_, True, None, None, position=key.position))
        for key, (index, id_) in zip(hot, keys, strict=True)
    ]


def duplicates_of(groups: Groups[Corpus]) -> Iterator[int]:
    """Yield the positions of duplicates, group by group."""
    is_canonical = groups.is_canonical
    for positions in groups.positions():
        yield from (each for each in positions if not is_canonical[each])


def dates_in_index(groups: Groups[IndexCorpus], field: str) -> Iterator[Any]:
    """Yield the first date of each duplicate; None where it has none."""
    duplicates = duplicates_of(groups)
    while some := list(islice(duplicates, _AT_ONCE)):
        for hit in groups.corpus.hits(some, [field]):
            yield next(values_at((hit or {}).get("_source") or {}, field), None)


def sources_in_index(corpus: IndexCorpus, source: Sequence[str] | bool = True) -> Fetch:
    """Return what reads documents of an index, or these parts of them."""

    def fetch(members: Sequence[Member]) -> list[Json | None]:
        hits = corpus.hits([member.position for member in members], source)
        return [None if hit is None else hit.get("_source") for hit in hits]

    return fetch


def documents_in_files(again: Iterable[FileDocument], total: int) -> Fetch:
    """Return what reads the files once more for some documents."""

    def fetch(members: Sequence[Member]) -> list[Json | None]:
        wanted, found = {member.position for member in members}, dict[int, Json]()
        for place, each in enumerate(counted_each("Reading examples", again, total)):
            if place in wanted:
                found[place] = dict(each.document)
        return [found.get(member.position) for member in members]

    return fetch


def fields_in_files(groups: Groups[Corpus], fields: Sequence[str], again: Iterable[FileDocument]) -> MemberFields:
    """Read the files once more, and keep these fields of the members of groups in a temporary file."""
    kept, wanted = Strings(groups.corpus.spools), SourceFilter.of(list(fields))
    are_members = np.zeros(len(groups.corpus), dtype=np.bool_)
    for positions in groups.positions():
        are_members[positions] = True
    read = counted_each("Reading fields", again, len(are_members))
    for each, is_member in zip(read, are_members.tolist(), strict=True):
        kept.append(json_text(wanted.part_of(each.document)) if is_member else "")
    kept.flush()
    return MemberFields(fields, lambda members: list(map(parse_json, kept.at([each.position for each in members]))))
