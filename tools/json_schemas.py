"""The JSON Schema of the file of profiles, in ``schemas/``; ``python -m tools.json_schemas`` writes it anew."""

from __future__ import annotations

import json

from es_simhash._core.json_paths import Json
from es_simhash.cli.options.profiles import DISTRIBUTIONS, SETTINGS
from tools import ROOT

FILE = ROOT / "schemas" / "config.json"
_TYPES = {str: "string", bool: "boolean"}


def config_schema() -> Json:
    """Return the schema, made of the settings that profiles are checked against."""
    settings: Json = {name: {"type": _TYPES[kind]} for name, kind in SETTINGS.items()}
    settings["distribution"] |= {"enum": list(DISTRIBUTIONS)}
    profile = {
        "type": "object",
        "properties": settings,
        "additionalProperties": False,
        "anyOf": [{"required": ["url"]}, {"required": ["cloud_id"]}],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config.toml of es_simhash",
        "type": "object",
        "properties": {"profiles": {"type": "object", "additionalProperties": profile}},
        "required": ["profiles"],
    }


def text() -> str:
    """Return what the file holds."""
    return json.dumps(config_schema(), indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
