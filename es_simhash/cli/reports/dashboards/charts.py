"""The charts, as specifications for Vega-Lite.

They use only what Vega-Lite 4, in Kibana 7.10, shares with its successors: no selections, no parameters. The page sets
sizes, and all colours but one, in light and dark. Kibana and OpenSearch Dashboards both put the page's query, filters
and time range in the place of ``%context%`` and ``%timefield%``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards import searches
from es_simhash.cli.reports.dashboards.subject import Subject

_SCHEMA = "https://vega.github.io/schema/vega-lite/v4.json"
_COUNTS: Json = {"format": ",d", "tickMinStep": 1, "tickCount": 5}
# Vega-Lite makes text black on any page; this grey has a contrast of 4 : 1 on light and dark pages.
_TEXT = "#7b808a"
_A_DAY = 86_400_000
# Before numbers that a server may have counted too low or too high.
_ABOUT = "≈ "
# The most duplicates in a group of each column but the last.
_SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000)
_BARS: Json = {
    "mark": "bar",
    "encoding": {"size": {"field": "thickness", "type": "quantitative", "scale": None, "legend": None}},
}
# The rows of an answer are those of the chart, in their order.
_AS_ANSWERED: tuple[Json, ...] = ({"window": [{"op": "row_number", "as": "rank"}]}, {"calculate": "''", "as": "about"})
# The width of document titles beside their bars in pixels, and their longest length in tooltips.
_TITLES = 280
_LONGEST_TITLE = 200
# The greatest width of a bar and of a column in pixels, where there are few.
_BAR, _COLUMN = 24, 72


def over_time(subject: Subject) -> Json:
    """Draw a column for each period, as wide as the period."""
    periods = [
        {"window": [{"op": "lead", "field": "key", "as": "next"}, {"op": "lag", "field": "key", "as": "before"}]},
        {
            "calculate": "isValid(datum.next) ? datum.next : "
            f"isValid(datum.before) ? 2 * datum.key - datum.before : datum.key + {_A_DAY}",
            "as": "end",
        },
        {"calculate": "0", "as": "zero"},
    ]
    utc = {"type": "utc"}
    encoding = {
        "x": {"field": "key", "type": "temporal", "scale": utc, "axis": {"title": None, "grid": False}},
        "x2": {"field": "end"},
        "y": _counts("duplicates"),
        "y2": {"field": "zero"},
        "tooltip": [_shown("key_as_string", "from"), _counted("doc_count", "duplicates")],
    }
    data = _data(subject, searches.over_time(subject), "aggregations.duplicates.times.buckets")
    return _chart(data, transform=periods, mark="rect", encoding=encoding)


def sizes(subject: Subject) -> Json:
    """Draw a column for each range of duplicates in a group.

    Groups that are not counted one by one have at most as many as the smallest that is, and are put into its column.
    """
    greatest = [{"op": "max", "field": name, "as": name} for name in ("others", "number", "error", "least")]
    transform: list[Json] = [
        {"flatten": ["groups.buckets"], "as": ["group"]},
        {"calculate": " + ".join(f"(datum.group.doc_count > {most})" for most in _SIZES), "as": "rank"},
        {"calculate": "datum.groups.sum_other_doc_count", "as": "others"},
        {"calculate": "datum.groups.doc_count_error_upper_bound", "as": "error"},
        {"calculate": "datum.number.value", "as": "number"},
        {"joinaggregate": [{"op": "min", "field": "rank", "as": "least"}]},
        {"aggregate": [{"op": "count", "as": "doc_count"}, *greatest], "groupby": ["rank"]},
        {"impute": "doc_count", "key": "rank", "keyvals": list(range(len(_SIZES) + 1)), "value": 0},
        {"joinaggregate": [*greatest, {"op": "sum", "field": "doc_count", "as": "counted"}]},
        {"calculate": "datum.others > 0 && datum.rank == datum.least", "as": "has_others"},
        {
            "calculate": "datum.doc_count + (datum.has_others ? max(datum.number - datum.counted, 0) : 0)",
            "as": "doc_count",
        },
        {"calculate": f"(datum.has_others ? {_ranges_from_one()} : {_ranges()})[datum.rank]", "as": "key"},
        {"calculate": f"datum.has_others || datum.error > 0 ? '{_ABOUT}' : ''", "as": "about"},
    ]
    data = _data(subject, searches.sizes(subject), "aggregations.duplicates")
    return _columns(data, transform, "duplicates in a group", "groups")


def similarities(subject: Subject) -> Json:
    """Draw a column for each range of similarities."""
    data = _data(subject, searches.similarities(subject), "aggregations.duplicates.bins.buckets")
    return _columns(data, _AS_ANSWERED, "minimum similarity to the canonical document", "duplicates")


def distances(subject: Subject) -> Json:
    """Draw a column for each number of bits."""
    data = _data(subject, searches.distances(subject), "aggregations.duplicates.bins.buckets")
    return _columns(data, _AS_ANSWERED, "bits that differ from the canonical document", "duplicates")


def largest(subject: Subject) -> Json:
    """Draw a bar for each of the groups with the most duplicates, beside the title of one of them."""
    title = " || ".join([*map(_first_value, subject.text_fields[:1]), "datum.key"])
    transform: list[Json] = [
        {"calculate": "datum.hit.hits.hits[0]", "as": "hit"},
        {"calculate": f"truncate(replace({title}, /\\s+/g, ' '), {_LONGEST_TITLE})", "as": "title"},
        {"window": [{"op": "row_number", "as": "rank"}]},
        # Zero-width spaces keep two groups with the same title apart.
        {"calculate": "pad(datum.title, length(datum.title) + datum.rank, '\\u200b', 'right')", "as": "label"},
        {"calculate": f"datum.doc_count_error_upper_bound > 0 ? '{_ABOUT}' : ''", "as": "about"},
    ]
    tooltip = [_shown("key", "group"), _shown("title", "a duplicate"), _counted("doc_count", "duplicates")]
    data = _data(subject, searches.largest(subject), "aggregations.duplicates.groups.buckets")
    axis = {**_COUNTS, "title": "duplicates in the group"}
    return _bars(data, transform, ("label", "doc_count"), axis, f"datum.about + {_format('doc_count', ',d')}", tooltip)


def by_field(subject: Subject) -> Json:
    """Draw a bar for each value of the other field: the share of its documents that are duplicates."""
    transform = [
        {"calculate": "datum.duplicates.doc_count", "as": "copies"},
        {"calculate": "datum.copies / datum.doc_count", "as": "share"},
        {"calculate": "isValid(datum.key_as_string) ? datum.key_as_string : '' + datum.key", "as": "value"},
    ]
    tooltip: list[Json] = [
        _shown("value", subject.by_field),
        _counted("copies", "duplicates"),
        _counted("doc_count", "documents"),
        {**_counted("share", "share"), "format": ".1%"},
    ]
    data = _data(subject, searches.by_field(subject), "aggregations.all.values.buckets")
    label = f"{_format('share', '.0%')} + '  of ' + {_format('doc_count', ',d')}"
    axis = {"title": "share of duplicates", "format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]}
    return _bars(data, transform, ("value", "share"), axis, label, tooltip)


def totals(subject: Subject) -> Json:
    """Show the totals, in four numbers."""
    # Groups that are not counted one by one are about as many as the server says.
    about = f"'{_ABOUT}' + {_format('copies.number.value', ',d')}"
    names = {
        "documents": _format("all.doc_count", ",d"),
        "groups": "datum.copies.groups.sum_other_doc_count"
        f" ? {about} : format(length(datum.copies.groups.buckets), ',d')",
        "duplicates": _format("copies.doc_count", ",d"),
        "of all are duplicates": "datum.all.doc_count"
        " ? format(datum.copies.doc_count / datum.all.doc_count, '.1%') : '–'",
    }
    transform: list[Json] = [{"calculate": "datum.duplicates", "as": "copies"}]
    transform += [{"calculate": expression, "as": name} for name, expression in names.items()]
    transform.append({"fold": list(names)})
    labels = {"labelAngle": 0, "labelFontSize": 13, "labelLimit": 0}
    axis = {"title": None, **labels, "ticks": False, "domain": False}
    encoding = {
        "x": {"field": "key", "type": "nominal", "sort": list(names), "axis": axis},
        "text": {"field": "value", "type": "nominal"},
    }
    data = _data(subject, searches.totals(subject), "aggregations")
    return _chart(data, transform=transform, mark={"type": "text", "fontSize": 28}, encoding=encoding)


def text_of(chart: Json) -> str:
    """Return a chart as the text that people edit in Kibana."""
    return json.dumps(chart, ensure_ascii=False, indent=2)


def _data(subject: Subject, body: Json, part: str) -> Json:
    """Name the part of an answer that has the rows of a chart."""
    time = {"%timefield%": subject.date_field} if subject.date_field else {}
    return {"url": {"%context%": True, **time, "index": subject.index, "body": body}, "format": {"property": part}}


def _chart(data: Json, **parts: Any) -> Json:
    # An answer without rows has no extent, which Kibana 7.10 and OpenSearch Dashboards would warn of on each chart.
    page = {"kibana": {"hideWarnings": True}}
    config = {**page, "view": {"stroke": None}, "text": {"color": _TEXT}}
    return {"$schema": _SCHEMA, "data": data, **parts, "config": config}


def _columns(data: Json, transform: Sequence[Json], title: str, counted: str) -> Json:
    """Draw a column for each row, by its rank, with its count above it.

    The transform gives rows a ``key``, a ``rank``, a ``doc_count``, and what is written before it (``about``).
    """
    axis = {"title": title, "labelAngle": 0, "labelOverlap": True, "ticks": False}
    counts, by_rank = {"op": "sum", "field": "doc_count"}, [{"field": "rank"}]
    rows = [
        *transform,
        # Empty rows before the first one that counts, and after the last.
        {"window": [{**counts, "as": "before"}], "frame": [None, 0], "sort": by_rank},
        {"window": [{**counts, "as": "after"}], "frame": [0, None], "sort": by_rank},
        {"filter": "datum.before && datum.after"},
        {"calculate": f"datum.doc_count ? datum.about + {_format('doc_count', ',d')} : ''", "as": "label_text"},
    ]
    encoding = {
        "x": {"field": "key", "type": "ordinal", "sort": {"field": "rank", "op": "min"}, "axis": axis},
        "y": _counts(counted),
        "tooltip": [_shown("key", title), _counted("doc_count", counted)],
    }
    above = {"mark": {"type": "text", "dy": -7}, "encoding": {"text": {"field": "label_text", "type": "nominal"}}}
    return _chart(data, transform=[*rows, *_thickness("width", _COLUMN)], encoding=encoding, layer=[_BARS, above])


def _ranges() -> str:
    """Return the ranges of duplicates in a group, as a list of expressions."""
    between = [_range(least + 1, most) for least, most in zip((0, *_SIZES), _SIZES, strict=False)]
    return json.dumps([*between, f"over {_SIZES[-1]:,}"], ensure_ascii=False)


def _ranges_from_one() -> str:
    """Return the same ranges with all smaller ones in each."""
    return json.dumps([*(_range(1, most) for most in _SIZES), "any"], ensure_ascii=False)


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def _bars(
    data: Json, transform: Sequence[Json], fields: tuple[str, str], axis: Json, text: str, tooltip: Sequence[Json]
) -> Json:
    """Draw a bar for each row, the longest first, with a label at its end.

    ``fields`` are those of its name and value, ``axis`` is that of the values, ``text`` the expression of the label.
    """
    label, value = fields
    longest_first = {"field": value, "op": "max", "order": "descending"}
    labels = {"title": None, "labelLimit": _TITLES, "ticks": False, "domain": False}
    encoding: Json = {
        "y": {"field": label, "type": "nominal", "sort": longest_first, "axis": labels},
        "x": {"field": value, "type": "quantitative", "axis": axis},
        "tooltip": list(tooltip),
    }
    beside = {
        "mark": {"type": "text", "align": "left", "dx": 4},
        "encoding": {"text": {"field": "label_text", "type": "nominal"}},
    }
    # Invisible points extend the axis, so that the longest bar has room for its label.
    room = {"mark": {"type": "point", "opacity": 0}, "encoding": {"x": {**encoding["x"], "field": "room"}}}
    rows = [
        *transform,
        {"calculate": text, "as": "label_text"},
        {"joinaggregate": [{"op": "max", "field": value, "as": "most"}]},
        {"calculate": "1.2 * datum.most", "as": "room"},
        *_thickness("height", _BAR),
    ]
    return _chart(data, transform=rows, encoding=encoding, layer=[_BARS, beside, room])


def _thickness(side: str, most: int) -> list[Json]:
    """Divide a side of the chart among its bars, with gaps between them."""
    return [
        {"joinaggregate": [{"op": "count", "as": "bars"}]},
        {"calculate": f"min({most}, 0.8 * {side} / datum.bars)", "as": "thickness"},
    ]


def _counts(title: str) -> Json:
    return {"field": "doc_count", "type": "quantitative", "axis": {**_COUNTS, "title": title}}


def _shown(field: str, title: str | None) -> Json:
    return {"field": field, "type": "nominal", "title": title}


def _counted(field: str, title: str) -> Json:
    return {"field": field, "type": "quantitative", "title": title, "format": ",d"}


def _format(field: str, form: str) -> str:
    """Return the expression that formats a number."""
    return f"format(datum.{field}, '{form}')"


def _first_value(field: str) -> str:
    """Return the expression of a field's first value in a hit."""
    values = f"datum.hit.fields[{json.dumps(field, ensure_ascii=False)}]"
    return f"(datum.hit.fields && {values} ? {values}[0] : '')"
