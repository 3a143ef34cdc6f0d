"""Notes in a mapping: how the fields under each prefix are made, and what jobs must know later.

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
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from es_simhash._core.json_codec import Json

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
