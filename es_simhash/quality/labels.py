"""Labelled pairs and clusters, and the pairs that a run predicts.

Files hold a record a line (JSON lines) or a row (CSV), in one of three forms:

``{"cluster": 7, "ids": ["a", "b"]}``      a cluster with all its documents
``{"id": "a", "cluster": 7}``              a document with its cluster
``{"a": "x", "b": "y", "label": 1}``       a pair of duplicates (1, true) or of other documents (0, false)

So a file of decisions (`es_simhash.documents.decisions`) is one of labels: those on one document are left out, and of
what one person says of a pair, the last word counts.

A deduplication compares only the first of documents with equal texts; the others inherit its pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from types import TracebackType
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, UnionFind, spread
from es_simhash._core.arrow import ArrowStream
from es_simhash._core.environment import MEMORY
from es_simhash._core.json_codec import Json, values_at
from es_simhash.documents.files import read_documents
from es_simhash.documents.frame import Frame
from es_simhash.documents.given import Document, Documents, given_documents
from es_simhash.documents.sources import OnReject, Rejected, as_id
from es_simhash.errors import InputError
from es_simhash.groups.canonical import FIRST, Canonical
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_texts import checked
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.groups.pairs.fingerprint_store import ScopeColumns, ScopeRows
from es_simhash.groups.pairs.stored_rows import Numbers, Spools, Strings
from es_simhash.scheme.scope import Scope
from es_simhash.sketches.similarity import Prepare, SetCache

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


@dataclass(frozen=True, eq=False)
class PredictedPairs:
    """Near pairs, as numbers in ascending order.

    ``similarities`` are NaN, and ``distances`` -1, if they do not count; ``are_exact`` is False for estimates.
    """

    pairs: Numbers
    similarities: npt.NDArray[np.float64]
    are_exact: npt.NDArray[np.bool_]
    distances: npt.NDArray[np.int64]

    @classmethod
    def unknown(cls, pairs: Numbers) -> PredictedPairs:
        """Return pairs without a known similarity or distance."""
        count = len(pairs)
        return cls(pairs, np.full(count, np.nan), np.zeros(count, dtype=np.bool_), np.full(count, -1))

    def some(self, chosen: npt.NDArray[np.bool_] | Integers) -> PredictedPairs:
        """Return the chosen ones of the pairs."""
        return PredictedPairs(
            self.pairs[chosen], self.similarities[chosen], self.are_exact[chosen], self.distances[chosen]
        )

    def of(self, pairs: Numbers) -> PredictedPairs:
        """Return what is known of any pairs; of those that are not near, nothing."""
        found = PredictedPairs.unknown(pairs)
        if len(self.pairs):
            at = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
            there = self.pairs[at] == pairs
            known = self.some(at[there])
            found.similarities[there], found.distances[there] = known.similarities, known.distances
            found.are_exact[there] = known.are_exact
        return found


def first_positions(texts: Sequence[str]) -> Integers:
    """Return for each text the position of the first equal text."""
    firsts: dict[str, int] = {}
    return np.array([firsts.setdefault(text, place) for place, text in enumerate(texts)], dtype=np.int64)


def predict_pairs(groups: Groups[Corpus], originals: Integers) -> PredictedPairs:
    """Return the pairs that were found and those of copies; ``originals`` are the `first_positions` of the texts.

    With a scope these are the pairs in it.
    """
    blocks, identical_pairs, scopes = list(groups.pairs()), groups.counts.identical, groups.corpus.store.scopes
    pairs = np.concatenate(blocks) if blocks else None
    if pairs is None or not len(pairs):
        return PredictedPairs.unknown(np.empty(0, dtype=np.uint64))
    identical = pairs[:identical_pairs]
    copies = pairs_within(
        np.where(np.isin(originals, originals[identical["second"]]), originals, -1 - np.arange(len(originals)))
    )
    near = pairs[identical_pairs:]
    if scopes:
        copies = copies[scopes.are_in_scope(*positions(copies))]
        originals = _originals_in_scope(scopes, identical, len(originals))
    which, expanded = _among_copies(originals, near)
    # A copy of a text is as near to it as the first of the identical pairs.
    rows = np.concatenate([np.repeat(identical[:1], len(copies)), near[which]])
    found = np.concatenate([copies, expanded])
    order = np.argsort(found)
    return _of_rows(found[order], rows[order])


def _originals_in_scope(scopes: ScopeColumns, identical: Pairs, count: int) -> Integers:
    """Return for each document the one that was compared in its stead."""
    union = UnionFind(count)
    if not scopes.by_pairs:
        union.union(identical["first"], identical["second"])
    originals: Integers = union.groups().firsts.astype(np.int64)
    return originals


def _of_rows(pairs: Numbers, rows: Pairs) -> PredictedPairs:
    names, found = rows.dtype.names or (), PredictedPairs.unknown(pairs)
    for name, column in (
        ("similarity", found.similarities),
        ("is_exact", found.are_exact),
        ("distance", found.distances),
    ):
        if name in names:
            column[:] = rows[name]
    return found


def _among_copies(originals: Integers, near: Pairs) -> tuple[Integers, Numbers]:
    """Repeat each pair for all copies of its documents; return the source rows and the pairs."""
    members = np.argsort(originals, kind="stable")
    texts, starts, counts = np.unique(originals[members], return_index=True, return_counts=True)
    first, second = (np.searchsorted(texts, originals[near[side]]) for side in ("first", "second"))
    which, place = spread(counts[first] * counts[second])
    a = members[starts[first][which] + place // counts[second][which]]
    b = members[starts[second][which] + place % counts[second][which]]
    return which, pair_codes(np.minimum(a, b), np.maximum(a, b))


@contextmanager
def stored(
    documents: Documents | StoredDocuments,
    fields: str | Sequence[str] = (),
    id_field: str | None = None,
    options: GroupOptions | None = None,
) -> Iterator[StoredDocuments]:
    """Yield stored documents as they are, or store others, given as to `dedup`, for the block."""
    if isinstance(documents, StoredDocuments):
        yield documents
        return
    options = options or GroupOptions()
    with StoredDocuments(options.memory, options.scope, options.canonical) as kept:
        for position, document in enumerate(given_documents(documents, fields, id_field).each(kept.paths)):
            if not kept.add(*checked(document, position, bool(kept.paths), str)):
                raise InputError("Several documents have the same id. Give each document an id of its own.")
        yield kept


# The texts may have this share of the memory, and cached features of them as much as in a deduplication.
_TEXTS_SHARE, _FEATURES_SHARE = 32, 4
_DIGEST_BYTES = 16


class StoredDocuments:
    """Documents, each with an id of its own and a text: close it, or use it in a ``with`` statement.

    With a ``scope``, or a ``canonical`` order by fields, each has its values as well. About ``memory`` bytes are used
    at a time.
    """

    def __init__(self, memory: int = MEMORY, scope: Scope | None = None, canonical: Canonical = FIRST) -> None:
        self.scope = scope
        self.canonical = canonical
        self._values: list[Json] = []
        self._memory = memory
        self._spools = Spools(memory // _TEXTS_SHARE)
        self._texts = Strings(self._spools)
        self._places: dict[str, int] = {}
        self._digests: dict[bytes, int] = {}
        self._originals: list[int] = []

    def add(self, id_: str, text: str, values: Mapping[str, Any] | None = None) -> bool:
        """Add a document, with an object that has the values asked for; return False if its id is taken."""
        if id_ in self._places:
            return False
        if self.paths:
            self._values.append({path: list(values_at(values, path)) for path in self.paths})
        place = self._places[id_] = len(self._places)
        self._texts.append(text)
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
        self._originals.append(self._digests.setdefault(digest, place))
        return True

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._places)

    def __iter__(self) -> Iterator[Document]:
        """Yield each document, as `dedup` takes it."""
        columns = (self._places, self.texts, self._values) if self.paths else (self._places, self.texts)
        return zip(*columns, strict=True)

    @property
    def paths(self) -> list[str]:
        """The fields whose values are kept."""
        fields = self.canonical.fields
        ranked = () if isinstance(fields, bool) else fields
        return [*(self.scope.paths if self.scope else ()), *ranked]

    @property
    def ids(self) -> list[str]:
        """The ids."""
        return list(self._places)

    @property
    def originals(self) -> Integers:
        """For each document the position of the first with an equal text."""
        return np.array(self._originals, dtype=np.int64)

    @property
    def texts(self) -> Strings:
        """The texts, read again each time."""
        self._texts.flush()
        return self._texts

    def texts_at(self, places: Sequence[int]) -> list[str]:
        """Return the texts at these positions."""
        return self.texts.at(places)

    def sizes(self) -> Integers:
        """Return the size of each text in bytes."""
        return self.texts.sizes(np.arange(len(self)))

    def features(self, prepare: Prepare) -> SetCache:
        """Return what compares these texts by their features."""
        return SetCache(prepare, self.texts.take, self.texts.sizes, self._memory // _FEATURES_SHARE)

    def scopes(self) -> ScopeColumns | None:
        """Return the scope of these documents, if there is one."""
        if not self.scope:
            return None
        columns = ScopeColumns(self.scope, self._spools)
        columns.add(ScopeRows.read(self.scope, self._values))
        columns.complete()
        return columns

    def close(self) -> None:
        """Delete the temporary files."""
        self._spools.close()

    def __enter__(self) -> StoredDocuments:
        """Return the documents, to be closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
