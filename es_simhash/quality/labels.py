"""Labels: which documents are duplicates, as people have judged them, in clusters or pairs.

Files hold a record a line (JSON lines) or a row (CSV), in one of three forms:

``{"cluster": 7, "ids": ["a", "b"]}``      a cluster with all its documents
``{"id": "a", "cluster": 7}``              a document with its cluster
``{"a": "x", "b": "y", "label": 1}``       a pair of duplicates (1, true) or of other documents (0, false)

So a file of decisions (`es_simhash.documents.decisions`) is one of labels: those on one document are left out, and of
what one person says of a pair, the last word counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, spread
from es_simhash._core.arrow import ArrowStream
from es_simhash._core.json_codec import Json
from es_simhash.documents.arrow.frame import Frame
from es_simhash.documents.files import read_documents
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.documents.sources import as_id
from es_simhash.errors import InputError
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.groups.union_find import UnionFind

Kind: TypeAlias = Literal["clusters", "pairs"]
Flags: TypeAlias = npt.NDArray[np.bool_]
# Which pairs of documents count, by the positions of the first ones and of the second ones.
InScope: TypeAlias = Callable[[Integers, Integers], Flags]

_LABELS = {"1": True, "true": True, "0": False, "false": False}


@dataclass(frozen=True)
class Origin:
    """The place where a label was read."""

    file: str = ""
    line: int = 0

    def rejected(self, reason: str, id_: str | None = None) -> Rejected:
        """Describe a label that cannot be used."""
        return Rejected(file=self.file, line=self.line, reason=reason, id=id_)


@dataclass(frozen=True)
class Member:
    """A document and the name of its cluster."""

    id: str
    cluster: str
    origin: Origin = Origin()

    @property
    def ids(self) -> tuple[str, ...]:
        """The documents that are labelled."""
        return (self.id,)


@dataclass(frozen=True)
class LabelledPair:
    """Two documents, and whether they are duplicates, as somebody has said, unless they have withdrawn it."""

    a: str
    b: str
    are_duplicates: bool
    origin: Origin = Origin()
    who: str = ""
    holds: bool = True

    @property
    def ids(self) -> tuple[str, ...]:
        """The documents that are labelled."""
        return (self.a, self.b)


Label: TypeAlias = "Member | LabelledPair"


@dataclass(frozen=True)
class Labels:
    """Labels of one kind.

    With clusters, documents without a common cluster are not duplicates. With pairs, other pairs are unknown.
    """

    kind: Kind
    labels: Sequence[Label]

    @classmethod
    def of_clusters(cls, clusters: Iterable[Iterable[str]]) -> Labels:
        """Label clusters, each given by the ids of its documents."""
        named = enumerate(clusters)
        return cls("clusters", [Member(id_, str(number)) for number, ids in named for id_ in ids])

    @classmethod
    def of_pairs(cls, pairs: Mapping[tuple[str, str], bool]) -> Labels:
        """Label pairs of ids as duplicates or not."""
        return cls("pairs", [LabelledPair(a, b, label) for (a, b), label in pairs.items()])

    @classmethod
    def of_frame(cls, frame: ArrowStream) -> Labels:
        """Read labels from a frame with the columns ``id`` and ``cluster``, or ``a``, ``b`` and ``label``.

        Or ``cluster`` and ``ids``, a column of lists.
        """
        found: list[Label] = []
        for row, record in enumerate(Frame(frame).documents()):
            try:
                found += _labels_of(record, Origin(line=row))
            except _UnusableError as error:
                raise InputError(f"Row {row} of the labels: {error}") from None
        if len({type(label) for label in found}) != 1:
            problem = "no labels" if not found else "labels of clusters and of pairs"
            raise InputError(f"There are {problem} in the frame. Give one with labels of one kind.")
        found = _last_words(found)
        return cls(_kind(found), found)


def read_labels(path: str, on_reject: OnReject, format: str | None = None) -> Labels:
    """Read the labels of a file; unusable records go to ``on_reject``."""
    found: list[Label] = []
    for each in read_documents(path, format=format, on_reject=on_reject):
        try:
            labels = list(_labels_of(each.document, Origin(each.file, each.line)))
            if found and labels and type(labels[0]) is not type(found[0]):
                raise _UnusableError("The file has clusters and pairs. Give one kind of labels.")
            found += labels
        except _UnusableError as error:
            on_reject(Rejected(file=each.file, line=each.line, reason=str(error), excerpt=str(each.document)))
    found = _last_words(found)
    if not found:
        raise InputError(
            f"The file {path!r} has no labels. Give lines such as "
            '{"cluster": 1, "ids": ["a", "b"]} or {"a": "x", "b": "y", "label": 1}, or a CSV with these columns.'
        )
    return Labels(_kind(found), found)


def _last_words(labels: Iterable[Label]) -> list[Label]:
    """Leave out what was withdrawn, and what the same person has said otherwise since."""
    later, found = set[tuple[frozenset[str], str]](), list[Label]()
    for each in reversed(list(labels)):
        if isinstance(each, LabelledPair):
            said = (frozenset(each.ids), each.who)
            if said in later:
                continue
            if each.who or not each.holds:
                later.add(said)
            if not each.holds:
                continue
        found.append(each)
    return found[::-1]


def _kind(labels: Sequence[Label]) -> Kind:
    return "clusters" if isinstance(labels[0], Member) else "pairs"


class _UnusableError(Exception):
    """A record is not a label."""


def _labels_of(record: Json, origin: Origin) -> Iterator[Label]:
    if "canonical" in record or "alone" in record:
        return  # decisions on one document
    if "ids" in record:
        # Each cluster without a name is another one.
        name = as_id(record.get("cluster")) or f"{origin.file}:{origin.line}"
        if not isinstance(record["ids"], list):
            raise _UnusableError("The ids of the cluster are not a list. Give a list of ids.")
        ids = [_id(value, "ids") for value in record["ids"]]
        yield from (Member(id_, name, origin) for id_ in ids)
    elif "a" in record or "b" in record:
        a, b = (_id(record.get(side), side) for side in "ab")
        label, who = record.get("label", ""), str(record.get("who") or "")
        yield LabelledPair(a, b, label is not None and _label(label), origin, who, label is not None)
    elif "id" in record:
        yield Member(_id(record["id"], "id"), _id(record.get("cluster"), "cluster"), origin)
    else:
        raise _UnusableError(
            "This is not a label. Give records of cluster and ids, of id and cluster, or of a, b and label."
        )


def _id(value: Any, field: str) -> str:
    found = as_id(value)
    if found is None:
        raise _UnusableError(f"The field {field!r} has no id. Give a text or a number.")
    return found


def _label(value: Any) -> bool:
    label = _LABELS.get(str(value).lower())
    if label is None:
        raise _UnusableError("The label must be 1, 0, true or false.")
    return label


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

    def are_positive(self, pairs: Numbers) -> Flags:
        """Return whether pairs are duplicates."""
        return np.isin(pairs, self.positives)

    def are_known(self, pairs: Numbers) -> Flags:
        """Return whether pairs are known to be duplicates or not."""
        if self.negatives is None:
            return np.ones(len(pairs), dtype=np.bool_)
        return self.are_positive(pairs) | np.isin(pairs, self.negatives)

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
            on_reject(label.origin.rejected("The pair names one document twice. Name two.", label.a))
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
