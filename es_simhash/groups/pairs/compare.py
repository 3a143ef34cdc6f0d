"""Comparing candidates: exact Hamming distances, and estimated or exact similarities; and what they say of all."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.json_codec import Json
from es_simhash._core.prefetch import each_made
from es_simhash._core.stages import OnProgress, counted_arrays
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.pair_rows import PairRows, agreements_with
from es_simhash.groups.pairs.stored_rows import Numbers, Strings
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict import rule
from es_simhash.scheme.verdict.rule import PairMeasures, Similarities, lowest_estimate
from es_simhash.scheme.verdict.verifier import Verifier
from es_simhash.sketches.minhash.common import similarities_of_shares, standard_errors
from es_simhash.sketches.weighted_sets import SetCache
from es_simhash.text.hashing import registry

Pairs: TypeAlias = npt.NDArray[Any]

# Their signatures are read into memory, by each thread.
_COMPARED_AT_ONCE = 1 << 14


def pair_type(criteria: Criteria) -> np.dtype[np.void]:
    """Return the numpy type of pairs: the positions of both documents, the deciding clause, and the values compared."""
    fields: list[tuple[str, str]] = [("first", "u4"), ("second", "u4"), ("clause", "u1")]
    if criteria.distance is not None:
        fields.append(("distance", "u1"))
    if criteria.similarity is not None:
        fields += [("similarity", "f8"), ("standard_error", "f4"), ("is_exact", "?"), ("meets", "?")]
    return np.dtype(fields)


def identical_pairs(store: FingerprintStore, codes: Numbers, criteria: Criteria) -> Pairs:
    """Return the pairs with equal texts whose values agree."""
    rows = PairRows(codes)
    same = rows.are_equal(store.contents)
    if store.scopes and (agree := store.scopes.agree(rows)) is not None:
        same &= agree
    return equal_pairs(*positions(codes[same]), criteria)


def equal_pairs(first: Integers, second: Integers, criteria: Criteria) -> Pairs:
    """Return pairs that are known to have equal texts."""
    pairs = _pairs(first, second, criteria)
    pairs["clause"] = rule.EQUAL
    if criteria.similarity is not None:
        pairs["similarity"], pairs["is_exact"], pairs["meets"] = 1.0, True, True
    return pairs


def first_of_each(pairs: Pairs) -> Pairs:
    """Return for each second document only the first pair; they follow one another."""
    is_new = np.ones(len(pairs), dtype=np.bool_)
    np.not_equal(pairs["second"][1:], pairs["second"][:-1], out=is_new[1:])
    return pairs[is_new]


class Comparison:
    """The comparison of candidates, which returns the pairs whose similarity counts.

    ``exact`` computes similarities from texts, unless estimates decide. It is called in the caller's thread, while
    other ``threads`` compare fingerprints; ``check`` raises if the job is to end. ``compared`` counts the candidates,
    ``verified`` those that texts decided, and ``refused`` those that are similar enough but share too few numbers. A
    ``sample`` of them is compared also where their similarity cannot count, for their histogram.
    """

    def __init__(
        self,
        store: FingerprintStore,
        criteria: Criteria,
        exact: CompareTexts | None,
        threads: int = 1,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._criteria = criteria
        self._exact = exact
        self._threads = threads
        self._check = check
        self.compared = self.verified = self.refused = 0
        self.sample = PairSample()

    def measured(self, codes: Numbers, advance: OnProgress[int] = lambda _: None) -> Generator[Pairs, None, None]:
        """Yield the pairs that may be near, in the order in which they come."""
        starts = range(0, len(codes), _COMPARED_AT_ONCE)
        parts = (codes[start : start + _COMPARED_AT_ONCE] for start in starts)
        with closing(each_made(self._by_fingerprints, parts, self._threads)) as made:
            for start, (pairs, are_near) in zip(starts, made, strict=True):
                self._check()
                advance(start)
                self.compared += len(pairs)
                counts = are_near
                if self._criteria.similarity is not None:
                    counts = counts | self._are_similar(pairs, are_near)
                yield pairs[counts]

    def note(self) -> Json:
        """Return what another comparison needs to go on after this one."""
        counts = {"compared": self.compared, "verified": self.verified, "refused": self.refused}
        return {**counts, "sample": self.sample.to_json()}

    def go_on(self, note: Json) -> None:
        """Go on after another comparison."""
        self.compared, self.verified, self.refused = note["compared"], note["verified"], note["refused"]
        self.sample = PairSample.from_json(note["sample"])

    def near(self, pairs: Pairs) -> Pairs:
        """Return those of measured pairs that are near-duplicates."""
        criteria = self._criteria
        distances = None if criteria.distance is None else pairs["distance"]
        texts = None if criteria.similarity is None else PairMeasures(pairs["similarity"], pairs["meets"])
        decided = rule.clauses(criteria, distances, texts)
        self.refused += int(np.count_nonzero(decided == rule.NUMBERS))
        stay = rule.are_near(decided)
        near = pairs[stay]
        near["clause"] = decided[stay]
        if criteria.similarity is not None:
            near["similarity"][~near["meets"]] = 0.0
        return self._with_errors(near)

    def _by_fingerprints(self, codes: Numbers) -> tuple[Pairs, npt.NDArray[np.bool_]]:
        """Return the pairs with what fingerprints say of them, and which are near by their distance."""
        rows = PairRows(codes)
        pairs = _pairs(*positions(codes), self._criteria)
        are_near = np.zeros(len(pairs), dtype=np.bool_)
        if self._criteria.distance is not None:
            are_near |= self._are_near(pairs, rows)
        may_count = are_near
        if self._criteria.similarity is not None:
            pairs["similarity"] = rows.estimates(self._store.values, self._store.value_bits, self._size)
            pairs["meets"] = True
            may_count = are_near | (pairs["similarity"] >= self.lowest)
        stay = self._are_asked(codes, may_count)
        return (pairs, are_near) if stay.all() else (pairs[stay], are_near[stay])

    def _are_asked(self, codes: Numbers, may_count: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which pairs have values that agree, and are not paired before as equal texts, if they may count."""
        asked, scopes = np.ones(len(codes), dtype=np.bool_), self._store.scopes
        if scopes:
            # Most pairs are not near-duplicates, whatever their scope.
            rows = PairRows(codes[may_count])
            agree = scopes.agree(rows)
            asked[may_count] = True if agree is None else agree
            if scopes.by_pairs:
                asked[may_count] &= ~rows.are_equal(self._store.contents)
        return asked

    @property
    def lowest(self) -> float:
        """The lowest estimate of a pair that may count."""
        criteria, minhash = self._criteria, self._store.settings.minhash
        if self._exact is None or minhash is None:
            return criteria.least
        return min(criteria.least, lowest_estimate(criteria, minhash, self._store.value_bits))

    def _with_errors(self, pairs: Pairs) -> Pairs:
        """Fill in the standard errors of similarities, 0 for exact ones."""
        if self._criteria.similarity is not None and self._store.settings.minhash:
            errors = standard_errors(pairs["similarity"], self._size, self._store.value_bits)
            pairs["standard_error"] = np.where(pairs["is_exact"], 0.0, errors)
        return pairs

    def _are_near(self, pairs: Pairs, rows: PairRows) -> npt.NDArray[np.bool_]:
        pairs["distance"] = rows.distances(self._store.simhashes)
        return pairs["distance"] <= self._criteria.distance

    def _are_similar(self, pairs: Pairs, are_near: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        codes = pair_codes(pairs["first"].astype(np.int64), pairs["second"].astype(np.int64))
        sampled = self.sample.takes(codes)
        if self._exact is not None:
            self._look_at_texts(self._exact, pairs, are_near, sampled)
        self.sample.add(codes[sampled], pairs["similarity"][sampled])
        counts: npt.NDArray[np.bool_] = pairs["similarity"] >= self._criteria.least
        return counts

    def _look_at_texts(
        self, exact: CompareTexts, pairs: Pairs, are_near: npt.NDArray[np.bool_], sampled: npt.NDArray[np.bool_]
    ) -> None:
        """Replace estimates by exact similarities: all that are not too low."""
        least = self._criteria.least
        minhash, bits = self._store.settings.minhash, self._store.value_bits
        assert minhash
        asked = pairs["similarity"] >= lowest_estimate(self._criteria, minhash, bits)
        first, second = (pairs[side][asked].astype(np.int64) for side in ("first", "second"))
        # The similarity of a pair that is near by its distance is shown in any case.
        enough = np.where(sampled[asked], min(least, LEAST), least)
        found = exact(first, second, np.where(are_near[asked], 0.0, enough))
        pairs["similarity"][asked], pairs["meets"][asked] = found.similarities, found.meets
        pairs["is_exact"][asked] = True
        self.verified += len(first)

    @property
    def _size(self) -> int:
        """How many values are compared: where texts decide, those that band keys hold, as in a search."""
        minhash = self._store.settings.minhash
        assert minhash
        return minhash.layout.size if self._criteria.verification else minhash.size


def _pairs(first: Integers, second: Integers, criteria: Criteria) -> Pairs:
    pairs = np.zeros(len(first), dtype=pair_type(criteria))
    pairs["first"], pairs["second"] = first, second
    return pairs


# The share of the memory for cached features of texts; those in use may take as much again.
_SHARE = 4

# The measures of the pairs of documents at these positions; a similarity below the last is 0.
CompareTexts: TypeAlias = Callable[[Integers, Integers, Similarities | float], PairMeasures]


def text_comparer(verifier: Verifier, texts: Strings, memory: int, threads: int = 1) -> CompareTexts:
    """Return the function that compares texts by their numbers, within a part of the memory."""
    cache = SetCache(verifier.prepared, texts.take, texts.sizes, memory // _SHARE, threads)
    return lambda first, second, least: verifier.of_cached(cache, np.stack([first, second]), least)


# Pairs are compared down to this similarity for the histogram: below it nearly all texts are.
LEAST = 0.2
_BINS, _WIDTH = 160, 6.0
_STANDS_OUT, _MOST_SHARE, _FLOOR = 3.5, 0.5, 0.7
_MOST = 1 << 14


def valley_of(similarities: Similarities) -> float | None:
    """Return the similarity at which pairs part, or None if that is not clear; those below `LEAST` do not count."""
    counts, edges = np.histogram(similarities, _BINS, (LEAST, 1.0))
    reach = np.arange(-_BINS + 1, _BINS)
    # Each bin has as many pairs as there are within a kernel's width.
    kernel = np.exp(-0.5 * (reach / _WIDTH) ** 2)
    height = np.convolve(np.concatenate([counts[::-1], counts, counts[::-1]]), kernel, "same")[_BINS : 2 * _BINS]
    left, right = np.maximum.accumulate(height), np.maximum.accumulate(height[::-1])[::-1]
    mode = np.minimum(left, right)
    out = (mode - height) / np.sqrt(np.maximum(mode + height, 1.0))
    place = int(out.argmax())
    if out[place] < _STANDS_OUT or height[place] > _MOST_SHARE * mode[place]:
        return None
    # A valley may be wide: its middle is what chance moves least.
    rises = np.flatnonzero(out < _FLOOR * out[place])
    first = rises[rises < place].max(initial=-1) + 1
    last = rises[rises > place].min(initial=_BINS)
    return round(float(edges[first] + edges[last]) / 2, 2)


class PairSample:
    """A random sample of pairs, the same one in whatever order they come, with their similarities.

    It has the pairs whose numbers, mixed, are the lowest: `_MOST` of them, or half as many.
    """

    def __init__(self) -> None:
        self._mixed, self._similarities = np.empty(0, np.uint64), np.empty(0, np.float64)
        self._below = 1 << 64

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._mixed)

    @classmethod
    def from_json(cls, sample: Json) -> PairSample:
        """Read what `to_json` wrote."""
        found = cls()
        found._below = sample["below"]
        found._mixed = np.array(sample["mixed"], dtype=np.uint64)
        found._similarities = np.array(sample["similarities"], dtype=np.float64)
        return found

    def to_json(self) -> Json:
        """Write the sample so far."""
        own = {"mixed": self._mixed.tolist(), "similarities": self._similarities.tolist()}
        return {"below": self._below, **own}

    def takes(self, codes: Numbers) -> npt.NDArray[np.bool_]:
        """Return which pairs belong to the sample, as far as is known."""
        are_in: npt.NDArray[np.bool_] = registry.fmix64(codes) <= np.uint64(self._below - 1)
        return are_in

    def add(self, codes: Numbers, similarities: Similarities) -> None:
        """Add pairs that belong to the sample."""
        self._mixed = np.concatenate([self._mixed, registry.fmix64(codes)])
        self._similarities = np.concatenate([self._similarities, similarities])
        while len(self._mixed) > _MOST:
            self._below >>= 1
            stay = self._mixed <= np.uint64(self._below - 1)
            self._mixed, self._similarities = self._mixed[stay], self._similarities[stay]

    @property
    def valley(self) -> float | None:
        """The valley of their similarities."""
        return valley_of(self._similarities)


# Signatures compared with one another, which takes some seconds, and the most documents drawn.
_COMPARISONS, _MOST_DRAWN = 1 << 27, 1000
_QUANTILE = 1.96


@dataclass(frozen=True)
class Missed:
    """Of ``drawn`` documents, compared with all others, ``found`` near-duplicates are in other groups.

    So about ``pairs`` are missing among all documents, with a probability of 95% between ``low`` and ``high``.
    """

    drawn: int
    found: int
    pairs: int
    low: int
    high: int

    @classmethod
    def of(cls, drawn: int, documents: int, found: int) -> Missed:
        """Estimate what is missing among all documents; nothing is uncertain if all were drawn."""
        scale = documents / drawn / 2 if drawn else 0.0
        if drawn == documents:
            low = high = float(found)
        else:
            middle, spread = found + _QUANTILE**2 / 2, _QUANTILE * (found + _QUANTILE**2 / 4) ** 0.5
            low, high = max(middle - spread, 0.0), middle + spread
        return cls(drawn, found, *(round(scale * count) for count in (found, low, high)))


def missed(
    store: FingerprintStore,
    comparison: Comparison,
    groups: Integers,
) -> Missed:
    """Estimate how many pairs of near-duplicates are in different ``groups``, given the group of each document."""
    compared = np.flatnonzero(store.compared)
    most = min(_MOST_DRAWN, max(_COMPARISONS // max(len(store), 1), 1))
    drawn = np.sort(np.random.default_rng(len(store)).permutation(compared)[:most])
    note, found = comparison.note(), 0
    for codes in _similar(store, comparison.lowest, drawn):
        for pairs in comparison.measured(codes):
            found += _in_other_groups(comparison.near(pairs), groups, drawn)
    comparison.go_on(note)
    return Missed.of(len(drawn), len(compared), found)


def _in_other_groups(near: Pairs, groups: Integers, drawn: Integers) -> int:
    """Count for each document drawn its near-duplicates in other groups."""
    apart = near[groups[near["first"]] != groups[near["second"]]]
    return sum(int(np.isin(apart[side], drawn).sum()) for side in ("first", "second"))


def _similar(store: FingerprintStore, least: float, drawn: Integers) -> Iterator[Numbers]:
    """Yield the pairs of the documents drawn with all others whose estimates are not too low, each once."""
    minhash = store.settings.minhash
    assert minhash
    own, start = store.values.take(drawn), 0
    signatures = store.values.columns(range(minhash.size))
    for rows in counted_arrays("Estimating what is missed", signatures, len(store), "documents"):
        documents = np.arange(start, start + len(rows))
        shares = agreements_with(own, np.ascontiguousarray(rows), store.value_bits) / minhash.size
        alike = similarities_of_shares(shares, store.value_bits) >= least
        alike &= store.compared[documents] & (drawn[:, None] != documents)
        # Of two documents that were both drawn, the pair would come twice.
        alike &= ~(np.isin(documents, drawn) & (documents < drawn[:, None]))
        one, other = np.nonzero(alike)
        first, second = drawn[one], documents[other]
        yield np.sort(pair_codes(np.minimum(first, second), np.maximum(first, second)))
        start += len(rows)
