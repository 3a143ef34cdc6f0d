"""Condensed texts: the parts of a fingerprint that are compared, and a hash of the text itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.bit_codes import Codes
from es_simhash.groups.pairs.choose_keys import check_found_by_values
from es_simhash.groups.pairs.encoded import Encoded, encoded
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import Layout, MinHash, Settings

Values: TypeAlias = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Condensed:
    """Some condensed texts, a row each.

    ``contents`` are the first 128 bits of the SHA-256 of each text, as two words: among a billion texts, two different
    ones collide with a probability of 10**-21. ``values`` are the lowest bits of the signature's values. The ``texts``
    themselves are there unless fingerprints were stored without them.
    """

    statuses: npt.NDArray[np.uint8]
    contents: npt.NDArray[np.uint64]
    simhashes: Codes | None
    values: Values | None
    texts: Encoded | None = None

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.statuses)


def needed(settings: Settings, criteria: Criteria) -> Settings:
    """Reduce settings to the values that the criteria compare."""
    if criteria.similarity is None or settings.minhash is None:
        settings = replace(settings, minhash=None, layout=Layout())
    elif not has_own_keys(settings, criteria):
        check_found_by_values(settings.minhash, criteria)
    if criteria.distance is None:
        settings = replace(settings, simhash=None)
        if settings.minhash and not settings.minhash.is_weighted and settings.weights != "own":
            # The signature does not depend on weights, and these cost the least.
            settings = replace(settings, weights="tf", idf=None)
    return settings


def has_own_keys(settings: Settings, criteria: Criteria) -> bool:
    """Return whether texts that are similar enough share the scheme's own keys, as its thresholds ask."""
    assert settings.minhash
    assert criteria.similarity is not None
    return criteria.similarity >= (criteria.verification or settings.minhash).similarity


def value_type(minhash: MinHash) -> np.dtype[np.unsignedinteger[Any]]:
    """Choose the bytes kept of a signature's values: as many as hold the bits that keys do.

    Eight bits estimate nearly as well as all (Li, König, "b-bit minwise hashing", WWW 2010).
    """
    return np.dtype(f"u{next(size for size in (1, 2, 4) if 8 * size >= minhash.layout.value_bits)}")


def kept_bits(minhash: MinHash) -> np.uint32:
    """Return the lowest bits of a signature's values, those that keys hold."""
    return np.uint32((1 << minhash.layout.value_bits) - 1)


def condense(settings: Settings, texts: Sequence[str]) -> Condensed:
    """Condense texts."""
    found = fingerprinting.fingerprints_of_texts(settings, texts)
    values = None
    if settings.minhash and found.signatures is not None:
        values = (found.signatures & kept_bits(settings.minhash)).astype(value_type(settings.minhash))
    in_utf8 = encoded(texts)
    return Condensed(found.statuses, in_utf8.contents(), found.simhashes, values, in_utf8)


def content_numbers(contents: npt.NDArray[np.uint64]) -> Codes:
    """Return the content hashes that fields would hold, as numbers (see `own_fields.content_hash`)."""
    return contents[:, 0].byteswap() >> np.uint64(16)
