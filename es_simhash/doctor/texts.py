"""Whether documents have the fields that their texts are to come from, or somebody has misspelt one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from es_simhash.documents import Documents
from es_simhash.errors import EngineError
from es_simhash.fields import Json
from es_simhash.operations import Plan, Search
from es_simhash.sources import says_something_of

# So many documents are looked at for fields that are not mapped.
_SAMPLE = 100


def fields_in_no_document(documents: Documents, mappings: Mapping[str, Json]) -> Plan[list[str]]:
    """The source fields that are in no mapping, nor in any document of a sample of each index."""
    missing = [path for path in documents.fields if not any(is_kept(each, path) for each in mappings.values())]
    if not missing:
        return []
    sampled = 0
    for index in mappings:
        try:
            reply = yield Search(index, {"size": _SAMPLE, "_source": missing, "query": {"match_all": {}}})
        except EngineError:  # closed, say, which is told elsewhere
            continue
        sources = [hit.get("_source") or {} for hit in reply["hits"]["hits"]]
        sampled += len(sources)
        missing = [path for path in missing if not any(says_something_of(source, path) for source in sources)]
    return missing if sampled else []


def is_kept(mapping: Json, path: str) -> bool:
    """Whether a mapping has a field whose values stand in documents under this path.

    Those of aliases, and of what is only copied together, do not; nor those of multi-fields, which lie within fields.
    """
    field = field_at(mapping, path)
    return bool(field) and field.get("type") != "alias" and path not in set(_copied_to(mapping))


def field_at(mapping: Json, path: str) -> Json:
    """The definition of a field, or of an object; nothing if there is none."""
    return _within(mapping, path.split("."))


def _within(mapping: Json, names: list[str]) -> Json:
    properties = mapping.get("properties") or {}
    for length in range(1, len(names) + 1):
        if (there := properties.get(".".join(names[:length]))) is not None:
            return _within(there, names[length:]) if names[length:] else there
    return {}


def _copied_to(mapping: Json) -> Iterator[str]:
    for field in (mapping.get("properties") or {}).values():
        target: Any = field.get("copy_to") or []
        targets: Iterable[str] = [target] if isinstance(target, str) else target
        yield from targets
        yield from _copied_to(field)
