"""Which fields of documents hold texts, ids, dates and sources, as far as a sample shows."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.documents.files import read_documents
from es_simhash.documents.files.data_file import shape_of
from es_simhash.documents.guess import Guess, guess, language_of
from es_simhash.errors import InputError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
NEWS = [
    {
        "id": f"n{number}",
        "site": f"{'abc'[number % 3]}.example",
        "published": f"2026-03-{number + 1:02}",
        "url": f"https://news.example/{number}",
        "title": f"Ferry number {number} stops for weeks",
        "body": f"The ferry between Sandhaven and the island of Orm will stop for {number} weeks in April.",
        "tags": ["ferry", "orm"],
        "views": 1000 + number,
    }
    for number in range(12)
]


def test_title_and_body_are_the_text_of_an_article_and_no_other_field_is() -> None:
    assert guess(NEWS) == Guess(("title", "body"), "id", "published", "site", "English")


def test_nested_fields_are_named_by_their_paths() -> None:
    nested = [{"doc": {"meta": {"uuid": each["id"]}, "content": {"text": each["body"]}}} for each in NEWS]
    found = guess(nested)
    assert (found.texts, found.id) == (("doc.content.text",), "doc.meta.uuid")


def test_titles_are_the_text_of_what_has_no_longer_one() -> None:
    products = [
        {"sku": f"X{n}", "name": f"Garden chair {n} green", "price": n, "brand": "ab"[n % 2]} for n in range(20)
    ]
    found = guess(products)
    assert (found.texts, found.id, found.source) == (("name",), "sku", "brand")


def test_one_field_is_enough() -> None:
    assert guess([{"text": "short"}, {"text": "too"}]).texts == ("text",)


@pytest.mark.parametrize(
    "value",
    ["https://news.example/a", "6f1ed002ab5595859014ebf0951522d9", "2026-03-01T10:00:00Z", "12.50 €", "/home/a/b.txt"],
)
def test_an_address_a_hash_a_date_a_price_and_a_path_are_not_texts(value: str) -> None:
    assert guess([{"x": f"{value}{n}", "y": n} for n in range(10)]).texts == ()


def test_a_number_in_all_documents_that_repeats_is_not_their_id() -> None:
    assert guess([{"id": n // 2, "text": "The ferry stops"} for n in range(10)]).id is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The ferry to Orm will stop for two weeks in April.", "English"),
        ("Die Fähre nach Orm wird im April für zwei Wochen nicht fahren, und das ist gut.", "German"),
        ("今年的春茶比往年晚了十天上市。", "Chinese"),
        ("城跡の公園で梅の花が見ごろを迎えています。", "Japanese"),
        ("페리가 이주 동안 멈춥니다", "Korean"),
        ("Паром на остров не будет ходить две недели", "Cyrillic script"),
        ("12 34", ""),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of([text]) == language


def test_texts_of_several_languages_are_called_so() -> None:
    assert (
        language_of(["今年的春茶比往年晚了十天上市。", "The ferry to Orm will stop for the weeks."])
        == "several languages"
    )


@given(
    st.lists(st.dictionaries(st.sampled_from(["id", "text", "a.b", ""]) | st.text(), VALUES, max_size=5), max_size=9)
)
def test_any_documents_can_be_guessed_about(documents: list[Mapping[str, Any]]) -> None:
    found = guess(documents)
    assert len(set(found.texts)) == len(found.texts)
    assert guess(documents) == found


TABLES = Path(os.environ.get("ES_SIMHASH_TABLES", "/nowhere"))


@pytest.mark.skipif(not TABLES.is_dir(), reason="ES_SIMHASH_TABLES names no folder with the tables of tables.json")
def test_the_right_fields_are_chosen_on_at_least_nine_in_ten_tables_of_public_repositories() -> None:
    tables = json.loads((Path(__file__).parents[2] / "data" / "tables.json").read_text(encoding="utf-8"))
    wrong = {each["name"]: found for each in tables if (found := _wrongly_guessed(each)) is not None}
    assert len(wrong) <= 0.1 * len(tables), wrong


def _wrongly_guessed(table: dict[str, Any]) -> Guess | str | None:
    path = str(TABLES / table["file"])
    how: dict[str, Any] = shape_of(path)._asdict()
    try:
        found = guess(dict(each.document) for each in read_documents([path], on_reject=lambda _: None, **how))
    except InputError as error:
        return str(error)
    texts = set(found.texts)
    is_right = set(table["texts"]) <= texts <= {*table["texts"], *table["may"]}
    return None if is_right else found
