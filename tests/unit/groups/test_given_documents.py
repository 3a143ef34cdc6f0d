"""`dedup` takes documents as people have them, and gives back those that it keeps in the same form."""

from __future__ import annotations

import copy
import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Canonical, Frame, Index, Scheme, Scope, dedup
from es_simhash.errors import DocumentError, InputError
from es_simhash.quality import Labels, evaluate, tune_by_labels
from tests.support.fuzzing import examples

STORM = "The storm has left many houses along the coast without power since Monday night."
FAIR = "The fair in the old town opens on Saturday at noon, and ends on Sunday night."
TEXTS = [STORM, FAIR, STORM.replace("many", "some"), STORM, ""]
KEPT, DUPLICATES = [0, 1, 4], [2, 3]
ROWS: list[dict[str, Any]] = [
    {"id": 10 + number, "url": f"https://a.example/{number}", "text": text, "meta": {"site": "ab"[number % 2]}}
    for number, text in enumerate(TEXTS)
]


def ids(rows: Any) -> list[Any]:
    return [row["id"] for row in rows]


def test_texts_are_given_back_as_they_are() -> None:
    found = dedup(TEXTS)
    assert found.kept == [TEXTS[each] for each in KEPT]
    assert found.duplicates == [TEXTS[each] for each in DUPLICATES]
    assert list(found.ids()) == [["0", "2", "3"]]


def test_rows_are_the_same_objects_and_stay_as_they_were() -> None:
    before = copy.deepcopy(ROWS)
    found = dedup(ROWS)
    assert [id(row) for row in found.kept] == [id(ROWS[each]) for each in KEPT]
    assert [id(row) for row in found.duplicates] == [id(ROWS[each]) for each in DUPLICATES]
    assert before == ROWS


def test_a_group_has_its_canonical_document_and_its_duplicates() -> None:
    [group] = dedup(ROWS).groups
    assert group.canonical.id == "10"
    assert [(each.id, each.position) for each in group.duplicates] == [("12", 2), ("13", 3)]


def test_a_higher_similarity_keeps_more_without_another_run() -> None:
    found = dedup(ROWS)
    assert ids(found.at(0.99).kept) == [10, 11, 12, 14]
    assert ids(found.kept) == [10, 11, 14]


def test_pairs_are_given_back_as_pairs() -> None:
    pairs = [(f"n{number}", text) for number, text in enumerate(TEXTS)]
    assert dedup(pairs).kept == [pairs[each] for each in KEPT]
    assert dedup(dict(pairs).items()).kept == [pairs[each] for each in KEPT]


@pytest.mark.parametrize(
    "make",
    [
        pandas.DataFrame,
        polars.DataFrame,
        pyarrow.Table.from_pylist,
        lambda rows: pyarrow.Table.from_pylist(rows).to_batches()[0],
    ],
)
def test_a_frame_is_given_back_filtered(make: Callable[[Any], Any]) -> None:
    frame = make([{name: value for name, value in row.items() if name != "meta"} for row in ROWS])
    found = dedup(frame)
    assert type(found.kept) is type(frame)
    assert [int(str(each)) for each in found.kept["id"]] == [10, 11, 14]
    assert len(found.duplicates) == 2
    assert len(found.at(0.99).kept) == 4


def test_a_pandas_frame_keeps_its_index() -> None:
    frame = pandas.DataFrame({"text": TEXTS}, index=list("vwxyz"))
    assert list(dedup(frame).kept.index) == ["v", "w", "z"]


def test_a_column_is_given_back_filtered() -> None:
    assert dedup(polars.Series("text", TEXTS)).kept.to_list() == [TEXTS[each] for each in KEPT]
    assert dedup(pyarrow.chunked_array([TEXTS])).kept.to_pylist() == [TEXTS[each] for each in KEPT]


def test_a_relation_is_given_back_as_a_table() -> None:
    frame = polars.DataFrame({"id": [row["id"] for row in ROWS], "text": TEXTS})
    relation: Any = duckdb.sql("SELECT * FROM frame ORDER BY id")
    assert dedup(relation).kept.column("id").to_pylist() == [10, 11, 14]
    assert frame is not None


def test_a_stream_that_was_read_cannot_be_given_back() -> None:
    table = pyarrow.table({"text": TEXTS})
    found = dedup(table.to_reader())
    assert list(found.ids()) == [["0", "2", "3"]]
    with pytest.raises(InputError, match="Give one that can be read again"):
        found.kept  # noqa: B018


def test_rows_of_an_iterator_cannot_be_given_back() -> None:
    found = dedup(iter(ROWS))
    assert found.counts.duplicates == 2
    with pytest.raises(InputError, match="Give a list"):
        found.kept  # noqa: B018


def test_documents_that_were_changed_since_are_not_given_back() -> None:
    rows = list(ROWS)
    found = dedup(rows)
    rows.append({"id": 99, "text": "More."})
    with pytest.raises(InputError, match=r"5 documents were read, and now there are 6\. Group them again"):
        found.kept  # noqa: B018


def written(folder: Path, kind: str) -> Path:
    path = folder / f"news.{kind}"
    flat = [{name: value for name, value in row.items() if name != "meta"} for row in ROWS]
    if kind == "csv":
        with path.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, list(flat[0]))
            writer.writeheader()
            writer.writerows(flat)
    elif kind == "parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(flat), path)
    elif kind == "json":
        path.write_text(json.dumps(flat), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in flat), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "parquet"])
def test_a_file_of_any_format_is_read_again_for_what_is_kept(tmp_path: Path, kind: str) -> None:
    found = dedup(written(tmp_path, kind))
    assert isinstance(found.kept, Iterator)
    assert [int(each) for each in ids(found.kept)] == [10, 11, 14]
    assert [int(each) for each in ids(found.duplicates)] == [12, 13]
    assert [int(each) for each in ids(found.at(0.99).kept)] == [10, 11, 12, 14]


def test_a_name_is_a_file_and_paths_are_files(tmp_path: Path) -> None:
    path = written(tmp_path, "jsonl")
    assert ids(dedup(str(path)).kept) == [10, 11, 14]
    other = tmp_path / "more.jsonl"
    other.write_text(json.dumps({"id": "x", "text": STORM}) + "\n", encoding="utf-8")
    assert ids(dedup([path, other]).kept) == [10, 11, 14]


def test_names_of_files_in_a_list_are_not_taken_for_texts(tmp_path: Path) -> None:
    path = written(tmp_path, "jsonl")
    with pytest.raises(InputError, match=r"is the name of a file. Give files as Path\("):
        dedup([str(path), str(path)])


def test_documents_of_files_keep_ids_that_are_not_among_their_fields(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    lines = [{"_id": f"n{number}", "_source": {"text": text}} for number, text in enumerate(TEXTS)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert [row["_id"] for row in dedup(path).kept] == ["n0", "n1", "n4"]


def test_what_is_kept_of_a_file_can_be_added_to_an_index(tmp_path: Path) -> None:
    with Index("news", tmp_path / "nodes", fields=["text"]) as index:
        index.init()
        assert index.add(dedup(written(tmp_path, "jsonl")).kept).done == 3


def test_a_line_that_cannot_be_read_raises_or_is_handed_over(tmp_path: Path) -> None:
    path = written(tmp_path, "jsonl")
    path.write_text("not json\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(DocumentError, match=r"news.jsonl, line 1: "):
        dedup(path)
    rejected: list[Any] = []
    found = dedup(path, on_reject=rejected.append)
    assert [each.line for each in rejected] == [1]
    assert ids(found.kept) == [10, 11, 14]
    assert len(rejected) == 1


def test_a_row_that_cannot_be_read_raises_or_is_handed_over() -> None:
    rows: list[dict[str, Any]] = [ROWS[0], {"id": 7, "text": {"an": "object"}}, *ROWS[1:]]
    with pytest.raises(DocumentError, match="Document '7' has a value of type dict"):
        dedup(rows)
    rejected: list[Any] = []
    found = dedup(rows, on_reject=rejected.append)
    assert [each.position for each in rejected] == [1]
    assert ids(found.kept) == [10, 11, 14]
    assert ids(found.duplicates) == [12, 13]


def test_the_fields_of_the_texts_may_be_named() -> None:
    rows = [{"title": text[:9], "body": {"text": text}} for text in TEXTS]
    assert len(dedup(rows, fields=["title", "body.text"]).kept) == 3
    assert len(dedup(rows, fields="body.text").kept) == 3


@pytest.mark.parametrize("form", [list, polars.DataFrame])
def test_without_a_name_several_fields_of_texts_are_refused(form: Callable[[Any], Any]) -> None:
    rows = form([{"id": 1, "summary": STORM, "body": STORM + " " + FAIR}])
    with pytest.raises(InputError, match=r"as in fields=\['summary', 'body'\]"):
        dedup(rows)


def test_a_misspelt_field_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(DocumentError, match="Did you mean 'text' instead of 'txt'"):
        dedup(ROWS, fields="txt")


@pytest.mark.parametrize(
    "options",
    [{"within": "produkt"}, {"across": "produkt"}, {"canonical": "oldest:produkt"}, {"canonical": "order:produkt=a"}],
)
def test_a_field_of_the_scope_or_the_order_that_no_document_has_is_an_error(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    rows = [{**row, "product": "a"} for row in ROWS]
    meant = "None of 5 documents has the field produkt.*Did you mean 'product' instead of 'produkt'?"
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for documents in (rows, str(tmp_path / "rows.jsonl")):
        with pytest.raises(DocumentError, match=meant):
            dedup(documents, fields="text", **options)
    assert len(dedup([], **options)) == 0
    del rows[1]["product"]
    right = {name: value.replace("produkt", "product") for name, value in options.items()}
    if "oldest" not in str(options):
        assert len(dedup(rows, fields="text", **right).corpus) == 5


def test_a_document_without_a_date_is_named_in_the_notes() -> None:
    dates = ["last spring", {"year": 2021}, "2021-03-02", "2021-03-03", "2021-03-04"]
    rows = [{**row, "date": date} for row, date in zip(ROWS, dates, strict=True)]
    [note] = dedup(rows[1:], fields="text", canonical="oldest:date").shown().notes[1:]
    said = "1 document has no date that oldest:date can read. The first is '11', with an object in date. It comes last."
    assert note.startswith(said)
    with dedup(rows, fields="text", canonical="newest:date") as found:
        assert "2 documents have no date" in found.shown().notes[-1]
        assert "The first is '10', with 'last spring' in date. They come last." in found.shown().notes[-1]
    assert "2 documents have no date that newest:date can read. They come last." in found.shown().notes[-1]


def test_the_position_of_a_member_is_that_of_its_row() -> None:
    for group in dedup(ROWS, fields="text").groups:
        assert [str(ROWS[member.position]["id"]) for member in group.members] == [each.id for each in group.members]


def test_the_field_of_the_ids_may_be_named() -> None:
    rows = [{**row, "sku": f"s{row['id']}"} for row in ROWS]
    assert list(dedup(rows, fields="text", id_field="sku").ids()) == [["s10", "s12", "s13"]]
    with pytest.raises(DocumentError, match="has no id in the field 'nr'"):
        dedup(rows, fields="text", id_field="nr")


def test_texts_have_no_fields() -> None:
    with pytest.raises(InputError, match="A str has no fields"):
        dedup(TEXTS, fields="text")


def test_a_frame_names_its_fields_only_once() -> None:
    frame = Frame(polars.DataFrame({"text": TEXTS}), fields=["text"])
    assert len(dedup(frame).kept) == 3
    with pytest.raises(InputError, match="Name them there"):
        dedup(frame, fields="text")


def test_values_of_rows_decide_their_scope_and_order() -> None:
    assert ids(dedup(ROWS, fields="text", scope=Scope(within=("meta.site",))).duplicates) == [12]
    newest = Canonical.by(lambda row: -row["id"])
    assert ids(dedup(ROWS, fields="text", canonical=newest).kept) == [11, 13, 14]


def test_rows_of_another_kind_than_the_first_are_named() -> None:
    with pytest.raises(DocumentError, match="Text 1 is a str, but the first one is an object"):
        dedup([ROWS[0], "text"], fields="text")  # type: ignore[list-item]


@pytest.mark.parametrize("none", [[], {}.items(), polars.DataFrame({"text": []}, schema={"text": polars.String})])
def test_without_documents_there_is_nothing_to_group(none: Any) -> None:
    found = dedup(none)
    assert found.groups == []
    assert len(found.kept) == len(found.duplicates) == 0


def test_a_preset_is_named() -> None:
    assert dedup(["Rain coat", "Rain coat!"], scheme="short").counts.duplicates == 1
    assert dedup(["Rain coat", "Rain coat!"], scheme=Scheme.preset("short")).counts.duplicates == 1


@given(st.lists(st.sampled_from([*TEXTS, "A text that stands alone here, and is like no other."]), max_size=12))
@examples(30)
def test_what_is_kept_and_the_duplicates_are_all_documents(texts: list[str]) -> None:
    rows: list[dict[str, Any]] = [{"n": number, "text": text} for number, text in enumerate(texts)]
    found = dedup(rows, fields="text", threads=1)
    assert sorted(row["n"] for row in [*found.kept, *found.duplicates]) == list(range(len(texts)))
    assert len(found.kept) == len(rows) - found.counts.duplicates
    assert [row["text"] for row in found.kept] == dedup(texts, threads=1).kept
    frame = polars.DataFrame(rows, schema={"n": polars.Int64, "text": polars.String})
    assert dedup(frame, threads=1).kept["n"].to_list() == [row["n"] for row in found.kept]
    assert dedup(found.kept, fields="text", threads=1).duplicates == []


def test_evaluations_take_the_same_documents() -> None:
    labels = Labels.of_clusters([["10", "12", "13"]])
    forms: list[Any] = [ROWS, polars.DataFrame(ROWS), [(str(row["id"]), row["text"]) for row in ROWS]]
    for documents in forms:
        assert evaluate(documents, labels).pairs.recall.value == 1.0
        assert tune_by_labels(documents, labels).documents == 5
