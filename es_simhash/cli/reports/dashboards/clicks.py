"""What clicks on charts filter by: the documents that a mark has counted."""

from __future__ import annotations

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards.expressions import Expression, literal
from es_simhash.cli.reports.dashboards.subject import Subject

# What is clicked in a chart: its bars, and the numbers beside them.
_MARKS = ("bars", "numbers")


def filtering(subject: Subject, query: Json | Expression, label: str) -> Json:
    """Return the signal that adds a filter for the mark that is clicked."""
    events = ", ".join(f"@{mark}:click" for mark in _MARKS)
    return {"name": "clicked", "on": [{"events": events, "update": subject.shown_in.filtered(query, label)}]}


def group(subject: Subject) -> Json:
    """Filter by a group of the chart of the largest."""
    return filtering(subject, {"term": {subject.field("group"): _KEY}}, f"'group ' + {_KEY}")


def size(subject: Subject) -> Json:
    """Filter by the sizes of groups in a column, as the last run of `group` has stored them.

    A column has groups by their duplicates, which are one less than their documents, unless they are chains. The first
    and last have no edge.
    """
    edges = {"gte": Expression("datum.least + 1"), "lte": Expression(f"isValid(datum.most) ? datum.most + 1 : {_MOST}")}
    label = "datum.key + ' duplicates in a group'"
    return filtering(subject, {"range": {subject.field("group_size"): edges}}, label)


def similarity(subject: Subject) -> Json:
    """Filter by the duplicates of a range of similarities."""
    edges = {
        "gte": Expression("isValid(datum.from) ? datum.from : 0"),
        "lt": Expression("isValid(datum.to) ? datum.to : 2"),
    }
    return filtering(
        subject,
        _duplicates(subject, {"range": {subject.field("similarity"): edges}}),
        f"'similarity ' + {_KEY}",
    )


def distance(subject: Subject) -> Json:
    """Filter by the duplicates at a distance."""
    query = _duplicates(subject, {"term": {subject.field("distance"): _KEY}})
    return filtering(subject, query, f"{_KEY} + ' different bits'")


def value(subject: Subject) -> Json:
    """Filter by a value of the other field, as the engine writes it."""
    assert subject.by_field
    # Truth values and dates have numbers as keys, which their fields do not take.
    written = Expression("isValid(datum.key_as_string) ? datum.key_as_string : datum.key")
    label = f"{literal(f'{subject.by_field}: ')} + datum.value"
    return filtering(subject, {"term": {subject.by_field: written}}, label)


def tile(subject: Subject) -> Json:
    """Filter by what a number has counted; shares lead to the duplicates."""
    exists = {"documents": subject.field("status"), "groups": subject.field("group")}
    queries = {name: {"exists": {"field": field}} for name, field in exists.items()}
    duplicates = {"term": {subject.field("is_canonical"): False}}
    query = Expression(f"({literal(queries)})[datum.name] || {literal(duplicates)}")
    return filtering(subject, query, f"({literal(_LABELS)})[datum.name] || 'duplicates'")


_KEY = Expression("datum.key")
_MOST = 2_147_483_647
_LABELS = {"documents": "documents with fingerprints", "groups": "documents in groups"}


def _duplicates(subject: Subject, query: Json) -> Json:
    return {"bool": {"filter": [{"term": {subject.field("is_canonical"): False}}, query]}}
