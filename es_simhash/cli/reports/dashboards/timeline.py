"""Duplicates over time: a click on a column, or a stretch drawn with the mouse, becomes the page's time range."""

from __future__ import annotations

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards import searches
from es_simhash.cli.reports.dashboards.drawing import calculated, chart, counts_axis, rectangle
from es_simhash.cli.reports.dashboards.expressions import formatted
from es_simhash.cli.reports.dashboards.subject import Subject

_A_DAY = 86_400_000
# A shorter stretch, in pixels, is a click.
_SHORTEST = 4
_IS_CLICK = f"abs(span(stretch)) < {_SHORTEST}"


def over_time(subject: Subject) -> Json:
    """Draw a column for each period, as wide as the period."""
    periods = [
        {
            "type": "window",
            "ops": ["lead", "lag"],
            "fields": ["key", "key"],
            "as": ["next", "before"],
        },
        calculated(
            "isValid(datum.next) ? datum.next : "
            f"isValid(datum.before) ? 2 * datum.key - datum.before : datum.key + {_A_DAY}",
            "end",
        ),
    ]
    columns = rectangle(
        "bars",
        [("from", "datum.key_as_string"), ("duplicates", formatted("datum.doc_count"))],
        x={"scale": "x", "field": "key"},
        x2={"scale": "x", "field": "end", "offset": -0.5},
        y={"scale": "y", "field": "doc_count"},
        y2={"scale": "y", "value": 0},
    )
    scales = [
        {"name": "x", "type": "utc", "domain": {"data": "rows", "fields": ["key", "end"]}, "range": "width"},
        {"name": "y", "domain": {"data": "rows", "field": "doc_count"}, "range": "height", "nice": True, "zero": True},
    ]
    axes = [
        {"scale": "y", "orient": "left", **counts_axis("duplicates")},
        {"scale": "x", "orient": "bottom", "labelOverlap": True},
    ]
    return chart(
        subject,
        searches.over_time(subject),
        "aggregations.duplicates.times.buckets",
        periods,
        signals=_signals(subject),
        scales=scales,
        axes=axes,
        marks=[columns, _STRETCH],
    )


def _signals(subject: Subject) -> list[Json]:
    """Return the stretch that is being drawn, and what becomes of it when the mouse is let go."""
    here = "clamp(x(), 0, width)"
    drawn = subject.shown_in.zoomed(*(f"time(invert('x', {end}))" for end in ("min(stretch[0], stretch[1])", _TO)))
    # The last instant of a column belongs to the next one.
    column = subject.shown_in.zoomed("datum.key", "datum.end - 1")
    return [
        {
            "name": "stretch",
            "value": [0, 0],
            "on": [
                {"events": "mousedown", "update": f"[{here}, {here}]"},
                {"events": "[mousedown, window:mouseup] > window:mousemove", "update": f"[stretch[0], {here}]"},
            ],
        },
        {
            "name": "is_drawing",
            "value": False,
            "on": [{"events": "mousedown", "update": "true"}, {"events": "window:mouseup", "update": "false"}],
        },
        {
            "name": "drawn",
            "on": [
                {"events": {"signal": "is_drawing"}, "update": f"is_drawing || {_IS_CLICK} ? null : {drawn}"},
                # A click follows a stretch that ends where it began to be drawn.
                {"events": "@bars:click", "update": f"{_IS_CLICK} ? {column} : null"},
            ],
        },
    ]


_TO = "max(stretch[0], stretch[1])"
_STRETCH: Json = {
    "name": "stretch_marks",
    "type": "rect",
    "interactive": False,
    "encode": {
        "update": {
            "x": {"signal": "stretch[0]"},
            "x2": {"signal": "stretch[1]"},
            "y": {"value": 0},
            "y2": {"signal": "height"},
            "fill": {"value": "#808080"},
            "fillOpacity": {"signal": "is_drawing ? 0.3 : 0"},
            "aria": {"value": False},
        }
    },
}
