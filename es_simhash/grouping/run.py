"""Grouping the documents of an index: read what their fields tell, link them, make groups of links."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from itertools import count, takewhile

from es_simhash.ahead import ahead
from es_simhash.backfill.reading import Reading
from es_simhash.dedup.compare import Comparison
from es_simhash.dedup.condense import needed
from es_simhash.dedup.kept import Kept
from es_simhash.dedup.linking import Links, link
from es_simhash.dedup.result import Counts
from es_simhash.dedup.spool import Room, Strings
from es_simhash.documents import Documents
from es_simhash.engines.base import Engine, run
from es_simhash.fields import Json
from es_simhash.grouping import stored
from es_simhash.grouping.members import Nearness, stars
from es_simhash.grouping.options import GroupOptions
from es_simhash.grouping.result import Grouped, places_of
from es_simhash.operations import GetMappings, Plan, Refresh
from es_simhash.query import Criteria

OnRead = Callable[[int], object]

_SPOOL_SHARE = 32


def group(
    engine: Engine,
    index: str,
    documents: Documents,
    options: GroupOptions | None = None,
    on_read: OnRead | None = None,
) -> Grouped:
    """All groups of near-duplicates in an index, or in those behind a name; ``on_read`` hears how many are read."""
    scheme, options = documents.scheme, options or GroupOptions()
    criteria = Criteria.of(scheme, options.by, options.distance, options.similarity)
    # What is shown of members is kept as well, be they grouped by it or not.
    kept_settings = replace(needed(stored.known(scheme), criteria), simhash=scheme.simhash)
    room = Room(options.memory // _SPOOL_SHARE, options.directory)
    try:
        layout = scheme.minhash.layout if scheme.minhash else None
        kept = Kept(kept_settings, room, layout.value_bits) if layout else Kept(kept_settings, room)
        places = Strings(room)
        others = 0
        for name in sorted(run(_indices(index), engine)):
            others += _read(engine, name, documents, options, kept, places, on_read or (lambda _: None))
        places.flush()
        kept.complete()
        comparison = Comparison(kept, criteria, "estimate", None, 0)
        links = link(kept, criteria, comparison, options.memory, room)
        nearness = Nearness(kept, criteria)
        positions = _groups(links, places, nearness, options)
        counts = _counts(kept, links, comparison, positions)
        return Grouped(room, places, positions, nearness, counts, others)
    except BaseException:
        room.close()
        raise


def _indices(index: str) -> Plan[list[str]]:
    names = list((yield GetMappings(index)))
    for name in names:
        yield Refresh(name)
    return names


def _read(
    engine: Engine,
    index: str,
    documents: Documents,
    options: GroupOptions,
    kept: Kept,
    places: Strings,
    on_read: OnRead,
) -> int:
    """Keep what the documents of an index tell; the result is how many tell nothing."""
    reading = Reading(index, _query(documents, options), stored.paths(documents), None, options.patience)
    others = 0
    with ExitStack() as stack:
        stack.callback(lambda: run(reading.close(), engine))
        # Nobody reads on once the reader is closed.
        pages = stack.enter_context(closing(ahead(lambda _: run(reading.next(), engine), count())))
        rows = partial(stored.rows, documents, kept.settings)
        for found in stack.enter_context(closing(ahead(rows, takewhile(bool, pages)))):
            for name, id_ in found.places:
                places.append(f"{name}/{id_}")
            kept.add(found.condensed)
            others += found.others
            on_read(len(kept) + others)
    return others


def _query(documents: Documents, options: GroupOptions) -> Json:
    scheme: Json = {"term": {f"{documents.prefix}.scheme": documents.scheme.id}}
    return {"bool": {"filter": [scheme, *([options.query] if options.query else [])]}}


def _groups(links: Links, places: Strings, nearness: Nearness, options: GroupOptions) -> list[list[int]]:
    """The positions of each group's members, the one that stands for it first; the largest groups first.

    That one is the first by its id, and by its index where several have documents of one id.
    """
    groups: list[tuple[tuple[str, str], list[int]]] = []
    for component in links.union.groups():
        named = sorted(zip(places_of(places, component), component, strict=True), key=lambda each: each[0][::-1])
        ordered = [position for _, position in named]
        found = [ordered] if options.linkage == "single" else stars(ordered, nearness)
        first = dict(zip(ordered, (place for place, _ in named), strict=True))
        groups += [(first[each[0]], each) for each in found]
    groups.sort(key=lambda each: (-len(each[1]), each[0][::-1]))
    return [positions for _, positions in groups]


def _counts(kept: Kept, links: Links, comparison: Comparison, positions: list[list[int]]) -> Counts:
    return Counts(
        documents=len(kept),
        empty=0,
        identical=links.identical,
        near=links.near,
        groups=len(positions),
        duplicates=sum(len(each) - 1 for each in positions),
        compared=comparison.compared,
        verified=comparison.verified,
        left_out=links.left_out,
    )
