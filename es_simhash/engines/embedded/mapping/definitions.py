"""The JSON form of mappings: what the engine accepts, and how two mappings are merged."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from es_simhash._core.json_codec import Json, is_false
from es_simhash.engines.embedded.mapping import values
from es_simhash.engines.embedded.mapping.analyzers import ANALYZERS
from es_simhash.errors import MappingError

KNOWN_TYPES = values.INDEXED
MAX_FIELDS = 1000

_ROOT = ("properties", "_meta", "dynamic", "date_detection")
_OBJECT = ("type", "properties", "dynamic", "enabled")
_DYNAMIC = ("true", "false", "strict")
# Parameters of indexed fields: those with an effect here, and those accepted without one.
_EFFECTIVE = ("type", "index", "analyzer", "ignore_above", "fields")
_WITHOUT_EFFECT = (
    "doc_values",
    "norms",
    "store",
    "index_options",
    "fielddata",
    "eager_global_ordinals",
    "format",
    "meta",
    "null_value",
)
_DATE_FORMATS = ("strict_date_optional_time", "date_optional_time", "epoch_millis", "iso8601")
# Parameters that cannot change once a field exists, with their defaults.
_FIXED = {"index": True, "analyzer": "standard", "enabled": True, "null_value": None}


def is_object(definition: Json) -> bool:
    """Return whether a definition is an object with fields, not a field with values."""
    return definition.get("type", "object") == "object" and not is_false(definition.get("enabled"))


def checked_mapping(body: Mapping[str, Any]) -> Json:
    """Return a mapping in normal form; raise if the engine cannot do all it says."""
    _check_keys("The mapping", body, _ROOT)
    result: Json = {key: deepcopy(body[key]) for key in ("_meta", "date_detection") if key in body}
    result |= _checked_object("", body)
    _check_count(result["properties"])
    return result


def _checked_object(path: str, body: Mapping[str, Any]) -> Json:
    result: Json = {}
    if "dynamic" in body:
        if str(body["dynamic"]).lower() not in _DYNAMIC:
            raise MappingError(
                f"The embedded engine has no dynamic: {body['dynamic']!r} (at {path or 'the root'!r}). "
                f"Choose from: {', '.join(_DYNAMIC)}."
            )
        result["dynamic"] = body["dynamic"]
    properties = body.get("properties", {})
    if not isinstance(properties, Mapping):
        raise MappingError(
            f"The properties of {path or 'the root'!r} are not an object. Give each field under its name."
        )
    tree: Json = {}
    for name, definition in properties.items():
        full_name = f"{path}.{name}" if path else name
        checked = _checked_definition(full_name, definition)
        # A dotted name stands for nested objects.
        *parents, last = check_name(full_name, name)
        nested = {last: checked}
        for parent in reversed(parents):
            nested = {parent: {"properties": nested}}
        tree = merged_properties(path, tree, nested)
    return result | {"properties": tree}


def check_name(path: str, name: object) -> list[str]:
    """Return the parts of a field's name; raise if the name is invalid."""
    if not isinstance(name, str) or not all(part.strip() for part in name.split(".")):
        raise MappingError(f"A field cannot be named {path!r}. Leave no part of the name, between dots, empty.")
    return name.split(".")


def _checked_definition(path: str, definition: object) -> Json:
    if not isinstance(definition, Mapping):
        raise MappingError(
            f"The field {path!r} is not defined by an object. Give it a type, such as {{'type': 'keyword'}}."
        )
    kind = definition.get("type", "object")
    if kind == "object":
        _check_keys(f"The object {path!r}", definition, _OBJECT)
        if is_false(definition.get("enabled")):
            return {"type": "object", "enabled": False}
        return _checked_object(path, definition)
    if kind in KNOWN_TYPES:
        _check_keys(f"The field {path!r}", definition, (*_EFFECTIVE, *_WITHOUT_EFFECT))
        _check_parameters(path, definition)
    result = deepcopy(dict(definition))
    if "fields" in definition:
        result["fields"] = _checked_subfields(path, definition["fields"])
    return result


def _checked_subfields(path: str, fields: object) -> Json:
    if not isinstance(fields, Mapping) or not all(
        isinstance(sub, Mapping) and "type" in sub for sub in fields.values()
    ):
        raise MappingError(f"The field {path!r} has no fields of its own in {fields!r}. Give each a name and a type.")
    return {name: _checked_definition(f"{path}.{name}", sub) for name, sub in fields.items()}


def _check_parameters(path: str, definition: Mapping[str, Any]) -> None:
    analyzer = definition.get("analyzer")
    if analyzer is not None and (definition["type"] != "text" or analyzer not in tuple(ANALYZERS)):
        raise MappingError(
            f"The embedded engine cannot analyze the field {path!r} by {analyzer!r}. "
            f"Choose from {', '.join(ANALYZERS)}, for fields of type text."
        )
    ignore_above = definition.get("ignore_above", 0)
    if isinstance(ignore_above, bool) or not isinstance(ignore_above, int):
        raise MappingError(f"The field {path!r} cannot have ignore_above: {ignore_above!r}. Give a whole number.")
    if "null_value" in definition and not is_false(definition.get("index")):
        raise MappingError(
            f"The embedded engine does not replace null in the field {path!r}. "
            "Leave null_value out, or set index: false."
        )
    formats = str(definition.get("format", _DATE_FORMATS[0])).split("||")
    if not set(formats) <= set(_DATE_FORMATS):
        raise MappingError(
            f"The embedded engine does not read dates in the format {definition['format']!r} (the field {path!r}). "
            f"Choose from: {', '.join(_DATE_FORMATS)}."
        )


def _check_keys(what: str, body: object, known: tuple[str, ...]) -> None:
    if not isinstance(body, Mapping):
        raise MappingError(f"{what} is {body!r}, not an object. Write it in the form of Elasticsearch's mappings.")
    if unknown := set(body) - set(known):
        raise MappingError(
            f"{what} has {sorted(unknown, key=str)!r}, which the embedded engine does not support. "
            f"Leave it out; supported: {', '.join(known)}."
        )


def merged_mapping(present: Json, new: Json) -> Json:
    """Return a mapping with the fields of another added."""
    properties = merged_properties("", present["properties"], new["properties"])
    _check_count(properties)
    return present | new | {"properties": properties}


def merged_properties(path: str, present: Json, new: Json) -> Json:
    """Return fields with others added; raise if an existing one would change."""
    merged = dict(present)
    for name, definition in new.items():
        full_name = f"{path}.{name}" if path else name
        there = present.get(name)
        merged[name] = definition if there is None else _merged_definition(full_name, there, definition)
    return merged


def _merged_definition(path: str, present: Json, new: Json) -> Json:
    _check_same(path, "type", present.get("type", "object"), new.get("type", "object"))
    if "type" not in present and "type" not in new:
        return present | new | {"properties": merged_properties(path, present["properties"], new["properties"])}
    for key, default in _FIXED.items():
        _check_same(path, key, present.get(key, default), new.get(key, default))
    merged = present | new
    if "fields" in present or "fields" in new:
        merged["fields"] = merged_properties(path, present.get("fields", {}), new.get("fields", {}))
    return merged


def _check_same(path: str, key: str, present: object, new: object) -> None:
    if _form(present) != _form(new):
        raise MappingError(
            f"The field {path!r} has {key} {present!r} and cannot get {key} {new!r}. "
            "Choose another name, or load the documents into a new index."
        )


def _form(value: object) -> object:
    """Return a value of a parameter as servers take it: ``"false"`` is False."""
    return str(value).lower() if isinstance(value, bool) else value


def _check_count(properties: Json) -> None:
    if (count := _count(properties)) > MAX_FIELDS:
        raise MappingError(
            f"The mapping would have {count} fields, more than {MAX_FIELDS}. "
            "Set dynamic: false where documents name fields of their own."
        )


def _count(properties: Json) -> int:
    below = (d.get("properties", {}) | d.get("fields", {}) for d in properties.values())
    return len(properties) + sum(map(_count, below))
