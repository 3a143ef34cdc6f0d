"""Documents that were gathered in one process, where the code of `es_simhash.groups` compares them.

Rows have the ``position`` of each document and that of the ``original`` with its text, whose row alone has the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from es_simhash._core.arrays import Integers
from es_simhash._core.environment import MEMORY
from es_simhash.errors import InputError
from es_simhash.groups.pairs.compare import CompareTexts, text_comparer
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.nearness import Nearness, canonicals_by_pairs, canonicals_of, values_of
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Strings, encoded
from es_simhash.integrations.spark.condensing import CondensedColumns
from es_simhash.integrations.spark.frames import CHANGED, TEXT, texts_of, whole
from es_simhash.integrations.spark.ranking import RANK
from es_simhash.integrations.spark.scoping import SCOPE, scope_rows
from es_simhash.scheme.fingerprint import STATUSES
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.rule import PairMeasures, Similarities
from es_simhash.scheme.verdict.verifier import Verifier

NEARNESS = ("original", "content", "similarity", "distance", "standard_error")
_OK = STATUSES.index("ok")


@dataclass(frozen=True)
class Gathering:
    """How gathered documents are compared: by their fingerprints, or text by text if a verifier is there."""

    kept: CondensedColumns
    criteria: Criteria
    verifier: Verifier | None

    def heads(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the members of sorted components, each with its ``head``, the document that stands for it."""
        for table in whole(batches, "root"):
            with Spools.within(MEMORY) as spools:
                nearness = self._nearness(table, spools)
                ranks = table[RANK].to_numpy() if RANK in table.column_names else np.zeros(len(table))
                members, heads = _places(table["root"].to_numpy(), ranks, nearness)
            positions = table["position"].to_numpy()
            yield pa.RecordBatch.from_pydict({"position": positions[members], "head": positions[heads]})

    def nearness_to_heads(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield how near each text is to that of its group's ``head``, which comes before the others."""
        kept, last = self.kept, list[Any]()
        for batch in batches:
            if not len(batch):
                continue
            table = pa.Table.from_batches([*last, batch]).combine_chunks()
            starts = np.flatnonzero(table["is_head"].to_numpy())
            last = table.slice(int(starts[-1]), 1).to_batches()
            with Spools.within(MEMORY) as spools:
                nearness = self._nearness(table, spools)
                nearness.load(range(len(table)))
                heads = np.repeat(starts, np.diff(starts, append=len(table)))
                found = list(values_of(nearness.between(heads, np.arange(len(table)))))
            new = slice(len(table) - len(batch), None)
            rows = [table["position"].to_pylist(), kept.content_hashes(table["content"]), *zip(*found, strict=True)]
            types = (pa.int64(), pa.string(), pa.float64(), pa.int32(), pa.float64())
            columns = [pa.array(each[new], type=kind) for each, kind in zip(rows, types, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, names=NEARNESS)

    def _nearness(self, table: Any, spools: Spools) -> Nearness:
        kept = self.kept
        store = FingerprintStore(
            kept.settings, spools, kept.value_bits, kept.scope if SCOPE in table.column_names else None
        )
        for batch in table.to_batches():
            store.add(kept.condensed(batch, np.full(len(batch), _OK, dtype=np.uint8)))
            if store.scopes:
                store.scopes.add(scope_rows(batch.column(SCOPE)))
        store.complete()
        exact = _exact(self.verifier, table, spools) if self.verifier else None
        return Nearness(store, self.criteria, exact)


def _places(roots: Integers, ranks: Any, nearness: Nearness) -> tuple[Integers, Integers]:
    """Return the places of the members of components, and those of the documents that stand for them."""
    bounds = [*np.flatnonzero(np.diff(roots, prepend=-1)).tolist(), len(roots)]
    order = np.lexsort((ranks, roots))
    groups = [order[start:stop].tolist() for start, stop in pairwise(bounds)]
    return order, canonicals_of(groups, nearness)


def heads_by_pairs(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the ``head`` of each document that has an edge, given the edges of components, sorted by these.

    Both ends of an edge have the ``place`` and the ``rank`` of a document.
    """
    for table in whole(batches, "root"):
        places, ranks = (
            np.concatenate([table[f"{side}_{name}"].to_numpy() for side in ("first", "second")])
            for name in ("place", "rank")
        )
        known, one_of_each, numbers = np.unique(places, return_index=True, return_inverse=True)
        order = np.lexsort((known, ranks[one_of_each]))
        turns = np.empty_like(order)
        turns[order] = np.arange(len(order))
        heads = canonicals_by_pairs(len(order), *turns[numbers.reshape(2, -1)])
        yield pa.RecordBatch.from_pydict({"place": known[order], "head": known[order][heads]})


def _exact(verifier: Verifier, table: Any, spools: Spools) -> CompareTexts:
    """Return what compares the texts of documents, by their places."""
    texts = Strings(spools)
    with_text = table.filter(table[TEXT].is_valid())
    texts.extend(encoded(texts_of(with_text[TEXT])))
    known, originals = with_text["position"].to_numpy(), table["original"].to_numpy()
    order = np.argsort(known)
    places = np.searchsorted(known, originals, sorter=order)
    if not len(known) or (known[order].take(places, mode="clip") != originals).any():
        raise InputError(CHANGED)
    numbers = order[places]
    compare = text_comparer(verifier, texts, MEMORY)

    def exact(first: Integers, second: Integers, least: Similarities | float) -> PairMeasures:
        return compare(numbers[first], numbers[second], least)

    return exact
