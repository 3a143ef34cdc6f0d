"""What was found on Spark: groups, pairs, and how many there are of what."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from es_simhash.groups.pairs.result import Counts


@dataclass(frozen=True)
class SparkDuplicates:
    """The near-duplicates among documents.

    Every document of a group is a row of ``groups``: its ``id``, the ``group``, which is the first id in it, and
    whether it ``is_first`` itself. ``pairs`` has the ids of both documents, ``first`` and ``second``; ``distance`` if
    SimHash counts; and ``similarity``, with its ``standard_error`` (0 if it ``is_exact``), if MinHash does. Where
    documents have an ``index`` too, there are ``index``, ``group_index``, ``first_index`` and ``second_index`` beside.

    In ``counts``, ``empty`` are all documents that have nothing to compare.
    """

    groups: DataFrame
    pairs: DataFrame
    counts: Counts
