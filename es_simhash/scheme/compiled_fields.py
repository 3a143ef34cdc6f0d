"""The compiled way from fingerprints to the fields of documents, and back (see `es_simhash._core.native`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash._core.native import by_kernels, native
from es_simhash.scheme.compiled import by_fingerprinter, reads_texts
from es_simhash.scheme.fingerprint import STATUSES, Fingerprint, Fingerprints
from es_simhash.scheme.fingerprinting import stripped

if TYPE_CHECKING:
    from es_simhash_native import Fields, Fingerprinter

    from es_simhash._core.bit_codes import Codes
    from es_simhash.scheme.settings import Layout, MinHash, Settings, SimHash
    from es_simhash.scheme.verdict.measures import Similarities
    from es_simhash.sketches.minhash.common import Signatures

    # Which objects hold a whole fingerprint of the scheme; see `read`.
    Columns: TypeAlias = tuple[list[int], list[str | None], tuple[Codes, Signatures, Signatures], Similarities | None]


def write(
    settings: Settings, scheme_id: str, names: tuple[str, ...], texts: Sequence[str], fingerprints: Fingerprints
) -> list[Json] | None:
    """Return the fields of each text; None where numpy must make them, or say what is wrong."""
    statuses, simhashes, signatures = fingerprints.statuses, fingerprints.simhashes, fingerprints.signatures

    def written(_: object) -> list[Json] | None:
        fields = _fields(settings.simhash, settings.minhash, settings.layout, scheme_id, names)
        try:
            return fields.write(list(texts), statuses, simhashes, signatures)
        except TypeError:  # a caller's columns, of other types
            return None

    return by_kernels(written)


def of_text(settings: Settings, scheme_id: str, names: tuple[str, ...], text: str) -> tuple[Fingerprint, Json] | None:
    """Return the fingerprint and the fields of one text; None where numpy must make them, or say what is wrong."""
    if not reads_texts(settings) or not isinstance(text, str):
        return None

    def made(fingerprinter: Fingerprinter) -> tuple[Fingerprint, Json]:
        fields = _fields(settings.simhash, settings.minhash, settings.layout, scheme_id, names)
        (status, simhash, signature), own = fields.of_text(fingerprinter, stripped(settings, [text])[0], text)
        return Fingerprint.of(STATUSES[status], simhash, signature), own

    return by_fingerprinter(settings, made)


def read(
    settings: Settings, scheme_id: str, names: tuple[str, ...], objects: Sequence[Any], signature: bytes | None
) -> Columns | None:
    """Return which of the documents' objects hold a whole fingerprint of the scheme.

    Of these also the hashes of the contents, and as columns the SimHashes, the values that the keys of bands hold, and
    the signatures that are stored apart; and their estimated similarities to a ``signature``.
    """
    if native() is None:
        return None
    fields = _fields(settings.simhash, settings.minhash, settings.layout, scheme_id, names)
    return fields.read(objects if isinstance(objects, list) else list(objects), signature)


@lru_cache(maxsize=16)
def _fields(
    simhash: SimHash | None, minhash: MinHash | None, layout: Layout, scheme_id: str, names: tuple[str, ...]
) -> Fields:
    kernels = native()
    assert kernels
    made: Fields = kernels.Fields(
        blocks=(simhash.bits, simhash.blocks, layout.simhash == "field") if simhash else None,
        bands=(minhash.bands, minhash.rows, minhash.key_bits) if minhash else None,
        signature=(minhash.size, layout.signature_bits) if minhash and layout.signature_bits else None,
        keys=layout.keys,
        names=list(names),
        scheme=scheme_id,
        statuses=list(STATUSES),
    )
    return made
