"""The charts of groups and duplicates, as specifications for Vega."""

from __future__ import annotations

import json

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards import clicks, searches
from es_simhash.cli.reports.dashboards.drawing import ABOUT, bars, calculated, columns, counts_axis, numbered
from es_simhash.cli.reports.dashboards.expressions import formatted, literal
from es_simhash.cli.reports.dashboards.subject import Subject

# The most duplicates in a group of each column but the last.
_SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000)
# The rows of an answer are those of the chart, in their order.
_AS_ANSWERED = (numbered("rank"), calculated("''", "about"))
# The longest length of document titles in tooltips.
_LONGEST_TITLE = 200


def sizes(subject: Subject) -> Json:
    """Draw a column for each range of duplicates in a group.

    Groups that are not counted one by one have at most as many as the smallest that is, and are put into its column.
    """
    greatest = ["others", "number", "error", "smallest"]
    of_all = {"type": "joinaggregate", "ops": ["max"] * 4 + ["sum"], "fields": [*greatest, "doc_count"]}
    transform: list[Json] = [
        {"type": "flatten", "fields": ["groups.buckets"], "as": ["group"]},
        calculated(" + ".join(f"(datum.group.doc_count > {most})" for most in _SIZES), "rank"),
        calculated("datum.groups.sum_other_doc_count", "others"),
        calculated("datum.groups.doc_count_error_upper_bound", "error"),
        calculated("datum.number.value", "number"),
        {"type": "joinaggregate", "ops": ["min"], "fields": ["rank"], "as": ["smallest"]},
        {
            "type": "aggregate",
            "groupby": ["rank"],
            "ops": ["count", *["max"] * 4],
            "fields": [None, *greatest],
            "as": ["doc_count", *greatest],
        },
        {
            "type": "impute",
            "field": "doc_count",
            "key": "rank",
            "keyvals": list(range(len(_SIZES) + 1)),
            "method": "value",
            "value": 0,
        },
        {**of_all, "as": [*greatest, "counted"]},
        calculated("datum.others > 0 && datum.rank == datum.smallest", "has_others"),
        calculated(
            "datum.doc_count + (datum.has_others ? max(datum.number - datum.counted, 0) : 0)",
            "doc_count",
        ),
        calculated(f"(datum.has_others ? {_ranges_from_one()} : {_ranges()})[datum.rank]", "key"),
        calculated(f"datum.has_others ? 1 : {json.dumps([1, *(most + 1 for most in _SIZES)])}[datum.rank]", "least"),
        calculated(f"{json.dumps([*_SIZES, None])}[datum.rank]", "most"),
        calculated(f"datum.has_others || datum.error > 0 ? {literal(ABOUT)} : ''", "about"),
    ]
    titles = ("duplicates in a group", "groups")
    return columns(subject, searches.sizes(subject), "aggregations.duplicates", transform, titles, clicks.size(subject))


def similarities(subject: Subject) -> Json:
    """Draw a column for each range of similarities."""
    titles = ("minimum similarity to the canonical document", "duplicates")
    return columns(subject, searches.similarities(subject), _BINS, _AS_ANSWERED, titles, clicks.similarity(subject))


def distances(subject: Subject) -> Json:
    """Draw a column for each number of bits."""
    titles = ("bits that differ from the canonical document", "duplicates")
    return columns(subject, searches.distances(subject), _BINS, _AS_ANSWERED, titles, clicks.distance(subject))


def largest(subject: Subject) -> Json:
    """Draw a bar for each of the groups with the most duplicates, beside the title of one of them."""
    title = " || ".join([*map(_first_value, subject.text_fields[:1]), "datum.key"])
    transform: list[Json] = [
        calculated("datum.hit.hits.hits[0]", "hit"),
        calculated(f"truncate(replace({title}, /\\s+/g, ' '), {_LONGEST_TITLE})", "title"),
        numbered("rank"),
        # Zero-width spaces keep two groups with the same title apart.
        calculated("pad(datum.title, length(datum.title) + datum.rank, '\\u200b', 'right')", "label"),
        calculated(f"datum.doc_count_error_upper_bound > 0 ? {literal(ABOUT)} : ''", "about"),
    ]
    count = formatted("datum.doc_count")
    return bars(
        subject,
        searches.largest(subject),
        "aggregations.duplicates.groups.buckets",
        transform,
        ("label", "doc_count"),
        counts_axis("duplicates in the group"),
        f"datum.about + {count}",
        [("group", "datum.key"), ("a duplicate", "datum.title"), ("duplicates", count)],
        clicks.group(subject),
    )


def by_field(subject: Subject) -> Json:
    """Draw a bar for each value of the other field: the share of its documents that are duplicates."""
    transform = [
        calculated("datum.duplicates.doc_count", "copies"),
        calculated("datum.copies / datum.doc_count", "share"),
        calculated("isValid(datum.key_as_string) ? datum.key_as_string : '' + datum.key", "value"),
    ]
    documents = formatted("datum.doc_count")
    values = [
        (subject.by_field or "", "datum.value"),
        ("duplicates", formatted("datum.copies")),
        ("documents", documents),
        ("share", formatted("datum.share", ".1%")),
    ]
    return bars(
        subject,
        searches.by_field(subject),
        "aggregations.all.values.buckets",
        transform,
        ("value", "share"),
        {"title": "share of duplicates", "format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]},
        f"{formatted('datum.share', '.0%')} + '  of ' + {documents}",
        values,
        clicks.value(subject),
    )


def text_of(chart: Json) -> str:
    """Return a chart as the text that people edit in the UI."""
    return json.dumps(chart, ensure_ascii=False, indent=2)


_BINS = "aggregations.duplicates.bins.buckets"


def _ranges() -> str:
    """Return the ranges of duplicates in a group, as a list of expressions."""
    between = [_range(least + 1, most) for least, most in zip((0, *_SIZES), _SIZES, strict=False)]
    return literal([*between, f"over {_SIZES[-1]:,}"])


def _ranges_from_one() -> str:
    """Return the same ranges with all smaller ones in each."""
    return literal([*(_range(1, most) for most in _SIZES), "any"])


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def _first_value(field: str) -> str:
    """Return the expression of a field's first value in a hit."""
    values = f"datum.hit.fields[{literal(field)}]"
    return f"(datum.hit.fields && {values} ? {values}[0] : '')"
