"""Whether documents have text in the source fields, or a field name is misspelt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from es_simhash._core.json_codec import Json, is_false, splits, values_at
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import what_there_is
from es_simhash.errors import MappingError
from es_simhash.plans.operations import Count, GetMappings, Plan, Search, attempt
from es_simhash.plans.reply_size import FIRST_DOCUMENTS, sampled, searched
from es_simhash.scheme import mapping as notes
from es_simhash.scheme.mapping import entries
from es_simhash.scheme.own_fields import DEFERRED
from es_simhash.scheme.scheme import is_identity

# A few documents nearly always show all fields; for a field that none of them has, many are read.
_FEW = FIRST_DOCUMENTS
TEXTS = ("text", "match_only_text", "annotated_text", "search_as_you_type", "semantic_text")
_MANY = 1000


def fields_in_no_document(index: str, paths: Sequence[str]) -> Plan[list[str]]:
    """Return the fields in which no document of an index has text.

    This is certain where the engine knows which documents have a field; else a random sample decides.
    """
    missing = _in_none((yield Search(index, _body(paths, {"match_all": {}})))["hits"]["hits"], paths)
    for path in missing.copy():
        if not _in_none((yield from _having(index, path)), [path]):
            missing.remove(path)
    return _in_none((yield from sampled(index, _MANY, missing, {"match_all": {}})), missing) if missing else []


def derived_fields(mapping: Json, paths: Sequence[str], missing: Sequence[str]) -> dict[str, Derived]:
    """Return the derived fields, given the fields ``missing`` from all documents."""
    found = {path: there for path in paths if (there := derived(mapping, path))}
    return {path: there for path, there in found.items() if there.always or path in missing}


def check_text_fields(mappings: Mapping[str, Json], documents: Documents) -> Plan[None]:
    """Raise a `MappingError` if texts are to come from a derived field.

    An index that already names these fields is left to the doctor.
    """
    for index, there in mappings.items():
        if has_these_fields(index, there, documents):
            continue
        doubtful = [path for path in documents.fields if (kind := derived(there, path)) and not kind.always]
        missing = (yield from fields_in_no_document(index, doubtful)) if doubtful else []
        for error in derived_errors(index, derived_fields(there, documents.fields, missing)):
            raise error


def refuse_absent(mappings: Mapping[str, Json], paths: Sequence[str]) -> Plan[None]:
    """Raise if no mapping has one of the fields, and no document either; an empty index may get them."""
    if any(field_at(there, path) or derived(there, path) for there in mappings.values() for path in paths):
        return
    for index in mappings:
        count = yield from attempt(Count(index, {"match_all": {}}))
        missing = (yield from attempt(fields_in_no_document(index, paths))) if count else None
        if missing is None or len(missing) < len(paths):
            return
    for index in mappings:
        raise MappingError(f"{no_text(index, paths)}. {texts_there(mappings, paths)}")


def readable(index: str) -> Plan[dict[str, Json]]:
    """Return the mappings behind a name; none if there is no such index, or this login may not read them."""
    there = yield from attempt(GetMappings(index))
    return there or {}


def texts_there(mappings: Mapping[str, Json], asked: Sequence[str] = ()) -> str:
    """Return a sentence with the text fields of the mappings, and one with those that may be meant."""
    names = dict.fromkeys(path for there in mappings.values() for path in text_fields(there))
    if not names:
        return "Its mapping has no text field. Name a field of its documents that holds text."
    return what_there_is(names, asked, "Its text fields are:", "Name those that hold your texts.")


def text_fields(mapping: Json) -> list[str]:
    """Return the fields of a mapping that hold texts, but for those of fingerprints, as dotted paths.

    >>> text_fields({"properties": {"meta": {"properties": {"title": {"type": "text"}}}, "site": {"type": "keyword"}}})
    ['meta.title']
    """
    own = tuple(f"{name}." for name in notes.names(mapping) | notes.in_fields(mapping))
    found = (path for path, field in mapped_fields(mapping) if field.get("type") in TEXTS)
    return [path for path in found if not path.startswith(own)]


def mapped_fields(mapping: Json, above: str = "") -> Iterator[tuple[str, Json]]:
    """Yield each field and each object of a mapping, by its dotted path."""
    for name, field in (mapping.get("properties") or {}).items():
        yield f"{above}{name}", field
        yield from mapped_fields(field, f"{above}{name}.")


def has_these_fields(index: str, mapping: Json, documents: Documents) -> bool:
    """Return whether an index says that its texts come from these fields."""
    entry = entries({index: mapping}, documents.prefix)[index]
    return entry is not None and entry.get("fields") == list(documents.fields)


def no_text(index: str, paths: Sequence[str]) -> str:
    """Return the start of the message about an index without text in any of the fields."""
    return f"No document of the index {index!r} has text in {' or '.join(paths)}"


def derived_errors(index: str, found: Mapping[str, Derived]) -> Iterator[MappingError]:
    """Yield, for each derived field, an error that names the field to use instead."""
    for path, there in found.items():
        yield MappingError(
            f"The source field {path!r} of the index {index!r} is {there.what}, so no document has a value under that "
            f"name. {there.remedy}"
        )


def _having(index: str, path: str) -> Plan[list[Json]]:
    """Return the first documents that have a field; an empty list if the engine cannot search for them."""
    # OpenSearch, say, refuses this for fields that it derives.
    reply = yield from attempt(Search(index, _body([path], {"exists": {"field": path}})))
    return reply["hits"]["hits"] if reply else []


def _body(paths: Sequence[str], query: Json) -> Json:
    return {"size": _FEW, "_source": list(paths), "query": query}


def _in_none(hits: Sequence[Json], paths: Sequence[str]) -> list[str]:
    """Return the paths at which no hit has text."""
    return [path for path in paths if not any(_has_text(hit.get("_source") or {}, path) for hit in hits)]


def _has_text(source: Mapping[str, Any], path: str) -> bool:
    return any(value.strip() if isinstance(value, str) else value is not None for value in values_at(source, path))


@dataclass(frozen=True)
class Derived:
    """A field whose values come from elsewhere: ``what`` it is, and the ``remedy``.

    With ``always``, no document can have a value under its name; else only the documents can show whether one has.
    """

    what: str
    remedy: str
    always: bool


def derived(mapping: Json, path: str) -> Derived | None:
    """Describe a source field that is derived; return None where documents can have it."""
    field = field_at(mapping, path)
    if field.get("type") == "alias":
        target = str(field["path"])
        beyond = derived(mapping, target)
        return Derived(f"an alias of {target!r}", beyond.remedy if beyond else _instead([target]), True)
    if parent := _owner(mapping, path):
        return Derived(f"a multi-field of {parent!r}", _instead([parent]), True)
    if not field and _is_computed(mapping, path):
        return Derived("computed by a script at each search", "Name the fields that the script reads.", False)
    if copied := [source for source, there in mapped_fields(mapping) if _is_copied(there, path)]:
        return Derived(f"filled with copies of {', '.join(map(repr, copied))}", _instead(copied), False)
    return None


def field_at(mapping: Json, path: str) -> Json:
    """Return the definition of a field or object; an empty one if there is none."""
    for name, rest in splits(path):
        if (there := (mapping.get("properties") or {}).get(name)) is not None:
            return field_at(there, rest) if rest else there
    return {}


def _instead(paths: Sequence[str]) -> str:
    return f"Name what it is made of: {' '.join(f'--field {path}' for path in paths)}."


def _owner(mapping: Json, path: str) -> str:
    """Return the field that has this multi-field; an empty text if there is none."""
    for above, name in list(splits(path))[-2::-1]:
        if name in (field_at(mapping, above).get("fields") or {}):
            return above
    return ""


def _is_computed(mapping: Json, path: str) -> bool:
    """Return whether a runtime field (``derived`` on OpenSearch) has a script; without one it reads documents."""
    fields: Json = {**(mapping.get("runtime") or {}), **(mapping.get("derived") or {})}
    return any(
        (path == name or path.startswith(f"{name}.")) and ("script" in field or field.get("type") == "lookup")
        for name, field in fields.items()
    )


def _is_copied(field: Json, path: str) -> bool:
    """Return whether a field is copied to the one at a path."""
    target = field.get("copy_to") or []
    return path in ([target] if isinstance(target, str) else target)


def is_searchable(field: Json) -> bool:
    """Return whether documents can be found by a field of a mapping."""
    return not is_false(field.get("index"))


_SAMPLE = 100


def foreign_in(documents: Documents, source: Json) -> str | None:
    """Describe what a document has instead of our fields, to follow its name in a message; None if nothing is foreign.

    Other names next to ours in the object do no harm.
    """
    found = _found(documents.prefix, documents.all_names, source)
    remedy = "Name another object with --prefix (prefix=…), or take that out of the documents yourself."
    return found and f"has {found} where the fields belong, in the object {documents.prefix!r}. {remedy}"


def _found(prefix: str, names: Sequence[str], source: Json) -> str | None:
    own = source.get(prefix)
    dotted = f"{prefix}."
    flat = []
    if dotted in "\n".join(source):  # a look at each name takes longer, and nearly no document has one
        flat = [name for name in source if name.startswith(dotted) and name.split(".")[1] in names]
    if flat:
        return f"fields with dots in their names, {', '.join(sorted(flat))},"
    if own is None or own == []:
        return None
    if not isinstance(own, dict):
        return f"a value of type {type(own).__name__}"
    if _is_ours(own):
        return None
    taken = sorted(name for name in names if own.get(name) is not None)
    return f"{', '.join(taken)} of another program" if taken else None


def _is_ours(own: dict[str, Any]) -> bool:
    """Return whether an object holds the fields of a fingerprint, whatever its scheme, or of a deferred one."""
    scheme = own.get("scheme")
    return is_identity(scheme) or (scheme is None and own.get("status") == DEFERRED)


def look_for_foreign(index: str, documents: Documents) -> Plan[MappingError | None]:
    """Return the error for the first document of a sample with foreign values; None if there is none.

    Documents with any value in a mapped field come first.
    """
    prefix = documents.prefix
    ours = [{"term": {f"{prefix}.scheme": documents.scheme.id}}, {"term": {f"{prefix}.status": DEFERRED}}]
    query = {"must": [{"match_all": {}}], "should": [{"exists": {"field": prefix}}], "must_not": ours}
    # Refused where the index is closed, say, keeps no documents, or this login may not read it.
    for hit in (yield from attempt(searched(index, {"bool": query}, _SAMPLE, [prefix]))) or ():
        if found := foreign_in(documents, hit.get("_source") or {}):
            return MappingError(f"Document {hit['_id']!r} of the index {index!r} {found}")
    return None


def refuse_foreign(index: str, documents: Documents) -> Plan[None]:
    """Raise if a sample of the documents has foreign values."""
    if error := (yield from look_for_foreign(index, documents)):
        raise error
