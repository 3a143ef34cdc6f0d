"""On Spark, groups obey what people have decided as on one machine: plain cases, and those that are hard to part."""

from __future__ import annotations

import pytest

from es_simhash import Decision, Documents, GroupOptions, Scheme, dedup
from es_simhash.groups.pairs import compare
from tests.support.corpus import corpus, edited
from tests.system.integrations.spark import test_spark as local
from tests.system.integrations.spark.test_spark_equals import members_of, members_on

import pyarrow as pa  # isort: skip
from pyspark.sql import SparkSession  # isort: skip - not before it is known to be there

from es_simhash.integrations.spark import SparkDeduplicator, grouping

spark = local.spark

STORY, OTHER, LAST = (each["body"] for each in corpus(3))
TEXTS = {
    # The first of the copies is compared for all.
    **{f"copy {number}": STORY for number in range(5)},
    **{f"edit {number}": edited({"body": STORY}, number + 1, seed=number)["body"] for number in range(3)},
    **{f"other {number}": OTHER for number in range(2)},
    "last": LAST,
    "no text": " ",
}
CASES = {
    "copies are different": [Decision.between("copy 0", "copy 3", same=False)],
    "one of the copies is different from an edit": [Decision.between("copy 2", "edit 1", same=False)],
    "the first of copies is alone": [Decision.about("copy 0", "alone")],
    "all copies but one are alone": [Decision.about(f"copy {number}", "alone") for number in range(4)],
    "a group loses all but one": [Decision.about("other 0", "alone")],
    "unlike texts are the same": [
        Decision.between("last", "copy 4", same=True),
        Decision.between("other 1", "copy 3", same=True),
    ],
    "people contradict each other": [
        Decision.between("copy 0", "copy 1", same=True, who="Mia"),
        Decision.between("copy 0", "copy 1", same=False, who="Ben"),
        *(Decision.about(id_, "canonical") for id_ in ("edit 0", "copy 1")),
    ],
    "decisions are on documents that are not here": [
        Decision.between("copy 0", "nobody", same=False),
        Decision.between("copy 0", "no text", same=True),
        Decision.about("\ud800", "alone"),
    ],
    "all is different": [Decision.between(one, other, same=False) for one in TEXTS for other in TEXTS if one < other],
    "all at once": [
        Decision.between("copy 1", "copy 2", same=False),
        Decision.between("edit 0", "edit 2", same=False),
        Decision.about("copy 0", "alone", who="Mia"),
        Decision.between("last", "edit 2", same=True),
        Decision.about("last", "canonical"),
        Decision.about("other 0", "alone"),
        Decision.about("other 0", "alone").withdrawn(),
    ],
}


@pytest.mark.parametrize("case", CASES)
def test_decisions_are_obeyed_as_on_one_machine(spark: SparkSession, case: str) -> None:
    check(spark, CASES[case])


def test_they_are_so_where_the_pairs_that_were_found_decide(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (compare, grouping):
        monkeypatch.setattr(module, "MOST_CONNECTED", 2)
    check(spark, CASES["all at once"])


def check(spark: SparkSession, decisions: list[Decision]) -> None:
    documents = sorted(TEXTS.items())
    frame = spark.createDataFrame(documents, "id string, body string").repartition(3)
    options = GroupOptions(decisions=decisions)
    found = SparkDeduplicator(Documents(Scheme(), "body"), options).of_texts(frame)
    with dedup(documents, decisions=decisions, threads=1) as here:
        assert members_on(found) == members_of(pa.table(here).to_pylist())
        _, pairs, counts = local.read_here(here)
    assert local.pairs_of(found) == pairs
    assert found.counts == counts
