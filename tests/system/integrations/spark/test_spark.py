"""On Spark, in local mode, everything is found that one machine finds."""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import run
from es_simhash.errors import FormatError, InputError, MissingExtraError, TextError
from es_simhash.groups.groups import Counts, Groups
from es_simhash.groups.of_texts import TextCorpus, group_texts, learn_from
from es_simhash.groups.options import GroupOptions
from es_simhash.index import Index
from es_simhash.live.sweep.reading import Reading
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, Passages, SimHash
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import CLAUSES
from tests import ROOT
from tests.support.corpus import corpus, edited
from tests.support.documentation import read
from tests.support.page_running import run_page
from tests.support.random_corpus import corpus as random_corpus
from tools.nodes import Node

try:
    import es_simhash.integrations.spark  # noqa: F401 - or nothing of what follows can be imported
except MissingExtraError as error:
    pytest.skip(str(error), allow_module_level=True)
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("Spark needs Java, and there is none.", allow_module_level=True)

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from es_simhash.integrations.spark import candidates, frames
from es_simhash.integrations.spark import candidates as components
from es_simhash.integrations.spark.frames import add_fields, materialized, refused
from es_simhash.integrations.spark.job import SparkDeduplicator, SparkDuplicates

SCHEME = Scheme()
# It asks for texts by estimates, and takes no notice of what is around them.
THRESHOLD = replace(SCHEME, verification=Verification(0.55, measure="jaccard", features="scheme"))
FIELDS = ["title", "body"]

# What Spark compiles and draws for large data takes most of the time with little.
SETTINGS: dict[str, bool | float | int | str | None] = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Few, so that the pairs of one document are in several batches.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master("local[2]").config(map=SETTINGS)
        session = builder.config("spark.local.dir", str(tmp_path_factory.mktemp("spark"))).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def documents() -> dict[str, Json]:
    """English, Chinese and Japanese texts with edited copies, identical ones, empty ones, and a key that 60 share."""
    originals = corpus(45)
    made = {f"{i:02}": each for i, each in enumerate(originals)}
    made |= {f"copy {i}-{k}": edited(originals[i], 4 * k + 1, seed=i + k) for i in range(15) for k in range(4)}
    made |= {f"same {k}": originals[4] for k in range(9)}
    made |= {f"empty {k}": {"title": " ", "body": ""} for k in range(3)}
    return made | {f"case {k:02}": {**originals[6], "title": cased(originals[6]["title"], k)} for k in range(60)}


def cased(text: str, number: int) -> str:
    """Swap the case of other letters for each number, which fingerprints ignore."""
    letters = [place for place, letter in enumerate(text) if letter.isalpha()]
    swapped = {place for bit, place in enumerate(letters) if number >> bit & 1}
    return "".join(letter.swapcase() if place in swapped else letter for place, letter in enumerate(text))


def text_of(document: Json) -> str:
    return "\n".join(document[field] for field in FIELDS)


@pytest.fixture(scope="module")
def texts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = tmp_path_factory.mktemp("texts") / "texts.parquet"
    rows = [{"id": id_, **each} for id_, each in documents().items()]
    random.Random(1).shuffle(rows)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return spark.read.parquet(str(path))


def groups_of(found: SparkDuplicates) -> list[list[Any]]:
    """The ids in each group, the one that names it first."""
    groups: dict[Any, list[Any]] = {}
    for row in found.groups.orderBy("id").collect():
        groups.setdefault(row["group"], []).append(row["id"])
        assert row["is_canonical"] == (row["canonical"] == row["id"])
    assert all(name == ids[0] for name, ids in groups.items())
    return sorted(groups.values())


def pairs_of(found: SparkDuplicates) -> dict[tuple[str, str], dict[str, Any]]:
    rows = [row.asDict() for row in found.pairs.collect()]
    pairs = {(row.pop("first"), row.pop("second")): row for row in rows}
    assert len(pairs) == len(rows)
    return pairs


def found_here(
    scheme: Scheme, documents: dict[str, str], options: dict[str, Any]
) -> tuple[list[list[str]], dict[tuple[str, str], dict[str, Any]], Counts]:
    """What one machine finds among the same texts, in the order of their ids."""
    with group_texts(sorted(documents.items()), scheme, GroupOptions(threads=1, **options)) as found:
        return read_here(found)


def read_here(
    found: Groups[TextCorpus],
) -> tuple[list[list[str]], dict[tuple[str, str], dict[str, Any]], Counts]:
    ids = list(found.corpus.ids())
    rows = [dict(zip(batch.dtype.names or (), row, strict=True)) for batch in found.pairs() for row in batch.tolist()]
    pairs = {(ids[row.pop("first")], ids[row.pop("second")]): row | {"clause": CLAUSES[row["clause"]]} for row in rows}
    # Spark does not look for the valley of the similarities.
    return sorted(map(sorted, found.ids())), pairs, replace(found.counts, valley=None, missed=None)


@pytest.mark.parametrize(
    ("scheme", "options", "partitions", "shuffled"),
    [
        (THRESHOLD, {}, 7, 2),
        (SCHEME, {"distance": 5, "similarity": 0.8, "estimate": True}, 1, 3),
        pytest.param(SCHEME, {"estimate": True}, 3, 4, marks=pytest.mark.nightly),
        pytest.param(replace(SCHEME, simhash=SimHash(128, 8, 5)), {"by": "simhash"}, 2, 4, marks=pytest.mark.nightly),
        pytest.param(SCHEME, {}, 3, 2, marks=pytest.mark.nightly),
    ],
)
def test_groups_pairs_and_counts_of_texts_are_those_of_one_machine(
    spark: SparkSession, texts: DataFrame, scheme: Scheme, options: dict[str, Any], partitions: int, shuffled: int
) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", str(shuffled))
    found = SparkDeduplicator(Documents(scheme, FIELDS), GroupOptions(**options)).of_texts(
        texts.repartition(partitions)
    )
    groups, pairs, counts = found_here(scheme, {id_: text_of(each) for id_, each in documents().items()}, options)
    assert groups_of(found) == groups
    assert pairs_of(found) == pairs
    assert found.counts == counts
    assert min(counts.left_out, counts.identical, counts.near, counts.empty) > 0


@pytest.fixture(scope="module")
def many() -> dict[str, str]:
    """More documents than rarity is learnt from: forms, edited and equal texts, short and empty ones."""
    found = [text for seed in range(110) for text in random_corpus(seed)]
    assert len(set(found)) > 1_200
    return {f"{place:04}": text for place, text in enumerate(found)}


def frame_of(spark: SparkSession, texts: dict[str, str]) -> DataFrame:
    return spark.createDataFrame(list(texts.items()), "id string, body string").repartition(3)


def test_random_documents_are_judged_as_on_one_machine(spark: SparkSession, many: dict[str, str]) -> None:
    found = SparkDeduplicator(Documents(SCHEME, "body")).of_texts(frame_of(spark, many))
    groups, pairs, counts = found_here(SCHEME, many, {})
    assert pairs_of(found) == pairs
    assert groups_of(found) == groups
    assert found.counts == counts
    assert {pair["clause"] for pair in pairs.values()} == {"equal", "similar"}
    assert not found.estimate


def test_near_documents_of_several_blocks_are_found(spark: SparkSession) -> None:
    chosen = random.Random(3)
    words = [f"word{number}" for number in range(3_000)]
    originals = [chosen.choices(words, k=14) for _ in range(2 << frames._BLOCK_BITS)]
    places = range(0, len(originals), 150)
    copies = [[*originals[place][:-1], chosen.choice(words)] for place in places]
    found = [" ".join(each) for each in originals + copies]
    known = {f"{place:06}": text for place, text in enumerate(found)}
    groups, pairs, counts = found_here(SCHEME, known, {"similarity": 0.6, "estimate": True})
    deduplicator = SparkDeduplicator(Documents(SCHEME, "body"), GroupOptions(similarity=0.6, estimate=True))
    on_spark = deduplicator.of_texts(frame_of(spark, known))
    assert pairs_of(on_spark) == pairs
    assert groups_of(on_spark) == groups
    assert on_spark.counts == counts
    crossed = {tuple(int(id_) >> frames._BLOCK_BITS for id_ in pair) for pair in pairs}
    assert {(0, 2), (1, 2)} <= crossed


def test_documents_near_by_their_bits_show_what_their_texts_say(
    spark: SparkSession, many: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "_PIECE_BITS", 5)  # as if there were very many keys
    some = dict(list(many.items())[:300])
    scheme = replace(SCHEME, verification=Verification(0.9, numbers=0.9, features="scheme"))
    found = SparkDeduplicator(Documents(scheme, "body"), GroupOptions(distance=5, similarity=0.9)).of_texts(
        frame_of(spark, some)
    )
    _, pairs, counts = found_here(scheme, some, {"distance": 5, "similarity": 0.9})
    assert pairs_of(found) == pairs
    assert found.counts == counts
    by_bits = [pair for pair in pairs.values() if pair["clause"] == "bits"]
    assert any(pair["similarity"] == 0 for pair in by_bits)
    assert any(0 < pair["similarity"] < 0.9 and pair["is_exact"] for pair in by_bits)


def test_what_was_learnt_before_weighs_features(spark: SparkSession, many: dict[str, str]) -> None:
    some = dict(list(many.items())[:60])
    rarity = SparkDeduplicator(Documents(SCHEME, "body")).learn(frame_of(spark, many))
    assert rarity == learn_from(many.items(), SCHEME)
    found = SparkDeduplicator(Documents(SCHEME, "body"), GroupOptions(rarity=rarity.to_json())).of_texts(
        frame_of(spark, some)
    )
    _, pairs, _ = found_here(SCHEME, some, {"rarity": rarity})
    _, others, _ = found_here(SCHEME, some, {})
    assert pairs_of(found) == pairs != others
    assert found.rarity == rarity
    with pytest.raises(FormatError):
        SparkDeduplicator(Documents(SCHEME, "body"), GroupOptions(rarity={}))


def test_texts_that_are_unlike_or_empty_make_no_group(spark: SparkSession) -> None:
    rows = [("a", ""), ("b", corpus(2)[0]["body"]), ("c", None), ("d", corpus(2)[1]["body"])]
    for verification in (SCHEME.verification, None):
        documents = Documents(replace(SCHEME, verification=verification), "body")
        found = SparkDeduplicator(documents).of_texts(spark.createDataFrame(rows, "id string, body string"))
        assert groups_of(found) == []
        assert pairs_of(found) == {}
        assert (found.counts.documents, found.counts.empty, found.counts.groups) == (4, 2, 0)
        assert found.estimate == (verification is None)


def filled(path: Path, layout: Layout) -> Index:
    """Two indices that share the documents, with some ids in both."""
    halves = {"news": list(documents().items())[::2], "old": list(documents().items())[::3]}
    for name, half in halves.items():
        with Index(name, str(path), scheme=replace(SCHEME, layout=layout), fields=FIELDS) as index:
            index.init()
            assert not index.add([{"_id": id_, "_source": each} for id_, each in half], refresh=True).rejected
    return Index("news,old", str(path))


def exported(index: Index, path: Path) -> None:
    """The ids of all documents, and their fields, as Parquet."""
    found = documents()
    own = index.documents
    rows = []
    for name in ("news", "old"):
        reading = Reading(name, {"match_all": {}}, [own.prefix], None, 600.0)
        while hits := run(reading.next(), index.engine):
            rows += [{"id": hit["_id"], "index": hit["_index"], **hit["_source"]} for hit in hits]
    assert len(rows) > len(found) / 2
    pq.write_table(pa.Table.from_pylist(rows), path)


@pytest.mark.parametrize(
    ("layout", "options"),
    [
        pytest.param(Layout(), {}, marks=pytest.mark.nightly),
        (Layout("keyword", signature_bits=4), {"distance": 4, "similarity": 0.7}),
    ],
)
def test_groups_of_an_exported_index_are_those_of_the_index(
    spark: SparkSession, tmp_path: Path, layout: Layout, options: dict[str, Any]
) -> None:
    with filled(tmp_path / "engine", layout) as index:
        exported(index, tmp_path / "exported.parquet")
        with index.group(estimate=True, **options) as grouped:
            groups = sorted([(member.id, member.index) for member in group.members] for group in grouped)
            counts, others = grouped.counts, grouped.counts.empty
        frame = spark.read.parquet(str(tmp_path / "exported.parquet")).repartition(3)
        found = SparkDeduplicator(index.documents, GroupOptions(**options)).of_fields(frame)
    places = {"group": "group_index", "id": "index", "canonical": "canonical_index"}
    structs = (sf.struct(*names) for names in places.items())
    by_first: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for first, own, canonical, is_canonical in found.groups.select(*structs, "is_canonical").collect():
        by_first.setdefault(tuple(first), []).append(tuple(own))
        assert is_canonical == (canonical == own)
    assert sorted(map(sorted, by_first.values())) == groups
    assert all(min(members) == first for first, members in by_first.items())
    assert {"first_index", "second_index"} < set(found.pairs.columns)
    assert (found.counts.groups, found.counts.duplicates) == (counts.groups, counts.duplicates)
    assert found.counts.identical == counts.identical
    assert found.counts.empty == others > 0


@pytest.mark.parametrize(
    "layout",
    [Layout(), Layout("keyword", signature_bits=8), Layout("fields"), Layout(simhash="blocks")],
    ids=lambda layout: layout.keys,
)
def test_the_fields_added_are_those_of_documents(spark: SparkSession, layout: Layout) -> None:
    kind = "title string, tags array<string>, more struct<body: string, number: int>, `kept as it is` int"
    rows: list[Any] = [
        ("Some text", ["one", None, "two"], ("近似重复检测：两篇文章只改动了几个字。", 1), 1),
        (None, [], ("A body of a text, which is all that there is", 2), 2),
        ("short", None, None, 3),
        (None, None, None, None),
    ]
    scheme = replace(SCHEME, layout=layout, passages=Passages())
    documents = Documents(scheme, ["title", "tags", "more.body"])
    added = add_fields(spark.createDataFrame(rows, kind), documents)
    assert added.columns == ["title", "tags", "more", "kept as it is", "dedup"]
    for row in added.collect():
        made = row.asDict(recursive=True)
        fields = {name: value for name, value in made.pop("dedup").items() if value is not None}
        assert documents.add_fields(made) == {**made, "dedup": fields}


def least_connected(edges: list[tuple[int, int]]) -> dict[int, int]:
    """For each node the least that it is connected with, by the plainest way there is."""
    roots = {node: node for edge in edges for node in edge}
    while any(roots[a] != roots[b] for a, b in edges):
        for a, b in edges:
            roots[a] = roots[b] = min(roots[a], roots[b])
    return roots


@pytest.mark.parametrize("at_once", [1_000, 0], ids=["in one process", "by rounds"])
def test_components_are_found_whatever_the_shape_of_the_graph(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(components, "_AT_ONCE", at_once)
    rng = random.Random(2)
    chain = [(i, i + 1) for i in range(60)]
    star = [(100, 100 + i) for i in range(1, 80)]
    sparse = [(200 + rng.randrange(200), 200 + rng.randrange(200)) for _ in range(150)]
    # With other numbers, ends of an edge lie far from each other, and many partitions have a part of each shape.
    numbers = rng.sample(range(1_000), 400)
    edges = [(numbers[a], numbers[b]) for a, b in chain + star + sparse if a != b]
    edges = [(min(edge), max(edge)) for edge in edges]
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    try:
        frame = spark.createDataFrame(edges, "first long, second long")
        found = components.components(frame, len(edges)).collect()
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", "true")
    assert {row["node"]: row["root"] for row in found} == least_connected(edges)
    assert len(found) == len(least_connected(edges))


def test_with_a_directory_for_checkpoints_they_lie_there(spark: SparkSession, tmp_path: Path) -> None:
    context: Any = spark.sparkContext
    context.setCheckpointDir(str(tmp_path))
    try:
        assert materialized(spark.range(3)).count() == 3
    finally:
        context.setCheckpointDir(None)
    assert any(path.name.startswith("rdd-") for path in tmp_path.rglob("*"))
    assert not materialized(spark.range(3)).isEmpty()


def test_a_dataframe_that_lacks_something_is_refused(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", 1, "text")], "id string, number int, body string")
    of = SparkDeduplicator(Documents(SCHEME, "body"))
    with pytest.raises(InputError, match="no column 'id'"):
        of.of_texts(frame.drop("id"))
    with pytest.raises(InputError, match="body"):
        of.of_texts(frame.drop("body"))
    with pytest.raises(InputError, match="dedup"):
        of.of_fields(frame)
    with pytest.raises(InputError, match="'number' is of the type int"):
        add_fields(frame, Documents(SCHEME, "number"))
    with pytest.raises(InputError, match="has a column 'body' already"):
        add_fields(frame, Documents(SCHEME, "body", "body"))


def test_a_worker_reports_unusable_input(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(None, "text")], "id string, body string")
    of = SparkDeduplicator(Documents(SCHEME, "body"))
    with pytest.raises(PySparkException, match="DocumentError: A document has no id"):
        of.of_texts(frame)
    broken = frame.select(sf.lit("a").alias("id"), sf.unhex(sf.lit("61FF")).cast("string").alias("body"))
    with pytest.raises(PySparkException, match="TextError: A text is not valid UTF-8"):
        of.of_texts(broken)
    with pytest.raises(PySparkException, match="TextError: A text is not valid UTF-8"):
        add_fields(broken, of.documents).collect()


def test_texts_that_change_while_they_are_read_are_noticed(spark: SparkSession) -> None:
    def other_each_time(batches: Iterator[Any]) -> Iterator[Any]:
        body = corpus(1)[0]["body"]
        yield from (
            pa.record_batch({"id": batch["id"], "body": [f"{body} {uuid4()}" for _ in batch["id"]]})
            for batch in batches
        )

    frame = spark.createDataFrame([("a",), ("b",)], "id string").mapInArrow(other_each_time, "id string, body string")
    with pytest.raises(InputError, match="The texts have changed"):
        SparkDeduplicator(Documents(SCHEME, "body")).of_texts(frame)


def test_a_refused_text_is_quoted_by_its_beginning() -> None:
    error = refused(TextError("is bad. Mend it.", 7), "x" * 100)
    assert str(error) == f"The text {'x' * 60!r} is bad. Mend it."
    assert isinstance(error, TextError)


def test_the_page_does_what_it_says(spark: SparkSession, opensearch_node: Node, tmp_path: Path) -> None:
    page = read(ROOT / "docs" / "spark.md")
    assert page.place == "spark"
    names = run_page(page, tmp_path, opensearch_node)
    texts, later = names["texts"].count(), names["later"].count()
    assert len(spark.read.json(names["data"] + "/unique").collect()) == texts - later < texts
    fields = spark.read.json(names["data"] + "/with-fields").select("id", "dedup.*")
    assert fields.filter("status = 'ok'").count() == texts
    assert names["found"].counts.documents == texts
