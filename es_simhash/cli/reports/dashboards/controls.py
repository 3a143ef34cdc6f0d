"""Input controls: the index, the other field and the size of groups, to choose from.

They are the visualization that both UIs know, ``input_control_vis``. Kibana has newer controls since 8.0, which are no
saved objects of their own, and which 7.10 and OpenSearch Dashboards do not know; it still shows these.
"""

from __future__ import annotations

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards.subject import Subject

KIND = "input_control_vis"
_INDEX = "_index"
_VALUES = 20


def parameters(subject: Subject) -> Json:
    """Return the parameters of the visualization; each control refers to the data view."""
    fields = [_INDEX, *([subject.by_field] if subject.by_field and subject.by_field != _INDEX else [])]
    controls = [*map(_list, fields), _range(subject.field("group_size"), "documents in a group")]
    numbered = [
        {"id": str(number), "parent": "", **control, "indexPatternRefName": _reference(number)}
        for number, control in enumerate(controls)
    ]
    return {"controls": numbered, "updateFiltersOnChange": True, "useTimeFilter": False, "pinFilters": False}


def references(subject: Subject, made: Json) -> list[tuple[str, str, str]]:
    """Return the references that the parameters name."""
    return [(each["indexPatternRefName"], "index-pattern", subject.data_view_id) for each in made["controls"]]


def _reference(number: int) -> str:
    return f"control_{number}_index_pattern"


def _list(field: str) -> Json:
    """Choose among the values of a field that are the most frequent, or that begin with what is typed."""
    options = {"type": "terms", "multiselect": True, "dynamicOptions": True, "size": _VALUES, "order": "desc"}
    label = "index" if field == _INDEX else field.removesuffix(".keyword")
    return {"fieldName": field, "label": label, "type": "list", "options": options}


def _range(field: str, label: str) -> Json:
    return {"fieldName": field, "label": label, "type": "range", "options": {"decimalPlaces": 0, "step": 1}}
