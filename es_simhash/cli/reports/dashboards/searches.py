"""The search requests behind the charts.

They have no query: Kibana sets that of the page, with its filters and time range. So aggregations choose what a chart
counts. Groups are counted by their duplicates: ``group_size`` is missing in groups that no run of `group` has seen, and
too small where documents have joined since.
"""

from __future__ import annotations

from collections.abc import Sequence

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards.subject import Subject
from es_simhash.scheme.group_fields import PROPERTIES

# The most periods, values of the other field, and groups to show.
_PERIODS = 60
_VALUES = 15
_LARGEST = 12
# Each shard reads the titles of this number of its own largest groups, so that the largest of all are among them.
_LARGEST_OF_SHARD = 100
# The most groups whose duplicates are counted. All versions refuse answers of 65,536 buckets; shards give more, so that
# groups spread over them are counted whole.
_COUNTED = 10_000
_COUNTED_OF_SHARD = 50_000
# Above this, servers count with less precision.
_PRECISION = 40_000

# Similarities are stored with four digits, as floats: this margin keeps an edge in its range.
_ROUNDING = 0.00005
_LEAST_SIMILARITY, _STEP = 40, 5


def over_time(subject: Subject) -> Json:
    """Count duplicates by period."""
    return _aggregated(duplicates=_of(_duplicates(subject), times=_periods(subject)))


def sizes(subject: Subject) -> Json:
    """Count the duplicates of each group."""
    return _aggregated(duplicates=_of(_duplicates(subject), **_groups(subject)))


def similarities(subject: Subject) -> Json:
    """Count duplicates by their similarity to the canonical document."""
    return _nearness(subject, _ranges(subject.field("similarity"), _similarity_ranges()))


def distances(subject: Subject) -> Json:
    """Count duplicates by the bits that differ from the canonical document."""
    return _nearness(subject, {"histogram": {"field": subject.field("distance"), "interval": 1}})


def largest(subject: Subject) -> Json:
    """Find the groups with the most duplicates, each with the duplicate nearest to its canonical document."""
    terms = {"field": subject.field("group"), "size": _LARGEST, "shard_size": _LARGEST_OF_SHARD}
    # Documents are read for the largest groups alone, and it is shown how many duplicates a shard may have left out.
    terms |= {"collect_mode": "breadth_first", "show_term_doc_count_error": True}
    hit = {"size": 1, "sort": [_nearest_first(subject)], "_source": False, "fields": list(subject.text_fields[:1])}
    return _aggregated(
        duplicates=_of(_duplicates(subject), groups={"terms": terms, "aggs": {"hit": {"top_hits": hit}}})
    )


def by_field(subject: Subject) -> Json:
    """Count documents with fingerprints, and duplicates, by the values of the other field with the most duplicates."""
    values = {"field": subject.by_field, "size": _VALUES, "order": {"duplicates": "desc"}}
    return _aggregated(
        all=_of(_fingerprinted(subject), values={"terms": values, "aggs": {"duplicates": _of(_duplicates(subject))}})
    )


def totals(subject: Subject) -> Json:
    """Count documents with fingerprints, groups, and duplicates; documents and duplicates by period, too."""
    copies = {"duplicates": _of(_duplicates(subject))}
    times = {"times": {**_periods(subject), "aggs": copies}} if subject.date_field else {}
    return _aggregated(
        all=_of(_fingerprinted(subject), **times), duplicates=_of(_duplicates(subject), **_groups(subject))
    )


def _periods(subject: Subject) -> Json:
    return {"auto_date_histogram": {"field": subject.date_field, "buckets": _PERIODS}}


def _fingerprinted(subject: Subject) -> Json:
    return {"exists": {"field": subject.field("status")}}


def _duplicates(subject: Subject) -> Json:
    return {"term": {subject.field("is_canonical"): False}}


def _groups(subject: Subject) -> dict[str, Json]:
    """Count the duplicates of each of the largest groups, and the groups, in case they are more than these."""
    field = subject.field("group")
    return {
        "groups": {"terms": {"field": field, "size": _COUNTED, "shard_size": _COUNTED_OF_SHARD}},
        "number": {"cardinality": {"field": field, "precision_threshold": _PRECISION}},
    }


def _nearest_first(subject: Subject) -> Json:
    order = "desc" if subject.measure == "similarity" else "asc"
    # Some indices of a pattern may lack the field.
    return {subject.field(subject.measure): {"order": order, "unmapped_type": PROPERTIES[subject.measure]["type"]}}


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
