"""Documents of any Unicode go through Spark, from an index and back, and are what they were when it is opened again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings

from es_simhash import GroupOptions, Index, Policy, Scheme, Scope, dedup
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.plans.operations import Search
from es_simhash.scheme import mapping
from tests.support.unicode_documents import body_of, documents, must_be_taken
from tests.system.integrations.spark import test_spark as local
from tools.nodes import Node

from pyspark.sql import SparkSession  # isort: skip - not before it is known to be there

from es_simhash.integrations.spark import IndexSource, SparkDeduplicator

spark = local.spark
SCOPE = Scope(("tenant",))


def drawn() -> list[Json]:
    """Return documents that an index takes; tenants are few, so that groups come of it."""
    found: dict[str, Json] = {}

    @given(documents())
    @settings(max_examples=15, database=None)
    def draw(some: list[Json]) -> None:
        found.update({each["_id"]: each for each in some if must_be_taken(each)})

    draw()
    tenants = [each["tenant"] for each in found.values()][:4]
    # In the order of their ids, which decides between equals on Spark.
    return [{**found[id_], "tenant": tenants[place % 4]} for place, id_ in enumerate(sorted(found))]


@pytest.fixture(params=["elasticsearch_node", "opensearch_node"])
def node(request: pytest.FixtureRequest) -> Node:
    found: Node = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def options(node: Node) -> Iterator[dict[str, str]]:
    name = f"spark-{uuid4().hex[:12]}"
    own = {"index": name, "url": node.url, "slices": "3"}
    if node.credentials:
        own |= dict(zip(("user", "password"), node.credentials, strict=True))
    yield own
    node.request("DELETE", f"/{name}")


def everything(index: Index) -> dict[str, Json]:
    hits = index.engine.perform(Search(index.name, {"query": {"match_all": {}}, "size": 1000}))["hits"]["hits"]
    return {hit["_id"]: hit["_source"] for hit in hits}


def test_groups_of_any_ids_and_tenants_are_written_by_spark_as_by_group(
    spark: SparkSession, node: Node, options: dict[str, str]
) -> None:
    spark.dataSource.register(IndexSource)
    given_documents = drawn()
    with Index(options["index"], node.url, fields=["body"]) as index:
        index.init(create={"mappings": {"properties": {"tenant": {"type": "keyword"}}}}, policy=Policy(SCOPE))
        assert not index.add(given_documents, refresh=True).rejected
        with index.group() as grouped:
            expected = {grouped.corpus.keys([position])[0][1]: own for position, own in grouped.fields()}
        columns = "id string, index string, text string, tenant string"
        read = spark.read.format("es_simhash").schema(columns).options(**options).load().persist()
        source = Documents(index.documents.scheme, "text", index.documents.prefix)
        found = SparkDeduplicator(source, GroupOptions(scope=SCOPE)).of_texts(read)
        found.members.write.format("es_simhash").options(**options).mode("append").save()
    assert len(expected) > 3
    with Index(options["index"], node.url) as opened:
        opened.refresh()
        there = everything(opened)
        own = {id_: mapping.stored_in(each.pop(opened.documents.prefix)) for id_, each in there.items()}
    assert there == {each["_id"]: body_of(each) for each in given_documents}
    for each in expected.values():
        each.pop("distance", None)
    assert {id_: each for id_, each in own.items() if each} == expected


def test_frames_of_any_ids_and_tenants_are_grouped_as_here(spark: SparkSession) -> None:
    rows: list[Any] = [(each["_id"], each["body"], each["tenant"]) for each in drawn()]
    frame = spark.createDataFrame(rows, "id string, body string, tenant string")
    found = SparkDeduplicator(Documents(Scheme(), "body"), GroupOptions(scope=SCOPE)).of_texts(frame)
    triples = [(id_, body, {"tenant": tenant}) for id_, body, tenant in rows]
    with dedup(triples, scope=SCOPE, threads=1) as here:
        groups, pairs, counts = local.read_here(here)
    assert groups
    assert (local.groups_of(found), local.pairs_of(found), found.counts) == (groups, pairs, counts)
