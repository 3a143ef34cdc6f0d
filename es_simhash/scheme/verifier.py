"""The verdict on two documents: the exact similarity of their texts, and the rule that decides by it.

With s, the similarity of two texts, the first of these clauses that holds decides:

``equal``    near-duplicates: the texts are the same
``bits``     near-duplicates: their SimHashes are within the maximum distance, where distances count
``below``    no near-duplicates: s is below the minimum similarity
``numbers``  no near-duplicates: they share fewer of their numbers than is asked for
``similar``  near-duplicates: s is at least the minimum similarity

So the verdict is a function of both documents, the settings, and the table that weighs features. Whatever else an
index or a file has makes no difference, and a lower minimum only adds pairs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, get_args

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, distinct_numbers
from es_simhash._core.environment import by_kernels
from es_simhash.errors import SchemeError
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprinting import stripped
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rarity import KEY_BITS, Rarity, builtin
from es_simhash.scheme.settings import MinHash, Settings, reads_texts
from es_simhash.scheme.verification import Measure, Verification
from es_simhash.sketches import similarity
from es_simhash.sketches.keys import sharing
from es_simhash.sketches.minhash.common import standard_error
from es_simhash.sketches.similarity import SetCache, WeightedSet, fits, shared_weights, weighted_sets
from es_simhash.text.features import FeatureBatch, IdfTable, distinct
from es_simhash.text.numbers import numbers_of
from es_simhash.text.tokens import Custom

if TYPE_CHECKING:
    import es_simhash_native


Made = TypeVar("Made")

Similarities = npt.NDArray[np.float64]

# A text, the others to compare it with (None: not known), and the similarity from which each counts.
Wanted: TypeAlias = tuple[str, Sequence["str | None"], Similarities]

# See `es_simhash.sketches.similarity`.
_MEASURES: dict[Measure, Callable[[similarity.Features, similarity.Features], float]] = {
    "jaccard": similarity.weighted_jaccard,
    "balanced": similarity.balanced,
}
# The minimum weight of a heavy feature, as a share of that of one that no document of the sample has.
_HEAVY = 0.5


def rarity_of(settings: Settings, texts: Iterable[str]) -> Rarity:
    """Learn how rare the features that the scheme compares are, from the texts of some documents."""
    of = plain(compared(settings, settings.verification))
    return Rarity.learn(fingerprinting.in_batches(texts, lambda some: fingerprinting.features_of_texts(of, some)))


def verification_of(
    settings: Settings, *, estimate: bool, numbers: float | None = None, needs_texts: bool = False
) -> Verification | None:
    """Return how texts are compared: as the scheme says, but for ``numbers``; None where fingerprints decide.

    They do if the caller asks for an ``estimate``, and in a scheme without a verification, unless the caller's wishes
    need texts: then these are compared by the features of the fingerprints.
    """
    if estimate:
        check_estimate(numbers)
        return None
    found = settings.verification
    if found is None and (needs_texts or numbers):
        found = Verification.of_fingerprints((settings.minhash or MinHash()).similarity)
    return found if found is None or numbers is None else replace(found, numbers=numbers)


def check_estimate(numbers: float | None) -> None:
    """Refuse to ask for ``numbers`` where fingerprints decide."""
    if numbers:
        raise SchemeError("Numbers are in texts, and an estimate reads none. Leave out the numbers or the estimate.")


def is_by_rarity(settings: Settings, verification: Verification | None) -> bool:
    """Return whether features weigh the more the rarer they are; a scheme with weights uses its own."""
    if verification is None or verification.weights != "rarity":
        return False
    return compared(settings, verification).weights == "set"


def table_for(settings: Settings, verification: Verification | None, learnt: Rarity | None) -> Rarity | None:
    """Return the table that features weigh by: what was ``learnt``, or else the built-in one.

    It is None where features do not weigh by how rare they are.
    """
    return (learnt or builtin()) if is_by_rarity(settings, verification) else None


def plain(settings: Settings) -> Settings:
    """Return the settings with features that all weigh the same."""
    return replace(settings, weights="set", idf=None)


def compared(settings: Settings, verification: Verification | None) -> Settings:
    """Return the settings whose features are compared where texts are verified so."""
    return settings.by_text if are_runs(settings, verification) else settings


def are_runs(settings: Settings, verification: Verification | None) -> bool:
    """Return whether runs of characters are compared; a caller's own tokens are compared themselves."""
    return bool(verification and verification.features == "text" and not isinstance(settings.tokens, Custom))


@dataclass(frozen=True)
class Verifier:
    """Compares pairs of texts as ``verification`` says, by default with features weighted as in the fingerprint.

    ``weights`` replace the weights of features.
    """

    settings: Settings
    verification: Verification
    weights: IdfTable | Rarity | None = None

    def similarities(self, texts: Sequence[str], pairs: Integers, least: Similarities | float = 0.0) -> Similarities:
        """Return the similarity of each pair of texts, given as two rows of positions.

        It is 0 if the texts share too few numbers, and if it is below ``least``, which may differ from pair to pair.
        """
        return self.measures(texts, pairs, least).meeting

    def measures(self, texts: Sequence[str], pairs: Integers, least: Similarities | float = 0.0) -> PairMeasures:
        """Measure each pair of texts, given as two rows of positions; see `of_cached`.

        Equal texts are compared once.
        """
        numbers: dict[str, int] = {}
        first, second = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)[pairs]
        if fits(numbers):
            own, each = list(numbers), np.broadcast_to(np.float64(least), first.shape)
            measured = self._by_kernels(
                lambda kernels: PairMeasures(*kernels.measures(stripped(self.compared, own), first, second, each))
            )
            if measured is not None:
                return measured
        codes, places = np.unique(first * len(numbers) + second, return_inverse=True)
        wanted = np.full(len(codes), np.inf)
        np.minimum.at(wanted, places, least)
        distinct = np.stack(np.divmod(codes, max(len(numbers), 1)))
        found = self.of_cached(SetCache.of(self.prepared, list(numbers)), distinct, wanted)[places]
        return _with_least(found, least)

    def to_others(self, text: str, others: Sequence[str]) -> list[float]:
        """Compare a text with each of some others."""
        [found] = self.each_to_others([(text, others, np.zeros(len(others)))])
        return found.meeting.tolist()

    def each_to_others(self, wanted: Sequence[Wanted]) -> list[PairMeasures]:
        """Measure each text and those of the others that are known; the similarity to an unknown one is NaN.

        What several texts are compared with is prepared once.
        """
        known = [[other for other in others if other is not None] for _, others, _ in wanted]
        texts = [*(text for text, _, _ in wanted), *chain.from_iterable(known)]
        if fits(texts) and not self.compared.html:
            given = [(text, list(others), least) for text, others, least in wanted]
            measures = self._by_kernels(lambda kernels: [PairMeasures(*each) for each in kernels.to_others(given)])
            if measures is not None:
                return measures
        places = [np.array([other is not None for other in others], dtype=np.bool_) for _, others, _ in wanted]
        firsts = np.repeat(np.arange(len(wanted)), [len(others) for others in known])
        pairs = np.stack([firsts, np.arange(len(wanted), len(texts))])
        least = np.concatenate([least[own] for (_, _, least), own in zip(wanted, places, strict=True)])
        measured, found, start = self.measures(texts, pairs, least), list[PairMeasures](), 0
        for own in places:
            found.append(PairMeasures.of_similarities(np.full(len(own), np.nan)))
            part = measured[start : start + np.count_nonzero(own)]
            found[-1].similarities[own], found[-1].meets[own] = part.similarities, part.meets
            start += len(part.similarities)
        return found

    def of_cached(self, cache: SetCache, pairs: Integers, least: Similarities | float = 0.0) -> PairMeasures:
        """Measure each pair of cached texts, given as two rows of their numbers.

        A similarity below ``least``, which may differ from pair to pair, is 0.
        """
        found = PairMeasures.of_similarities(np.zeros(pairs.shape[1], dtype=np.float64))
        wanted = np.broadcast_to(np.float64(least), pairs.shape[1:])
        for some in cache.parts(pairs):
            measured = self._of_part(cache, pairs[:, some], wanted[some])
            found.similarities[some], found.meets[some] = measured.similarities, measured.meets
        return found

    @cached_property
    def compared(self) -> Settings:
        """The settings whose features are compared."""
        return compared(self.settings, self.verification)

    @property
    def _table(self) -> IdfTable | Rarity | None:
        """What features weigh by; None where they weigh as they occur."""
        return self.weights or self.compared.idf

    @cached_property
    def _compiled(self) -> es_simhash_native.Verifier | None:
        """The kernels that compare in the same way, but faster; None where numpy must."""
        if not reads_texts(self.compared):
            return None
        return by_kernels(
            lambda kernels: cast(
                "es_simhash_native.Verifier",
                kernels.Verifier(
                    self.compared.fingerprinter,
                    measure=self.verification.measure,
                    weights=self._table.columns if self._table else None,
                    key_bits=KEY_BITS if isinstance(self._table, Rarity) else 64,
                    counts=self._depends_on_texts,
                    numbers=self.verification.numbers,
                ),
            )
        )

    def _by_kernels(self, measure: Callable[[es_simhash_native.Verifier], Made]) -> Made | None:
        """Return what the kernels measure; None where numpy must, or say what is wrong."""
        compiled = self._compiled
        return by_kernels(lambda _: measure(compiled)) if compiled else None

    def _of_part(self, cache: SetCache, pairs: Integers, least: Similarities) -> PairMeasures:
        measured = self._by_kernels(lambda kernels: self._of_kept(kernels, cache, pairs, least))
        return self._by_outlines(cache, pairs, least) if measured is None else measured

    def _of_kept(
        self, kernels: es_simhash_native.Verifier, cache: SetCache, pairs: Integers, least: Similarities
    ) -> PairMeasures:
        kept = cache.kept(kernels.kept)
        missing = kept.missing(distinct_numbers(pairs))
        if len(missing):
            kept.put(missing, stripped(self.compared, cache.texts(missing)))
        found = PairMeasures(*kept.measures(pairs[0], pairs[1], least))
        kept.make_room()
        return found

    def _by_outlines(self, cache: SetCache, pairs: Integers, least: Similarities) -> PairMeasures:
        """Compare first by the heaviest features: where these leave no hope, the others need no look."""
        rows, places = _numbered(pairs)
        outlines = cache.outlines(rows)
        found = self._at_most(outlines, places)
        has_rest = np.array([outline.rest > 0 for outline in outlines])
        open_ = np.flatnonzero((found >= least) & has_rest[places].any(axis=0))
        if len(open_):
            rows, places = _numbered(pairs[:, open_])
            found[open_] = self._at_most(cache.whole(rows), places)
        measured = _with_least(PairMeasures.of_similarities(found), least)
        alike = np.flatnonzero(measured.similarities)
        least_numbers = self.verification.numbers
        if least_numbers and len(alike):
            rows, places = _numbered(pairs[:, alike])
            measured.meets[alike] = share_numbers(self.settings, least_numbers, cache.texts(rows), places)
        return measured

    def _at_most(self, texts: Sequence[WeightedSet], pairs: Integers) -> Similarities:
        """Return the similarity of each pair, or more where features that are missing here count as shared."""
        first, second = np.array([text.total for text in texts], dtype=np.int64)[pairs]
        if self._depends_on_texts:
            compare = _MEASURES[self.verification.measure]
            sides = [(text.hashes, text.weights) for text in texts]
            found = np.array([compare(sides[a], sides[b]) for a, b in pairs.T.tolist()], dtype=np.float64)
        else:
            shared = np.minimum(self._most_shared(texts, pairs), np.minimum(first, second))
            found = _similarities(self.verification.measure, shared, first, second)
        found[(first == 0) & (second == 0)] = 1.0
        return found

    @staticmethod
    def _most_shared(texts: Sequence[WeightedSet], pairs: Integers) -> Integers:
        """Return the weight of the features that each pair shares here, and of those that it may share elsewhere."""
        rests = np.array([text.rest for text in texts], dtype=np.int64)[pairs]
        # What one text lacks is in the rest of the other; or among all its features, if it has no rest.
        most: Integers = shared_weights(texts, *pairs)
        return most + np.where(rests.all(axis=0), rests.min(axis=0), rests.max(axis=0))

    @property
    def _depends_on_texts(self) -> bool:
        """Whether a feature may weigh more in one text than in another."""
        return self.weights is None and self.compared.weights not in ("set", "idf")

    def prepared(self, texts: Iterable[str]) -> Iterator[WeightedSet]:
        """Yield what is compared of each text."""
        if self._depends_on_texts:
            yield from map(self._counted, comparable_features(self.compared, texts))
            return
        table = self._table
        for batch in fingerprinting.in_batches(texts, self._features):
            weights = np.ones(len(batch.hashes), dtype=np.int64) if table is None else table.weights_of(batch.hashes)
            heavy = weights >= (table.unseen * _HEAVY if table else 0)
            yield from weighted_sets(batch, weights, heavy)

    def _features(self, texts: Sequence[str]) -> FeatureBatch:
        """Return the features of texts, each once."""
        batch = fingerprinting.features_of_texts(plain(self.compared), texts)
        return FeatureBatch(batch.first_words, batch.offsets)

    def _counted(self, features: similarity.ArrayFeatures) -> WeightedSet:
        """Weigh features by weights of their own; the total only says whether there are any."""
        hashes, weights = features if isinstance(features, tuple) else (features, np.ones(len(features)))
        return WeightedSet(hashes, weights, len(hashes), int(np.count_nonzero(weights)))


def _with_least(measures: PairMeasures, least: Similarities | float) -> PairMeasures:
    counts = (measures.similarities >= least) & (measures.similarities > 0)
    return PairMeasures(np.where(counts, measures.similarities, 0.0), measures.meets | ~counts)


def _numbered(pairs: Integers) -> tuple[Integers, Integers]:
    """Return the numbers in pairs, in ascending order, and the pairs as positions among these."""
    rows, places = np.unique(pairs, return_inverse=True)
    return rows, places.reshape(pairs.shape)


def _similarities(measure: Measure, shared: Integers, first: Integers, second: Integers) -> Similarities:
    """Return the similarities of pairs by the weights that they share, and those of either text."""
    union = first + second - shared
    is_plain = measure == "jaccard"
    whole = union if is_plain else np.sqrt(union.astype(np.float64) * np.minimum(first, second))
    found: Similarities = np.divide(shared, whole, out=np.zeros(len(shared)), where=whole > 0)
    return found


def comparable_features(settings: Settings, texts: Iterable[str]) -> Iterator[similarity.ArrayFeatures]:
    """Yield the features of each text, each once and in order, with their weights if they have any."""
    for batch in fingerprinting.in_batches(texts, lambda some: fingerprinting.features_of_texts(settings, some)):
        ones = np.ones(len(batch.hashes), dtype=np.int64)
        features = distinct(replace(batch, weights=ones) if settings.weights == "tf" else batch)
        for start, end in pairwise(features.offsets.tolist()):
            own = features.first_words[start:end]
            order = np.argsort(own)
            yield own[order] if features.weights is None else (own[order], features.weights[start:end][order])


def share_numbers(settings: Settings, least: float, texts: Sequence[str], pairs: Integers) -> Flags:
    """Return which pairs of texts, given as two rows of positions, share at least this many of their numbers."""
    numbers = [numbers_in(settings, text) for text in texts]
    return np.array([shared(numbers[a], numbers[b]) >= least for a, b in pairs.T.tolist()], dtype=np.bool_)


def numbers_in(settings: Settings, text: str) -> AbstractSet[str]:
    """Return the distinct numbers of a text."""
    [own] = stripped(settings, [text])
    return frozenset(numbers_of(settings.normalisation(own)))


def shared(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Return the share of the numbers of the text with fewer that the other has."""
    return len(a & b) / min(len(a), len(b)) if a and b else 1.0


Clause: TypeAlias = Literal["equal", "bits", "similar", "numbers", "below"]
CLAUSES: tuple[Clause, ...] = get_args(Clause)
EQUAL, BITS, SIMILAR, NUMBERS, BELOW = range(len(CLAUSES))

Clauses: TypeAlias = npt.NDArray[np.uint8]


def clauses(criteria: Criteria, distances: npt.NDArray[np.number] | None, texts: PairMeasures | None) -> Clauses:
    """Return the deciding clause of pairs of unequal texts, as positions in `CLAUSES`.

    ``distances`` or ``texts`` are None where these do not count, or are not known.
    """
    count = len(distances) if distances is not None else 0 if texts is None else len(texts.similarities)
    found = np.full(count, BELOW, dtype=np.uint8)
    if texts is not None and criteria.similarity is not None:
        # An unknown similarity, NaN, is not at least the minimum.
        similar = texts.similarities >= criteria.similarity
        found[similar] = np.where(texts.meets[similar], np.uint8(SIMILAR), np.uint8(NUMBERS))
    if distances is not None and criteria.distance is not None:
        found[distances <= criteria.distance] = BITS
    return found


def are_near(clauses: Clauses) -> Flags:
    """Return which pairs are near-duplicates by their clauses."""
    return clauses <= SIMILAR


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PairMeasures:
    """The similarity of each pair of texts, 0 if it does not count and NaN if it is not known, and whether it
    ``meets`` the share of numbers that is asked for.
    """

    similarities: Similarities
    meets: Flags

    @classmethod
    def of_similarities(cls, similarities: Similarities) -> PairMeasures:
        """Return measures of pairs whose texts were not compared otherwise."""
        # np.full would be a good part of a search with few hits.
        return cls(similarities, np.frombuffer(bytearray(b"\1") * len(similarities), dtype=np.bool_))

    def __getitem__(self, places: Any) -> PairMeasures:
        """Return the measures of some pairs."""
        return PairMeasures(self.similarities[places], self.meets[places])

    @property
    def meeting(self) -> Similarities:
        """The similarities, 0 where too few numbers are shared."""
        found: Similarities = np.where(self.meets, self.similarities, 0.0)
        return found


# Standard errors beyond which an estimate leaves no doubt, and how much the weights of features seldom change.
_DOUBT, _BY_WEIGHTS = 3.0, 0.15
# The probability with which keys find pairs that are not looked for.
_SELDOM = 0.05


def lowest_estimate(criteria: Criteria, minhash: MinHash, value_bits: int) -> float:
    """Return the lowest Jaccard similarity of texts that are compared, as estimated by the values that keys hold."""
    verification = criteria.verification
    if verification is None:
        return -1.0
    if verification.measure == "jaccard" and verification.features == "scheme":
        doubt = _DOUBT * standard_error(criteria.least, minhash.layout.size, value_bits)
        return criteria.least - _BY_WEIGHTS - doubt
    return min(criteria.least / 2, _seldom_found(minhash))


@cache
def _seldom_found(minhash: MinHash) -> float:
    """Return the similarity that keys seldom find, in hundredths."""
    return bisect_left(range(100), _SELDOM, key=lambda hundredths: _found(minhash, hundredths / 100)) / 100


def _found(minhash: MinHash, similarity: float) -> float:
    return sharing(similarity, minhash.layout, minhash.shared)
