"""Comparing candidates, what their similarities say of all pairs, and which document of a group stands for which.

Distances are exact, similarities estimated or exact.

Documents that links connect are a group, which may be a chain whose ends are unlike. In it, the first document stands
for itself. Each further one is a duplicate of the first before it that stands for itself and is near it; if there is
none, it stands for itself as well. So every duplicate is near the document that stands for it.

Of more than `MOST_CONNECTED` documents that links connect, only the pairs that were found count, since each document
that stands for itself would be compared with all that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, are_new
from es_simhash._core.batches import OnProgress, counted_arrays, each_made
from es_simhash._core.json_codec import Json
from es_simhash.groups.pairs.candidates import PairRows, agreements_with, pair_codes, positions
from es_simhash.groups.pairs.decided import SameOnes
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.stored_rows import Numbers, Strings
from es_simhash.scheme import verifier as rule
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import MinHash
from es_simhash.scheme.verifier import PairMeasures, Similarities, Verifier, are_near, clauses, lowest_estimate
from es_simhash.sketches.minhash.common import similarities_of_shares, standard_errors
from es_simhash.sketches.similarity import SetCache
from es_simhash.text import hashing

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


class _Comparing:
    """What documents are compared by: fingerprints, and with ``exact`` their texts."""

    def __init__(self, store: FingerprintStore, criteria: Criteria, exact: CompareTexts | None) -> None:
        self._store = store
        self._criteria = criteria
        self._exact = exact

    @property
    def _minhash(self) -> MinHash:
        assert self._store.settings.minhash
        return self._store.settings.minhash

    @property
    def _lowest_estimate(self) -> float:
        """The lowest estimate of a pair whose texts may be similar enough."""
        return lowest_estimate(self._criteria, self._minhash, self._store.value_bits)


class Comparison(_Comparing):
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
        super().__init__(store, criteria, exact)
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
            errors = standard_errors(near["similarity"], self._size, self._store.value_bits)
            near["standard_error"] = np.where(near["is_exact"], 0.0, errors)
        return near

    def _by_fingerprints(self, codes: Numbers) -> tuple[Pairs, npt.NDArray[np.bool_]]:
        """Return the pairs with what fingerprints say of them, and which are near by their distance."""
        rows = PairRows(codes)
        pairs = _pairs(*positions(codes), self._criteria)
        are_near = np.zeros(len(pairs), dtype=np.bool_)
        if self._criteria.distance is not None:
            pairs["distance"] = rows.distances(self._store.simhashes)
            are_near = pairs["distance"] <= self._criteria.distance
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
            if self._store.is_by_pairs:
                asked[may_count] &= ~rows.are_equal(self._store.contents)
        return asked

    @property
    def lowest(self) -> float:
        """The lowest estimate of a pair that may count."""
        least = self._criteria.least
        return least if self._exact is None else min(least, self._lowest_estimate)

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
        asked = pairs["similarity"] >= self._lowest_estimate
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
        return self._minhash.layout.size if self._criteria.verification else self._minhash.size


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
        are_in: npt.NDArray[np.bool_] = hashing.fmix64(codes) <= np.uint64(self._below - 1)
        return are_in

    def add(self, codes: Numbers, similarities: Similarities) -> None:
        """Add pairs that belong to the sample."""
        self._mixed = np.concatenate([self._mixed, hashing.fmix64(codes)])
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


@dataclass(frozen=True, eq=False)
class PairNearness:
    """Distances and similarities of pairs of documents; None if the scheme has none.

    Estimated similarities have ``standard_errors``.
    """

    distances: npt.NDArray[np.int64] | None
    similarities: npt.NDArray[np.float64] | None
    standard_errors: npt.NDArray[np.float64] | None = None


class Nearness(_Comparing):
    """Distances and similarities by stored fingerprints, or with ``exact`` of texts; positions need not ascend.

    People may have decided that some are the ``same``.
    """

    def __init__(
        self,
        store: FingerprintStore,
        criteria: Criteria,
        exact: CompareTexts | None,
        same: SameOnes | None = None,
    ) -> None:
        super().__init__(store, criteria, exact)
        self._same = same
        self._contents = store.contents
        self._simhashes = store.simhashes if store.settings.simhash else None
        self._values = store.values if store.settings.minhash else None
        self.load = store.load

    def between(self, first: Integers, second: Integers, known: Similarities | None = None) -> PairNearness:
        """Compare the documents of pairs, but for ``known`` similarities, those that are not NaN."""
        rows, similarities, errors = PairRows(pair_codes(first, second)), None, None
        if self._values:
            similarities = np.full(len(first), np.nan) if known is None else known
            asked = np.isnan(similarities)
            if asked.any():
                some = first[asked], second[asked]
                similarities[asked] = self._measures(*some, PairRows(pair_codes(*some))).meeting
            if not self._exact:
                errors = standard_errors(similarities, self._minhash.size, self._store.value_bits)
        return PairNearness(self._distances(rows), similarities, errors)

    def _distances(self, rows: PairRows) -> Integers | None:
        return rows.distances(self._simhashes).astype(np.int64) if self._simhashes else None

    def _measures(
        self, first: Integers, second: Integers, rows: PairRows, *, only_deciding: bool = False
    ) -> PairMeasures:
        """Measure pairs; ``only_deciding`` texts are not compared where estimates rule them out, as of candidates."""
        assert self._values
        bits = self._store.value_bits
        are_equal = rows.are_equal(self._contents)
        if not self._exact:
            found = rows.estimates(self._values, bits, self._minhash.size)
            return PairMeasures.of_similarities(np.where(are_equal, 1.0, found))
        measures, asked = PairMeasures.of_similarities(are_equal.astype(np.float64)), ~are_equal
        if only_deciding:
            asked &= rows.estimates(self._values, bits, self._minhash.layout.size) >= self._lowest_estimate
        if asked.any():
            exact = self._exact(first[asked], second[asked], self._criteria.least if only_deciding else 0.0)
            measures.similarities[asked], measures.meets[asked] = exact.similarities, exact.meets
        return measures

    def are_near(self, first: Integers, second: Integers) -> npt.NDArray[np.bool_]:
        """Return which pairs of documents meet the criteria, or are decided to be the same."""
        return self._same.are_near(first, second, self._meet) if self._same else self._meet(first, second)

    def _meet(self, first: Integers, second: Integers) -> npt.NDArray[np.bool_]:
        rows = PairRows(pair_codes(first, second))
        texts = None
        if self._criteria.similarity is not None:
            texts = self._measures(first, second, rows, only_deciding=True)
        found = are_near(clauses(self._criteria, self._distances(rows), texts))
        return found & self._store.scopes.are_in_scope(first, second) if self._store.scopes else found

    def originals(self, groups: Sequence[Sequence[int]]) -> Integers:
        """Return for each member of groups, as a place among all, the first of its group that has the same text.

        If a scope may keep equal texts apart, each is its own original.
        """
        members, numbers = _members(groups), np.repeat(np.arange(len(groups)), _sizes(groups))
        places = np.arange(len(members))
        if self._store.is_by_pairs:
            return places
        order, is_first = self._by_text(members, numbers)
        originals = places.copy()
        originals[order] = order[np.flatnonzero(is_first)][np.cumsum(is_first) - 1]
        return originals

    def distinct(self, group: Sequence[int]) -> Integers:
        """Return the first of the members of a group that have the same text."""
        members = np.array(group, dtype=np.int64)
        order, is_first = self._by_text(members, np.zeros_like(members))
        found: Integers = members[np.sort(order[is_first])]
        return found

    def _by_text(self, members: Integers, numbers: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
        """Order members by their groups and texts, and say which are the first with their text."""
        high, low = self._contents.at(members).T
        order = np.lexsort((low, high, numbers))
        return order, are_new(numbers[order], high[order], low[order])


def _sizes(groups: Sequence[Sequence[int]]) -> list[int]:
    return list(map(len, groups))


def _members(groups: Sequence[Sequence[int]]) -> Integers:
    return np.fromiter(chain.from_iterable(groups), dtype=np.int64)


def values_of(near: PairNearness) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the similarity, distance and standard error of each pair, None if it has none."""
    columns = (near.similarities, near.distances, near.standard_errors)
    count = max(0 if values is None else len(values) for values in columns)
    return zip(*([None] * count if values is None else values.tolist() for values in columns), strict=True)


MOST_CONNECTED = 100_000
# Two documents that a link connects are near each other.
_PAIR = 2
_MEMBERS_AT_ONCE = 1 << 16


def canonicals_of(
    groups: Sequence[Sequence[int]],
    nearness: Nearness,
    *,
    are_linked: bool = True,
    pairs: Callable[[], Iterable[Pairs]] | None = None,
) -> Integers:
    """Return for each member of groups, one group after the other, the document that stands for it.

    The members of a group come in the order of preference. Unless all of a group ``are_linked`` by pairs that are near,
    two alone are compared as well. The ``pairs`` that were found decide in very large groups.
    """
    sizes, members = np.array(_sizes(groups), dtype=np.int64), _members(groups)
    starts = np.cumsum(sizes) - sizes
    found = np.repeat(members[starts], sizes)
    are_large = (sizes > MOST_CONNECTED) & (pairs is not None)
    for large in np.flatnonzero(are_large).tolist():
        assert pairs is not None
        found[starts[large] :][: sizes[large]] = _by_pairs(groups[large], nearness, pairs())
    if not (are_compared := ~are_large & ((sizes > _PAIR) | ~np.bool_(are_linked))).any():
        return found
    some = [each for each, is_compared in zip(groups, are_compared.tolist(), strict=True) if is_compared]
    found[np.repeat(are_compared, sizes)] = _compared(some, nearness)
    return found


def in_turn(members: Sequence[int], canonicals: Sequence[int]) -> list[int]:
    """Return the members of a group: each that stands for itself, and then its duplicates."""
    duplicates: dict[int, list[int]] = {}
    for member, canonical in zip(members, canonicals, strict=True):
        standing = duplicates.setdefault(canonical, [canonical])
        if member != canonical:
            standing.append(member)
    return list(chain.from_iterable(duplicates.values()))


def _compared(groups: Sequence[Sequence[int]], nearness: Nearness) -> Integers:
    """Compare each text with those that stand for themselves: in each round the first that is left with the others."""
    members, numbers = _members(groups), np.repeat(np.arange(len(groups)), _sizes(groups))
    nearness.load(members.tolist())
    originals = nearness.originals(groups)
    places = np.arange(len(members))
    canonicals, left = places.copy(), places[originals == places]
    while len(left):
        is_first = np.diff(numbers[left], prepend=-1) > 0
        leaders = left[is_first][np.cumsum(is_first) - 1][~is_first]
        left = left[~is_first]
        are_near = _are_near(nearness, members[leaders], members[left])
        canonicals[left[are_near]] = leaders[are_near]
        left = left[~are_near]
    result: Integers = members[canonicals[originals]]
    return result


def _by_pairs(group: Sequence[int], nearness: Nearness, pairs: Iterable[Pairs]) -> Integers:
    members, originals = np.array(group, dtype=np.int64), nearness.originals([group])
    order = np.argsort(members)
    ends = [np.empty((2, 0), dtype=np.int64)]
    for some in pairs:
        both = np.stack([some["first"], some["second"]]).astype(np.int64)
        at = order[np.searchsorted(members, both, sorter=order).clip(max=len(members) - 1)]
        ends.append(originals[at[:, (members[at] == both).all(axis=0)]])
    canonicals = canonicals_by_pairs(len(members), *np.concatenate(ends, axis=1))
    found: Integers = members[canonicals[originals]]
    return found


def _are_near(nearness: Nearness, first: Integers, second: Integers) -> npt.NDArray[np.bool_]:
    parts = list[npt.NDArray[np.bool_]]([np.empty(0, dtype=np.bool_)])
    for start in range(0, len(first), _MEMBERS_AT_ONCE):
        here = slice(start, start + _MEMBERS_AT_ONCE)
        parts.append(nearness.are_near(first[here], second[here]))
    return np.concatenate(parts)


def canonicals_by_pairs(count: int, first: Integers, second: Integers) -> Integers:
    """Return which of ``count`` documents, in the order of preference, stands for each, by the pairs that are near."""
    ends = np.stack([np.minimum(first, second), np.maximum(first, second)])
    earlier, later = ends[:, np.argsort(ends[0], kind="stable")]
    bounds = np.searchsorted(earlier, np.arange(count + 1)).tolist()
    canonicals = np.arange(count)
    for document, (start, stop) in enumerate(pairwise(bounds)):
        if start < stop and canonicals[document] == document:
            near = later[start:stop]
            canonicals[near[canonicals[near] == near]] = document
    return canonicals


_AT_HAND = 20_000


def groups_in_batches(groups: Iterable[list[int]]) -> Iterator[list[list[int]]]:
    """Yield batches of groups with tens of thousands of members, or a single group with more."""
    some: list[list[int]] = []
    members = 0
    for group in groups:
        some.append(group)
        members += len(group)
        if members >= _AT_HAND:
            yield some
            some, members = [], 0
    if some:
        yield some
