"""On a standalone cluster, where a worker dies in the middle, the result is what one machine finds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from es_simhash import Canonical, Documents, GroupOptions, Scheme, dedup
from tests.support.random_corpus import corpus
from tests.support.standing_documents import BY_RANK, ranked
from tests.system.integrations.spark import test_spark as local
from tests.system.integrations.spark.test_spark_equals import FEW, OF_TEXTS, check_texts, members_of, members_on

from pyspark.sql import SparkSession  # isort: skip - not before it is known to be there

from es_simhash.integrations.spark import SparkDeduplicator
from tests.support.spark_cluster import Cluster, kill

EXECUTOR = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = local.SETTINGS | {
    "spark.executor.memory": "512m",
    "spark.shuffle.io.maxRetries": "0",  # who is dead does not answer later
}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path, workers=2) as started:
        yield started


@pytest.fixture
def spark(cluster: Cluster, tmp_path: Path) -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master(cluster.url).config(map=SETTINGS)
        builder.config("spark.executor.extraJavaOptions", f"{EXECUTOR} -Djava.io.tmpdir={tmp_path}")
        session = builder.config("spark.local.dir", str(tmp_path / "local")).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        session.sparkContext.setCheckpointDir(str(tmp_path / "checkpoints"))
        yield session
        session.stop()


def kill_at_job(spark: SparkSession, number: int, worker: Popen[bytes], is_over: Event) -> None:
    """Kill a worker as soon as the job with this number runs."""
    tracker = spark.sparkContext.statusTracker()
    while not is_over.wait(0.01):
        if max(tracker.getActiveJobsIds(), default=-1) >= number:
            kill(worker)
            return


@pytest.mark.nightly
@FEW
@OF_TEXTS
def test_whatever_is_asked_for_a_cluster_finds_what_one_machine_finds(
    spark: SparkSession, seed: int, scheme: Scheme, options: dict[str, Any], way: dict[str, Any]
) -> None:
    check_texts(spark, seed, scheme, options, way)


@pytest.mark.parametrize("killed_at", [pytest.param(6, marks=pytest.mark.nightly), 20])
def test_a_worker_that_dies_in_the_middle_changes_nothing(
    cluster: Cluster, spark: SparkSession, tmp_path: Path, killed_at: int
) -> None:
    texts = [text for seed in range(12) for text in corpus(seed)]
    known = [(f"{place:03}", text) for place, text in enumerate(texts)]
    path = tmp_path / "texts.parquet"
    pq.write_table(pa.Table.from_pylist([{"id": id_, "body": text} for id_, text in known]), path)
    frame = spark.read.parquet(str(path)).repartition(4)

    is_over = Event()
    first = max(spark.sparkContext.statusTracker().getJobIdsForGroup(), default=0)
    killer = Thread(target=kill_at_job, args=(spark, first + killed_at, cluster.workers[0], is_over))
    killer.start()
    try:
        canonical = Canonical.longest(["body"])
        of = SparkDeduplicator(Documents(Scheme(), "body"), GroupOptions(canonical=canonical))
        found = of.of_texts(frame)
        members = members_on(found)
    finally:
        is_over.set()
        killer.join()
    assert cluster.workers[0].poll() is not None
    assert cluster.workers[1].poll() is None

    rank = [-len(text) for text in texts]
    with dedup(ranked(known, rank.__getitem__), threads=1, canonical=BY_RANK) as here:
        assert members == members_of(pa.table(here).to_pylist())
        assert found.counts == local.read_here(here)[2]
