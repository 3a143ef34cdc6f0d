"""Labels: which documents are duplicates, as people have judged them, in clusters or pairs.

Files hold a record a line (JSON lines) or a row (CSV), in one of three forms:

``{"cluster": 7, "ids": ["a", "b"]}``      a cluster with all its documents
``{"id": "a", "cluster": 7}``              a document with its cluster
``{"a": "x", "b": "y", "label": 1}``       a pair of duplicates (1, true) or of other documents (0, false)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from es_simhash._core.arrow import ArrowStream
from es_simhash._core.json_paths import Json
from es_simhash.documents.arrow.frame import Frame
from es_simhash.documents.files import read_documents
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.documents.sources import as_id
from es_simhash.errors import InputError

Kind: TypeAlias = Literal["clusters", "pairs"]

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
    """Two documents, and whether they are duplicates."""

    a: str
    b: str
    are_duplicates: bool
    origin: Origin = Origin()

    @property
    def ids(self) -> tuple[str, ...]:
        """The documents that are labelled."""
        return (self.a, self.b)


Label: TypeAlias = "Member | LabelledPair"


@dataclass(frozen=True)
class Labels:
    """Labels of one kind.

    With clusters, documents without a common cluster are no duplicates. With pairs, other pairs are unknown.
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
        return cls(_kind(found), found)


def read_labels(path: str, on_reject: OnReject, format: str | None = None) -> Labels:
    """Read the labels of a file; unusable records go to ``on_reject``."""
    found: list[Label] = []
    for each in read_documents(path, format=format, on_reject=on_reject):
        try:
            labels = list(_labels_of(each.document, Origin(each.file, each.line)))
        except _UnusableError as error:
            on_reject(Rejected(file=each.file, line=each.line, reason=str(error), excerpt=str(each.document)))
            continue
        if found and labels and type(labels[0]) is not type(found[0]):
            reason = "The file has clusters and pairs. Give one kind of labels."
            on_reject(Rejected(file=each.file, line=each.line, reason=reason, excerpt=str(each.document)))
            continue
        found += labels
    if not found:
        raise InputError(
            f"There are no labels in {path!r}. Give lines such as "
            '{"cluster": 1, "ids": ["a", "b"]} or {"a": "x", "b": "y", "label": 1}, or a CSV with these columns.'
        )
    return Labels(_kind(found), found)


def _kind(labels: Sequence[Label]) -> Kind:
    return "clusters" if isinstance(labels[0], Member) else "pairs"


class _UnusableError(Exception):
    """A record is no label."""


def _labels_of(record: Json, origin: Origin) -> Iterator[Label]:
    if "ids" in record:
        # Each cluster without a name is another one.
        name = as_id(record.get("cluster")) or f"{origin.file}:{origin.line}"
        if not isinstance(record["ids"], list):
            raise _UnusableError("The ids of the cluster are no list. Give a list of ids.")
        ids = [_id(value, "ids") for value in record["ids"]]
        yield from (Member(id_, name, origin) for id_ in ids)
    elif "a" in record or "b" in record:
        a, b = (_id(record.get(side), side) for side in "ab")
        yield LabelledPair(a, b, _label(record.get("label")), origin)
    elif "id" in record:
        yield Member(_id(record["id"], "id"), _id(record.get("cluster"), "cluster"), origin)
    else:
        raise _UnusableError(
            "This is no label. Give records of cluster and ids, of id and cluster, or of a, b and label."
        )


def _id(value: Any, field: str) -> str:
    found = as_id(value)
    if found is None:
        raise _UnusableError(f"There is no id in the field {field!r}. Give a text or a number.")
    return found


def _label(value: Any) -> bool:
    label = _LABELS.get(str(value).lower())
    if label is None:
        raise _UnusableError(
            "The label is none of 1, 0, true and false. Say by one of them whether they are duplicates."
        )
    return label
