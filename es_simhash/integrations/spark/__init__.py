"""Fingerprints, pairs and groups on Spark, for data that does not fit one machine.

`add_fields` adds the fields of fingerprints to a DataFrame of texts. `SparkDeduplicator` finds the groups among texts,
or among documents given only by these fields: the same groups as one machine finds.
"""

from __future__ import annotations

from importlib.util import find_spec

from es_simhash._core import lazily
from es_simhash.errors import MissingExtraError

# PySpark runs functions on Arrow columns only with pandas, though nothing here uses it.
for _name in ("pyspark", "pyarrow", "pandas"):
    if find_spec(_name) is None:
        raise MissingExtraError(f"{_name}, which Spark support needs,", "spark")

TYPE_CHECKING = False  # loading `typing` for it takes longer than all else here
if TYPE_CHECKING:
    from es_simhash.integrations.spark.frames import add_fields
    from es_simhash.integrations.spark.job import SparkDeduplicator, SparkDuplicates
    from es_simhash.integrations.spark.source import IndexSource

_NAMES = {
    "integrations.spark.frames": "add_fields",
    "integrations.spark.job": "SparkDeduplicator SparkDuplicates",
    "integrations.spark.source": "IndexSource",
}

__all__ = [
    "IndexSource",
    "SparkDeduplicator",
    "SparkDuplicates",
    "add_fields",
]

__getattr__, __dir__ = lazily(__name__, _NAMES)
