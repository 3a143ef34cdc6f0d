"""The fields of a group in a document, next to those of its fingerprint.

``group``         the name of the group, the same for all its members
``group_size``    the number of members
``canonical``     the id of the document that stands for this one, or its own; of several indices, ``INDEX/ID``
``is_canonical``  whether this document stands for itself
``similarity``    how similar its text is to that of the canonical document
``distance``      the number of bits in which their SimHashes differ

A group is what near-duplicates connect, which may be a chain: then several of its documents stand for themselves. The
last two fields depend on what the scheme computes.

A document that was grouped as it came has no ``group_size``: its group is provisional until the next run of `group`
(see `es_simhash.plans.online_groups`).
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256

from es_simhash._core.json_paths import Json

PROPERTIES: Json = {
    "group": {"type": "keyword"},
    "group_size": {"type": "integer"},
    "canonical": {"type": "keyword"},
    "is_canonical": {"type": "boolean"},
    "similarity": {"type": "float"},
    "distance": {"type": "short"},
}
NAMES = tuple(PROPERTIES)
# A document without this field is in no group, whatever other fields remain.
GROUP = "group"
# What a search collapses, so that it shows each document once.
CANONICAL = "canonical"
IS_CANONICAL = "is_canonical"
# A group without this one is provisional.
SIZE = "group_size"
NAME_BYTES = 9
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

    def fields(self, distance: int | None = None, similarity: float | None = None) -> Json:
        """Return the fields to write, with how near the document is to the canonical one."""
        found = {
            GROUP: self.group,
            SIZE: self.size,
            CANONICAL: self.canonical,
            IS_CANONICAL: self.is_canonical,
            "similarity": None if similarity is None else round(similarity, _DIGITS),
            "distance": distance,
        }
        return {name: value for name, value in found.items() if value is not None}


def of_empty(index: str, id_: str, content: str) -> Json:
    """Return the fields of a document with an empty text: nothing is near it, so that its group stays as it is."""
    return Membership(new_name(index, id_, content), 1, id_, True).fields()


def stored_in(own: Json) -> Json:
    """Return the fields of a group in our object of a document."""
    return {name: own[name] for name in NAMES if own.get(name) is not None}


def is_settled(own: Json) -> bool:
    """Return whether a run of `group` has put a document with these fields into its group."""
    return own.get(GROUP) is not None and own.get(SIZE) is not None


def new_name(*parts: str) -> str:
    """Make the name of a new group: a hash of the document that it begins with."""
    return urlsafe_b64encode(sha256("\0".join(parts).encode()).digest()[:NAME_BYTES]).decode("ascii")
