"""Spark reads an index slice by slice, and writes groups into its documents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from uuid import uuid4

import pytest

from es_simhash import Canonical, Decision, GroupOptions, Index, Scheme, connect
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import run
from es_simhash.live.sweep.reading import Reading
from es_simhash.plans.operations import Action, Bulk
from es_simhash.scheme import mapping
from tests.support.random_corpus import corpus
from tests.system.integrations.spark import test_spark as local
from tools.nodes import Node

from pyspark.errors import PySparkException  # isort: skip - not before it is known to be there
from pyspark.sql import SparkSession  # isort: skip

from es_simhash.integrations.spark import IndexSource, SparkDeduplicator

spark = local.spark


@pytest.fixture(params=[pytest.param("elasticsearch_node", marks=pytest.mark.nightly), "opensearch_node"])
def node(request: pytest.FixtureRequest) -> Node:
    found: Node = request.getfixturevalue(request.param)
    return found


def groups_in(index: Index) -> dict[str, Json]:
    """The fields of groups of each document."""
    own = index.documents.prefix
    reading, found = Reading(index.name, {"match_all": {}}, [own], None, 600.0), {}
    while hits := run(reading.next(), index.engine):
        found.update({hit["_id"]: mapping.stored_in(hit["_source"].get(own) or {}) for hit in hits})
    return found


@pytest.fixture
def options(node: Node) -> Iterator[dict[str, str]]:
    """How Spark is shown an index of each server; the index is deleted afterwards."""
    name = f"spark-{uuid4().hex[:12]}"
    own = {"index": name, "url": node.url, "slices": "3"}
    if node.credentials:
        own |= dict(zip(("user", "password"), node.credentials, strict=True))
    yield own
    node.request("DELETE", f"/{name}")


@pytest.fixture
def index(node: Node, options: dict[str, str]) -> Iterator[Index]:
    texts = [text for seed in range(4) for text in corpus(seed)]
    with closing(connect(node.url)) as engine:
        found = Index(options["index"], engine, scheme=Scheme(), fields=["title", "body"])
        found.init()
        rows = [(f"{place:03}", *text.partition(" ")) for place, text in enumerate(texts)]
        added = [{"_id": id_, "title": title, "body": [body], "number": len(body)} for id_, title, _, body in rows]
        assert not found.add(added, refresh=True).rejected
        yield found


def test_groups_written_by_spark_are_those_that_group_would_write(
    spark: SparkSession, index: Index, options: dict[str, str]
) -> None:
    spark.dataSource.register(IndexSource)
    with index.group() as grouped:
        expected = {grouped.corpus.keys([position])[0][1]: own for position, own in grouped.fields()}
    documents = spark.read.format("es_simhash").options(**options).load().persist()
    found = SparkDeduplicator(replace(index.documents, fields=("text",))).of_texts(documents)
    found.members.write.format("es_simhash").options(**options).mode("append").save()
    for own in expected.values():
        own.pop("distance", None)  # where distances do not count, Spark computes none
    assert {id_: own for id_, own in groups_in(index).items() if own} == expected
    assert found.counts.documents == documents.count() == len(groups_in(index))
    assert len(expected) > 10

    by_fields = SparkDeduplicator(index.documents).of_fields(documents.drop("text"))
    with index.group(estimate=True) as grouped:
        assert by_fields.counts.duplicates == grouped.counts.duplicates
    contents = {row["id"]: row["content"] for row in by_fields.members.collect()}
    assert contents.items() <= {row["id"]: row["dedup"]["content"] for row in documents.collect()}.items()


def test_spark_writes_the_copies_and_versions_that_group_would_write(
    spark: SparkSession, index: Index, options: dict[str, str]
) -> None:
    spark.dataSource.register(IndexSource)
    ids = list(groups_in(index))
    dates: list[Json] = [{"at": f"2026-03-{place % 9 + 1:02}"} if place % 5 else {} for place in range(len(ids))]
    actions = [Action("update", id_, {"doc": date}) for id_, date in zip(ids, dates, strict=True)]
    index.engine.perform(Bulk(index.name, actions, refresh=True))
    reader = spark.read.format("es_simhash").options(**options)
    documents = reader.schema("id string, index string, text string, at string").load().persist()
    order = GroupOptions(canonical=Canonical.newest("at"))
    found = SparkDeduplicator(replace(index.documents, fields=("text",)), order).of_texts(documents)
    copied = found.members.write.format("es_simhash").options(**options).option("copy", "number,at")
    copied.mode("append").save()
    written = groups_in(index)
    with index.group(canonical="newest:at", copy=["number", "at"]) as grouped:
        index.write_groups(grouped)
    assert written == {
        id_: {name: value for name, value in own.items() if name != "distance"} for id_, own in groups_in(index).items()
    }
    assert all(any(name in own for own in written.values()) for name in ("of", "lag_days", "superseded_by"))


def test_a_document_whose_text_has_changed_in_the_meantime_gets_no_group(
    spark: SparkSession, index: Index, options: dict[str, str]
) -> None:
    spark.dataSource.register(IndexSource)
    documents = spark.read.format("es_simhash").options(**options).load().persist()
    found = SparkDeduplicator(replace(index.documents, fields=("text",))).of_texts(documents)
    members = found.members
    changed = members.first()
    assert changed
    index.add(
        [{"_id": changed["id"], "title": "Another text", "body": "which came while Spark was busy"}], refresh=True
    )
    with pytest.raises(PySparkException, match=f"1 documents are without their groups.*{changed['id']}"):
        members.write.format("es_simhash").options(**options).mode("append").save()
    written = groups_in(index)
    assert not written[changed["id"]]
    assert sum(map(bool, written.values())) == members.count() - 1


def test_groups_are_written_only_if_they_obey_what_people_have_decided(
    spark: SparkSession, index: Index, options: dict[str, str]
) -> None:
    spark.dataSource.register(IndexSource)
    documents = spark.read.format("es_simhash").options(**options).load().persist()
    of = SparkDeduplicator(replace(index.documents, fields=("text",)))
    plain = of.of_texts(documents).members
    first, second, *_ = [row["id"] for row in plain.sort("group", "id").collect()]
    index.decide([Decision.between(first, second, same=False), Decision.about(second, "alone", who="Mia")])
    with pytest.raises(PySparkException, match="these groups do not obey them"):
        plain.write.format("es_simhash").options(**options).mode("append").save()
    assert not any(groups_in(index).values())
    how = GroupOptions(decisions=index.decisions())
    found = replace(of, options=how).of_texts(documents)
    found.members.write.format("es_simhash").options(**options).mode("append").save()
    with index.group() as grouped:
        expected = {grouped.corpus.keys([position])[0][1]: own for position, own in grouped.fields()}
        assert found.counts.decisions == grouped.counts.decisions == 2
    for own in expected.values():
        own.pop("distance", None)
    assert {id_: own for id_, own in groups_in(index).items() if own} == expected
    assert second not in expected


@pytest.mark.parametrize("singles", [False, True])
def test_documents_that_have_left_their_group_are_written_as_group_would_write_them(
    spark: SparkSession, index: Index, options: dict[str, str], singles: bool
) -> None:
    spark.dataSource.register(IndexSource)
    with index.group(copy=["number"]) as grouped:
        index.write_groups(grouped, singles=singles)
        pairs = sorted(([key.rsplit("/", 1)[-1] for key in ids] for ids in grouped.ids()), key=len)
    (changed, left), (alone, other, *_) = pairs[0], pairs[-1]
    before = groups_in(index)
    assert all(before[id_]["group_size"] > 1 for id_ in (changed, left, alone, other))
    index.add([{"_id": changed, "title": "Another text", "body": "that is like no other"}], refresh=True)
    index.decide([Decision.about(alone, "alone")])

    documents = spark.read.format("es_simhash").options(**options).load().persist()
    how = GroupOptions(decisions=index.decisions())
    found = SparkDeduplicator(replace(index.documents, fields=("text",)), how).of_texts(documents)
    assert {row["id"] for row in found.members.filter("group is null").collect()} == {left, alone}
    assert found.groups.count() == found.members.filter("group is not null").count()
    found.members.write.format("es_simhash").options(**options).mode("append").save()
    written = groups_in(index)
    assert all(written[id_].get("group_size") == (1 if singles else None) for id_ in (left, alone))
    assert not written[changed]  # it came without a group
    with index.group() as grouped:
        expected = {grouped.corpus.keys([position])[0][1]: own for position, own in grouped.fields(singles=singles)}
    expected.pop(changed, None)
    # `group` keeps the names that it gave before.
    names = {own["group"]: expected[id_]["group"] for id_, own in written.items() if own}
    assert len(set(names.values())) == len(names)
    for own in expected.values():
        own.pop("distance", None)
    assert {id_: {**own, "group": names[own["group"]]} for id_, own in written.items() if own} == expected


def test_groups_of_documents_that_were_not_read_stay(
    spark: SparkSession, index: Index, options: dict[str, str]
) -> None:
    spark.dataSource.register(IndexSource)
    with index.group() as grouped:
        index.write_groups(grouped)
    before = groups_in(index)
    documents = spark.read.format("es_simhash").options(**options).load().filter("id < '040'").persist()
    found = SparkDeduplicator(replace(index.documents, fields=("text",))).of_texts(documents)
    found.members.write.format("es_simhash").options(**options).mode("append").save()
    after = groups_in(index)
    assert {id_: own for id_, own in after.items() if id_ >= "040"} == {
        id_: own for id_, own in before.items() if id_ >= "040"
    }


def test_columns_are_those_of_the_schema(spark: SparkSession, index: Index, options: dict[str, str]) -> None:
    spark.dataSource.register(IndexSource)
    reader = spark.read.format("es_simhash").options(**options)
    rows = {row["id"]: row for row in reader.schema("id string, body array<string>, number long").load().collect()}
    assert len(rows) == len(groups_in(index))
    assert all(row["number"] == len(row["body"][0]) for row in rows.values())
    with pytest.raises(PySparkException, match="The values of 'number' are not of type string"):
        reader.schema("number string").load().collect()


def test_what_cannot_be_read_or_written_is_refused(spark: SparkSession, index: Index, options: dict[str, str]) -> None:
    spark.dataSource.register(IndexSource)
    with pytest.raises(PySparkException, match="Unknown option 'indx'"):
        spark.read.format("es_simhash").options(**options, indx="a").load()
    with pytest.raises(PySparkException, match="option 'url' is missing"):
        spark.read.format("es_simhash").option("index", "a").load()
    frame = spark.createDataFrame([("a",)], "id string")
    with pytest.raises(PySparkException, match="no column 'index'"):
        frame.write.format("es_simhash").options(**options).mode("append").save()
    with pytest.raises(PySparkException, match="mode\\('append'\\)"):
        frame.write.format("es_simhash").options(**options).mode("overwrite").save()
