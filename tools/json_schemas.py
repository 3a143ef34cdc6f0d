"""The JSON Schemas in ``schemas/``, of what users write and of what commands print; this module writes them.

Those of profiles and schemes are made of the settings that the command line and `Scheme.from_json` check, and hold
their names, types and choices; which settings exclude each other, only these say.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from es_simhash._core.json_codec import Json
from es_simhash.cli.options.target import DISTRIBUTIONS, SETTINGS
from es_simhash.scheme.scheme import FORMAT, LATER_PARTS, SCHEMA
from es_simhash.scheme.settings import MINHASH_KINDS, Settings
from es_simhash.text.hashing import HASH_FUNCTIONS
from es_simhash.text.tokens import KINDS
from tools import ROOT
from tools.output_schemas import DIALECT, TYPES, output_schema

FOLDER = ROOT / "schemas"


def config_schema() -> Json:
    """Return the schema of the file of profiles, made of the settings that these are checked against."""
    settings: Json = {name: {"type": TYPES[kind]} for name, kind in SETTINGS.items()}
    settings["distribution"] |= {"enum": list(DISTRIBUTIONS)}
    profile = {**_object(settings), "anyOf": [{"required": ["url"]}, {"required": ["cloud_id"]}]}
    profiles = {"type": "object", "additionalProperties": profile}
    return {
        "$schema": DIALECT,
        "title": "config.toml of es_simhash",
        "type": "object",
        "properties": {"profiles": profiles},
        "required": ["profiles"],
    }


def scheme_schema() -> Json:
    """Return the schema of a scheme's file."""
    names = [each.name for each in fields(Settings)]
    properties = {"$schema": {"type": "string"}, "format": {"const": FORMAT}, **_properties(Settings)}
    # A caller's hash function is an object, and what `idf` holds is a table's name.
    caller = _object({"name": {"type": "string"}, "bits": {"type": "integer"}, "is_mixed": {"type": "boolean"}})
    properties["hash"] = {"anyOf": [{"enum": sorted(HASH_FUNCTIONS)}, caller]}
    properties["idf"] = {"type": ["string", "null"]}
    properties["tokens"] = {"anyOf": [_tokens(kind, each) for kind, each in KINDS.items()]}
    _of_object(properties["minhash"])["properties"]["kind"] = {"enum": sorted(MINHASH_KINDS)}
    required = ["format", *(name for name in names if name not in LATER_PARTS)]
    return {
        "$schema": DIALECT,
        "$id": SCHEMA,
        "title": "A scheme of es_simhash",
        **_object(properties),
        "required": required,
    }


def _tokens(kind: str, settings: type) -> Json:
    properties = {name: each for name, each in _properties(settings).items() if name != "function"}
    required = [name for name in _required(settings) if name != "function"]
    return {**_object({"kind": {"const": kind}, **properties}), "required": ["kind", *required]}


def _object(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _of_object(schema: Json) -> Json:
    """Return what describes the object of a setting that may be null."""
    [found] = [each for each in schema["anyOf"] if each["type"] == "object"]
    return dict(found)


def _properties(settings: type) -> Json:
    hints = get_type_hints(settings)
    return {each.name: _of_type(hints[each.name]) for each in fields(settings)}


def _required(settings: type) -> list[str]:
    return [each.name for each in fields(settings) if each.default is MISSING and each.default_factory is MISSING]


def _of_type(hint: Any) -> Json:
    """Return the schema of a setting's type; what has none in JSON, such as a function, may be anything."""
    if hint in TYPES:
        return {"type": TYPES[hint]}
    if get_origin(hint) is Literal:
        return {"enum": list(get_args(hint))}
    if get_origin(hint) in (Union, UnionType):
        return {"anyOf": [_of_type(each) for each in get_args(hint)]}
    if get_origin(hint) in (frozenset, tuple):
        return {"type": "array", "items": _of_type(get_args(hint)[0])}
    if isinstance(hint, type) and is_dataclass(hint):
        required = _required(hint)
        return {**_object(_properties(hint)), **({"required": required} if required else {})}
    return {}


SCHEMAS: dict[str, Callable[[], Json]] = {
    "config.json": config_schema,
    "output.json": output_schema,
    "scheme.json": scheme_schema,
}


def text(name: str) -> str:
    """Return what a file holds."""
    return json.dumps(SCHEMAS[name](), indent=2) + "\n"


if __name__ == "__main__":
    for each in SCHEMAS:
        (FOLDER / each).write_text(text(each), encoding="utf-8")
