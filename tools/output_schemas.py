"""The JSON Schema of what commands print with ``--json``, made of the classes of their results.

`LINES` declares what each kind of line is made of. The tests compare what commands print with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import is_dataclass
from inspect import getdoc
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from es_simhash._core.json_codec import Json
from es_simhash._core.rows import json_names
from es_simhash.cli.jobs.first_look import FirstLook
from es_simhash.cli.jobs.groups import ShownMember
from es_simhash.cli.show.presets import TradeOffs
from es_simhash.documents.stored_scripts import StoredScript
from es_simhash.groups.groups import Counts, Group
from es_simhash.groups.losses import Losses
from es_simhash.groups.of_index.sync import Synced
from es_simhash.groups.of_index.writing import GroupsWritten
from es_simhash.live.backfill import Totals, Trial
from es_simhash.live.doctor.facts import Finding
from es_simhash.live.erase.copies import Copies, Erased
from es_simhash.live.learning import Learnt
from es_simhash.live.reindex import Reindexed, ReindexSurvey
from es_simhash.live.sweep.reading import Survey
from es_simhash.live.sweep.writing import Progress
from es_simhash.plans.check import Checked
from es_simhash.plans.distinct import DistinctPage
from es_simhash.plans.explanation import Explanation
from es_simhash.plans.init import Info, Initialised
from es_simhash.plans.operations import FilesChecked
from es_simhash.quality.evaluation import Evaluation
from es_simhash.quality.similarity_histogram import Histogram
from es_simhash.quality.tuning import Tuned
from es_simhash.scheme.learnt_rarity import LearntRarity
from es_simhash.scheme.rerank import Matches

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TYPES: dict[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}

# The values of a class, or names with the types of their values.
Part: TypeAlias = "type | dict[str, Any]"

_EVENT = {name: {"event": Literal[name]} for name in ("plan", "progress", "done", "found")}
_GROUP: list[Part] = [Group, {"link": str | None}]
_SHOWN: list[Part] = [*_GROUP, {"members": tuple[ShownMember, ...]}]
_SUMMARY: list[Part] = [
    Counts,
    {
        "decided_by": Literal["texts", "fingerprints"],
        "table": str | None,
        "ids": str,
        "forms": list[str],
        "hot_keys": list[dict[str, str | int]],
        "unread": dict[str, str],
        "losses": Losses | None,
        "written": GroupsWritten | None,
    },
]

# What each line is made of, by the command, and by when it prints the line.
LINES: dict[tuple[str, str], list[Part]] = {
    ("init", "run"): [Initialised, {"dry_run": bool}],
    ("load", "run"): [
        {"index": str, "written": int, "rejected": int, "rejects": str, "no_text": int},
        {"learnt": Learnt, "dry_run": bool},
    ],
    ("doctor", "finding"): [Finding],
    ("backfill", "run, first"): [_EVENT["plan"], Survey, {"run": int, "trial": Trial | None}],
    ("backfill", "second, and at the first documents"): [_EVENT["progress"], Progress],
    ("backfill", "run, last, unless `--dry-run`"): [_EVENT["done"], Progress, {"rejects": str, "all_runs": Totals}],
    ("sync", "run"): [Synced],
    ("reindex", "run, first"): [_EVENT["plan"], ReindexSurvey, {"dry_run": bool}],
    ("reindex", "second, and at the first documents"): [_EVENT["progress"], Progress],
    ("reindex", "run, last, unless `--dry-run`"): [_EVENT["done"], Progress, {"rejects": str}, Reindexed],
    ("remove", "run, first"): [_EVENT["plan"], Survey, {"prefix": str}],
    ("remove", "second, and at the first documents"): [_EVENT["progress"], Progress],
    ("remove", "run, last, unless `--dry-run`"): [_EVENT["done"], Progress, {"rejects": str, "left": int}],
    ("scripts", "script or template"): [StoredScript, {"state": str | None}],
    ("scripts --pipeline", "run"): [
        {"pipeline": str, "installed": bool, "default_of": list[str], "request": dict[str, Any] | None}
    ],
    ("find", "run"): [Matches],
    ("search", "run"): [DistinctPage],
    ("explain", "run"): [Explanation],
    ("explain --text", "run, of one text"): [
        {"simhash": str | None, "blocks": str | None, "bands": str | None, "content": str, "scheme": str, "status": str}
    ],
    ("check", "document"): [Checked],
    ("learn", "run"): [LearntRarity],
    ("group", "group, unless `--output`"): _GROUP,
    ("group", "group, with `--source`"): _SHOWN,
    ("group", "run, last"): [{"summary": _SUMMARY}],
    ("dedup", "group, unless `--output`"): _GROUP,
    ("dedup", "group, with `--source`"): _SHOWN,
    ("dedup", "run, last"): [{"summary": _SUMMARY}],
    ("erase", "run, first"): [_EVENT["found"], Copies],
    ("erase", "run, last, if confirmed"): [_EVENT["done"], Erased],
    ("dashboard", "run, with `--output`; else the saved objects are printed"): [
        {"objects": int, "data_view": str, "file": str}
    ],
    ("info", "run"): [
        Info,
        {"keys": dict.fromkeys(("bands", "rows", "key_bits", "blocks"), int | None)},
        {"files": FilesChecked | None},
    ],
    ("info, without INDEX", "preset"): [{"name": str, "id": str, "use": str}, TradeOffs],
    ("try", "run"): [FirstLook],
    ("tune", "run"): [Tuned, {"out": str | None}],
    ("tune --histogram", "run"): [Histogram],
    ("evaluate", "run"): [Evaluation],
}


def output_schema() -> Json:
    """Return the schema of an object with the lines of each command, by its name."""
    outputs = _Outputs()
    lines: dict[str, list[Json]] = {}
    for (command, _), parts in LINES.items():
        schema = outputs.line(parts)
        if schema not in (kinds := lines.setdefault(command, [])):
            kinds.append(schema)
    return {
        "$schema": DIALECT,
        "title": "What commands of es_simhash print with --json",
        "type": "object",
        "properties": {command: _array(_any_of(kinds) if kinds[1:] else kinds[0]) for command, kinds in lines.items()},
        "additionalProperties": False,
        "$defs": dict(sorted(outputs.classes.items())),
    }


def keys_of(parts: list[Part]) -> list[str]:
    """Return the keys of a line."""
    names = (name for part in parts for name in (part if isinstance(part, dict) else json_names(part)))
    return list(dict.fromkeys(names))


class _Outputs:
    """The schemas of the classes that were met so far, by name."""

    def __init__(self) -> None:
        self.classes: dict[str, Json] = {}
        self._kinds: dict[str, type] = {}

    def joined(self, parts: list[Part]) -> Json:
        """Return the schema of an object with the values of several parts."""
        properties: Json = {}
        for part in parts:
            if isinstance(part, dict):
                properties |= {name: self.of(hint) for name, hint in part.items()}
            else:
                properties |= self.resolved(part)["properties"]
        return _object(properties)

    def resolved(self, kind: type) -> Json:
        """Return the schema of a class, which is kept."""
        if self._kinds.setdefault(kind.__name__, kind) is not kind:
            raise TypeError(f"Two classes of results have the name {kind.__name__}. Rename one.")
        if kind.__name__ not in self.classes:
            self.classes[kind.__name__] = {}  # it may hold itself
            properties = {name: self.of(_hint(kind, name)) for name in json_names(kind)}
            self.classes[kind.__name__] = {"description": _said(kind), **_object(properties)}
        return self.classes[kind.__name__]

    def line(self, parts: list[Part]) -> Json:
        """Return the schema of a line."""
        return self.joined(parts) if len(parts) > 1 or isinstance(parts[0], dict) else self.of(parts[0])

    def of(self, hint: Any) -> Json:
        """Return the schema of a type; what has a form of its own is any object."""
        if isinstance(hint, list | dict):
            return self.joined(hint if isinstance(hint, list) else [hint])
        if hint in TYPES:
            return {"type": TYPES[hint]}
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, UnionType):
            return _any_of([self.of(each) for each in arguments])
        kind = origin or hint
        return self._of_class(kind, arguments) if isinstance(kind, type) and kind is not Any else {}

    def _of_class(self, kind: type, arguments: tuple[Any, ...]) -> Json:
        if issubclass(kind, Mapping):
            return {"type": "object", **({"additionalProperties": self.of(arguments[1])} if arguments else {})}
        if json_names(kind):
            self.resolved(kind)
            return {"$ref": f"#/$defs/{kind.__name__}"}
        if issubclass(kind, Collection):
            kinds = [self.of(each) for each in arguments if each is not ...]
            return _array(kinds[0] if len(kinds) == 1 else {"anyOf": kinds})
        return {"type": "string"} if issubclass(kind, Exception) else {"type": "object"}


def _hint(kind: type, name: str) -> Any:
    found = getattr(kind, name, None)
    if isinstance(found, property) and found.fget:
        return get_type_hints(found.fget)["return"]
    assert is_dataclass(kind), kind
    return get_type_hints(kind)[name]


def _said(kind: type) -> str:
    return " ".join((getdoc(kind) or "").split(">>>")[0].replace("`", "").split())


def _any_of(kinds: list[Json]) -> Json:
    """Return the schema of one of several kinds: a list of their types where that is all there is to them."""
    if all(kind.keys() == {"type"} for kind in kinds):
        return {"type": [kind["type"] for kind in kinds]}
    return {"anyOf": kinds}


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _array(items: Json) -> Json:
    return {"type": "array", "items": items}
