"""Fingerprints read from the fields of documents, in the form in which `groups.pairs` compares them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from es_simhash._core import arrays
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.groups.of_index.document_refs import RefColumns
from es_simhash.groups.pairs.fingerprint_store import Condensed, value_type
from es_simhash.groups.pairs.scope_columns import ScopeRows
from es_simhash.scheme import mapping, own_fields
from es_simhash.scheme.fingerprint import STATUSES
from es_simhash.scheme.own_fields import StoredFingerprints
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Settings

CONTENT_DIGITS = 8
_CONTENT = re.compile(f"[A-Za-z0-9_-]{{{CONTENT_DIGITS}}}")


@dataclass(frozen=True, eq=False)
class FingerprintRows:
    """Documents with a fingerprint of the scheme: references, and condensed fingerprints.

    ``others`` counts the documents without one, including those with empty texts. ``scopes`` has their scope, if one
    counts.
    """

    refs: RefColumns
    condensed: Condensed
    others: int
    scopes: ScopeRows | None = None


def known(settings: Settings) -> Settings:
    """Restrict the signature to the values that band keys hold, which may be fewer than the scheme's."""
    if settings.minhash is None:
        return settings
    return replace(settings, minhash=replace(settings.minhash, size=settings.minhash.layout.size))


def paths(documents: Documents, scope: Scope | None = None) -> list[str]:
    """Return the fields to read."""
    names = [*own_fields.compared_names(documents.scheme), *mapping.NAMES]
    return [*(f"{documents.prefix}.{name}" for name in names), *(scope.paths if scope else ())]


def rows(documents: Documents, wanted: Settings, hits: Sequence[Json], scope: Scope | None = None) -> FingerprintRows:
    """Parse the fingerprints in the documents of hits, as far as the ``wanted`` settings need them, and their scope."""
    scheme, prefix = documents.scheme, documents.prefix
    objects = [(hit.get("_source") or {}).get(prefix) or {} for hit in hits]
    stored = own_fields.read_all(scheme, scheme.id, objects)
    # Only a hash of the content shows whether texts are equal.
    kept = [i for i, content in enumerate(stored.contents) if _CONTENT.fullmatch(content or "")]
    places = [stored.places[i] for i in kept]
    refs = RefColumns.of([hits[place] for place in places], [objects[place] for place in places])
    scopes = ScopeRows.read(scope, [hits[place].get("_source") or {} for place in places]) if scope else None
    return FingerprintRows(refs, _condensed(wanted, stored, kept), len(hits) - len(kept), scopes)


def _condensed(wanted: Settings, stored: StoredFingerprints, kept: list[int]) -> Condensed:
    simhashes = values = None
    if wanted.simhash and stored.simhashes is not None:
        simhashes = stored.simhashes[kept]
    if wanted.minhash and stored.keyed is not None:
        values = stored.keyed[kept].astype(value_type(wanted.minhash))
    # A document with a fingerprint has features.
    statuses = np.full(len(kept), STATUSES.index("ok"), dtype=np.uint8)
    return Condensed(statuses, _contents(stored, kept), simhashes, values)


def _contents(stored: StoredFingerprints, kept: list[int]) -> arrays.Codes:
    """Combine each text's hash and its SimHash, so that different texts hardly ever look equal."""
    texts = "".join(stored.contents[i] or "" for i in kept)
    hashes = arrays.values_of(texts, CONTENT_DIGITS, arrays.BASE64URL)
    simhashes = np.zeros_like(hashes) if stored.simhashes is None else stored.simhashes[kept]
    return np.stack([hashes, simhashes[:, -1] if simhashes.ndim > 1 else simhashes], axis=1)


def content_number(content: str) -> int:
    """Return the hash of a text as the number that is compared."""
    if not _CONTENT.fullmatch(content):
        return -1
    [number] = arrays.values_of(content, CONTENT_DIGITS, arrays.BASE64URL).tolist()
    return int(number)
