"""Fingerprints read from the fields of documents, in the form in which `groups.pairs` compares them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from es_simhash._core import bit_codes, digits
from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.groups.pairs.condense import Condensed, value_type
from es_simhash.live.sweep.document_ref import DocumentRef
from es_simhash.scheme import own_fields
from es_simhash.scheme.fingerprint import STATUSES
from es_simhash.scheme.own_fields import StoredFingerprint
from es_simhash.scheme.settings import Settings

_CONTENT_DIGITS = 8
_CONTENT = re.compile(f"[A-Za-z0-9_-]{{{_CONTENT_DIGITS}}}")


@dataclass(frozen=True, eq=False)
class FingerprintRows:
    """Documents with a fingerprint of the scheme: references, our ``fields``, condensed fingerprints.

    ``others`` counts the documents without one, including those with empty texts.
    """

    refs: list[DocumentRef]
    fields: list[Json]
    condensed: Condensed
    others: int


def known(settings: Settings) -> Settings:
    """Restrict the signature to the values that band keys hold, which may be fewer than the scheme's."""
    if settings.minhash is None:
        return settings
    return replace(settings, minhash=replace(settings.minhash, size=settings.minhash.layout.size))


def paths(documents: Documents) -> list[str]:
    """Return the fields to read."""
    return [f"{documents.prefix}.{name}" for name in documents.all_names if not name.startswith("block")]


def rows(documents: Documents, wanted: Settings, hits: Sequence[Json]) -> FingerprintRows:
    """Parse the fingerprints in the documents of hits, as far as the ``wanted`` settings need them."""
    scheme, prefix = documents.scheme, documents.prefix
    refs, objects, found = list[DocumentRef](), list[Json](), list[StoredFingerprint]()
    for hit in hits:
        own = (hit.get("_source") or {}).get(prefix) or {}
        stored = own_fields.read(scheme, scheme.id, own)
        if stored is not None and _CONTENT.fullmatch(stored.content or ""):
            refs.append(DocumentRef.of(hit))
            objects.append(own)
            found.append(stored)
    return FingerprintRows(refs, objects, _condensed(scheme, wanted, found), len(hits) - len(found))


def _condensed(scheme: Settings, wanted: Settings, found: Sequence[StoredFingerprint]) -> Condensed:
    simhashes = values = None
    if wanted.simhash:
        simhashes = bit_codes.from_ints(
            [each.simhash for each in found if each.simhash is not None], wanted.simhash.bits
        )
    if wanted.minhash and scheme.minhash:
        keys = [each.band_keys for each in found if each.band_keys is not None]
        values = scheme.minhash.layout.signatures_of_keys(keys).astype(value_type(wanted.minhash))
    # A document with a fingerprint has features.
    statuses = np.full(len(found), STATUSES.index("ok"), dtype=np.uint8)
    return Condensed(statuses, _contents(found), simhashes, values)


def _contents(found: Sequence[StoredFingerprint]) -> bit_codes.Codes:
    """Combine each text's hash and its SimHash, so that different texts hardly ever look equal."""
    texts = "".join(each.content or "" for each in found)
    hashes = digits.values_of(texts, _CONTENT_DIGITS, digits.BASE64URL)
    simhashes = np.array([(each.simhash or 0) & (1 << 64) - 1 for each in found], dtype=np.uint64)
    return np.stack([hashes, simhashes], axis=1)


def content_number(content: str) -> int:
    """Return the hash of a text as the number that is compared."""
    if not _CONTENT.fullmatch(content):
        return -1
    [number] = digits.values_of(content, _CONTENT_DIGITS, digits.BASE64URL).tolist()
    return int(number)
