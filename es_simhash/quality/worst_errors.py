"""The worst errors: the most similar wrong pairs, and the least similar missed pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Codes, Integers
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.ceiling import KeyMatcher
from es_simhash.quality.predictions import PredictedPairs, StoredDocuments
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.settings import Layout, Settings
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier, plain
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.common import standard_error

EXAMPLES = 10
# The most missed pairs to compare, and the most bytes of their texts; of more, evenly spread ones are taken.
_MOST_MISSED, _MOST_BYTES = 20_000, 200_000_000


@dataclass(frozen=True)
class PairError:
    """A wrong or missed pair: its positions, and how near it is.

    ``similarity`` is the decisive one; None if it is below the lowest threshold, or does not count. An estimate has a
    ``standard_error``. ``distance`` is in bits, None if the scheme has no SimHash; ``jaccard`` is the exact Jaccard
    similarity of the features. ``keys_meet`` says whether an index would compare the pair.
    """

    first: int
    second: int
    similarity: float | None
    standard_error: float | None
    distance: int | None
    jaccard: float
    keys_meet: bool


class ErrorFinder:
    """Finds the worst errors among pairs of texts."""

    def __init__(
        self, settings: Settings, documents: StoredDocuments, keys: KeyMatcher, similar: PredictedPairs
    ) -> None:
        self._verifier = Verifier(plain(settings), Verification.of_fingerprints(1.0))
        self._features = documents.features(self._verifier.prepared)
        self._settings = settings
        self._documents = documents
        self._originals = documents.originals
        self._keys = keys
        self._similar = similar

    def wrong(self, pairs: Numbers, predicted: PredictedPairs, count: int) -> list[PairError]:
        """Return wrong pairs, the most similar or nearest first, each pair of texts once."""
        order = np.lexsort((pairs, predicted.distances_of(pairs), -np.nan_to_num(predicted.similarities_of(pairs))))
        return self._errors(pairs, order, predicted, count)

    def missed(self, pairs: Numbers, known: PredictedPairs, count: int) -> list[PairError]:
        """Return missed pairs, the least similar first; ``known`` has pairs below the threshold, too."""
        most = self._most(pairs)
        if len(pairs) > most:
            pairs = pairs[np.linspace(0, len(pairs) - 1, most).astype(np.int64)]
        order = np.lexsort((pairs, self.jaccards(pairs)))
        return self._errors(pairs, order, known, count)

    def _most(self, pairs: Numbers) -> int:
        """Return how many of these pairs may be compared."""
        sizes = self._documents.sizes()[np.stack(positions(pairs))].sum(axis=0)
        return int(min(_MOST_MISSED, _MOST_BYTES // max(sizes.mean(), 1))) if len(pairs) else 0

    def jaccards(self, pairs: Numbers) -> npt.NDArray[np.float64]:
        """Return the exact Jaccard similarity of each pair."""
        found = self._similar.similarities_of(pairs)
        unknown = np.isnan(found) | ~self._similar.are_exact_of(pairs)
        first, second = positions(pairs[unknown])
        both = np.stack([self._originals[first], self._originals[second]])
        found[unknown] = self._verifier.of_cached(self._features, both).similarities
        return found

    def _errors(self, pairs: Numbers, order: Integers, known: PredictedPairs, count: int) -> list[PairError]:
        chosen = pairs[self._unequal(pairs, order)[:count]]
        rows = zip(
            *(side.tolist() for side in positions(chosen)),
            *self._similarities(chosen, known),
            self._distances(chosen),
            self.jaccards(chosen).tolist(),
            self._keys.meet(chosen).tolist(),
            strict=True,
        )
        return [PairError(*row) for row in rows]

    def _similarities(self, pairs: Numbers, known: PredictedPairs) -> tuple[list[float | None], list[float | None]]:
        """Return the known similarities, and the standard errors of estimates."""
        similarities = known.similarities_of(pairs).tolist()
        size = self._settings.minhash.size if self._settings.minhash else 0
        errors = [
            standard_error(similarity, size) if size and not is_exact and not np.isnan(similarity) else None
            for similarity, is_exact in zip(similarities, known.are_exact_of(pairs).tolist(), strict=True)
        ]
        return [None if np.isnan(similarity) else similarity for similarity in similarities], errors

    def _distances(self, pairs: Numbers) -> list[int] | list[None]:
        if self._settings.simhash is None or not len(pairs):
            return [None] * len(pairs)
        texts = self._documents.texts_at([place for side in positions(pairs) for place in side.tolist()])
        first, second = np.split(np.concatenate(list(fingerprinting.in_batches(texts, self._simhashes))), 2)
        distances: list[int] = hamming.distances(first, second).tolist()
        return distances

    def _simhashes(self, texts: Sequence[str]) -> Codes:
        settings = replace(self._settings, minhash=None, layout=Layout())
        made = fingerprinting.fingerprints_of_texts(settings, texts)
        assert made.simhashes is not None
        return made.simhashes

    def _unequal(self, pairs: Numbers, order: Integers) -> Integers:
        """Drop pairs with the same texts as an earlier pair from the order."""
        first, second = positions(pairs[order])
        texts = np.stack([self._originals[first], self._originals[second]])
        _, places = np.unique(pair_codes(texts.min(axis=0), texts.max(axis=0)), return_index=True)
        unequal: Integers = order[np.sort(places)]
        return unequal
