"""CORE's deduplication dataset, scored as in text-dedup's table, whose rows are printed alongside ours.

``python -m benchmarks core FILE…`` takes the files of `pinecone/core-2020-05-10-deduplication` (Parquet, JSON lines …):
records with `core_id`, `processed_title`, `processed_abstract` and `labelled_duplicates`. As there, a document is found
right if its group has all its duplicates, and wrong if it has others only; what has none is right if it is in no group.
Accuracy is the share of documents whose group is exactly their duplicates. "Macro F1" is what text-dedup so calls: the
mean of both precisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.published import groups_of, records
from benchmarks.quality_contenders import levels
from benchmarks.tables import Table

COLUMNS = ("", "precision (duplicates)", "recall (duplicates)", "precision (others)", "recall (others)", "macro F1",
           "accuracy")  # fmt: skip
# From the README of text-dedup; ¹ of Gyawali, Anastasiou, Knoth (LREC 2020), ² of Zhang et al. (RETSim, ICLR 2024).
PUBLISHED = (
    ("MinHash (text-dedup)", 0.9594, 0.9445, 0.9474, 0.9616, 0.9534, 0.9240),
    ("RETSim, partial duplicates²", 0.945, 0.941, 0.945, 0.949, 0.945, 0.928),
    ("RETSim, near-duplicates²", 0.928, 0.937, 0.942, 0.934, 0.935, 0.926),
    ("MinHash + LSH²", 0.929, 0.902, 0.915, 0.938, 0.921, 0.918),
    ("UniSim (text-dedup)", 0.9307, 0.8924, 0.9055, 0.9394, 0.9181, 0.9054),
    ("hybrid¹", 0.908, 0.828, 0.899, 0.979, 0.904, 0.903),
    ("SimHash (text-dedup)", 0.9042, 0.721, 0.792, 0.9329, 0.8481, 0.8321),
)


class Labelled(NamedTuple):
    """A document with the ids of its duplicates."""

    id: str
    text: str
    duplicates: frozenset[str]


@dataclass(frozen=True)
class Scores:
    """How many documents with and without duplicates were judged right, and how many groups are exactly the labels."""

    duplicates_right: int
    duplicates_missed: int
    others_right: int
    wrong: int
    exact: int

    def columns(self) -> Iterator[float]:
        """Yield what text-dedup prints."""
        found, others = self.duplicates_right, self.others_right
        precisions = _share(found, self.wrong), _share(others, self.duplicates_missed)
        yield from (precisions[0], _share(found, self.duplicates_missed), precisions[1], _share(others, self.wrong))
        yield sum(precisions) / 2
        yield self.exact / (found + others + self.wrong + self.duplicates_missed)


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part + rest else 0.0


def run(files: Sequence[str]) -> Iterator[Table]:
    """Group the documents of the files at each level, and score the groups."""
    documents = list(read(files))
    table = Table("CORE", COLUMNS, f"{len(documents):,} documents.")
    for name, (scheme, options) in levels().items():
        groups = groups_of(scheme, options, [(document.id, document.text) for document in documents])
        table.add(name, *(f"{score:.4f}" for score in scored(documents, groups).columns()))
    for name, *scores in PUBLISHED:
        table.add(name, *(f"{score:.4f}" for score in scores))
    yield table


def read(files: Sequence[str]) -> Iterator[Labelled]:
    """Read the documents: title and abstract, as text-dedup compares them."""
    for record in records(files):
        text = " ".join(str(record.get(name) or "") for name in ("processed_title", "processed_abstract"))
        labels = frozenset(map(str, record.get("labelled_duplicates") or ()))
        yield Labelled(str(record["core_id"]), text.lower(), labels)


def scored(documents: Sequence[Labelled], groups: Mapping[str, frozenset[str]]) -> Scores:
    """Compare the others in each document's group with its labels."""
    counts = {"right": 0, "missed": 0, "none": 0, "wrong": 0, "exact": 0}
    for document in documents:
        found = groups.get(document.id, frozenset()) - {document.id}
        if not found:
            counts["missed" if document.duplicates else "none"] += 1
        else:
            counts["right" if document.duplicates and document.duplicates <= found else "wrong"] += 1
        counts["exact"] += found == document.duplicates
    return Scores(counts["right"], counts["missed"], counts["none"], counts["wrong"], counts["exact"])
