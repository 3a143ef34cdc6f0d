"""NEWS-COPY's articles of historical newspapers, scored as in its paper, whose rows are printed alongside ours.

``python -m benchmarks news_copy test_inf_data.json full_test_gt.json`` takes the files of the dataset: the articles by
their ids, and pairs of ids of duplicates, whose connected components are the true clusters. It also takes records with
`article` and `cluster` (Parquet, JSON lines …), as on the hub. The score is the adjusted Rand index.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.published import records
from benchmarks.quality_contenders import levels
from benchmarks.tables import Table
from es_simhash import dedup
from es_simhash._core.arrays import Integers, UnionFind
from es_simhash.quality.evaluation import cluster_scores
from es_simhash.quality.scores import Bootstrap

# Of Silcock et al. (ICLR 2023), ² of Zhang et al. (RETSim, ICLR 2024), ³ of the README of text-dedup.
PUBLISHED = (
    ("re-ranking", 0.937),
    ("bi-encoder", 0.915),
    ("RETSim, partial duplicates²", 0.831),
    ("MinHash²", 0.783),
    ("MinHash³", 0.742),
    ("MinHash", 0.737),
    ("SimHash²", 0.695),
    ("SimHash³", 0.612),
    ("n-grams", 0.440),
)


class Articles(NamedTuple):
    """Articles with their ids, and the true cluster of each."""

    documents: list[tuple[str, str]]
    clusters: Integers


def run(files: Sequence[str]) -> Iterator[Table]:
    """Group the articles at each level, and score the groups."""
    articles = read(files)
    table = Table("NEWS-COPY", ("", "ARI"), f"{len(articles.documents):,} articles.")
    for name, (scheme, options) in levels().items():
        with dedup(articles.documents, scheme=scheme, **vars(options)) as duplicates:
            scores = cluster_scores(articles.clusters, duplicates.firsts, Bootstrap(0))
        table.add(name, f"{scores.adjusted_rand_index.value:.3f}")
    for name, score in PUBLISHED:
        table.add(name, f"{score:.3f}")
    yield table


def read(files: Sequence[str]) -> Articles:
    """Read the dataset's own two files, in any order, or records with their clusters."""
    if all(name.endswith(".json") for name in files) and len(files) == 2:
        by_id, pairs = sorted((json.loads(Path(name).read_text("utf-8")) for name in files), key=_is_list)
        return _with_clusters(by_id, pairs)
    found = list(records(files))
    clusters = np.unique([str(each["cluster"]) for each in found], return_inverse=True)[1].reshape(-1)
    return Articles([(str(place), each["article"]) for place, each in enumerate(found)], clusters)


def _is_list(content: Any) -> bool:
    return isinstance(content, list)


def _with_clusters(by_id: dict[str, dict[str, str]], pairs: Sequence[tuple[str, str]]) -> Articles:
    places = {id_: place for place, id_ in enumerate(by_id)}
    linked = np.array([[places[a], places[b]] for a, b in pairs], dtype=np.int64).reshape(-1, 2)
    union = UnionFind(len(by_id))
    union.union(linked[:, 0], linked[:, 1])
    clusters = np.unique(union.groups().firsts, return_inverse=True)[1].reshape(-1)
    return Articles([(id_, each["article"]) for id_, each in by_id.items()], clusters)
