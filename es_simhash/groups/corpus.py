"""The documents that are grouped, wherever they come from, and the links between near-duplicates among them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.humanize import counted, shortened
from es_simhash._core.json_codec import Json, values_at
from es_simhash._core.stages import resumed
from es_simhash.documents.decisions import Decided
from es_simhash.errors import DocumentError, InputError
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.compare import CompareTexts, Comparison, Missed, missed
from es_simhash.groups.pairs.decided import DecidedPairs, decided_pairs
from es_simhash.groups.pairs.document_links import Links, link
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.spool import KeptStages, Spools
from es_simhash.scheme.mapping import new_name
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.rarity import Rarity

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
