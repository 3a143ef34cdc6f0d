"""The HTML report on groups, of an index or of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timezone
from itertools import islice
from typing import Any, TypeAlias, cast

from es_simhash._core.json_paths import Json, values_at
from es_simhash._core.stages import counted_each
from es_simhash.cli.jobs.groups_output import Link
from es_simhash.cli.reports.groups.collector import Collector, Key, Omitted, Setup, SharedKey
from es_simhash.cli.reports.html.groups import report_page
from es_simhash.documents.files import FileDocument
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_index.corpus import IndexCorpus
from es_simhash.groups.pairs.group_batches import groups_in_batches
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope

_AT_ONCE = 1000

# Returns the documents at these positions; None for one that cannot be read.
Fetch: TypeAlias = Callable[[Sequence[int]], Sequence[Json | None]]


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
) -> str:
    """Return the page; ``dates`` are those of the duplicates, group by group, and ``link`` links the groups."""
    options = groups.corpus.options
    collector = Collector(
        Setup(
            name=name,
            scheme=cast(Scheme, groups.corpus.settings),
            fields=fields,
            criteria=groups.criteria,
            canonical=options.canonical.name,
            filter=options.filter,
            strip=options.strip,
            max_bucket=options.max_bucket,
            date_field=date_field,
            made_at=datetime.now(timezone.utc),
            scope=scope,
            link=link,
        )
    )
    for group in groups:
        collector.add(group)
    for pairs in groups.pairs():
        collector.add_pairs(pairs)
    collector.add_dates(dates)
    corpus, hot = groups.corpus, groups.hot_keys
    examples = dict(zip(corpus.keys([key.position for key in hot]), (key.position for key in hot), strict=True))

    def by_keys(keys: Sequence[Key]) -> Sequence[Json | None]:
        places = examples | _places(groups, set(keys))
        return fetch([places[key] for key in keys])

    shared = [SharedKey(key.name, key.documents, at) for key, at in zip(hot, examples, strict=True)]
    omitted = Omitted(groups.counts.empty, groups.counts.cut_off, groups.counts.new)
    return report_page(collector.report(groups.counts, by_keys, shared, omitted, groups.forms))


def _places(groups: Groups[Corpus], keys: set[Key]) -> dict[Key, int]:
    """Return the positions of members; the largest groups are searched first."""
    found: dict[Key, int] = {}
    for some in groups_in_batches(groups.positions()):
        positions = [position for group in some for position in group]
        found |= {key: at for key, at in zip(groups.corpus.keys(positions), positions, strict=True) if key in keys}
        if len(found) == len(keys):
            break
    return found


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


def sources_in_index(corpus: IndexCorpus) -> Fetch:
    """Return what reads whole documents of an index."""
    return lambda places: [None if hit is None else hit.get("_source") for hit in corpus.hits(places, True)]


def documents_in_files(again: Iterable[FileDocument], total: int) -> Fetch:
    """Return what reads the files once more for some documents."""

    def fetch(places: Sequence[int]) -> list[Json | None]:
        wanted, found = set(places), dict[int, Json]()
        for place, each in enumerate(counted_each("Reading examples", again, total)):
            if place in wanted:
                found[place] = dict(each.document)
        return [found.get(place) for place in places]

    return fetch
