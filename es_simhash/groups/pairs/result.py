"""The result of a deduplication: pairs, groups, canonical documents, and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from types import TracebackType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrow_tables import ArrowRows
from es_simhash._core.stages import counted_arrays
from es_simhash.groups.forms import FindForms
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.groups.pairs.group_batches import groups_in_batches
from es_simhash.groups.pairs.missed import Missed
from es_simhash.groups.pairs.nearness import Nearness, values_of
from es_simhash.groups.pairs.scope_columns import ScopeColumns
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.standing import in_turn
from es_simhash.groups.pairs.stored_rows import Records
from es_simhash.groups.pairs.stored_strings import Strings
from es_simhash.groups.union_find import Groups
from es_simhash.scheme.verdict.rarity import Rarity

# What a table says of each member of a group, as Arrow calls the types.
MEMBER_COLUMNS = {
    "canonical": "string",
    "is_canonical": "bool",
    "similarity": "double",
    "distance": "int64",
    "standard_error": "double",
}


@dataclass(frozen=True)
class Counts:
    """The counts of a deduplication.

    ``empty`` documents have no features and are in no pair. ``identical`` pairs have equal texts: each such text,
    except the first, is paired with the one before it, and compared with no other; but with any in scope, where values
    must differ or dates be near. ``near`` counts all other pairs. Among ``compared`` candidates, ``verified`` were
    decided by their texts, and ``refused`` were similar enough but shared too few of their numbers. Keys shared by very
    many documents would have made ``left_out`` more comparisons, counted once for each key of a pair. ``cut_off``
    counts documents that were not compared because too many have a key, once for each key. ``duplicates`` are the
    documents that another one stands for. ``unscoped`` documents lack a value of the scope, and are in no pair. Texts
    part at the similarity ``valley``, unless that is not clear (see
    `es_simhash.groups.pairs.valley`). What was left out may have ``missed`` near-duplicates, which is estimated.
    """

    documents: int
    empty: int
    identical: int
    near: int
    groups: int
    duplicates: int
    compared: int
    verified: int
    left_out: int
    refused: int = 0
    cut_off: int = 0
    unscoped: int = 0
    valley: float | None = None
    missed: Missed | None = None


class Duplicates(ArrowRows):
    """The near-duplicates among documents, which are identified by their positions, from 0.

    ``groups`` are what links connect; ``standing`` are the canonical documents with duplicates, each with these.

    They are a table of Arrow, too (``to_arrow()``): a row for each document of a group, each canonical one before its
    duplicates, with how near these are to it.

    ``rarity`` is the table by which texts were compared; None if they were not.

    Ids and pairs may lie in temporary files: close it, or use it in a ``with`` statement. What is ``written`` for an id
    may be set, of a result whose ids are keys. ``find_forms`` is set where texts were compared.
    """

    def __init__(
        self,
        spools: Spools,
        ids: Strings,
        pairs: Records,
        groups: Groups,
        standing: Groups,
        counts: Counts,
        nearness: Nearness,
        rarity: Rarity | None,
        scopes: ScopeColumns | None = None,
    ) -> None:
        self._spools = spools
        self.scopes = scopes
        self.rarity = rarity
        self.nearness = nearness
        self._ids = ids
        self._pairs = pairs
        self.groups = groups
        self.standing = standing
        self.counts = counts
        self.written: Callable[[str], str] = str
        self.find_forms: FindForms | None = None

    @property
    def is_canonical(self) -> npt.NDArray[np.bool_]:
        """Whether each document stands for itself: it is near none that does, or in no group."""
        return self.standing.is_first

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """The ids of the first documents of groups that look like forms (see `es_simhash.groups.forms`).

        There are none where no texts were compared.
        """
        self._spools.check_open()
        return tuple(self.ids_of(self.find_forms(self.groups))) if self.find_forms else ()

    def pairs(self) -> Iterator[Pairs]:
        """Yield the pairs in batches, the identical ones first.

        A batch is a numpy array with the fields ``first`` and ``second``, the positions; ``distance`` if SimHash
        counts; and ``similarity``, with its ``standard_error`` (0 if it ``is_exact``), if MinHash does.
        """
        return counted_arrays("Reading pairs", self._pairs, len(self._pairs), "pairs")

    def ids(self) -> Iterator[str]:
        """Yield the ids of all documents."""
        return map(self.written, self._ids)

    def groups_of_ids(self) -> Iterator[list[str]]:
        """Yield the ids of each group, a canonical one first."""
        return self._ids_of_each(self.groups)

    def standing_ids(self) -> Iterator[list[str]]:
        """Yield the ids of each canonical document that has duplicates, followed by these."""
        return self._ids_of_each(self.standing)

    def _ids_of_each(self, groups: Groups) -> Iterator[list[str]]:
        for some in counted_arrays("Reading groups", groups_in_batches(groups), len(groups), "groups"):
            ids = iter(self.ids_of([position for group in some for position in group]))
            yield from (list(islice(ids, len(group))) for group in some)

    def groups_in_turn(self) -> Iterator[list[list[int]]]:
        """Yield batches of groups, each canonical document before its duplicates; what is compared is loaded."""
        for some in groups_in_batches(self.groups):
            self.nearness.load([position for group in some for position in group])
            yield [in_turn(group, self.standing.firsts[group].tolist()) for group in some]

    def ids_of(self, positions: Sequence[int]) -> list[str]:
        """Return the ids of documents, in the order of ``positions``."""
        return list(map(self.written, self._ids.at(positions)))

    _COLUMNS: ClassVar[dict[str, str]] = {
        "group": "int64",
        "position": "int64",
        "id": "string",
        **MEMBER_COLUMNS,
    }

    def _arrow_rows(self) -> Iterator[tuple[Any, ...]]:
        self._spools.check_open()
        return self._members()

    def _members(self) -> Iterator[tuple[Any, ...]]:
        number = 0
        for some in self.groups_in_turn():
            members = np.concatenate(some)
            canonicals = self.standing.firsts[members].astype(np.int64)
            near = values_of(self.nearness.between(canonicals, members))
            ids = zip(self.ids_of(members.tolist()), self.ids_of(canonicals.tolist()), near, strict=True)
            for group in some:
                for position, (id, canonical, (distance, similarity, error)) in zip(group, ids, strict=False):
                    yield number, position, id, canonical, id == canonical, similarity, distance, error
                number += 1

    def _repr_html_(self) -> str:
        from es_simhash.groups.groups_html import duplicates_html

        return duplicates_html(self)

    @property
    def is_closed(self) -> bool:
        """Whether the temporary files are deleted, and with them the ids."""
        return self._spools.is_closed

    def close(self) -> None:
        """Delete the temporary files."""
        self._spools.close()

    def __enter__(self) -> Duplicates:
        """Return the result, to be closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
