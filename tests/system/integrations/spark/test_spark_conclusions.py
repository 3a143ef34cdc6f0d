"""Spark concludes nothing from documents that all lack a text, or that share an id."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from es_simhash.errors import DocumentError, InputError
from tests.support.corpus import corpus
from tests.system.integrations.spark import test_spark as local

from pyspark.sql import SparkSession  # isort: skip - not before it is known to be there

from es_simhash import Documents, Scheme
from es_simhash.integrations.spark import SparkDeduplicator, add_fields

spark = local.spark
BODY = str(corpus(1)[0]["body"])
OWN = Documents(Scheme(), "body")


@pytest.mark.parametrize("count", [1, 2, 30, 1000])
@pytest.mark.parametrize("body", [None, "", "  \n"])
def test_documents_without_any_text_are_an_error_that_names_the_columns(
    spark: SparkSession, count: int, body: str | None
) -> None:
    rows = [(str(i), body, BODY) for i in range(count)]
    frame = spark.createDataFrame(rows, "id string, body string, bodi string")
    number = f"{count:,} document"
    with pytest.raises(
        DocumentError, match=rf"{number}.* with no text in 'body'. They have: id, bodi. Did you mean 'bodi'"
    ):
        SparkDeduplicator(OWN).of_texts(frame)
    if body is None:
        with pytest.raises(
            DocumentError, match=r"all rows have no text in 'body'\. They have: id, bodi\. Did you mean 'bodi'"
        ):
            add_fields(frame, OWN)
    else:
        statuses = {row["dedup"]["status"] for row in add_fields(frame, OWN).collect()}
        assert statuses == {"empty"}


def test_a_column_that_is_not_there_is_named_with_those_that_are(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("1", BODY)], "id string, bodi string")
    for run in (SparkDeduplicator(OWN).of_texts, lambda given: add_fields(given, OWN)):
        with pytest.raises(InputError, match=r"lacks a column.*It has: id, bodi"):
            run(frame)


def test_no_rows_at_all_are_not_error(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], "id string, body string")
    found = SparkDeduplicator(OWN).of_texts(frame)
    assert (found.counts.documents, found.groups.count()) == (0, 0)
    assert add_fields(frame, OWN).count() == 0


def test_documents_without_any_fingerprint_are_an_error(spark: SparkSession) -> None:
    named = add_fields(spark.createDataFrame([("1", BODY), ("2", BODY)], "id string, body string"), OWN)
    assert SparkDeduplicator(OWN).of_fields(named).counts.groups == 1
    other = Documents(Scheme.preset("strict"), "body")
    with pytest.raises(DocumentError, match="2 documents with no fingerprint of the scheme in 'dedup'"):
        SparkDeduplicator(other).of_fields(named)


@pytest.mark.parametrize("texts", [(BODY, BODY), (BODY, "Another text"), (BODY, None), (None, BODY)])
@pytest.mark.parametrize("indices", [None, ("a", "a"), ("a", "b")])
def test_an_id_that_several_documents_have_is_refused(
    spark: SparkSession, tmp_path: Path, texts: tuple[Any, Any], indices: tuple[str, str] | None
) -> None:
    rows: list[Any] = [(id_, text) for id_, text in zip(("1", "1"), texts, strict=True)]
    rows += [("2", BODY)]
    columns = "id string, body string"
    if indices:
        rows = [(*row, index) for row, index in zip(rows, (*indices, "a"), strict=True)]
        columns += ", index string"
    frame = spark.createDataFrame(rows, columns).repartition(3)
    documents = SparkDeduplicator(OWN)
    runs: list[Callable[[Any], Any]] = [
        documents.of_texts,
        lambda given: documents.of_fields(add_fields(given, OWN)),
    ]
    for run in runs:
        if indices == ("a", "b"):
            assert run(frame).counts.documents == 3
            continue
        with pytest.raises(DocumentError, match=r"2 documents have the same id '1'.*so groups could not say which"):
            run(frame)
