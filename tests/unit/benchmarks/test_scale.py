"""docs/scale.md: its numbers are those of docs/benchmarks.md, its arithmetic that of counting, and it is up to date."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks import scale, scale_simulation
from benchmarks import scale_model as model
from benchmarks.scale_words import prose, rounded
from benchmarks.tables import Table, number, tables_of
from es_simhash.groups.corpus import ALL, FEW
from es_simhash.groups.pairs.candidates import Linker, entries, positions
from es_simhash.sketches.keys import Blocks, block_candidates
from tests import ROOT
from tests.support.documentation import BENCHMARKS

DOCS = ROOT / "docs"
SIMULATED = {table.title: table for table in scale.simulated_before()}


# ---- the page


def test_the_page_and_its_pictures_are_what_the_script_makes_of_the_measured_numbers() -> None:
    made = scale.files(BENCHMARKS, SIMULATED.values())
    stale = [path for path, text in made.items() if (DOCS / path).read_text(encoding="utf-8") != text]
    assert stale == [], "run: python -m benchmarks scale"


def test_what_is_quickly_simulated_comes_out_as_on_the_page() -> None:
    assert scale_simulation.recall(20_000).rows == SIMULATED[scale_simulation.RECALL].rows


def test_the_largest_size_of_tables_that_show_several_stands_on_the_page_with_its_day() -> None:
    columns = ["", "documents", "candidates", "p50"]
    table = Table(
        "Larger, OpenSearch",
        columns,
        rows=[["", "1,000,000", "26", "1.1"], ["", "10,000,000", "1.3", "1.5"], ["merged", "10,000,000", "", "0.9"]],
    )
    other = Table("Others", ["a", "b"], rows=[["1", "2"]])
    page = (
        f"# Page\n\n## Other\n\nRun on 2026-11-01.\n\n{other.markdown()}\n"
        f"## Keys on servers\n\nWords.\n\nRun on 2026-11-28 with x.\n\n{table.markdown()}\n"
    )
    [row] = scale.measured(page).splitlines()[-1:]
    assert row == "| the request of a search, OpenSearch | 10,000,000 | 1.5 ms, 1.3 candidates | 2026-11-28 |"


def test_the_pictures_are_well_formed_and_have_a_line_for_each_search() -> None:
    for theme in ("light", "dark"):
        picture = ElementTree.parse(DOCS / "pictures" / f"scale-{theme}.svg")
        lines = picture.findall("{http://www.w3.org/2000/svg}line[@stroke-width='2.5']")
        assert len(lines) == len({line.get("stroke") for line in lines}) == 4


def test_a_table_is_read_as_it_was_written() -> None:
    table = Table("Title", ["", "a", "b"], "A note | none.".replace("|", "and"))
    table.add("", "1", "2.5")
    table.add("row", "3", "")
    page = f"# Page\n\n## Section\n\nWords.\n\n{table.markdown()}\nMore words.\n\n## Next\n"
    assert tables_of(page) == {("Section", "Title"): table}


# ---- candidates


def test_drawn_blocks_meet_as_counted_pair_by_pair() -> None:
    rng = np.random.default_rng(5)
    blocks, distance = Blocks(16, 4), 2
    queries, codes = (rng.integers(0, 1 << 16, count, dtype=np.uint64) for count in (30, 400))
    documents, asked = scale_simulation.sharing_blocks(blocks, distance, queries, codes)
    values, own = blocks.values(codes).tolist(), blocks.values(queries).tolist()
    expected = {
        (document, query)
        for document in range(400)
        for query in range(30)
        if sum(a == b for a, b in zip(values[document], own[query], strict=True)) >= 2
    }
    assert set(zip(documents.tolist(), asked.tolist(), strict=True)) == expected
    assert len(expected) == pytest.approx(30 * block_candidates(16, 4, 2, 400), rel=0.2)


def test_drawn_fingerprints_meet_as_often_as_computed() -> None:
    for row in scale_simulation.block_candidates([100_000]).rows:
        computed, drawn, queries = map(number, row[2:5])
        assert drawn * queries == pytest.approx(computed * queries, abs=4 * (computed * queries) ** 0.5 + 1)
        assert row[5] == "1.0000"
    for row in SIMULATED[scale_simulation.RECALL].rows:
        assert float(row[3]) == pytest.approx(float(row[2]), abs=0.015)


def test_similarities_of_features_are_those_of_sets() -> None:
    sets = [{1, 2, 3}, {2, 3, 4}, {9}, {1, 2, 3}]
    features = scale_simulation.Features(
        np.array([each for some in sets for each in sorted(some)], dtype=np.uint64), np.array([0, 3, 6, 7, 10])
    )
    assert features.similarities().tolist() == [0.5, 0, 1, 0, 0.5, 0]
    assert features.first(2).similarities().tolist() == [0.5]
    assert features.similar() == [(0.0, 0.5), (0.5, 1 / 3), (1.0, 1 / 6)]


def test_texts_share_keys_by_chance_within_what_hash_functions_make_of_it() -> None:
    for name, *cells in SIMULATED[scale_simulation.CHANCE].rows:
        computed, _, least, most = map(number, cells)
        assert least <= computed <= most or computed < 0.1, name


def test_large_indices_ask_for_one_more_key_and_no_level_for_fewer_than_the_scheme() -> None:
    assert [model.shared(documents) for documents in model.SIZES] == [2, 2, 3, 3, 3]
    assert model.shared(10**9, "versions") == model.MINHASH.shared


# ---- groups


def test_pairs_of_a_document_are_those_that_linking_makes() -> None:
    for documents in (2, 33, 34, 500):
        same = np.sort(entries(np.zeros((documents, 1), dtype=np.uint32), 0))
        made = sum(len(positions(codes)[0]) for codes in Linker(ALL, FEW).pairs(iter([same])))
        assert model.pairs_a_document(np.array([1.0, documents])) == pytest.approx([0, made / documents])


def test_shares_of_a_key_are_products_of_its_values() -> None:
    values = np.array([[1, 5, 7, 0], [1, 5, 8, 0], [1, 6, 9, 0]], dtype=np.uint32)
    shares = scale_simulation.shares_with_key(values, np.array([[0, 1], [3, 2], [0, 3]]))
    # The last of a value has it by itself, and counts as one.
    assert shares.tolist() == [[0.5, 0.5, 1.0]] * 3


def test_crowds_are_as_many_as_keys_that_are_counted() -> None:
    rng = np.random.default_rng(6)
    values = rng.choice(4, (3_000, 4), p=[0.7, 0.1, 0.1, 0.1]).astype(np.uint32)
    places = np.array([[0, 1], [2, 3]])
    keys = values[:, places] @ np.array([4, 1])
    for table, expected in enumerate(scale_simulation.shares_with_key(values, places).T):
        _, numbers, counts = np.unique(keys[:, table], return_inverse=True, return_counts=True)
        assert expected == pytest.approx((counts[numbers] - 1) / 2_999, abs=0.01)


# ---- words


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0"), (0.00051151, "0.00051"), (9.96, "10"), (72.6, "73"), (1234.5, "1,200"), (1.5e9, "1,500,000,000")],
)
def test_numbers_have_the_digits_that_count(value: float, expected: str) -> None:
    assert rounded(value) == expected


def test_prose_is_wrapped_and_lists_and_html_stay_what_they_are() -> None:
    text = "<p>\n<b>\n\n" + "word " * 40 + "\n\n- one\n  more\n- two\n\nEnd."
    lines = prose(text).splitlines()
    assert max(map(len, lines)) <= 120
    assert lines[:3] == ["<p>", "<b>", ""]
    assert lines[-5:] == ["", "- one more", "- two", "", "End."]
