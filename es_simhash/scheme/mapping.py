"""The mapping of the fields under a prefix, and the notes that it carries.

``group``         the name of the group, the same for all its members
``group_size``    the number of members
``canonical``     the id of the document that stands for this one, or its own; of several indices, ``INDEX/ID``
``is_canonical``  whether this document stands for itself
``similarity``    of a duplicate: how similar its text is to that of the canonical document
``distance``      of a duplicate: the number of bits in which their SimHashes differ
``of``            of a duplicate: fields of the canonical document, by their paths, as asked for
``lag_days``      of a duplicate: how many days later it is dated than the canonical document
``superseded_by`` of an older version: the next newer member, if the newest one is canonical

A group is what near-duplicates connect, which may be a chain: then several of its documents stand for themselves. The
fields ``similarity`` and ``distance`` depend on what the scheme computes.

A document that was grouped as it came has no ``group_size``: its group is provisional until the next run of `group`
(see `es_simhash.plans.add`).

Servers replace ``_meta`` as a whole. Of two programs that read, change and write it at the same time, one loses its
note, even if both look again at what they have written. But servers merge fields. So each note has fields of its own in
the object `HOME`, which no document has and no search finds, and its JSON is in their ``meta``: pieces of at most 50
characters, five a field, which is what servers take. The law: **no request that writes a note names a field of another
note**. So whatever writers do at the same time, each note is the last one that was written by its name.

A field ``NAME:GENERATION:PLACE`` has one part of a note; the first also has what the note ``claims``, as its
``null_value``, which servers never change: of two programs that claim different things for one generation, the server
refuses the second. A later claim needs the next generation, and the highest one counts. A note that was removed is
``null``.

``_meta`` has copies of the notes of prefixes, for people and for earlier releases, which wrote no others. It counts
only for names that have no fields yet.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from es_simhash._core.json_codec import Json, is_false
from es_simhash.errors import InputError, MappingError, SchemeMismatchError
from es_simhash.scheme import own_fields
from es_simhash.scheme.scope import Policy
from es_simhash.scheme.settings import Settings

PROPERTIES: Json = {
    "group": {"type": "keyword"},
    "group_size": {"type": "integer"},
    "canonical": {"type": "keyword"},
    "is_canonical": {"type": "boolean"},
    "similarity": {"type": "float"},
    "distance": {"type": "short"},
}
# These are added to a mapping only when a run writes them.
OF, LAG, SUPERSEDED = "of", "lag_days", "superseded_by"
LAG_PROPERTIES: Json = {LAG: {"type": "float"}}
SUPERSEDED_PROPERTIES: Json = {SUPERSEDED: {"type": "keyword"}}
NAMES = (*PROPERTIES, OF, LAG, SUPERSEDED)
# A document without this field is in no group, whatever other fields remain.
GROUP = "group"
# What a search collapses, so that it shows each document once.
CANONICAL = "canonical"
IS_CANONICAL = "is_canonical"
# A group without this one is provisional.
SIZE = "group_size"
NAME_BYTES = 9
_NEARNESS = ("similarity", "distance")
# Similarities are rounded, so they are written again only if they have changed.
_DIGITS = 4


@dataclass(frozen=True)
class Membership:
    """A document's place in a group: its ``canonical`` is the key of the document that stands for it, or its own.

    A provisional group has no ``size``.
    """

    group: str
    size: int | None
    canonical: str
    is_canonical: bool
    superseded_by: str | None = None

    def fields(self, distance: int | None = None, similarity: float | None = None) -> Json:
        """Return the fields to write; a duplicate's say how near it is to the canonical document."""
        found: Json = {
            GROUP: self.group,
            SIZE: self.size,
            CANONICAL: self.canonical,
            IS_CANONICAL: self.is_canonical,
            SUPERSEDED: self.superseded_by,
        }
        if not self.is_canonical:  # one that stands for itself is not its own copy: a 1 would raise every average
            found |= {"similarity": None if similarity is None else round(similarity, _DIGITS), "distance": distance}
        return {name: value for name, value in found.items() if value is not None}


def of_empty(index: str, id_: str, content: str) -> Json:
    """Return the fields of a document with an empty text: nothing is near it, so that its group stays as it is."""
    return Membership(new_name(index, id_, content), 1, id_, True).fields()


def stored_in(own: Json) -> Json:
    """Return the fields of a group in our object of a document."""
    found = {name: own[name] for name in NAMES if own.get(name) is not None}
    if isinstance(copied := found.pop(OF, None), dict):
        found |= {OF: there} if (there := {path: value for path, value in copied.items() if value is not None}) else {}
    return found


def replacing(there: Json, wanted: Json) -> Json:
    """Return what to merge into a document with the fields ``there`` (see `stored_in`), to leave those ``wanted``."""
    found = dict.fromkeys((*PROPERTIES, *there)) | wanted
    if OF in there and OF in wanted:
        found[OF] = dict.fromkeys(there[OF]) | wanted[OF]
    return found


def as_written_now(own: Json) -> Json:
    """Return fields as they are written now: earlier versions gave canonical documents a similarity as well."""
    is_canonical = own.get(IS_CANONICAL)
    return {name: value for name, value in own.items() if not is_canonical or name not in _NEARNESS}


def is_settled(own: Json) -> bool:
    """Return whether a run of `group` has put a document with these fields into its group."""
    return own.get(GROUP) is not None and own.get(SIZE) is not None


def new_name(*parts: str) -> str:
    """Make the name of a new group: a hash of the document that it begins with."""
    return urlsafe_b64encode(sha256("\0".join(parts).encode()).digest()[:NAME_BYTES]).decode("ascii")


POLICY = "policy"
DEFAULT_PREFIX = "dedup"
# The fields of every scheme, and those that each has at least one of.
_ALWAYS, _EITHER = {"content", "scheme", "status"}, {"blocks", "block0", "bands", "band0"}
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def check_prefix(prefix: str) -> str:
    """Return ``prefix`` if the fields can be named by it."""
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise InputError(
            f"The fields cannot lie in an object named {prefix!r}. Choose a name of letters, digits, _ and -."
        )
    return prefix


def mapping(settings: Settings, scheme: Json, scheme_id: str, prefix: str, sources: Sequence[str]) -> Json:
    """Return the mapping: the fields, and in ``_meta`` the scheme and the source fields.

    ``scheme`` is the scheme's JSON form.
    """
    entry: Json = {"id": scheme_id, "scheme": scheme}
    if sources:
        entry["fields"] = list(sources)
    return {
        "_meta": {META: {check_prefix(prefix): entry}},
        "properties": {prefix: {"dynamic": "false", "properties": own_fields.properties(settings)}},
    }


def with_policy(wanted: Json, policy: Policy) -> Json:
    """Return the mapping with a policy to note; one without anything lifts the policy that an index has."""
    [(prefix, entry)] = wanted["_meta"][META].items()
    found = {**wanted, "_meta": {META: {prefix: {**entry, POLICY: policy.to_json()}}}}
    return with_groups(found) if policy.groups == "online" else found


def with_groups(wanted: Json, more: Json | None = None) -> Json:
    """Return the mapping with the fields of groups, too, and ``more`` of them."""
    return _with_properties(wanted, PROPERTIES | (more or {}))


def _with_properties(wanted: Json, more: Json) -> Json:
    [(prefix, own)] = wanted["properties"].items()
    return {**wanted, "properties": {prefix: {**own, "properties": own["properties"] | more}}}


@dataclass(frozen=True)
class Change:
    """What to add to an index: ``body`` (None if nothing), and the full names of the new fields.

    Without ``is_needed``, only copies in ``_meta`` are to be put right.
    """

    body: Json | None
    added: list[str]
    is_needed: bool = False


def merge(index: str, present: Json, wanted: Json) -> Change:
    """Return the change that adds ``wanted`` (see `mapping`) to an index's mapping; a conflict is an error.

    Everything else in the mapping, and in its ``_meta``, stays.
    """
    [prefix] = wanted["properties"]
    if is_false(present.get("subobjects")):
        raise MappingError(
            f"The index {index!r} is mapped with subobjects: false, so it cannot hold the object {prefix!r}. "
            "Add the fields to an index with sub-objects, or reindex into one."
        )
    _check_scheme(index, present, wanted, prefix)
    there = _properties_there(index, present, prefix)
    added = _missing(index, prefix, there, wanted["properties"][prefix]["properties"])
    _check_maker(index, present, wanted, there)
    entry = _merged_entry(note(present, prefix) or {}, wanted["_meta"][META][prefix])
    noted, meta = change(present, prefix, entry, _claims(entry)), copies(present, {prefix: entry})
    # Existing fields are left out: a server would refuse to change what may differ.
    ours: Json = {"properties": added} if there else {"dynamic": "false", "properties": added}
    properties = noted if there and not added else {prefix: ours, **noted}
    copied = {} if meta == present.get("_meta") else {"_meta": meta}
    if not properties and not copied:
        return Change(None, [])
    return Change({"properties": properties, **copied}, list(leaf_paths(added, f"{prefix}.")), bool(properties))


def _missing(index: str, path: str, there: Json, wanted: Json) -> Json:
    """Return the fields, also inside objects, that are not there yet; a conflict is an error."""
    found: Json = {}
    for name, field in wanted.items():
        if name not in there:
            found[name] = field
            continue
        _check_field(index, f"{path}.{name}", there[name], field)
        if inner := _missing(index, f"{path}.{name}", there[name].get("properties") or {}, field.get("properties", {})):
            found[name] = {"properties": inner}
    return found


def entries(mappings: Mapping[str, Json], prefix: str) -> dict[str, Json | None]:
    """Return the note about the fingerprints of each index under a prefix; None for indices without any.

    As anyone who may change a mapping may change this note, one that `mapping` cannot have written is a `MappingError`.
    """
    return {index: _entry(index, body, prefix) for index, body in mappings.items()}


def _entry(index: str, there: Json, prefix: str) -> Json | None:
    entry: Json | None = note(there, prefix)
    if entry is None or _is_whole(entry):
        return entry
    place = f"the fields {HOME}.{prefix}:*" if prefix in in_fields(there) else f"_meta.{META}"
    raise MappingError(
        f"The mapping of the index {index!r} does not say how its fields under {prefix!r} were made: what stands in "
        f"{place} was changed. Put back what init wrote there, or choose another prefix."
    )


def _is_whole(entry: Any) -> bool:
    """Return whether an entry has the form that `mapping` gives it."""
    match entry:
        case {"id": str(), "scheme": dict(), **others}:
            sources = others.get("fields", [])
            if isinstance(sources, list) and all(isinstance(source, str) for source in sources):
                with suppress(InputError):
                    policy_of(entry)
                    return True
    return False


def policy_of(entry: Json) -> Policy:
    """Return the policy in an entry of ``_meta``."""
    return Policy.from_json(entry.get(POLICY, {}))


def component_template(wanted: Json, description: str) -> Json:
    """Return a component template that gives new indices the fields; for ``PUT _component_template/NAME``."""
    return {"template": {"mappings": wanted}, "_meta": {"description": description}}


def _merged_entry(there: Json, wanted: Json) -> Json:
    """Return our entry with the source fields and the policy that are there, unless they are given."""
    entry = {**wanted}
    if "fields" in there:
        entry.setdefault("fields", there["fields"])
    if POLICY in there:
        entry.setdefault(POLICY, there[POLICY])
    if not entry.get(POLICY):
        entry.pop(POLICY, None)
    return entry


def _claims(entry: Json) -> str:
    """Return what no two programs may say differently of the same fields."""
    return json.dumps([entry["id"], *entry.get("fields", [])])


def _check_scheme(index: str, present: Json, wanted: Json, prefix: str) -> None:
    there = entries({index: present}, prefix)[index]
    new = wanted["_meta"][META][prefix]
    if there is None:
        return
    if there["id"] != new["id"]:
        raise SchemeMismatchError(
            f"The index {index!r} holds fingerprints of the scheme {there['id']} under {prefix!r}; this one is "
            f"{new['id']}. Use the scheme that is there, or choose another prefix for the new one."
        )
    if "fields" in there and "fields" in new and there["fields"] != new["fields"]:
        raise SchemeMismatchError(
            f"The index {index!r} holds fingerprints of the fields {there['fields']} under {prefix!r}; these are "
            f"{new['fields']}. Use the fields that are there, or choose another prefix for the new ones."
        )


def _properties_there(index: str, present: Json, prefix: str) -> Json:
    """Return the fields of the object ``prefix`` that the index already has."""
    there: Json = (present.get("properties") or {}).get(prefix) or {}
    if there.get("type", "object") != "object":
        raise MappingError(
            f"The index {index!r} has a field {prefix!r} of type {there['type']}, where an object is needed. "
            "Choose another prefix (--prefix)."
        )
    if is_false(there.get("enabled")):
        raise MappingError(
            f"The index {index!r} does not parse the object {prefix!r} (enabled: false). "
            "Choose another prefix (--prefix)."
        )
    properties: Json = there.get("properties") or {}
    return properties


def _check_maker(index: str, present: Json, wanted: Json, there: Json) -> None:
    """Refuse foreign fields where ours belong; without our note, judge by their names."""
    [prefix] = wanted["properties"]
    names = {*wanted["properties"][prefix]["properties"], *NAMES, *own_fields.TAG_PROPERTIES}
    paths = {prefix, *(f"{prefix}.{name}" for name in names)}
    if runtime := sorted(path for path in present.get("runtime") or {} if ".".join(path.split(".")[:2]) in paths):
        raise MappingError(
            f"The index {index!r} has the runtime fields {', '.join(runtime)}, which would hide ours in "
            "searches. Choose another prefix (--prefix)."
        )
    taken = sorted(names & there.keys())
    is_ours = there.keys() >= _ALWAYS and there.keys() & _EITHER
    if taken and not is_ours and entries({index: present}, prefix)[index] is None:
        raise MappingError(
            f"The index {index!r} has an object {prefix!r} of another program, with the fields {', '.join(taken)}: "
            "its mapping has no note of ours that they are of fingerprints. Choose another prefix (--prefix)."
        )


def _check_field(index: str, name: str, there: Json, wanted: Json) -> None:
    """Refuse a field that cannot be searched as ours must be; other differences only cost or save space."""
    problem = ""
    for key in ("type", "analyzer"):
        if key in wanted and there.get(key) != wanted[key]:
            problem = f"{key}: {there.get(key, 'the default')}, where {key}: {wanted[key]} is needed"
            break
    else:
        if is_false(there.get("index")) and not is_false(wanted.get("index")):
            problem = "index: false, where it must be searchable"
    if problem:
        raise MappingError(
            f"The index {index!r} has a field {name!r} with {problem}. "
            "Choose another prefix (--prefix), or reindex without that field."
        )


def number_of_fields(mapping: Any) -> int:
    """Count the fields of a mapping as total_fields.limit does: objects, multi-fields and runtime fields too."""
    parts = [mapping.get(part) for part in ("properties", "fields", "runtime")] if isinstance(mapping, dict) else []
    return sum(1 + number_of_fields(inner) for part in parts if isinstance(part, dict) for inner in part.values())


def leaf_paths(properties: Json, prefix: str = "") -> Iterator[str]:
    """Yield the full names of all fields that hold values."""
    for name, field in properties.items():
        path = f"{prefix}{name}"
        if "properties" in field:
            yield from leaf_paths(field["properties"], path + ".")
        else:
            yield path


META = "es_simhash"
HOME = "_es_simhash"
# What servers take as the ``meta`` of a field.
_PIECE, _PIECES = 50, 5
_FIELD: Json = {"type": "keyword", "index": False, "doc_values": False}


def note(mapping: Json, name: str) -> Any:
    """Return the note of a name, or None; one that is damaged everywhere is returned as it is."""
    kept = _generations(mapping, name)
    if not kept:
        return in_meta(mapping, name)
    text = _text(kept[max(kept)])
    try:
        return _decoded(text)
    except ValueError:
        there = in_meta(mapping, name)
        return text if there is None else there


def in_meta(mapping: Json, name: str) -> Any:
    """Return what ``_meta`` says of a name, or None; a ``_meta`` of another form is returned as it is."""
    meta = mapping.get("_meta") or {}
    ours = (meta.get(META) or {}) if isinstance(meta, dict) else meta
    return ours.get(name) if isinstance(ours, dict) else ours


def names(mapping: Json) -> set[str]:
    """Return the names of all notes that were not removed."""
    ours = in_fields(mapping) | _copied(mapping).keys()
    return {name for name in ours if note(mapping, name) is not None}


def in_fields(mapping: Json) -> set[str]:
    """Return the names of the notes that have fields, also of those that were removed."""
    return {parts[0] for field in _fields(mapping) if (parts := _parts(field))}


def change(mapping: Json, name: str, value: Any, claims: str | None = None) -> Json:
    """Return the ``properties`` that write a note into a mapping, none if it is there; None as value removes it.

    One that is in ``_meta`` alone stays there until it changes: a login may not change a mapping that is complete.
    """
    kept = _generations(mapping, name)
    if not kept and in_meta(mapping, name) == value:
        return {}
    generation = max(kept, default=1)
    claimed = kept[generation].get(0, {}).get("null_value") if kept else None
    if claims is not None and claims != claimed:
        generation, claimed = max(kept, default=0) + 1, claims
    elif kept and _is(kept[generation], value):
        return {}
    return _home({f"{name}:{generation}:{place}": field for place, field in enumerate(_written(value, claimed))})


def copies(mapping: Json, changed: Json) -> Json:
    """Return the ``_meta`` with copies of the notes of prefixes, and with ``changed`` ones; without those of None."""
    meta, ours = mapping.get("_meta"), _copied(mapping)
    ours = ours | {name: note(mapping, name) for name in in_fields(mapping) if is_prefix(name)} | changed
    left = {name: value for name, value in ours.items() if value is not None}
    kept = {name: value for name, value in meta.items() if name != META} if isinstance(meta, dict) else {}
    return {**kept, META: left} if left else kept


def only(mapping: Json, kept: Collection[str]) -> Json:
    """Return the ``properties`` of a mapping without the fields of other notes than those ``kept``."""
    properties: Json = mapping.get("properties") or {}
    fields = {
        field: there for field, there in _fields(mapping).items() if (parts := _parts(field)) and parts[0] in kept
    }
    return {name: field for name, field in properties.items() if name != HOME} | _home(fields)


def is_prefix(name: str) -> bool:
    """Return whether a note is about the fields under a prefix; the names of other notes begin with an underscore."""
    return not name.startswith("_")


def _copied(mapping: Json) -> Json:
    """Return what ``_meta`` has of ours, if that is an object."""
    meta = mapping.get("_meta")
    ours = meta.get(META) if isinstance(meta, dict) else None
    return ours if isinstance(ours, dict) else {}


def _fields(mapping: Json) -> Json:
    return ((mapping.get("properties") or {}).get(HOME) or {}).get("properties") or {}


def _home(fields: Json) -> Json:
    return {HOME: {"dynamic": "false", "properties": fields}} if fields else {}


def _parts(field: str) -> tuple[str, int, int] | None:
    """Return the name, the generation and the place in the name of a field of ours."""
    match field.split(":"):
        case [name, generation, place] if generation.isdecimal() and place.isdecimal():
            return name, int(generation), int(place)
    return None


def _generations(mapping: Json, name: str) -> dict[int, dict[int, Json]]:
    """Return the fields of a note: of each generation, by their places."""
    found: dict[int, dict[int, Json]] = defaultdict(dict)
    for field, there in _fields(mapping).items():
        if (parts := _parts(field)) and parts[0] == name:
            found[parts[1]][parts[2]] = there
    return found


def _is(fields: Mapping[int, Json], value: Any) -> bool:
    """Return whether these fields hold this note."""
    try:
        return bool(_decoded(_text(fields)) == value)
    except ValueError:
        return False


def _decoded(text: str) -> Any:
    """Read a note; what follows its end are remains of a longer one."""
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except RecursionError as error:
        raise ValueError(str(error)) from None


def _text(fields: Mapping[int, Json]) -> str:
    """Join the pieces of a note."""
    pieces = (sorted((fields[place].get("meta") or {}).items()) for place in sorted(fields))
    return "".join(str(piece) for some in pieces for _, piece in some)


def _written(value: Any, claims: str | None) -> Iterator[Json]:
    """Yield the fields that hold a note."""
    text = json.dumps(value, separators=(",", ":"))
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    for start in range(0, len(pieces), _PIECES):
        claim = {"null_value": claims} if claims is not None and start == 0 else {}
        meta = {str(number): piece for number, piece in enumerate(pieces[start : start + _PIECES])}
        yield {**_FIELD, **claim, "meta": meta}
