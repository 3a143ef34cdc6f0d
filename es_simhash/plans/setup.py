"""Bringing the fields into an index, and reading from it by which scheme its texts are fingerprinted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import IndexStateError, MappingError, MissingError, SchemeMismatchError
from es_simhash.plans.closed import check_open, closed_index, closed_ones
from es_simhash.plans.foreign_values import refuse_foreign
from es_simhash.plans.operations import CreateIndex, GetMappings, Plan, PutMapping
from es_simhash.plans.text_fields import check_text_fields, derived_errors, derived_fields
from es_simhash.scheme import mapping
from es_simhash.scheme.json_form import Functions
from es_simhash.scheme.scheme import Scheme
from es_simhash.text.idf import IdfTable

# How often the fields are put into a mapping that others change at the same time; the last look finds them there.
_ATTEMPTS = 4


@dataclass(frozen=True)
class Initialised:
    """What `init` did: ``created`` the index, or ``added`` fields to each that was there, by its name.

    ``bodies`` has what was sent, or with ``dry_run`` would be: of a new index the whole, else the change of mapping.
    """

    created: bool
    added: dict[str, list[str]]
    bodies: dict[str, Json] = field(repr=False)


def init(index: str, documents: Documents, create: Json | None = None, dry_run: bool = False) -> Plan[Initialised]:
    """Add the fields to the mapping of every index that the name stands for, or make a new index with them.

    ``create`` holds settings and further mappings of a new index. Nothing is done where one of them cannot be given the
    fields, or texts cannot come from the fields that are named.
    """
    wanted = documents.scheme.mapping(documents.prefix, documents.fields)
    try:
        present = yield GetMappings(index)
    except MissingError:
        body = new_index(index, wanted, create or {})
        for error in derived_errors(index, derived_fields(body["mappings"], documents.fields, documents.fields)):
            raise error from None
        made_by_others = None if dry_run else (yield from make_index(index, body))
        if made_by_others is None:
            return Initialised(True, {index: list(mapping.leaf_paths(wanted["properties"]))}, {index: body})
        present = made_by_others
    yield from check_open(index)
    changes = {name: mapping.merge(name, there, wanted) for name, there in present.items()}
    bodies = {name: change.body for name, change in changes.items() if change.body}
    yield from check_text_fields(present, documents)
    for name in bodies:
        yield from refuse_foreign(name, documents)
    if not dry_run:
        for name in bodies:
            yield from _bring(name, wanted)
    return Initialised(False, {name: change.added for name, change in changes.items()}, bodies)


def make_index(index: str, body: Json) -> Plan[dict[str, Json] | None]:
    """Make an index; if somebody else has just made it, its mapping is returned instead of an error."""
    try:
        yield CreateIndex(index, body)
    except IndexStateError as error:
        try:
            present: dict[str, Json] = yield GetMappings(index)
        except MissingError:
            raise error from None
        return present
    return None


def _bring(index: str, wanted: Json) -> Plan[None]:
    """Put what the mapping lacks, until it is there: whoever puts something else at the same time replaces our note."""
    for _ in range(_ATTEMPTS):
        there = (yield GetMappings(index))[index]
        body = mapping.merge(index, there, wanted).body
        if body is None:
            return
        yield PutMapping(index, body)
    raise IndexStateError(
        f"The mapping of the index {index!r} was changed by others each time that the fields were put into it. "
        "See who else runs init there, and run it again."
    )


def new_index(index: str, wanted: Json, create: Json) -> Json:
    """What makes an index with the fields, and with further settings and mappings."""
    mappings: Json = dict(create.get("mappings") or {})
    change = mapping.merge(index, mappings, wanted)
    assert change.body
    properties: Json = dict(mappings.get("properties") or {})
    for prefix, added in change.body["properties"].items():
        there: Json = properties.get(prefix) or {}
        inner = (there.get("properties") or {}) | added["properties"]
        properties[prefix] = {**there, **added, "properties": inner}
    return {**create, "mappings": {**mappings, "properties": properties, "_meta": change.body["_meta"]}}


@dataclass(frozen=True)
class Expected:
    """What the caller knows of an index: all of it may come from the index itself instead.

    ``idf`` and ``functions`` are what a scheme in an index can only name (see `Scheme.from_json`).
    """

    prefix: str
    scheme: Scheme | None = None
    fields: tuple[str, ...] | None = None
    idf: IdfTable | None = None
    functions: Functions | None = None

    @property
    def documents(self) -> Documents | None:
        """The documents as far as the caller alone can tell."""
        return Documents(self.scheme, self.fields, self.prefix) if self.scheme and self.fields else None


@dataclass(frozen=True)
class Opened:
    """How the documents of an index are fingerprinted; of the indices behind it, some may be ``without_fields``."""

    documents: Documents
    without_fields: list[str]


def open_index(index: str, expected: Expected) -> Plan[Opened]:
    """How the documents of an index are fingerprinted, as its mapping says; all indices with fields must agree."""
    try:
        mappings = yield GetMappings(index)
    except MissingError:
        for name in (yield from closed_ones(index)):
            raise closed_index(name) from None
        raise
    entries = mapping.entries(mappings, expected.prefix)
    without = sorted(name for name, entry in entries.items() if entry is None)
    if len(without) == len(entries):
        yield from check_open(index)
        raise no_fields(without[0] if without else index, expected.prefix)
    return Opened(_agreed({name: entry for name, entry in entries.items() if entry}, expected), without)


def no_fields(index: str, prefix: str) -> MappingError:
    """Return what is raised for an index that was not prepared."""
    return MappingError(
        f"The index {index!r} has no fields for fingerprints under {prefix!r}. Add them with init, or find by "
        "candidates='more_like_this' for now."
    )


def _agreed(entries: Mapping[str, Json], expected: Expected) -> Documents:
    (first, entry), *others = entries.items()
    for name, other in others:
        if (other["id"], other.get("fields")) != (entry["id"], entry.get("fields")):
            raise SchemeMismatchError(
                f"The index {first!r} holds fingerprints of the scheme {entry['id']} over {entry.get('fields')}, but "
                f"{name!r} of {other['id']} over {other.get('fields')}. Search them apart."
            )
    if expected.scheme and expected.scheme.id != entry["id"]:
        raise SchemeMismatchError(
            f"The index {first!r} holds fingerprints of the scheme {entry['id']}; the one given is "
            f"{expected.scheme.id}. Leave it out to use that of the index, or choose another prefix for the new one."
        )
    scheme = expected.scheme or _scheme_of(first, entry, expected)
    fields = entry.get("fields") or expected.fields
    if not fields:
        raise MappingError(
            f"The index {first!r} does not say which fields its texts are in. Name them with fields=, or call init."
        )
    if expected.fields and tuple(fields) != expected.fields:
        raise SchemeMismatchError(
            f"The index {first!r} holds fingerprints of the fields {list(fields)}; those given are "
            f"{list(expected.fields)}. Leave them out, or choose another prefix for the new ones."
        )
    return Documents(scheme, fields, expected.prefix)


def _scheme_of(index: str, entry: Json, expected: Expected) -> Scheme:
    """The scheme in a mapping, if it is that of the documents."""
    scheme = Scheme.from_json(json.dumps(entry["scheme"]), idf=expected.idf, functions=expected.functions)
    if scheme.id != entry["id"]:
        raise SchemeMismatchError(
            f"The index {index!r} holds fingerprints of the scheme {entry['id']}, but the settings beside that id in "
            f"its mapping are those of {scheme.id}. Pass the scheme that the documents were written with."
        )
    return scheme
