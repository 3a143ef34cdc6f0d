"""The fields of a group in a document, beside those of its fingerprint.

``group``         the name of the group, the same for all its members
``group_size``    how many they are
``is_canonical``  whether this one stands for the group
``similarity``    how similar the text is to that of the one that stands for it
``distance``      in how many bits their SimHashes differ

The last two are there as far as the scheme tells them.
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
# A document without it is in no group, whatever else is left of one.
GROUP = "group"
# Similarities are rounded, so that they are written again only if they have changed.
_DIGITS = 4


def of_member(name: str, size: int, is_canonical: bool, distance: int | None, similarity: float | None) -> Json:
    """Return the fields of a member of a group."""
    found = {GROUP: name, "group_size": size, "is_canonical": is_canonical}
    near = {"similarity": None if similarity is None else round(similarity, _DIGITS), "distance": distance}
    return found | {name: value for name, value in near.items() if value is not None}


def stored_in(own: Json) -> Json:
    """Return the fields of a group in our object of a document."""
    return {name: own[name] for name in NAMES if own.get(name) is not None}
