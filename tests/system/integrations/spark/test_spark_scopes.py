"""On Spark, in local mode, everything in a scope is found that one machine finds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from es_simhash import GroupOptions, InputError, Policy, Scheme, Scope, dedup
from es_simhash._core.json_codec import Json, values_at
from es_simhash.documents.documents import Documents
from tests.support import scoped
from tests.support.corpus import corpus
from tests.system.integrations.spark import test_spark as unscoped

from pyspark.sql import SparkSession  # isort: skip - not before it is known to be there

from es_simhash.integrations.spark.job import SparkDeduplicator

SCHEME = Scheme()
COLUMNS = (
    "id string, body string, tenant array<string>, team array<struct<name: string>>, source array<string>, "
    "author string, at array<string>"
)
spark = unscoped.spark


def typed(own: Json) -> Json:
    """Give the values of a document the types of the columns."""
    texts = {name: [str(value) for value in values_at(own, name) if value is not None] for name in ("tenant", "source")}
    return {
        **texts,
        "team": own.get("team"),
        "author": next(iter(values_at(own, "author")), None),
        "at": [str(value) for value in values_at(own, "at")],
    }


def documents() -> list[tuple[str, str, Json]]:
    """Random documents, and very many with two texts, most of one source."""
    found = [each for seed in range(6) for each in scoped.documents(seed)]
    chosen = random.Random(7)
    first, second, *_ = (each["body"] for each in corpus(2))
    for place in range(150):
        own = {
            "tenant": "a",
            "team": [{"name": "x"}],
            "source": chosen.choice(["s1", "s1", "s1", "s2", "s3"]),
            "author": chosen.choice(["p", "q"]),
            "at": f"2026-03-{chosen.randrange(1, 29):02}",
        }
        text = chosen.choice([first, second])
        found.append(("", text.upper() if place % 3 else text, own))
    return [(f"{place:04}", text, typed(own)) for place, (_, text, own) in enumerate(found)]


KNOWN = documents()


@pytest.mark.parametrize(
    ("scope", "options"),
    [
        (scoped.SCOPES[-2], {"by": "simhash", "distance": 4}),
        *(pytest.param(scope, {}, marks=pytest.mark.nightly) for scope in scoped.SCOPES[::2]),
    ],
)
def test_groups_pairs_and_counts_in_a_scope_are_those_of_one_machine(
    spark: SparkSession, scope: Scope, options: dict[str, Any]
) -> None:
    frame = spark.createDataFrame([(id_, text, *own.values()) for id_, text, own in _in_columns()], COLUMNS)
    found = SparkDeduplicator(Documents(SCHEME, "body"), GroupOptions(scope=scope, **options)).of_texts(
        frame.repartition(3)
    )
    with dedup(KNOWN, scheme=SCHEME, scope=scope, threads=1, **options) as here:
        groups, pairs, counts = unscoped.read_here(here)
    assert unscoped.groups_of(found) == groups
    assert unscoped.pairs_of(found) == pairs
    assert found.counts == counts
    assert min(counts.identical, counts.near, counts.unscoped) > 0


def _in_columns() -> Iterator[tuple[str, str, Json]]:
    names = ("tenant", "team", "source", "author", "at")
    yield from ((id_, text, {name: own[name] for name in names}) for id_, text, own in KNOWN)


def test_columns_of_times_are_dates_and_the_scope_of_the_index_counts(spark: SparkSession) -> None:
    start, text = datetime(2026, 3, 1, 23, tzinfo=timezone.utc), corpus(1)[0]["body"]
    rows = [(str(place), text, "ab"[place % 2], start + timedelta(hours=10 * place)) for place in range(8)]
    frame = spark.createDataFrame(rows, "id string, body string, tenant string, at timestamp")
    policy = Policy(Scope(("tenant",)))
    own = replace(Documents(SCHEME, "body"), policy=policy)
    assert unscoped.groups_of(SparkDeduplicator(own).of_texts(frame)) == [list("0246"), list("1357")]
    window = Scope((), (), timedelta(hours=19), "at")
    assert unscoped.groups_of(SparkDeduplicator(own, GroupOptions(scope=window)).of_texts(frame)) == []
    wider = SparkDeduplicator(own, GroupOptions(scope=replace(window, window=timedelta(hours=20)))).of_texts(
        frame.drop("tenant2")
    )
    assert unscoped.groups_of(wider) == [list("0246"), list("1357")]
    assert set(unscoped.pairs_of(wider)) == {(str(place), str(place + 2)) for place in range(6)}


def test_fields_of_an_index_are_grouped_in_a_scope(spark: SparkSession) -> None:
    text = corpus(1)[0]["body"]
    own = Documents(SCHEME, "body")
    fields = own.add_fields({"body": text})["dedup"]
    rows = [(str(place), {"of": {"tenant": "ab"[place // 2]}}, fields) for place in range(4)]
    names = ", ".join(f"{name}: string" for name in own.names)
    frame = spark.createDataFrame(
        [(id_, kept, tuple(fields.get(name) for name in own.names)) for id_, kept, fields in rows],
        f"id string, kept struct<of: struct<tenant: string>>, dedup struct<{names}>",
    )
    found = SparkDeduplicator(own, GroupOptions(scope=Scope(("kept.of.tenant",)))).of_fields(frame)
    assert unscoped.groups_of(found) == [["0", "1"], ["2", "3"]]
    with pytest.raises(InputError, match="nowhere"):
        SparkDeduplicator(own, GroupOptions(scope=Scope(("nowhere",)))).of_fields(frame)
