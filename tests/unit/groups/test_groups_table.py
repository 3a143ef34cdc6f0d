"""Groups of a deduplication as a table, and as notebooks show them."""

from __future__ import annotations

import duckdb
import polars
import pytest

from es_simhash.documents.arrow.frame import Frame
from es_simhash.errors import InputError
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_texts import TextCorpus, group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope
from tests.support.corpus import corpus, edited
from tests.support.html_reader import Reader

pa = pytest.importorskip("pyarrow")

STORIES = corpus(20)
DOCUMENTS = [*STORIES, *(edited(story, 3) for story in STORIES[:12]), *STORIES[:2]]
NEWS = polars.DataFrame([{"id": f"d{place}", **each} for place, each in enumerate(DOCUMENTS)])
FOUND = [(f"d{place}", f"{each['title']}\n{each['body']}") for place, each in enumerate(DOCUMENTS)]


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
