"""The templates and saved objects in ``mappings/``; ``python -m tools.mapping_files`` writes them anew."""

from __future__ import annotations

import json
from dataclasses import replace

from es_simhash._core.json_codec import Json
from es_simhash.cli.reports.dashboards.saved_objects import ndjson, saved_objects
from es_simhash.cli.reports.dashboards.subject import TITLES, Measure, Subject
from es_simhash.scheme.mapping import DEFAULT_PREFIX, component_template
from es_simhash.scheme.notes import META
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS
from tools import ROOT

DIRECTORY = ROOT / "mappings"
_COMPONENT = "dedup-default"
# For every index whose fields have the usual prefix, whatever else its documents have.
_ALL = Subject("*", by_field="_index")
_MEASURES: dict[str, Measure] = {"all-indices": "similarity", "all-indices-simhash-only": "distance"}


def templates() -> dict[str, str]:
    """Return the component template of each preset, by file name."""
    return {f"dedup-{name}.json": _template(name) for name in PRESETS}


def index_templates() -> dict[str, str]:
    """Return the index template in ``mappings/index-templates/``, by file name.

    Servers merge its ``_meta`` into that of the component, so it names the fields of the texts and nothing else.
    """
    fields = ["title", "body"]
    mappings = {
        "_meta": {META: {DEFAULT_PREFIX: {"fields": fields}}},
        "properties": {field: {"type": "text"} for field in fields},
    }
    description = f"Indices of articles, with the fields of es_simhash from the component template {_COMPONENT}."
    template = {
        "index_patterns": ["articles-*"],
        "composed_of": [_COMPONENT],
        "priority": 500,
        "template": {"mappings": mappings},
        "_meta": {"description": description},
    }
    return {"articles.json": _text(template)}


def dashboards() -> dict[str, str]:
    """Return the saved objects in ``mappings/dashboards/``, by file name: one for each UI."""
    return {
        f"{name}-{ui}.ndjson": ndjson(saved_objects(replace(_ALL, measure=measure, ui=ui)))
        for name, measure in _MEASURES.items()
        for ui in TITLES
    }


def _template(preset: str) -> str:
    template = component_template(
        Scheme.preset(preset).mapping(), f"es_simhash, preset {preset}: {PRESETS[preset].use}"
    )
    return _text(template)


def _text(template: Json) -> str:
    return json.dumps(template, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    for folder, files in (
        (DIRECTORY, templates()),
        (DIRECTORY / "index-templates", index_templates()),
        (DIRECTORY / "dashboards", dashboards()),
    ):
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
