"""The fields of a fingerprint in a document: their names, their mapping, how they are written and read, and their size.

All are in one object, named by a prefix (``dedup``):

``simhash``    the SimHash in hexadecimal digits, most significant first, unless the layout leaves it to the blocks
``blocks``     the keys of its blocks
``bands``      the keys of the signature's bands, in the order of the bands
``signature``  the signature, if the layout stores it
``passages``   the keys of its passages, if the scheme has them and the text has any
``content``    a hash of the text, equal for equal texts
``scheme``     the id of the scheme
``status``     ``ok``, ``short``, ``empty``; or ``deferred``: the text changed, and its fingerprint is still to be made
``duplicate_of``  the id of the nearest document that was there before, if a gate of 0.1 tagged this one

The layout (`Layout`) stores keys as one text with spaces between them, as a list, or as ``block0``, ``block1``, …,
``band0``, ``band1``, … with one key each.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from es_simhash._core import arrays
from es_simhash._core.environment import by_kernels, native
from es_simhash._core.json_codec import Json
from es_simhash.errors import FormatError
from es_simhash.scheme import passages
from es_simhash.scheme.fingerprinting import STATUSES, Fingerprint, Fingerprints, stripped
from es_simhash.scheme.settings import Layout, MinHash, Settings, SimHash, by_fingerprinter, reads_texts
from es_simhash.sketches.minhash.common import SignatureCodec

if TYPE_CHECKING:
    import numpy.typing as npt
    from es_simhash_native import Fields, Fingerprinter

    from es_simhash._core.arrays import Codes
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.verifier import Similarities
    from es_simhash.sketches.minhash.common import Signatures


# Of what keys are.
Kind: TypeAlias = Literal["block", "band"]
KINDS: tuple[Kind, ...] = get_args(Kind)

DEFERRED = "deferred"
# Not of the fingerprint: documents have it that a gate of 0.1 tagged.
DUPLICATE_OF = "duplicate_of"
_HEX = re.compile("[0-9a-f]+")

_KEYWORD: Json = {"type": "keyword"}
TAG_PROPERTIES: Json = {DUPLICATE_OF: _KEYWORD}
_SEARCHED: Json = {"type": "keyword", "doc_values": False}
_READ: Json = {"type": "keyword", "index": False, "doc_values": False}
_COUNTED: Json = {"type": "keyword", "index": False}
# Keys with spaces between them take a third less space in a document than a list of strings.
_SPACED: Json = {"type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": False}


def properties(settings: Settings) -> Json:
    """Return the mapping of each field."""
    return deepcopy(_properties(settings) | _passages_property(settings))


def names(settings: Settings) -> list[str]:
    """Return the names of the fields."""
    return [*_properties(settings), *_passages_property(settings)]


def compared_names(settings: Settings) -> list[str]:
    """Return the names of the fields to read for a comparison: all but the blocks, where a SimHash implies them.

    The keys of passages are not compared.
    """
    is_implied = settings.layout.simhash == "field"
    return [name for name in _properties(settings) if not (is_implied and name.startswith("block"))]


def _properties(settings: Settings) -> Json:
    fields: Json = {}
    if settings.simhash:
        if settings.layout.simhash == "field":
            fields["simhash"] = _COUNTED if settings.layout.doc_values else _READ
        fields |= _key_properties(settings, "block", settings.simhash.blocks)
    if settings.minhash:
        fields |= _key_properties(settings, "band", settings.minhash.bands)
    if settings.layout.signature_bits:
        fields["signature"] = _READ
    return fields | {"content": _READ, "scheme": _KEYWORD, "status": _KEYWORD}


def _passages_property(settings: Settings) -> Json:
    if settings.passages is None:
        return {}
    return {passages.FIELD: _SPACED if settings.layout.keys == "text" else _SEARCHED}


def _key_properties(settings: Settings, kind: Kind, count: int) -> Json:
    if settings.layout.keys == "fields":
        return {f"{kind}{i}": _SEARCHED for i in range(count)}
    return {f"{kind}s": _SPACED if settings.layout.keys == "text" else _SEARCHED}


def terms(settings: Settings, kind: Kind, fingerprint: Fingerprint) -> list[tuple[str, str]]:
    """Return the (field, key) pairs of one kind by which a query finds a fingerprint."""
    keys: list[str] = []
    if kind == "block" and settings.simhash and fingerprint.simhash is not None:
        keys = settings.simhash.layout.keys(fingerprint.simhash)
    if kind == "band" and settings.minhash and fingerprint.minhash is not None:
        [keys] = settings.minhash.layout.keys(fingerprint.signature[np.newaxis])
    is_apart = settings.layout.keys == "fields"
    return [(f"{kind}{place}" if is_apart else f"{kind}s", key) for place, key in enumerate(keys)]


def terms_in(fields: Json, kind: Kind) -> list[tuple[str, str]]:
    """Return the (field, key) pairs of one kind in the fields of a document."""
    return [(name, key) for name, keys in keys_in(fields, kind).items() for key in keys]


def keys_in(fields: Json, kind: Kind) -> dict[str, list[str]]:
    """Return the keys of one kind in the fields of a document, by field; what others wrote there is no key."""
    found = {name: keys for name, keys in fields.items() if name.startswith(kind)}
    return {name: keys.split() if isinstance(keys, str) else _texts_in(keys) for name, keys in found.items()}


def object_in(source: Json | None, prefix: str) -> Json:
    """Return our object in a document of an index; without one, or with something of others there, an empty one."""
    own = (source or {}).get(prefix)
    return own if isinstance(own, dict) else {}


def _texts_in(values: Any) -> list[str]:
    return [each for each in values if isinstance(each, str)] if isinstance(values, list) else []


def content_hash(text: str) -> str:
    """Return the first 48 bits of the SHA-256 of the text in UTF-8, in base64url.

    Unequal texts share it with probability 2**-48, so it distinguishes texts with equal fingerprints, and shows whether
    a text has changed.
    """
    return urlsafe_b64encode(sha256(text.encode()).digest()[:6]).decode("ascii")


def of_text(settings: Settings, scheme_id: str, text: str) -> tuple[Fingerprint, Json] | None:
    """Return the fingerprint and the fields of one text, if there is a quicker way than that for many."""

    def made(fingerprinter: Fingerprinter) -> tuple[Fingerprint, Json]:
        fields = _fields(settings.simhash, settings.minhash, settings.layout, scheme_id)
        (status, simhash, signature), own = fields.of_text(fingerprinter, stripped(settings, [text])[0], text)
        passages.add_keys(settings, [text], [own])
        return Fingerprint.of(STATUSES[status], simhash, signature), own

    return by_fingerprinter(settings, made, reads_texts(settings) and isinstance(text, str))


def write(settings: Settings, scheme_id: str, texts: Sequence[str], fingerprints: Fingerprints) -> Iterator[Json]:
    """Yield the fields of each text."""
    made = write_by_kernels(settings, scheme_id, texts, fingerprints)
    if made is None:
        made = list(_write(settings, scheme_id, texts, fingerprints))
    passages.add_keys(settings, texts, made)
    yield from made


def write_by_kernels(
    settings: Settings, scheme_id: str, texts: Sequence[str], fingerprints: Fingerprints
) -> list[Json] | None:
    """Return the fields of each text, without passages; None where numpy must make them, or say what is wrong."""

    def written(_: object) -> list[Json] | None:
        fields = _fields(settings.simhash, settings.minhash, settings.layout, scheme_id)
        try:
            return fields.write(list(texts), fingerprints.statuses, fingerprints.simhashes, fingerprints.signatures)
        except TypeError:  # a caller's columns, of other types
            return None

    return by_kernels(written)


def _write(settings: Settings, scheme_id: str, texts: Sequence[str], fingerprints: Fingerprints) -> Iterator[Json]:
    columns = _columns(settings, fingerprints)
    for i, (text, number) in enumerate(zip(texts, fingerprints.statuses.tolist(), strict=True)):
        status = STATUSES[number]
        fields = {} if status == "empty" else {name: column[i] for name, column in columns.items()}
        yield fields | {"content": content_hash(text), "scheme": scheme_id, "status": status}


def deferred(settings: Settings) -> Json:
    """Return the fields of a text whose fingerprint is still to be made: they remove those of the old text."""
    return dict.fromkeys(names(settings)) | {"status": DEFERRED}


def _columns(settings: Settings, fingerprints: Fingerprints) -> dict[str, list[str]]:
    """Return the values of each field of the fingerprint in all documents."""
    columns: dict[str, Any] = {}
    if settings.simhash and fingerprints.simhashes is not None:
        if settings.layout.simhash == "field":
            codes = arrays.to_ints(fingerprints.simhashes)
            columns["simhash"] = [hexadecimal(settings.simhash, code) for code in codes]
        columns |= _key_columns(settings, "block", settings.simhash.layout.key_points(fingerprints.simhashes))
    if settings.minhash and fingerprints.signatures is not None:
        columns |= _key_columns(settings, "band", settings.minhash.layout.key_points(fingerprints.signatures))
        if settings.layout.signature_bits:
            columns["signature"] = signature_codec(settings).to_texts(fingerprints.signatures)
    return columns


def _key_columns(settings: Settings, kind: Kind, points: npt.NDArray[np.uint32]) -> dict[str, Any]:
    """Return the columns of keys, given by their code points."""
    if settings.layout.keys == "text":
        return {f"{kind}s": arrays.joined(points)}
    keys = arrays.strings(points)
    if settings.layout.keys == "fields":
        return {f"{kind}{i}": column.tolist() for i, column in enumerate(keys.T)}
    return {f"{kind}s": keys.tolist()}


@dataclass(frozen=True, eq=False)
class StoredFingerprints:
    """The fingerprints in the fields of some documents, as columns; None where the scheme has no such part.

    ``places`` are the positions of the documents that hold a whole one of the scheme. ``keyed`` are the values that
    band keys hold, ``signatures`` those that are stored apart. ``similarities`` are estimates for the signature that
    they were read with, where these come at once.
    """

    places: list[int]
    simhashes: Codes | None
    keyed: Signatures | None
    signatures: Signatures | None
    contents: list[str | None]
    similarities: Similarities | None = None

    @property
    def values(self) -> Signatures | None:
        """The values by which similarities are estimated (see `estimated_by`)."""
        return self.keyed if self.signatures is None else self.signatures

    def only(self, places: Collection[int]) -> StoredFingerprints:
        """Return those of the documents at some places."""
        if len(places) == len(self.places):
            return self
        rows = [row for row, place in enumerate(self.places) if place in places]
        return StoredFingerprints(
            [self.places[row] for row in rows],
            None if self.simhashes is None else self.simhashes[rows],
            None if self.keyed is None else self.keyed[rows],
            None if self.signatures is None else self.signatures[rows],
            [self.contents[row] for row in rows],
            None if self.similarities is None else self.similarities[rows],
        )


def estimated_by(settings: Settings) -> tuple[int, int]:
    """Return how many values of a signature estimates compare, and their bits: those stored apart, else in keys."""
    assert settings.minhash
    if settings.layout.signature_bits:
        return settings.minhash.size, settings.layout.signature_bits
    return settings.minhash.layout.size, settings.minhash.layout.value_bits


def read_all(
    settings: Settings, scheme_id: str, objects: Sequence[Any], signature: bytes | None = None
) -> StoredFingerprints:
    """Read the fingerprints in the fields of documents; a ``signature`` may be compared with theirs at once."""
    if native() is None:
        return _read_all(settings, scheme_id, objects)
    fields = _fields(settings.simhash, settings.minhash, settings.layout, scheme_id)
    read = fields.read(objects if isinstance(objects, list) else list(objects), signature)
    places, contents, (simhashes, keyed, signatures), similarities = read
    return StoredFingerprints(
        places,
        simhashes if settings.simhash else None,
        keyed if settings.minhash else None,
        signatures if settings.layout.signature_bits else None,
        contents,
        similarities,
    )


def _read_all(settings: Settings, scheme_id: str, objects: Sequence[Any]) -> StoredFingerprints:
    found = {place: _read(settings, scheme_id, stored) for place, stored in enumerate(objects)}
    whole = {place: parts for place, parts in found.items() if parts is not None}
    codes, keys, texts, contents = (list(column) for column in zip(*whole.values(), strict=True)) if whole else [[]] * 4
    return StoredFingerprints(
        list(whole),
        arrays.from_ints(codes, settings.simhash.bits) if settings.simhash else None,
        settings.minhash.layout.signatures_of_keys(keys) if settings.minhash else None,
        signature_codec(settings).from_texts(texts) if settings.layout.signature_bits else None,
        contents,
    )


def _read(settings: Settings, scheme_id: str, stored: Any) -> tuple[Any, ...] | None:
    """Read the SimHash in a document's fields, all band keys in a row, the signature, and the hash of the content.

    A part is None where the scheme has none; all are if these fields hold no whole fingerprint of this scheme.
    """
    if not isinstance(stored, dict) or stored.get("scheme") != scheme_id:
        return None
    simhash = read_simhash(settings, stored)
    keys = _read_band_keys(settings, stored)
    signature = _read_signature(settings, stored)
    lacks_simhash = settings.simhash is not None and simhash is None
    lacks_bands = settings.minhash is not None and keys is None
    lacks_signature = settings.layout.signature_bits > 0 and signature is None
    if lacks_simhash or lacks_bands or lacks_signature:
        return None
    content = stored.get("content")
    return simhash, keys, signature, content if isinstance(content, str) else None


def hexadecimal(simhash: SimHash, code: int) -> str:
    """Write a SimHash in hexadecimal digits."""
    return f"{code:0{-(-simhash.bits // 4)}x}"


def read_simhash(settings: Settings, stored: Json) -> int | None:
    """Read the SimHash in a document's fields; None if there is none."""
    if settings.simhash is None:
        return None
    if settings.layout.simhash == "blocks":
        blocks = settings.simhash.layout
        keys = _read_keys(settings, stored, "block", blocks.count, blocks.key_digits)
        return None if keys is None else blocks.code_of(keys.split(" "))
    text = stored.get("simhash")
    if not isinstance(text, str) or not _HEX.fullmatch(text):
        return None
    value = int(text, 16)
    return value if value >> settings.simhash.bits == 0 else None


def _read_band_keys(settings: Settings, stored: Json) -> str | None:
    if settings.minhash is None:
        return None
    bands = settings.minhash.layout
    keys = _read_keys(settings, stored, "band", bands.count, bands.key_digits)
    return None if keys is None else keys.replace(" ", "")


def _read_keys(settings: Settings, stored: Json, kind: Kind, count: int, width: int) -> str | None:
    """Read the keys of a kind, with spaces between them."""
    if settings.layout.keys == "fields":
        keys: Any = [stored.get(f"{kind}{i}") for i in range(count)]
    else:
        keys = stored.get(f"{kind}s")
    if isinstance(keys, list) and all(isinstance(key, str) for key in keys):
        keys = " ".join(keys)
    return keys if isinstance(keys, str) and _keys_pattern(count, width).fullmatch(keys) else None


@cache
def _keys_pattern(count: int, width: int) -> re.Pattern[str]:
    """Match the keys of a document, with spaces between them."""
    key = f"[A-Za-z0-9_-]{{{width}}}"
    return re.compile(f"{key}(?: {key}){{{count - 1}}}")


def _read_signature(settings: Settings, stored: Json) -> str | None:
    if settings.minhash is None or not settings.layout.signature_bits:
        return None
    text = stored.get("signature")
    try:
        signature_codec(settings).from_text(text)  # type: ignore[arg-type]
    except (FormatError, TypeError):
        return None
    return text


def signature_codec(settings: Settings) -> SignatureCodec:
    """Return the codec of signatures that are stored apart."""
    assert settings.minhash
    return SignatureCodec(settings.minhash.size, settings.layout.signature_bits)


@lru_cache(maxsize=16)
def _fields(simhash: SimHash | None, minhash: MinHash | None, layout: Layout, scheme_id: str) -> Fields:
    """Make the compiled kernels that write and read these fields, which must be installed."""
    kernels = native()
    assert kernels
    made: Fields = kernels.Fields(
        blocks=(simhash.bits, simhash.blocks, layout.simhash == "field") if simhash else None,
        bands=(minhash.bands, minhash.rows, minhash.key_bits) if minhash else None,
        signature=(minhash.size, layout.signature_bits) if minhash and layout.signature_bits else None,
        keys=layout.keys,
        names=list(_properties(Settings(simhash=simhash, minhash=minhash, layout=layout))),
        scheme=scheme_id,
        statuses=list(STATUSES),
    )
    return made


# The bytes of keys in the index, as measured in docs/benchmarks.md, rounded up.
_BYTES_A_BLOCK = 6
_BYTES_BESIDE_DIGITS = 1  # of the key of a band
_BYTES_A_PASSAGE_KEY = 8  # nearly every one is the only one of its kind
# Fingerprints of long enough texts all have the same size.
_TOKENS = [f"token{number}" for number in range(100)]


def json_bytes(scheme: Scheme) -> int:
    """Return the length of a fingerprint's fields as JSON."""
    tokens = [(token, 1.0) for token in _TOKENS] if scheme.weights == "own" else _TOKENS
    [batch] = scheme.fingerprint_batches_of_tokens([tokens])
    [stored] = write(scheme, scheme.id, [""], batch)
    return len(json.dumps(stored, separators=(",", ":")))


def bytes_a_document(scheme: Scheme, texts: Sequence[str] = ()) -> int:
    """Return the most that the fields of a document add to an index: their JSON, uncompressed, and the keys.

    The longer a text, the more keys of passages it has: in the mean as many as those of a sample of ``texts``.
    """
    blocks = scheme.simhash.blocks if scheme.simhash else 0
    bands = scheme.minhash.layout if scheme.minhash else None
    of_bands = bands.count * (bands.key_digits + _BYTES_BESIDE_DIGITS) if bands else 0
    return json_bytes(scheme) + _BYTES_A_BLOCK * blocks + of_bands + _bytes_of_passages(scheme, texts)


def _bytes_of_passages(scheme: Scheme, texts: Sequence[str]) -> int:
    if scheme.passages is None or not texts:
        return 0
    # A lone surrogate keeps a text from being fingerprinted, not its neighbours from being counted.
    readable = [text.encode(errors="replace").decode() for text in texts]
    keys = fmean(len(each.split()) for each in passages.keys_of_texts(scheme, readable))
    name = len(json.dumps({passages.FIELD: ""}))
    return name + ceil(keys * (scheme.passages.key_digits + 1 + _BYTES_A_PASSAGE_KEY))
