"""The search requests behind the charts.

They have no query: Kibana sets that of the page, with its filters and time range. So aggregations choose what a chart
counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards.subject import Subject
from es_simhash.scheme.group_fields import PROPERTIES

# The most periods, values of the other field, and groups to show.
_PERIODS = 60
_VALUES = 15
_GROUPS = 12

# Sizes of groups: single sizes up to 5, then ranges.
_SIZES = ((2, 2), (3, 3), (4, 4), (5, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 1000), (1001, None))
# Similarities are stored with four digits, as floats: this margin keeps an edge in its range.
_ROUNDING = 0.00005
_LEAST_SIMILARITY, _STEP = 40, 5


def over_time(subject: Subject) -> Json:
    """Count duplicates by period."""
    times = {"auto_date_histogram": {"field": subject.date_field, "buckets": _PERIODS}}
    return _aggregated(duplicates=_of(_duplicates(subject), times=times))


def sizes(subject: Subject) -> Json:
    """Count groups by size."""
    ranges = [_range(_size_label(least, most), least, most and most + 1) for least, most in _SIZES]
    return _aggregated(groups=_of(_groups(subject), sizes=_ranges(subject.field("group_size"), ranges)))


def similarities(subject: Subject) -> Json:
    """Count duplicates by their similarity to the canonical document."""
    return _nearness(subject, _ranges(subject.field("similarity"), _similarity_ranges()))


def distances(subject: Subject) -> Json:
    """Count duplicates by the bits that differ from the canonical document."""
    return _nearness(subject, {"histogram": {"field": subject.field("distance"), "interval": 1}})


def largest(subject: Subject) -> Json:
    """Find the canonical documents of the largest groups."""
    names = ["group", "group_size"]
    return {
        "size": _GROUPS,
        "post_filter": _groups(subject),
        "sort": [_sorted(subject, "group_size", "desc"), _sorted(subject, "group", "asc")],
        "_source": False,
        "fields": [*(subject.field(name) for name in names), *subject.text_fields[:1]],
    }


def by_field(subject: Subject) -> Json:
    """Count documents and duplicates by the values of the other field, most duplicates first."""
    values = {"field": subject.by_field, "size": _VALUES, "order": {"duplicates": "desc"}}
    return _aggregated(values={"terms": values, "aggs": {"duplicates": _of(_duplicates(subject))}})


def totals(subject: Subject) -> Json:
    """Count documents with fingerprints, groups, and duplicates."""
    fingerprinted = {"exists": {"field": subject.field("status")}}
    return _aggregated(all=_of(fingerprinted), kept=_of(_groups(subject)), copies=_of(_duplicates(subject)))


def _duplicates(subject: Subject) -> Json:
    return {"term": {subject.field("is_canonical"): False}}


def _groups(subject: Subject) -> Json:
    """Match the canonical documents of groups with several members."""
    several = {"range": {subject.field("group_size"): {"gte": 2}}}
    return {"bool": {"filter": [{"term": {subject.field("is_canonical"): True}}, several]}}


def _sorted(subject: Subject, name: str, order: str) -> Json:
    """Sort by one of our fields, which some indices of a pattern may lack."""
    return {subject.field(name): {"order": order, "unmapped_type": PROPERTIES[name]["type"]}}


def _nearness(subject: Subject, bins: Json) -> Json:
    return _aggregated(duplicates=_of(_duplicates(subject), bins=bins))


def _aggregated(**aggregations: Json) -> Json:
    return {"size": 0, "aggs": aggregations}


def _of(documents: Json, **aggregations: Json) -> Json:
    """Aggregate some of the documents only."""
    return {"filter": documents, "aggs": aggregations} if aggregations else {"filter": documents}


def _ranges(field: str, ranges: Sequence[Json]) -> Json:
    return {"range": {"field": field, "ranges": list(ranges)}}


def _range(key: str, least: float | None, below: float | None) -> Json:
    bounds = {"from": least, "to": below}
    return {"key": key, **{name: bound for name, bound in bounds.items() if bound is not None}}


def _size_label(least: int, most: int | None) -> str:
    if most is None:
        return f"over {least - 1:,}"
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def _similarity_ranges() -> list[Json]:
    """Return ranges between whole steps, and one for the similarity 1: equal texts, or equal features."""
    edges = range(_LEAST_SIMILARITY, 101, _STEP)
    bounds = [round(edge / 100 - _ROUNDING, 5) for edge in edges]
    below = _range(f"< {edges[0] / 100:g}", None, bounds[0])
    return [
        below,
        *(_range(f"{edge / 100:g}", *bounds[place : place + 2]) for place, edge in enumerate(edges[:-1])),
        _range("1", bounds[-1], None),
    ]
