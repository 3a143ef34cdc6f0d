"""How charts are drawn: columns and bars of Vega 5, which Kibana from 7.10 on and OpenSearch Dashboards have.

Texts have the colours of the page, by its styles, in light and dark. Bars have a colour of their own with a contrast of
at least 3 : 1 to both; that of the page has 2.5 : 1 on white.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards.expressions import Expression, formatted, literal
from es_simhash.cli.reports.dashboards.subject import Subject

_SCHEMA = "https://vega.github.io/schema/vega/v5.json"
COLOUR = "#3b8d78"
# Styles of the page: of labels at axes, and of their titles.
LABEL, TITLE = "guide-label", "guide-title"
# Before numbers that a server may have counted too low or too high.
ABOUT = "≈ "
# The width of document titles beside their bars in pixels, and the greatest width of a bar and of a column.
_TITLES = 280
_BAR, _COLUMN = 24, 72

# What a tooltip says of a mark, and a reader of screens: titles and expressions of texts.
Description: TypeAlias = Sequence[tuple[str, str]]


def chart(subject: Subject, body: Json, part: str, transform: Sequence[Json], **parts: Any) -> Json:
    """Return a chart whose ``rows`` are a part of the answer to a request, transformed.

    Both UIs put the page's query, filters and time range in the place of ``%context%`` and ``%timefield%``.
    """
    time = {"%timefield%": subject.date_field} if subject.date_field else {}
    url = {"%context%": True, **time, "index": subject.index, "body": body}
    rows = {"name": "rows", "url": url, "format": {"property": part}, "transform": list(transform)}
    # An answer without rows has no extent, which Kibana 7.10 and OpenSearch Dashboards would warn of on each chart.
    config = {"kibana": {"hideWarnings": True}}
    return {"$schema": _SCHEMA, "data": [rows, *parts.pop("data", ())], **parts, "config": config}


def calculated(expression: str, name: str) -> Json:
    """Return the transform that adds a field to each row."""
    return {"type": "formula", "expr": expression, "as": name}


def numbered(name: str) -> Json:
    """Return the transform that counts the rows."""
    return {"type": "window", "ops": ["row_number"], "as": [name]}


def described(values: Description) -> Json:
    """Return the parts of a mark that say what it is."""
    tooltip = literal({title: Expression(value) for title, value in values})
    # Without a text of its own, a reader of screens would hear the expression's parts.
    spoken = " + '; ' + ".join(f"{literal(f'{title}: ')} + {value}" for title, value in values)
    return {"tooltip": {"signal": tooltip}, "description": {"signal": spoken}, "ariaRoleDescription": {"value": "bar"}}


def rectangle(name: str, values: Description, **encoding: Json) -> Json:
    """Return the marks that are clicked, one for each row."""
    looks = {"fill": {"value": COLOUR}, "cursor": {"value": "pointer"}, "fillOpacity": {"value": 1}}
    return {
        "name": name,
        "type": "rect",
        "from": {"data": "rows"},
        "encode": {"update": {**looks, **described(values), **encoding}, "hover": {"fillOpacity": {"value": 0.8}}},
    }


def text(name: str, value: str, style: str = LABEL, **encoding: Json) -> Json:
    """Return a text for each row."""
    update = {"text": {"signal": value}, "cursor": {"value": "pointer"}, "aria": {"value": False}, **encoding}
    return {"name": name, "type": "text", "style": style, "from": {"data": "rows"}, "encode": {"update": update}}


def counts_axis(title: str, **more: Any) -> Json:
    """Return an axis of whole numbers."""
    return {"title": title, "format": ",d", "tickMinStep": 1, "tickCount": 5, "grid": True, **more}


def columns(
    subject: Subject, body: Json, part: str, transform: Sequence[Json], titles: tuple[str, str], signal: Json
) -> Json:
    """Draw a column for each row, by its rank, with its count above it.

    The transform gives rows a ``key``, a ``rank``, a ``doc_count``, and what is written before it (``about``).
    ``titles`` are those of keys and counts.
    """
    title, counted = titles
    by_rank = {"sort": {"field": "rank"}, "ops": ["sum"], "fields": ["doc_count"]}
    rows = [
        *transform,
        # Empty rows before the first one that counts, and after the last.
        {"type": "window", **by_rank, "as": ["before"], "frame": [None, 0]},
        {"type": "window", **by_rank, "as": ["after"], "frame": [0, None]},
        {"type": "filter", "expr": "datum.before && datum.after"},
    ]
    count = f"datum.about + {formatted('datum.doc_count')}"
    middle = {"scale": "x", "field": "key", "band": 0.5}
    bars = rectangle(
        "bars",
        [(title, "datum.key"), (counted, formatted("datum.doc_count"))],
        xc=middle,
        width={"signal": f"min({_COLUMN}, bandwidth('x'))"},
        y={"scale": "y", "field": "doc_count"},
        y2={"scale": "y", "value": 0},
    )
    numbers = text(
        "numbers",
        f"datum.doc_count ? {count} : ''",
        x=middle,
        y={"scale": "y", "field": "doc_count", "offset": -4},
        align={"value": "center"},
        baseline={"value": "bottom"},
    )
    by_rank_of_key = {"field": "rank", "op": "min"}
    scales = [
        {
            "name": "x",
            "type": "band",
            "domain": {"data": "rows", "field": "key", "sort": by_rank_of_key},
            "range": "width",
            "padding": 0.2,
        },
        {"name": "y", "domain": {"data": "rows", "field": "doc_count"}, "range": "height", "nice": True, "zero": True},
    ]
    axes = [
        {"scale": "y", "orient": "left", **counts_axis(counted)},
        {"scale": "x", "orient": "bottom", "title": title, "labelOverlap": True, "ticks": False, "labelPadding": 4},
    ]
    return chart(subject, body, part, rows, signals=[signal], scales=scales, axes=axes, marks=[bars, numbers])


def bars(
    subject: Subject,
    body: Json,
    part: str,
    transform: Sequence[Json],
    fields: tuple[str, str],
    axis: Json,
    number: str,
    values: Description,
    signal: Json,
) -> Json:
    """Draw a bar for each row, the longest first, with a number at its end.

    ``fields`` are those of its name and value, ``axis`` is that of the values, ``number`` the expression of the number.
    """
    label, value = fields
    # The axis is longer than the longest bar, so that its number has room.
    rows = [*transform, calculated(f"1.2 * datum.{value}", "room")]
    middle = {"scale": "y", "field": label, "band": 0.5}
    drawn = rectangle(
        "bars",
        values,
        yc=middle,
        height={"signal": f"min({_BAR}, bandwidth('y'))"},
        x={"scale": "x", "value": 0},
        x2={"scale": "x", "field": value},
    )
    numbers = text(
        "numbers",
        number,
        y=middle,
        x={"scale": "x", "field": value, "offset": 5},
        baseline={"value": "middle"},
    )
    longest_first = {"field": value, "op": "max", "order": "descending"}
    scales = [
        {
            "name": "y",
            "type": "band",
            "domain": {"data": "rows", "field": label, "sort": longest_first},
            "range": "height",
            "padding": 0.2,
        },
        {"name": "x", "domain": {"data": "rows", "field": "room"}, "range": "width", "nice": True, "zero": True},
    ]
    axes = [
        {"scale": "x", "orient": "bottom", "grid": True, **axis},
        {"scale": "y", "orient": "left", "labelLimit": _TITLES, "ticks": False, "domain": False, "labelPadding": 5},
    ]
    return chart(subject, body, part, rows, signals=[signal], scales=scales, axes=axes, marks=[drawn, numbers])
