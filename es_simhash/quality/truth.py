"""Labels applied to documents, by their positions: which pairs are duplicates, and which are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, spread
from es_simhash.documents.rejected import OnReject
from es_simhash.errors import InputError
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.groups.union_find import UnionFind
from es_simhash.quality.labels import Kind, Label, LabelledPair, Labels, Member

if TYPE_CHECKING:
    from es_simhash.quality.measures import InScope


@dataclass(frozen=True, eq=False)
class Truth:
    """Pairs as numbers (see `es_simhash.groups.pairs.candidates.codes`), in ascending order.

    ``positives`` are duplicates. ``negatives`` are not; None if no other pair is one. ``units`` has the number of each
    document's true cluster: what positives connect, or itself. ``unknown`` ids have no document; ``contradictory``
    labels were left out.
    """

    JSON = ("kind", "duplicates", "others", "unknown", "contradictory")

    kind: Kind
    units: Integers
    positives: Numbers
    negatives: Numbers | None
    unknown: tuple[str, ...] = ()
    contradictory: tuple[str, ...] = ()

    @property
    def duplicates(self) -> int:
        """The number of pairs that are duplicates."""
        return len(self.positives)

    @property
    def others(self) -> int | None:
        """The number of pairs that are labelled as no duplicates; None if no other pair is one."""
        return None if self.negatives is None else len(self.negatives)

    def are_positive(self, pairs: Numbers) -> npt.NDArray[np.bool_]:
        """Return whether pairs are duplicates."""
        return _are_in(pairs, self.positives)

    def are_known(self, pairs: Numbers) -> npt.NDArray[np.bool_]:
        """Return whether pairs are known to be duplicates or not."""
        if self.negatives is None:
            return np.ones(len(pairs), dtype=np.bool_)
        return self.are_positive(pairs) | _are_in(pairs, self.negatives)

    def within(self, in_scope: InScope) -> Truth:
        """Return what is known of the pairs that are in scope."""
        negatives = None if self.negatives is None else self.negatives[in_scope(*positions(self.negatives))]
        return replace(self, positives=self.positives[in_scope(*positions(self.positives))], negatives=negatives)


def truth_of(labels: Labels, ids: Sequence[str], on_reject: OnReject = lambda _: None) -> Truth:
    """Apply labels to documents with these distinct ids.

    Labels of missing documents, and contradictory ones, go to ``on_reject`` and are left out.
    """
    places = {id_: place for place, id_ in enumerate(ids)}
    known, unknown = list[Label](), dict[str, None]()
    for label in labels.labels:
        missing = [id_ for id_ in label.ids if id_ not in places]
        for id_ in missing:
            on_reject(label.origin.rejected("No document has this id. Add the document, or drop the label.", id_))
        unknown.update(dict.fromkeys(missing))
        if not missing:
            known.append(label)
    if not known:
        raise InputError(
            f"No document has any of the {len(unknown):,} ids in the labels, such as {next(iter(unknown), '')!r}. "
            "Name the field with the ids by --id-field, or give the labels of these documents."
        )
    read = _of_clusters if labels.kind == "clusters" else _of_pairs
    return read(known, places, tuple(unknown), on_reject)


def _of_clusters(
    labels: Iterable[Label], places: Mapping[str, int], unknown: tuple[str, ...], on_reject: OnReject
) -> Truth:
    chosen: dict[str, str] = {}
    clusters: dict[str, list[int]] = defaultdict(list)
    contradictory = []
    for label in labels:
        assert isinstance(label, Member)
        known = chosen.setdefault(label.id, label.cluster)
        if known != label.cluster:
            contradictory.append(f"{label.id} in {known} and {label.cluster}")
            reason = f"The document is in the cluster {known!r} too, which counts. Name one cluster for it."
            on_reject(label.origin.rejected(reason, label.id))
        else:
            clusters[known].append(places[label.id])
    units = np.arange(len(places), dtype=np.int64)
    for members in clusters.values():
        units[members] = min(members)
    return Truth("clusters", units, pairs_within(units), None, unknown, tuple(contradictory))


def _of_pairs(
    labels: Iterable[Label], places: Mapping[str, int], unknown: tuple[str, ...], on_reject: OnReject
) -> Truth:
    labelled: dict[tuple[int, int], LabelledPair] = {}
    contradicted: dict[tuple[int, int], str] = {}
    for label in labels:
        assert isinstance(label, LabelledPair)
        a, b = sorted((places[label.a], places[label.b]))
        if a == b:
            on_reject(label.origin.rejected("This is one document, and no pair. Name two.", label.a))
            continue
        before = labelled.setdefault((a, b), label)
        if before.are_duplicates != label.are_duplicates:
            contradicted[a, b] = f"{label.a} and {label.b}"
            reason = (
                f"The pair with {label.b!r} is labelled as duplicates and as none. Neither counts; say which it is."
            )
            on_reject(label.origin.rejected(reason, label.a))
    rows = [(*pair, label.are_duplicates) for pair, label in labelled.items() if pair not in contradicted]
    first, second, label_array = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    are_positive = label_array.astype(np.bool_)
    coded = pair_codes(first, second)
    positives, negatives = np.sort(coded[are_positive]), np.sort(coded[~are_positive])
    union = UnionFind(len(places))
    union.union(first[are_positive], second[are_positive])
    units = union.groups().firsts.astype(np.int64)
    return Truth("pairs", units, positives, negatives, unknown, tuple(contradicted.values()))


def pairs_within(classes: Integers) -> Numbers:
    """Return all pairs of documents of the same class, in ascending order."""
    order = np.argsort(classes, kind="stable")
    _, counts = np.unique(classes, return_counts=True)
    # Each document is paired with those of its class that follow it.
    _, place = spread(counts)
    following = np.repeat(counts, counts) - 1 - place
    which, ahead = spread(following)
    found = pair_codes(order[which], order[which + 1 + ahead])
    found.sort()
    return found


def _are_in(pairs: Numbers, ordered: Numbers) -> npt.NDArray[np.bool_]:
    if not len(ordered):
        return np.zeros(len(pairs), dtype=np.bool_)
    at = np.searchsorted(ordered, pairs)
    found: npt.NDArray[np.bool_] = ordered.take(at, mode="clip") == pairs
    return found
