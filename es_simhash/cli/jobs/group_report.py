"""The HTML report on the groups of an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from es_simhash._core.json_paths import Json, values_at
from es_simhash.cli.jobs.group_output import Link
from es_simhash.cli.reports.group_report import Collector, Omitted, Setup, SharedKey
from es_simhash.cli.reports.html.groups import report_page
from es_simhash.groups.of_index.document_texts import DocumentReader
from es_simhash.groups.of_index.options import GroupOptions
from es_simhash.groups.of_index.result import Grouped
from es_simhash.index import Index
from es_simhash.live.sweep.document_ref import DocumentRef
from es_simhash.scheme.scope import combined

_AT_ONCE = 1000


def report_on(
    grouped: Grouped, index: Index, options: GroupOptions, date_field: str | None = None, link: Link | None = None
) -> str:
    """Return the page; ``date_field`` dates the duplicates, ``link`` links the groups."""
    collector = Collector(replace(_setup(index, options, date_field), link=link))
    for group in grouped:
        collector.add(group)
    for pairs in grouped.pairs():
        collector.add_pairs(pairs)
    reader = DocumentReader(index.engine, options.patience)
    if date_field:
        collector.add_dates(_dates(grouped, reader, date_field))

    def fetch(keys: Sequence[tuple[str, str]]) -> list[Json | None]:
        hits = reader.read(grouped.refs_of(keys), True)
        return [None if hit is None else hit.get("_source") for hit in hits]

    examples = grouped.keys([key.position for key in grouped.hot_keys])
    hot = [SharedKey(key.name, key.documents, at) for key, at in zip(grouped.hot_keys, examples, strict=True)]
    omitted = Omitted(grouped.others, grouped.counts.cut_off, grouped.new)
    return report_page(collector.report(grouped.counts, fetch, hot, omitted, grouped.forms))


def _setup(index: Index, options: GroupOptions, date_field: str | None) -> Setup:
    documents = index.documents
    return Setup(
        name=index.name,
        scheme=documents.scheme,
        fields=documents.fields,
        criteria=options.criteria(documents.scheme),
        canonical=options.canonical.name,
        filter=options.filter,
        strip=options.strip,
        max_bucket=options.max_bucket,
        date_field=date_field,
        made_at=datetime.now(timezone.utc),
        scope=combined(documents.policy.scope, options.scope),
    )


def _dates(grouped: Grouped, reader: DocumentReader, field: str) -> Iterator[Any]:
    """Yield the first date of each duplicate; None where it has none."""
    waiting: list[DocumentRef] = []
    for ref in grouped.duplicates():
        waiting.append(ref)
        if len(waiting) == _AT_ONCE:
            yield from _dates_of(reader, waiting, field)
            waiting.clear()
    yield from _dates_of(reader, waiting, field)


def _dates_of(reader: DocumentReader, refs: Sequence[DocumentRef], field: str) -> Iterator[Any]:
    for hit in reader.read(refs, [field]):
        yield next(values_at((hit or {}).get("_source") or {}, field), None)
