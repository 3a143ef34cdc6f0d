"""The documents that are grouped, wherever they come from, and the links between near-duplicates among them.

These are the stages, and what each leaves in kept spools (see `es_simhash.groups.pairs.stored_rows`):

| stage | spool | what it has |
|---|---|---|
| ``identical`` | ``pairs`` | the pairs of equal texts |
| ``keys``, which ends after each table of keys | ``candidates`` | the pairs that share a key, in sorted runs |
| ``compared``, which ends after each part of the candidates | ``pairs`` | the pairs of near-duplicates |

Keys are sorted, a table at a time, within its stage alone. The links are in memory, and made from the pairs.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, UnionFind, are_new
from es_simhash._core.batches import OnProgress, counted_arrays, counting, resumed
from es_simhash._core.humanize import counted, shortened
from es_simhash._core.json_codec import Json, values_at
from es_simhash.documents.decisions import Decided
from es_simhash.errors import DocumentError, InputError
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import (
    POSITION_BITS,
    POSITION_MASK,
    Candidates,
    CandidatesOfTile,
    HotKeys,
    Linker,
    pair_codes,
    positions,
)
from es_simhash.groups.pairs.compare import (
    CompareTexts,
    Comparison,
    Missed,
    Pairs,
    equal_pairs,
    identical_pairs,
    missed,
    pair_type,
)
from es_simhash.groups.pairs.decided import DecidedPairs, decided_pairs
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.stored_rows import KeptStages, Numbers, Records, SortedRuns, Spools, sorted_pieces
from es_simhash.scheme.mapping import new_name
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rarity import Rarity
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verifier import EQUAL

_DATES = "Write dates as 2026-03-01 or 2026-03-01T10:00:00Z, or as milliseconds since 1970."


def default_threads() -> int:
    """Return the number of cores for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Corpus(ABC):
    """Documents, known by their positions: their fingerprints in columns, and their names and texts on demand.

    ``exact`` compares texts; it is None if fingerprints decide. ``rarity`` is the table by which it does, if any.
    ``unread`` has the indices that were left out, with the reasons. ``is_of_engine`` says whether documents have an
    index, ``has_indices`` whether there are several of these, whose ids may be the same. ``undated`` counts the ranked
    documents that have no date that the order of documents can read; they come last in it. ``decided`` is what people
    have decided on these documents.
    """

    is_of_engine = has_indices = False

    def __init__(self, settings: Settings, options: GroupOptions, store: FingerprintStore, spools: Spools) -> None:
        self.settings = settings
        self.options = options
        self.store = store
        self.spools = spools
        self.criteria = options.criteria(settings)
        self.threads = options.threads or default_threads()
        self.exact: CompareTexts | None = None
        self.rarity: Rarity | None = None
        self.unread: dict[str, str] = {}
        self.undated = 0
        self.decided = DecidedPairs()
        self._first_undated = 0, ""

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.store)

    @property
    def total(self) -> int:
        """The number of documents, with those that have nothing to compare."""
        return len(self.store)

    @property
    def empty(self) -> int:
        """The number of documents that have nothing to compare."""
        return self.store.empty

    @abstractmethod
    def keys(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return the index and the id of documents; there is no index outside of engines."""

    @abstractmethod
    def texts_at(self, positions: Sequence[int]) -> list[str]:
        """Return the texts of documents, as far as they can be read."""

    @abstractmethod
    def ranks(self, positions: Sequence[int]) -> list[Any]:
        """Return what documents are sorted by to choose the canonical one: the lowest comes first."""

    def rank(self, document: Json, position: int) -> Any:
        """Return the rank of a document in the order of canonical documents, and count it if it has no date there."""
        canonical = self.options.canonical
        rank = canonical.rank(document)
        if canonical.by_date and rank == inf:
            if not self.undated:
                self._first_undated = position, _held(document, *cast("Sequence[str]", canonical.fields))
            self.undated += 1
        return rank

    def check_dates(self, ranked: int) -> None:
        """Raise `DocumentError` if dates decide, and none of the ``ranked`` documents has one."""
        if self.undated and self.undated == ranked:
            where = " of a group" if self.is_of_engine else ""  # no others are read
            raise DocumentError(
                f"No document{where} has a date that {self.options.canonical.name} can read, so none is the oldest or "
                f"the newest. {_DATES}"
            )

    def obey(self, decided: Decided) -> None:
        """Group as people have decided; all documents must have been read."""
        self.decided = decided_pairs(decided, self.keys, self.store.compared)

    @property
    def undated_note(self) -> str:
        """What to say of documents without a date that decides; nothing if there are none."""
        if not self.undated:
            return ""
        have, come = ("has", "It comes") if self.undated == 1 else ("have", "They come")
        position, held = self._first_undated
        first = "" if self.spools.is_closed else f" The first is {self.named([position])[0]!r}, with {held}."
        said = f"{counted(self.undated, 'document')} {have} no date that {self.options.canonical.name} can read."
        return f"{said}{first} {come} last. {_DATES}"

    def keep(self, stages: KeptStages) -> None:
        """Keep the stages of the job, and say if they are those of an interrupted one."""
        self.spools.stages = stages
        if stages.is_resumed:
            resumed(self.options.state)

    def remove_kept(self) -> None:
        """Delete all that is kept for another run, as nothing is left to do."""
        self.spools.stages.remove()

    def check(self) -> None:  # noqa: B027 - most jobs end when they are done
        """Raise if the job is to end."""

    def named(self, positions: Sequence[int]) -> list[str]:
        """Return what others call these documents: their ids, with their indices where there are several."""
        return [f"{index}/{id_}" if self.has_indices else id_ for index, id_ in self.keys(positions)]

    def ordered(self, groups: Sequence[Sequence[int]]) -> list[list[int]]:
        """Sort the documents of each group in the order of canonical documents, those decided to be canonical first."""
        positions, chosen = [position for group in groups for position in group], self.decided.canonical
        ranks = {
            position: (position not in chosen, rank)
            for position, rank in zip(positions, self.ranks(positions), strict=True)
        }
        try:
            return [sorted(group, key=ranks.__getitem__) for group in groups]
        except TypeError as error:
            raise InputError(
                f"Documents cannot be ordered by {self.options.canonical.name!r}: {error}. Let it give comparable "
                "values."
            ) from error

    def newer(self, groups: Sequence[Sequence[int]]) -> dict[int, int]:
        """Return the next newer document of its group for each older one, where that is known and to be written."""
        return {}

    def names_of_groups(self, groups: Iterable[Sequence[int]], others: Sequence[str] = ()) -> list[str] | None:
        """Return the names of groups, none of them that of ``others``; None for those that `name_of_group` makes."""
        return None


def _held(document: Json, path: str) -> str:
    value = next(values_at(document, path), None)
    if isinstance(value, str | int | float):
        return f"{shortened(repr(value))} in {path}"
    return f"{'nothing' if value is None else 'an object'} in {path}"


def name_of_group(key: tuple[str, str]) -> str:
    """Return the name of a new group that begins with this document."""
    return new_name(*key)


@dataclass(frozen=True)
class Linked:
    """The links of a corpus, the comparison with its counts, and the documents that earlier groups have joined."""

    links: Links
    comparison: Comparison
    missed: Missed | None
    new: int | None = None
    joined: tuple[Integers, Integers] | None = None


def linked(
    corpus: Corpus,
    new: npt.NDArray[np.bool_] | None = None,
    joined: tuple[Integers, Integers] | None = None,
) -> Linked:
    """Link the near-duplicates of a corpus: only those with ``new`` documents if there are any, and ``joined`` ones."""
    store, options = corpus.store, corpus.options
    comparison = Comparison(store, corpus.criteria, corpus.exact, corpus.threads, corpus.check)
    links = link(store, corpus.criteria, comparison, options.memory, corpus.spools, options.max_bucket, new)
    if joined:
        links.union.union(*joined)
    missing = None if not links.left_out or new is not None else _missed(corpus, comparison, links)
    return Linked(links, comparison, missing, None if new is None else int(new.sum()), joined)


def _missed(corpus: Corpus, comparison: Comparison, links: Links) -> Missed | None:
    """Estimate what is missing; None where signatures do not say how similar all documents are."""
    store = corpus.store
    if corpus.criteria.similarity is None or store.settings.minhash is None or store.is_by_pairs:
        return None
    return missed(store, comparison, links.union.groups().firsts)


# The number of documents sharing a key that are all compared, and the number that each further one is compared with.
ALL, FEW = 32, 2
# Equal texts are neighbours, except for a few others whose hashes begin alike.
_NEXT = 4
# The memory for each sorted number, in all arrays that it passes through.
_BYTES_A_NUMBER = 192


@dataclass(frozen=True)
class HotKey:
    """A key shared by very many documents: its ``name``, their number, and the ``position`` of one of them."""

    name: str
    documents: int
    position: int


@dataclass(frozen=True)
class Links:
    """The pairs found, ``identical`` ones first, and the documents that they link; see `Counts`."""

    pairs: Records
    union: UnionFind
    identical: int
    left_out: int
    cut_off: int
    hot_keys: list[HotKey]

    @property
    def near(self) -> int:
        """The number of pairs whose texts are not equal."""
        return len(self.pairs) - self.identical


def link(
    store: FingerprintStore,
    criteria: Criteria,
    comparison: Comparison,
    memory: int,
    spools: Spools,
    most: int | None = None,
    new: npt.NDArray[np.bool_] | None = None,
) -> Links:
    """Find the pairs among the documents that are compared; go on after the last stage that is kept.

    At most ``most`` documents of a key are paired, and with ``new`` only pairs that have one of these.
    """
    linking = _Linking(store, criteria, comparison, memory // _BYTES_A_NUMBER, spools)
    identical = linking.link_identical()
    linker = linking.link_near(most, new)
    names = list(store.names_of_keys(criteria))
    hot_keys = [HotKey(names[table], size, position) for size, table, position in linker.hot]
    return Links(linking.pairs, linking.union, identical, linker.left_out, linker.cut_off, hot_keys)


class _Linking:
    """One search for pairs, which sorts up to ``numbers`` at once."""

    def __init__(
        self, store: FingerprintStore, criteria: Criteria, comparison: Comparison, numbers: int, spools: Spools
    ) -> None:
        self._store = store
        self._criteria = criteria
        self._comparison = comparison
        self._numbers = numbers
        self._spools = spools
        self._stages = spools.stages
        # The scope, if not all documents that are near-duplicates of one another may stand for one another.
        self._scopes = store.scopes if store.is_by_pairs else None
        self.pairs = Records(spools, pair_type(criteria), "pairs")
        self.union = UnionFind(len(store))

    # ---- equal texts

    def link_identical(self) -> int:
        """Pair equal texts, and count the pairs; the first stands for the others, and is compared alone, if it can."""
        note = self._stages.note("identical")
        if note is None:
            for pairs in self._identical():
                self.pairs.append(pairs)
            note = {"pairs": len(self.pairs)}
            self._stages.end("identical", note)
        for pairs in self.pairs:
            equal = pairs[pairs["clause"] == EQUAL]
            self.union.union(equal["first"], equal["second"])
            if not self._scopes:
                self._store.compared[equal["second"]] = False
        return int(note["pairs"])

    def _identical(self) -> Iterator[Pairs]:
        """Yield the pairs of equal texts: each with the nearest one before it, or all where a scope is by pairs."""
        candidates = self._with_equal_contents()
        same = (identical_pairs(self._store, each.codes, self._criteria) for each, _ in self._read(candidates))
        if self._scopes:
            yield from same
            return
        by_second = SortedRuns(self._spools, self._numbers)
        for pairs in same:
            by_second.add(pair_codes(pairs["second"], _before(pairs["first"])))
        for codes in by_second.pieces(1 << POSITION_BITS):
            second, before = positions(codes)
            nearest = are_new(second)
            yield equal_pairs(_before(before[nearest]), second[nearest], self._criteria)
        by_second.close()

    def _with_equal_contents(self) -> Candidates:
        """Return the pairs of neighbours whose texts may be equal."""
        found = Candidates(self._spools, self._numbers, self._store.tile_bits)
        linker = self._linker() if self._scopes else Linker(_NEXT, _NEXT)
        contents = counted_arrays(
            "Finding equal texts", self._store.by_content(), self._store.compared_count, "documents"
        )
        for codes in linker.pairs(self._sorted(linker, contents)):
            found.add(codes)
        return found

    # ---- near ones

    def link_near(self, most: int | None, new: npt.NDArray[np.bool_] | None) -> Linker:
        """Pair the near-duplicates among the documents that share a key; return the linker, which counts the others."""
        linker, candidates = self._sharing(most, new)
        for pairs in self._compared(candidates):
            self.pairs.append(pairs)
        for pairs in counted_arrays("Linking", self.pairs, len(self.pairs), "pairs"):
            self.union.union(pairs["first"], pairs["second"])
        return linker

    def _sharing(self, most: int | None, new: npt.NDArray[np.bool_] | None) -> tuple[Linker, Candidates]:
        """Collect the pairs that share a key, table by table, from where an earlier run stopped."""
        nothing = {"tables": 0, "left_out": 0, "cut_off": 0, "hot": []}
        note = self._stages.note("keys") or {"counts": nothing, "tile_bits": self._store.tile_bits, "ends": []}
        name = "candidates" if self._stages.is_kept else None
        found = Candidates(self._spools, self._numbers, note["tile_bits"], name, note["ends"])
        before = note["counts"]
        linker = self._linker(most, HotKeys(found=before["hot"]))
        linker.left_out, linker.cut_off = before["left_out"], before["cut_off"]
        tables, compared = len(list(self._store.names_of_keys(self._criteria))), self._store.compared_count
        with counting("Sorting keys", tables * compared, "keys") as advance:
            for number, entries in enumerate(self._store.by_key(self._criteria), 1):
                if number > before["tables"]:
                    for codes in linker.pairs(self._sorted(linker, entries), number - 1):
                        found.add(codes if new is None else codes[_have(new, codes)])
                    if self._stages.is_kept:
                        found.runs.end_run()
                        counts = {"left_out": linker.left_out, "cut_off": linker.cut_off, "hot": list(linker.hot)}
                        so_far = {"tile_bits": found.tile_bits, "ends": found.runs.ends}
                        self._stages.end("keys", {"counts": {"tables": number, **counts}, **so_far})
                advance(number * compared)
        return linker, found

    def _compared(self, candidates: Candidates) -> Iterator[Pairs]:
        """Return the near-duplicates among candidates, from where an earlier run stopped."""
        note = self._stages.note("compared")
        if note:
            self._comparison.go_on(note["comparison"])
        for some, advance in self._read(candidates, note["next"] if note else 0):
            with closing(self._comparison.measured(some.codes, advance)) as measured:
                yield from map(self._comparison.near, measured)
            so_far = {"next": some.next, "comparison": self._comparison.note()}
            self._stages.end("compared", so_far)

    # ---- candidates

    def _read(self, candidates: Candidates, low: int = 0) -> Iterator[tuple[CandidatesOfTile, OnProgress[int]]]:
        """Yield candidates tile by tile, while the rows of the tile are kept at hand; free them at the end.

        With them comes what to call with the number of those that are compared.
        """
        with counting("Comparing", len(candidates.runs), "pairs") as advance:
            for some in candidates.distinct(low):
                self._store.keep(some.tile)
                yield some, partial(_advance, advance, some)
        self._store.keep(None)
        candidates.runs.close()

    def _linker(self, most: int | None = None, hot: HotKeys | None = None) -> Linker:
        return Linker(ALL, FEW, most, hot, self._scopes)

    def _sorted(self, linker: Linker, entries: Iterable[Numbers]) -> Iterator[Numbers]:
        return sorted_pieces(entries, self._spools, self._numbers, linker.grain)


def _before(documents: npt.NDArray[np.integer]) -> Integers:
    """Count positions from the last possible one, so that the nearest one before another comes first."""
    return int(POSITION_MASK) - documents.astype(np.int64)


def _advance(advance: OnProgress[int], some: CandidatesOfTile, compared: int) -> None:
    advance(some.part_of_all(compared))


def _have(wanted: npt.NDArray[np.bool_], codes: Numbers) -> npt.NDArray[np.bool_]:
    first, second = positions(codes)
    found: npt.NDArray[np.bool_] = wanted[first] | wanted[second]
    return found
