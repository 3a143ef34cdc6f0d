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
# The width of document titles beside their bars in pixels, and their longest length in tooltips.
_TITLES = 280
_LONGEST_TITLE = 200


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
    """Draw a column for each range of sizes."""
    data = _data(subject, searches.sizes(subject), "aggregations.groups.sizes.buckets")
    return _columns(data, "key", "documents in a group", "groups")


def similarities(subject: Subject) -> Json:
    """Draw a column for each range of similarities."""
    data = _data(subject, searches.similarities(subject), "aggregations.duplicates.bins.buckets")
    return _columns(data, "key", "minimum similarity to the canonical document", "duplicates")


def distances(subject: Subject) -> Json:
    """Draw a column for each number of bits."""
    data = _data(subject, searches.distances(subject), "aggregations.duplicates.bins.buckets")
    return _columns(data, "key", "bits that differ from the canonical document", "duplicates")


def largest(subject: Subject) -> Json:
    """Draw a bar for each of the largest groups, beside the title of its canonical document."""
    group, size = _first_value(subject.field("group")), _first_value(subject.field("group_size"))
    title = " || ".join([*map(_first_value, subject.text_fields[:1]), "datum.group"])
    transform: list[Json] = [
        {"calculate": group, "as": "group"},
        {"calculate": size, "as": "size"},
        {"calculate": f"truncate(replace({title}, /\\s+/g, ' '), {_LONGEST_TITLE})", "as": "title"},
        {"window": [{"op": "row_number", "as": "rank"}]},
        # Zero-width spaces keep two groups with the same title apart.
        {"calculate": "pad(datum.title, length(datum.title) + datum.rank, '\\u200b', 'right')", "as": "label"},
    ]
    tooltip = [_shown("group", "group"), _shown("title", "canonical"), _counted("size", "documents")]
    data = _data(subject, searches.largest(subject), "hits.hits")
    axis = {**_COUNTS, "title": "documents in the group"}
    return _bars(data, transform, ("label", "size"), axis, _format("size", ",d"), tooltip)


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
    data = _data(subject, searches.by_field(subject), "aggregations.values.buckets")
    label = f"{_format('share', '.0%')} + '  of ' + {_format('doc_count', ',d')}"
    axis = {"title": "share of duplicates", "format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]}
    return _bars(data, transform, ("value", "share"), axis, label, tooltip)


def totals(subject: Subject) -> Json:
    """Show the totals, in four numbers."""
    share = "datum.all.doc_count ? format(datum.copies.doc_count / datum.all.doc_count, '.1%') : '–'"
    names = {
        "documents": _format("all.doc_count", ",d"),
        "groups": _format("kept.doc_count", ",d"),
        "duplicates": _format("copies.doc_count", ",d"),
        "of all are duplicates": share,
    }
    transform: list[Json] = [{"calculate": expression, "as": name} for name, expression in names.items()]
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
    return {"$schema": _SCHEMA, "data": data, **parts, "config": {"view": {"stroke": None}, "text": {"color": _TEXT}}}


def _columns(data: Json, field: str, title: str, counted: str) -> Json:
    """Draw a column for each row, in order, with its count above it."""
    axis = {"title": title, "labelAngle": 0, "labelOverlap": True, "ticks": False}
    counts = {"op": "sum", "field": "doc_count"}
    transform = [
        # Empty rows before the first one that counts, and after the last.
        {"window": [{**counts, "as": "before"}], "frame": [None, 0]},
        {"window": [{**counts, "as": "after"}], "frame": [0, None]},
        {"filter": "datum.before && datum.after"},
        {"calculate": f"datum.doc_count ? {_format('doc_count', ',d')} : ''", "as": "label_text"},
    ]
    encoding = {
        "x": {"field": field, "type": "ordinal", "sort": None, "axis": axis},
        "y": _counts(counted),
        "tooltip": [_shown(field, title), _counted("doc_count", counted)],
    }
    above = {"mark": {"type": "text", "dy": -7}, "encoding": {"text": {"field": "label_text", "type": "nominal"}}}
    return _chart(data, transform=transform, encoding=encoding, layer=[{"mark": "bar"}, above])


def _bars(
    data: Json, transform: Sequence[Json], fields: tuple[str, str], axis: Json, text: str, tooltip: Sequence[Json]
) -> Json:
    """Draw a bar for each row, in order, with a label at its end.

    ``fields`` are those of its name and value, ``axis`` is that of the values, ``text`` the expression of the label.
    """
    label, value = fields
    labels = {"title": None, "labelLimit": _TITLES, "ticks": False, "domain": False}
    encoding: Json = {
        "y": {"field": label, "type": "nominal", "sort": None, "axis": labels},
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
    ]
    return _chart(data, transform=rows, encoding=encoding, layer=[{"mark": "bar"}, beside, room])


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
    values = f"datum.fields[{json.dumps(field, ensure_ascii=False)}]"
    return f"({values} ? {values}[0] : '')"
