"""The fields of a group in a document, next to those of its fingerprint.

``group``         the name of the group, the same for all its members
``group_size``    the number of members
``is_canonical``  whether this document is the canonical one
``similarity``    how similar its text is to that of the canonical document
``distance``      the number of bits in which their SimHashes differ

The last two depend on what the scheme computes.
"""

from __future__ import annotations

from es_simhash._core.json_paths import Json

PROPERTIES: Json = {
    "group": {"type": "keyword"},
    "group_size": {"type": "integer"},
    "is_canonical": {"type": "boolean"},
    "similarity": {"type": "float"},
    "distance": {"type": "short"},
}
NAMES = tuple(PROPERTIES)
# A document without this field is in no group, whatever other fields remain.
GROUP = "group"
# Similarities are rounded, so they are written again only if they have changed.
_DIGITS = 4


def of_member(name: str, size: int, is_canonical: bool, distance: int | None, similarity: float | None) -> Json:
    """Return the fields of a member of a group."""
    found = {GROUP: name, "group_size": size, "is_canonical": is_canonical}
    near = {"similarity": None if similarity is None else round(similarity, _DIGITS), "distance": distance}
    return found | {name: value for name, value in near.items() if value is not None}


def stored_in(own: Json) -> Json:
    """Return the fields of a group in our object of a document."""
    return {name: own[name] for name in NAMES if own.get(name) is not None}
