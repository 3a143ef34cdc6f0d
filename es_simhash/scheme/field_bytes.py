"""What the fields of a fingerprint take in an index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING

from es_simhash.scheme import own_fields, passages

if TYPE_CHECKING:
    from es_simhash.scheme.scheme import Scheme

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
    [stored] = own_fields.write(scheme, scheme.id, [""], batch)
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
