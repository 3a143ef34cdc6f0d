"""Whatever is asked for, Spark finds the groups that one machine finds in a file and in an index, to the last pair."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from es_simhash import (
    Canonical,
    Decision,
    Documents,
    GroupOptions,
    Index,
    InputError,
    Scheme,
    SchemeError,
    Verification,
    dedup,
)
from es_simhash._core.json_codec import Json
from tests.support import scoped
from tests.support.chains import chain
from tests.support.corpus import corpus
from tests.support.fuzzing import examples
from tests.support.standing_documents import BY_RANK, ranked
from tests.support.volumes import TEXTS as VOLUMES
from tests.system.integrations.spark import test_spark as local
from tests.system.integrations.spark.test_spark_scopes import COLUMNS, typed

from pyspark.errors import PySparkException  # isort: skip - not before it is known to be there
from pyspark.sql import DataFrame, SparkSession  # isort: skip
from pyspark.sql import functions as sf  # isort: skip

from es_simhash.integrations.spark import SparkDeduplicator, add_fields, grouping

spark = local.spark

Document = tuple[str, str, Json]
# Of each member of a group: its id, and its similarity, distance and standard error to the canonical one.
Groups = dict[str, list[tuple[str, float | None, int | None, float | None]]]

SCHEMES = [Scheme(), Scheme(verification=Verification.at("versions")), local.THRESHOLD]
CANONICALS = [
    Canonical("first"),
    Canonical.longest(["body"]),
    Canonical.oldest("at"),
    Canonical.order("author", ["q", "s1"]),
    Canonical.by(lambda document: len(document["tenant"]), ["tenant"]),
]
_ALIKE = 20
MEASURES = ("similarity", "distance", "standard_error")
TEXTS: dict[str, Any] = {
    "canonical": st.sampled_from(CANONICALS),
    "scope": st.sampled_from([None, None, *scoped.SCOPES]),
    # Each number draws other decisions.
    "decisions": st.sampled_from([None, 1, 2, 3]),
}
# All others are in one of these at most, as some exclude each other.
WAYS = st.sampled_from(
    [
        {},
        {},
        {"estimate": True},
        {"similarity": 0.9},
        {"numbers": 0.7},
        {"distance": 5},
        {"by": "simhash"},
    ]
)
OF_TEXTS = given(st.integers(0, 10**6), st.sampled_from(SCHEMES), st.fixed_dictionaries(TEXTS), WAYS)
# A failing example says enough; smaller ones would take many minutes.
FEW = settings(
    examples(4),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def documents(seed: int) -> list[Document]:
    found = [each for part in range(3) for each in scoped.documents(100 * part + seed)]
    return [(f"{place:03}", text, typed(own)) for place, (_, text, own) in enumerate(found)]


def decisions(number: int | None, known: Sequence[Document]) -> list[Decision]:
    """Decisions of two people, most of them on documents whose texts are alike, some on one that is not there."""
    if number is None:
        return []
    chosen, ids = random.Random(number), [id_ for id_, _, _ in known]
    alike: dict[str, list[str]] = {}
    for id_, text, _ in known:
        alike.setdefault(text[:_ALIKE], []).append(id_)
    families = [each for each in alike.values() if len(each) > 1] or [ids]
    found = []
    for _ in range(24):
        some = chosen.choice([*families, *families, [*ids, "not there"]])
        one, other = chosen.sample(some, 2)
        who = chosen.choice(["Mia", "Mia", "Ben"])
        of_one = [Decision.about(one, "canonical", who), Decision.about(one, "alone", who)]
        same, different = (Decision.between(one, other, same=same, who=who) for same in (True, False))
        found.append(chosen.choice([same, *of_one, different, different, different]))
    return [*found, chosen.choice(found).withdrawn()]


def frame_of(spark: SparkSession, found: list[Document]) -> DataFrame:
    names = ("tenant", "team", "source", "author", "at")
    rows = [(id_, text, *(own[name] for name in names)) for id_, text, own in found]
    random.Random(1).shuffle(rows)
    return spark.createDataFrame(rows, COLUMNS).repartition(3)


def members_of(rows: Iterable[Json]) -> Groups:
    """The rows of each group, by its first document."""
    groups: dict[Any, list[Json]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    named: Groups = {}
    for members in groups.values():
        assert all(each["is_canonical"] == (each["canonical"] == each["id"]) for each in members)
        rows_ = ([each[name] for name in ("id", "canonical", *MEASURES)] for each in members)
        named[min(each["id"] for each in members)] = sorted(map(tuple, rows_))
    return named


def members_on(found: Any) -> Groups:
    return members_of(row.asDict() for row in found.members.collect())


def check_texts(spark: SparkSession, seed: int, scheme: Scheme, options: dict[str, Any], way: dict[str, Any]) -> None:
    """Compare the groups of texts, all that is shown of them, and the counts."""
    known = documents(seed)
    canonical, decided = options["canonical"], decisions(options["decisions"], known)
    options = {**options, "decisions": decided}
    found = SparkDeduplicator(Documents(scheme, "body"), GroupOptions(**options, **way)).of_texts(
        frame_of(spark, known)
    )
    scope = options["scope"]
    given = known if scope else [(id_, text) for id_, text, _ in known]
    by_position = [canonical.rank({"body": text, **values}) for _, text, values in known]
    with dedup(
        ranked(given, by_position.__getitem__),
        scheme=scheme,
        threads=1,
        scope=scope,
        canonical=BY_RANK,
        decisions=decided,
        **way,
    ) as here:
        assert members_on(found) == members_of(pa.table(here).to_pylist())
        _, pairs, counts = local.read_here(here)
    assert local.pairs_of(found) == pairs
    assert found.counts == counts


@FEW
@OF_TEXTS
def test_groups_of_texts_are_those_of_files(
    spark: SparkSession, seed: int, scheme: Scheme, options: dict[str, Any], way: dict[str, Any]
) -> None:
    check_texts(spark, seed, scheme, options, way)


@FEW
@given(st.integers(0, 10**6), st.sampled_from(SCHEMES), st.fixed_dictionaries(TEXTS), st.booleans())
def test_groups_of_an_index_are_those_of_group(
    spark: SparkSession, seed: int, scheme: Scheme, options: dict[str, Any], estimate: bool
) -> None:
    known = documents(seed)
    with TemporaryDirectory() as directory, Index("articles", directory, scheme=scheme, fields=["body"]) as index:
        index.init()
        added = index.add([{"_id": id_, "body": text, **values} for id_, text, values in known], refresh=True)
        rejected = {each.id for each in added.rejected}  # those whose date is none
        known = [each for each in known if each[0] not in rejected]
        index.decide(decisions(options.pop("decisions"), known))
        decided = index.decisions()
        with index.group(estimate=estimate, **options) as grouped:
            here = members_of(pa.table(grouped).to_pylist())
        frame = frame_of(spark, known).withColumn("index", sf.lit(index.name))
        of = SparkDeduplicator(index.documents, GroupOptions(**options, decisions=decided))
        if estimate:
            fields = add_fields(frame, index.documents)
            found = members_on(of.of_fields(fields))
        else:
            found = members_on(of.of_texts(frame))
    # Distances are shown of documents of an index, whether they count or not.
    assert found == {name: [(*some, None, error) for *some, _, error in members] for name, members in here.items()}


def test_volumes_of_a_series_are_apart_if_their_numbers_must_agree(spark: SparkSession) -> None:
    frame = spark.createDataFrame(list(VOLUMES.items()), "id string, body string")
    documents = Documents(Scheme(), "body")
    for numbers, members, refused in ((None, 3, 0), (1.0, 2, 2)):
        found = SparkDeduplicator(documents, GroupOptions(numbers=numbers)).of_texts(frame)
        with dedup(VOLUMES.items(), numbers=numbers) as here:
            assert found.counts == here.counts
        assert (found.groups.count(), found.counts.refused) == (members, refused)
    with pytest.raises(InputError, match="no numbers can be compared"):
        SparkDeduplicator(documents, GroupOptions(numbers=1.0)).of_fields(add_fields(frame, documents))
    with pytest.raises(SchemeError, match="Leave out the numbers"):
        SparkDeduplicator(documents, GroupOptions(numbers=1.0, estimate=True))


def test_with_times_in_a_column_the_newest_document_stands_for_its_group(spark: SparkSession) -> None:
    text = corpus(1)[0]["body"]
    frame = spark.createDataFrame(
        [(id_, text, {"at": id_}) for id_ in "bac"], "id string, body string, of map<string,string>"
    )
    frame = frame.selectExpr("id", "body", "struct(timestamp_seconds(ascii(id)) as at) as of")
    found = SparkDeduplicator(Documents(Scheme(), "body"), GroupOptions(canonical=Canonical.newest("of.at"))).of_texts(
        frame
    )
    assert {row["group"] for row in found.groups.collect()} == {"c"}


def test_a_rank_that_is_not_a_number_is_refused(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", corpus(1)[0]["body"])], "id string, body string")
    by_text = Canonical.by(lambda document: document["body"])
    with pytest.raises(PySparkException, match="InputError: Documents cannot be ordered by '<lambda>'"):
        SparkDeduplicator(Documents(Scheme(), "body"), GroupOptions(canonical=by_text)).of_texts(frame)


def test_very_many_connected_documents_are_decided_by_the_pairs_that_were_found(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme, of = Scheme(verification=Verification.of_fingerprints(0.6)), dict(zip("abcde", chain(0, 5), strict=True))
    texts = [*of.items(), ("a copy", of["a"]), ("d copy", of["d"]), ("z", "stands by itself, and is short")]
    frame = spark.createDataFrame(texts, "id string, body string").repartition(3)
    orders = {"first": Canonical("first"), "last": Canonical.by(lambda document: -ord(document["id"][0]), ["id"])}
    found: dict[Any, Any] = {}
    for most in (100, 2):
        monkeypatch.setattr(grouping, "MOST_CONNECTED", most)
        for name, order in orders.items():
            duplicates = SparkDeduplicator(Documents(scheme, "body"), GroupOptions(canonical=order)).of_texts(frame)
            found[most, name] = members_on(duplicates)
            assert (duplicates.counts.groups, duplicates.counts.duplicates) == (1, 4)
    assert {row[0]: row[1] for row in found[2, "first"]["a"]} == {
        **{"a": "a", "a copy": "a", "b": "a", "c": "c", "d": "c", "d copy": "c", "e": "e"},
    }
    assert {row[0]: row[1] for row in found[2, "last"]["a"]} == {
        **{"e": "e", "d": "e", "d copy": "e", "c": "c", "b": "c", "a": "a", "a copy": "a"},
    }
    assert all(found[2, name] == found[100, name] for name in orders)
