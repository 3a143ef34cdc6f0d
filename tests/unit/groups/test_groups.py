"""Groups by a higher similarity, without another run.

The work for texts that very many documents share, counted: fetched documents, and comparisons.

Groups of a deduplication as a table, and as notebooks show them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest

from es_simhash import Index, InputError, Scheme, dedup
from es_simhash.documents.frame import Frame
from es_simhash.engines.embedded.engine import EmbeddedEngine
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_texts import TextCorpus, group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.plans import reply_size
from es_simhash.plans.operations import GetDocuments, MultiSearch, Operation
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprinting import hashed_features
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verification import Verification
from es_simhash.text.features import FeatureBatch
from tests.support.corpus import corpus, edited
from tests.support.html_reader import Reader
from tests.support.meddling import Meddler

STORIES = corpus(30)
EDITED = [edited(story, edits) for story in STORIES for edits in (0, 1, 4, 9, 16, 40)]
CHINESE = [
    f"第{day}天的港口公告：开往群岛的渡轮上午九点出发，傍晚返回。船票在船上出售。{note}"
    for day in (1, 2, 3)
    for note in ("", "因大风停航。", "节日期间加开两班，请提前到达码头并出示证件，儿童免票。")
]
TEXTS = [*(f"{each['title']}\n{each['body']}" for each in (*STORIES, *EDITED)), *CHINESE]
DOCUMENTS = [(f"{place:03}", text) for place, text in enumerate(TEXTS)]


def seen(groups: Groups[Corpus]) -> tuple[Any, ...]:
    """Return all that a result says of its documents."""
    pairs = {tuple(pair) for batch in groups.pairs() for pair in batch[["first", "second"]].tolist()}
    return list(groups), pairs, groups.canonicals.tolist(), groups.counts.duplicates


@pytest.mark.parametrize("way", [{}, {"estimate": True}, {"by": "both"}])
@pytest.mark.parametrize("similarity", [0.5, 0.63, "near", 0.85, 1.0])
def test_groups_by_a_higher_similarity_are_those_of_a_run_with_it(way: Any, similarity: Any) -> None:
    scheme = Scheme()
    with (
        dedup(DOCUMENTS, scheme=scheme, similarity=0.5, **way) as low,
        dedup(DOCUMENTS, scheme=scheme, similarity=similarity, **way) as run,
    ):
        groups, pairs, *others = seen(low.at(similarity))
        groups_of_run, pairs_of_run, *others_of_run = seen(run)
        assert (groups, others) == (groups_of_run, others_of_run)
        # Each similarity has keys of its own, which find nearly all pairs.
        assert len(pairs ^ pairs_of_run) <= 0.01 * len(pairs_of_run)
        assert groups


def test_the_groups_that_were_found_first_stay_as_they_are() -> None:
    with dedup(DOCUMENTS, similarity=0.5) as low:
        before = seen(low)
        higher = low.at(0.85)
        assert higher.counts.duplicates < low.counts.duplicates
        assert seen(higher.at(0.95)) == seen(low.at(0.95))
        assert seen(low) == before


def test_a_lower_similarity_needs_another_run() -> None:
    with dedup(DOCUMENTS, similarity=0.7) as found:
        with pytest.raises(InputError, match=r"pairs from 0\.7 on, and 0\.6 would have more. Group again"):
            found.at(0.6)
        with pytest.raises(InputError, match=r"pairs from 0\.85 on"):
            found.at(0.85).at(0.8)
    with dedup(DOCUMENTS, by="simhash") as found, pytest.raises(InputError, match="distance"):
        found.at(0.9)


def test_groups_of_an_index_have_a_higher_similarity_unless_only_new_documents_were_compared(tmp_path: Path) -> None:
    with Index("news", tmp_path, fields=["body"]) as index:
        index.init(create={})
        index.add(({"_id": id_, "body": text} for id_, text in DOCUMENTS), refresh=True)
        with index.group(similarity=0.5) as low, index.group(similarity=0.8) as run:
            assert seen(low.at(0.8)) == seen(run)
            index.write_groups(low.at(0.8))
            index.write_groups(low)
        with index.group(similarity=0.5, incremental=True) as new:
            assert new.counts.new == 0
            with pytest.raises(InputError, match="Only new documents were compared"):
                new.at(0.8)


TEXT = "One and the same announcement, which is sent to all subscribers every day, and by which nothing new is said."
COPIES, CHECKED = 150, 20


class Counted(Meddler):
    """Counts the candidates that searches give, and the documents that are read again."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        super().__init__(engine)
        self.candidates = self.read = 0
        self.after = self._count

    def _count(self, operation: Operation[Any], result: Any) -> Any:
        if isinstance(operation, MultiSearch):
            self.candidates += sum(len(reply["hits"]["hits"]) for reply in result)
        if isinstance(operation, GetDocuments):
            self.read += len(operation.ids)
        return result


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counted]:
    # Texts that come with the candidates are not counted.
    monkeypatch.setattr(reply_size, "_SECOND_REQUEST", 0)
    monkeypatch.setattr(reply_size, "_LEFT_OUT", 0)
    embedded = EmbeddedEngine(tmp_path)
    index = Index("copies", embedded, scheme=Scheme(verification=Verification.of_fingerprints(0.6)), fields=["body"])
    index.init()
    index.add(({"_id": f"c{number:03}", "body": TEXT} for number in range(COPIES)), refresh=True)
    yield Counted(embedded)
    embedded.close()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts whose features are made."""
    made: list[str] = []

    def noted(settings: Settings, texts: Sequence[str]) -> FeatureBatch:
        made.extend(texts)
        return hashed_features(settings, texts)

    monkeypatch.setenv("ES_SIMHASH_NATIVE", "0")  # what numpy does can be counted
    monkeypatch.setattr(fingerprinting, "hashed_features", noted)
    return made


def test_a_check_of_copies_fetches_no_more_of_them_than_it_takes(engine: Counted, made: list[str]) -> None:
    checked = list(Index("copies", engine).check({"_id": str(number), "body": TEXT} for number in range(CHECKED)))
    assert all(len(each.in_index) == 10 and not each.in_index.complete for each in checked)
    assert all(match.same_text and match.similarity == 1 for each in checked for match in each.in_index)
    assert engine.candidates == 100 * CHECKED
    assert engine.read == 100
    # For the fingerprints, to compare with the index, and to compare each but the first with those before it.
    assert len(made) == CHECKED + 1 + (CHECKED - 1)


def test_a_check_of_other_texts_compares_each_text_once_however_many_copies_there_are(
    engine: Counted, made: list[str]
) -> None:
    texts = [TEXT.replace("subscribers", f"subscribers of {number}") for number in range(CHECKED)]
    checked = list(Index("copies", engine).check({"_id": text[-3:], "body": text} for text in texts))
    assert all(each.in_index.candidates == COPIES and each.in_index.complete for each in checked)
    assert engine.read == COPIES
    assert made.count(TEXT) == 1
    [alone] = Index("copies", engine.engine).find_many(texts[:1], size=COPIES)
    assert [match.id for match in alone] == [f"c{number:03}" for number in range(COPIES)]
    assert alone[:10] == checked[0].in_index.matches
    assert alone[0].similarity == pytest.approx(Scheme().exact_jaccard(texts[0], TEXT))


pa = pytest.importorskip("pyarrow")

TABLE_STORIES = corpus(20)
TABLE_DOCUMENTS = [*TABLE_STORIES, *(edited(story, 3) for story in TABLE_STORIES[:12]), *TABLE_STORIES[:2]]
NEWS = polars.DataFrame([{"id": f"d{place}", **each} for place, each in enumerate(TABLE_DOCUMENTS)])
FOUND = [(f"d{place}", f"{each['title']}\n{each['body']}") for place, each in enumerate(TABLE_DOCUMENTS)]

FRAME = Frame(NEWS, fields=["title", "body"])


def run(documents: object = FRAME, **options: object) -> Groups[TextCorpus]:
    return group_texts(documents, Scheme(), GroupOptions(threads=1, **options))  # type: ignore[arg-type]


def test_a_frame_has_the_groups_of_its_texts() -> None:
    with run() as by_frame, run(FOUND) as by_pairs:
        assert list(by_frame.ids()) == list(by_pairs.ids())
        assert by_frame.counts == by_pairs.counts
        assert by_frame.counts.groups == 12


def test_the_table_has_the_members_of_each_group_the_canonical_one_first() -> None:
    with run() as found:
        rows = found.to_arrow().to_pylist()
        names = list(dict.fromkeys(row["group"] for row in rows))
        assert [[row["id"] for row in rows if row["group"] == name] for name in names] == list(found.ids())
        assert [row["id"] for row in rows if row["is_canonical"]] == [ids[0] for ids in found.ids()]
        near = {
            (f"d{pair['first']}", f"d{pair['second']}"): pair["similarity"] for some in found.pairs() for pair in some
        }
        for row in rows:
            known = near.get((row["canonical"], row["id"]))
            assert known is None or row["similarity"] == pytest.approx(known)
            assert row["similarity"] is None if row["is_canonical"] else row["similarity"] > 0.5


def test_other_packages_take_the_table() -> None:
    with run() as found:
        table = polars.DataFrame(found)
        kept = NEWS.join(table.filter(~polars.col("is_canonical")), on="id", how="anti")
        assert len(kept) == len(NEWS) - found.counts.duplicates
        assert duckdb.from_arrow(found.to_arrow()).aggregate('count(distinct "group")').fetchall() == [(12,)]
        assert found.to_arrow().to_pandas()["id"].nunique() == len(table)


def test_no_groups_are_an_empty_table() -> None:
    with run([("a", "one text")]) as found:
        assert found.to_arrow().num_rows == 0
        assert found.to_arrow().column_names[:3] == ["group", "id", "canonical"]
        assert "1 document, 0 groups, 0 duplicates" in Reader(found._repr_html_()).text


def test_a_frame_has_the_values_of_a_scope() -> None:
    frame = NEWS.with_columns(meta=polars.struct(tenant=polars.int_range(len(NEWS)) % 2))
    scope = Scope(within=("meta.tenant",))
    pairs = [(id, text, {"meta": {"tenant": place % 2}}) for place, (id, text) in enumerate(FOUND)]
    with run(Frame(frame, fields=["title", "body"]), scope=scope) as found, run(pairs, scope=scope) as expected:
        assert list(found.ids()) == list(expected.ids())
        assert 0 < found.counts.groups < 20


def test_a_row_that_cannot_be_read_is_named() -> None:
    with pytest.raises(InputError, match=r"^Text 1 has no id in the column 'id'"):
        run(pa.table({"id": ["a", ""], "body": ["x", "y"]}))


def test_a_notebook_shows_the_first_groups() -> None:
    with run() as found:
        read = Reader(found._repr_html_())
        assert "34 documents, 12 groups, 14 duplicates" in read.text
        assert sum(tag == "tr" for tag, _ in read.elements) == 1 + 10
        assert "… and 2 more" in read.text
        assert "d0d20, d32" in read.text


def test_a_result_that_is_closed_says_so() -> None:
    with run() as found:
        pass
    assert "The result is closed" in found._repr_html_()
    with pytest.raises(InputError, match="closed"):
        found.to_arrow()
    with pytest.raises(InputError, match="closed"):
        polars.DataFrame(found)
