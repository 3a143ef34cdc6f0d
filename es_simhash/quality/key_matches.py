"""Which pairs of documents share enough keys of a scheme for an index to compare them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprint import STATUSES, Fingerprints
from es_simhash.scheme.query import Criteria, shared_bands
from es_simhash.scheme.settings import Settings

_AT_ONCE = 1 << 14


class KeyMatcher:
    """The keys of texts: bands if similarities count, blocks if distances do."""

    def __init__(self, settings: Settings, criteria: Criteria, batches: Iterable[Fingerprints]) -> None:
        bands = settings.minhash.layout if settings.minhash and criteria.similarity is not None else None
        blocks = settings.simhash.layout if settings.simhash and criteria.distance is not None else None
        statuses, of_bands, of_blocks = [np.empty(0, dtype=np.uint8)], [], []
        for batch in batches:
            statuses.append(batch.statuses)
            if bands and batch.signatures is not None:
                of_bands.append(bands.values(batch.signatures))
            if blocks and batch.simhashes is not None:
                of_blocks.append(blocks.values(batch.simhashes))
        self._has_keys = np.concatenate(statuses) != STATUSES.index("empty")
        # The keys of each kind, a row for each text, and the number that must be shared.
        self._kinds: list[tuple[npt.NDArray[np.uint64], int]] = []
        if of_bands and settings.minhash:
            shared = shared_bands(settings.minhash, criteria, sum(map(len, of_bands)))
            self._kinds.append((np.concatenate(of_bands), shared))
        if of_blocks and blocks and criteria.distance is not None:
            self._kinds.append((np.concatenate(of_blocks), blocks.min_shared(criteria.distance)))

    @classmethod
    def of(cls, settings: Settings, criteria: Criteria, texts: Iterable[str]) -> KeyMatcher:
        """Make the keys of texts by a scheme."""

        def made(some: Sequence[str]) -> Fingerprints:
            return fingerprinting.fingerprints_of_texts(settings, some)

        return cls(settings, criteria, fingerprinting.in_batches(texts, made))

    def meet(self, pairs: Numbers) -> npt.NDArray[np.bool_]:
        """Return whether each pair shares enough keys that a search for one compares the other."""
        parts = [self._meet(pairs[start : start + _AT_ONCE]) for start in range(0, len(pairs), _AT_ONCE)]
        return np.concatenate([np.empty(0, dtype=np.bool_), *parts])

    def _meet(self, pairs: Numbers) -> npt.NDArray[np.bool_]:
        first, second = positions(pairs)
        met = np.zeros(len(pairs), dtype=np.bool_)
        for keys, least in self._kinds:
            met |= (keys[first] == keys[second]).sum(axis=1) >= least
        return met & self._has_keys[first] & self._has_keys[second]
