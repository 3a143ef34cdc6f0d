"""The totals in four numbers, each with its change.

A change compares the periods in the later half of the time that the page shows with those in the earlier half: any
range of time has both, be it a day or all times.
"""

from __future__ import annotations

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards import clicks, searches
from es_simhash.cli.reports.dashboards.drawing import ABOUT, LABEL, TITLE, calculated, chart, described, text
from es_simhash.cli.reports.dashboards.expressions import Expression, formatted, literal
from es_simhash.cli.reports.dashboards.subject import Subject

_MIDDLE: Json = {"scale": "x", "field": "name", "band": 0.5}


def totals(subject: Subject) -> Json:
    """Show documents with fingerprints, groups, duplicates, and their share."""
    body = searches.totals(subject)
    halves = subject.date_field is not None
    tiles = [calculated(_tiles(halves), "tile"), {"type": "flatten", "fields": ["tile"]}]
    names = [calculated(f"datum.tile.{name}", name) for name in ("name", "number", "change")]
    marks = [
        _ground(),
        _line("numbers", "datum.number", 0.35, 28, TITLE),
        _line("names", "datum.name", 0.66, 13),
        _line("changes", "datum.change", 0.88, 12),
    ]
    scales = [
        {"name": "x", "type": "band", "domain": {"data": "rows", "field": "name"}, "range": "width", "padding": 0.05}
    ]
    rows: Json = {"name": "rows", "source": "answer", "transform": [*tiles, *names]}
    made = chart(subject, body, "aggregations", (), signals=[clicks.tile(subject)], scales=scales, marks=marks)
    [answer] = made["data"]
    compared = _halves() if halves else []
    return {**made, "data": [{**answer, "name": "answer"}, *compared, rows]}


def _ground() -> Json:
    """Return the clicked ground of each number."""
    return {
        "name": "bars",
        "type": "rect",
        "from": {"data": "rows"},
        "encode": {
            "update": {
                **described([("", "datum.name"), ("number", "datum.number")]),
                "xc": _MIDDLE,
                "width": {"signal": "bandwidth('x')"},
                "y": {"value": 0},
                "y2": {"signal": "height"},
                "fill": {"value": "transparent"},
                "cornerRadius": {"value": 6},
                "cursor": {"value": "pointer"},
            },
            "hover": {"fill": {"value": "#80808030"}},
        },
    }


def _line(name: str, value: str, height: float, size: int, style: str = LABEL) -> Json:
    """Return a line of each tile at a part of its height; clicks go through to the ground."""
    y = {"y": {"signal": f"{height} * height"}, "baseline": {"value": "middle"}}
    line = text(name, value, style, x=_MIDDLE, **y, align={"value": "center"}, fontSize={"value": size})
    return {**line, "interactive": False}


def _tiles(halves: bool) -> str:
    """Return the expression of all tiles, as a list."""
    all_, copies = "datum.all.doc_count", "datum.duplicates.doc_count"
    # Groups that are not counted one by one are about as many as the server says.
    counted = (
        f"datum.duplicates.groups.sum_other_doc_count ? {literal(ABOUT)} + {formatted('datum.duplicates.number.value')}"
        f" : {formatted('length(datum.duplicates.groups.buckets)')}"
    )
    numbers = {
        "documents": (formatted(all_), _growth("documents")),
        "groups": (counted, "''"),
        "duplicates": (formatted(copies), _growth("copies")),
        "of all are duplicates": (f"{all_} ? {formatted(f'{copies} / {all_}', '.1%')} : '–'", _points()),
    }
    return literal(
        [
            {"name": name, "number": Expression(number), "change": Expression(change if halves else "''")}
            for name, (number, change) in numbers.items()
        ]
    )


def _halves() -> list[Json]:
    """Return the data with one row: documents and duplicates of the earlier and of the later half.

    Of an odd number of periods, the one in the middle is in neither.
    """
    sums = [f"{half}_{what}" for half in ("earlier", "later") for what in ("documents", "copies")]
    split = {"earlier": "2 * datum.place <= datum.periods", "later": "2 * (datum.place - 1) >= datum.periods"}
    counts = {"documents": "datum.period.doc_count", "copies": "datum.period.duplicates.doc_count"}
    transform: list[Json] = [
        {"type": "flatten", "fields": ["all.times.buckets"], "as": ["period"]},
        {"type": "window", "ops": ["row_number"], "as": ["place"]},
        {"type": "joinaggregate", "ops": ["count"], "as": ["periods"]},
        *(
            calculated(f"{is_in} ? {count} : 0", f"{half}_{what}")
            for half, is_in in split.items()
            for what, count in counts.items()
        ),
        {"type": "aggregate", "ops": ["sum"] * len(sums), "fields": sums, "as": sums},
    ]
    return [{"name": "halves", "source": "answer", "transform": transform}]


def _growth(what: str) -> str:
    """Return the expression of how a count has grown; empty if there was none before."""
    earlier, later = (f"data('halves')[0].{half}_{what}" for half in ("earlier", "later"))
    return _signed(f"{later} / {earlier} - 1", f"{earlier} > 0", ".0%", "")


def _points() -> str:
    """Return the expression of how a share has changed."""
    earlier, later = (
        f"100 * data('halves')[0].{half}_copies / data('halves')[0].{half}_documents" for half in ("earlier", "later")
    )
    both = " && ".join(f"data('halves')[0].{half}_documents > 0" for half in ("earlier", "later"))
    return _signed(f"{later} - {earlier}", both, ".1f", " points")


def _signed(change: str, is_known: str, form: str, unit: str) -> str:
    """Return the expression of a change with an arrow, where it is known."""
    arrow = f"({change} < 0 ? '▼ ' : '▲ ')"
    size = formatted(f"abs({change})", form)
    said = f"{change} ? {arrow} + {size} + {literal(f'{unit} in the later half')} : 'as in the earlier half'"
    return f"length(data('halves')) && {is_known} ? ({said}) : ''"
