"""The tables of every language: what is compared with what."""

from __future__ import annotations

from importlib.util import find_spec

from benchmarks import every_language
from benchmarks.every_language import COLUMNS


def test_speeds_are_relative_to_a_character_of_english_and_to_the_compiled_way() -> None:
    english = dict.fromkeys(COLUMNS, 100.0) | {"compiled": 1000.0}
    hindi = dict.fromkeys(COLUMNS, 75.0) | {"compiled": 1200.0, "AVX2": 900.0}
    table = every_language._table({"English": english, "Hindi": hindi})
    rows = {cells[0].partition(",")[0]: dict(zip(table.columns[1:], cells[1:], strict=True)) for cells in table.rows}
    assert rows["English"]["compiled by character"] == "1.00"
    # Texts in Hindi are two thirds as long.
    assert rows["Hindi"]["compiled by character"] == "0.80"
    assert rows["Hindi"]["numpy by character"] == "0.50"
    assert rows["Hindi"]["AVX2"] == "0.75"
    assert rows["Hindi"]["rensa"] == "75"


def test_what_is_not_installed_is_left_open() -> None:
    numpy_alone = {"English": {"numpy": 100.0}}
    assert every_language._table(numpy_alone).rows == [["English, 1,500", "100", *["–"] * 4, "1.00", "–", "–"]]


def test_every_column_has_a_contender_where_all_is_installed() -> None:
    named = set(every_language.contenders("chars"))
    columns = {name for name, _ in COLUMNS.values()}
    assert "es_simhash default, numpy" in named & columns
    if all(find_spec(each) for each in ("es_simhash_native", "gaoya", "rensa")):
        assert columns <= named
