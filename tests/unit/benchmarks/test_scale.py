"""docs/scale.md: its numbers are those of docs/benchmarks.md, its arithmetic that of counting, and it is up to date."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks import scale, scale_machines, scale_simulation
from benchmarks import scale_model as model
from benchmarks.scale_measured import Measured, cells
from benchmarks.scale_model import DEFAULT, Finding
from benchmarks.scale_numbers import Numbers
from benchmarks.scale_words import duration, prose, rounded, size
from benchmarks.tables import Table, tables_of
from es_simhash.sketches.bands import Bands
from es_simhash.sketches.blocks import Blocks
from es_simhash.sketches.key_plans import TYPICAL, UNLIKE, false_share, meeting
from es_simhash.sketches.tradeoffs import band_candidates, band_probability, block_candidates
from tests import ROOT
from tests.support.documentation import BENCHMARKS, DESIGN, with_another_backfill

DOCS = ROOT / "docs"
PAGE = (DOCS / "scale.md").read_text(encoding="utf-8")
PAGES = BENCHMARKS + DESIGN
MEASURED = Measured.read(PAGES)
SIMULATED = {table.title: table for table in scale.simulated_before()}
NUMBERS = Numbers(MEASURED, SIMULATED)


# ---- the page


def test_the_page_and_its_pictures_are_what_the_script_makes_of_the_measured_numbers() -> None:
    made = scale.files(PAGES, SIMULATED.values())
    stale = [path for path, text in made.items() if (DOCS / path).read_text(encoding="utf-8") != text]
    assert stale == [], "run: python -m benchmarks scale"


def test_what_is_quickly_simulated_comes_out_as_on_the_page() -> None:
    again = scale_simulation.band_candidates([100_000, 1_000_000], [10**7, 10**8, 10**9])
    assert again.rows == SIMULATED[scale_simulation.BANDS].rows


def test_the_largest_size_of_tables_that_show_several_stands_on_the_page() -> None:
    title = "Finding at scale on OpenSearch"
    assert "the same, OpenSearch" not in scale.page(NUMBERS)
    table = Table(title, ["documents", "find p50, ms"], rows=[["100,000", "1.1"], ["10,000,000", "1.5"]])
    page = scale.page(replace(NUMBERS, published={title: table}))
    assert "| `find`, at most 100 false candidates, OpenSearch | 10,000,000 | 1.5 ms |" in page


def test_another_number_in_the_benchmarks_is_another_page() -> None:
    page = scale.files(with_another_backfill() + DESIGN, SIMULATED.values())["scale.md"]
    assert "9,999 documents a second" in page
    assert page != PAGE


def test_the_pictures_are_well_formed_and_have_a_line_for_each_search() -> None:
    for theme in ("light", "dark"):
        picture = ElementTree.parse(DOCS / "pictures" / f"scale-{theme}.svg")
        lines = picture.findall("{http://www.w3.org/2000/svg}line[@stroke-width='2.5']")
        assert len(lines) == len({line.get("stroke") for line in lines}) == 4


# ---- measured


def test_every_number_stands_on_the_page_of_benchmarks_where_it_is_said_to() -> None:
    tables = tables_of(PAGES)
    for name, cell in cells().items():
        shown = f"{getattr(MEASURED, name):,g}"
        table = tables[cell.section, cell.table]
        texts = [table.note] if not cell.row else [each for row in table.rows if row[0] == cell.row for each in row]
        assert any(shown in text or f"{getattr(MEASURED, name):,.1f}" in text for text in texts), (name, shown)


def test_a_table_that_is_gone_is_named_with_the_command_that_makes_it() -> None:
    with pytest.raises(LookupError, match="python -m benchmarks million"):
        Measured.read(PAGES.replace("### On Elasticsearch", "### Elsewhere"))


def test_a_number_that_is_none_is_named() -> None:
    cell = cells()["term_ms"]
    with pytest.raises(LookupError, match="'unknown'"):
        cell.read({("Million", "On Elasticsearch"): Table("", ["", "p50, ms"], rows=[["term", "unknown"]])})


def test_a_table_is_read_as_it_was_written() -> None:
    table = Table("Title", ["", "a", "b"], "A note | none.".replace("|", "and"))
    table.add("", "1", "2.5")
    table.add("row", "3", "")
    page = f"# Page\n\n## Section\n\nWords.\n\n{table.markdown()}\nMore words.\n\n## Next\n"
    assert tables_of(page) == {("Section", "Title"): table}


# ---- candidates


def test_documents_that_have_nothing_in_common_meet_as_random_ones_do() -> None:
    bands = DEFAULT.layout
    expected = band_candidates(bands.count, bands.rows * bands.value_bits, 10**9)
    assert false_share(bands, UNLIKE) * 10**9 == pytest.approx(expected)


@pytest.mark.parametrize("similarity", [0.1, 0.5, 0.9])
def test_whole_values_in_the_keys_meet_with_the_probability_of_bands(similarity: float) -> None:
    assert meeting(similarity, Bands(8, 2, 64)) == pytest.approx(band_probability(similarity, 8, 2))


def test_candidates_false_share_are_the_mean_over_similarities() -> None:
    bands = Bands(4, 2, 12)
    expected = 0.25 * meeting(0.1, bands) + 0.75 * meeting(0.0, bands)
    assert false_share(bands, [(0.1, 0.25), (0.0, 0.75)]) == pytest.approx(expected)


@pytest.mark.parametrize("bands", [DEFAULT.layout, Bands(19, 3, 24), Bands(57, 5, 36), Bands(12, 5, 42)])
def test_typical_texts_are_those_of_the_benchmarks(bands: Bands) -> None:
    assert sum(share for _, share in TYPICAL) == pytest.approx(1, abs=0.001)
    assert false_share(bands, TYPICAL) == pytest.approx(NUMBERS.false_share(bands), rel=0.05)


def test_drawn_blocks_meet_as_counted_pair_by_pair() -> None:
    rng = np.random.default_rng(5)
    blocks, distance = Blocks(16, 4), 2
    queries, codes = (rng.integers(0, 1 << 16, count, dtype=np.uint64) for count in (30, 400))
    documents, asked = scale_simulation.sharing(blocks, distance, queries, codes)
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
        computed, drawn, queries = (float(cell.replace(",", "")) for cell in row[2:5])
        assert drawn * queries == pytest.approx(computed * queries, abs=4 * (computed * queries) ** 0.5 + 1)
        assert row[5] == "1.0000"
    for row in SIMULATED[scale_simulation.RECALL].rows:
        assert float(row[4]) == pytest.approx(float(row[3]), abs=0.015)


def test_similarities_of_features_are_those_of_sets() -> None:
    sets = [{1, 2, 3}, {2, 3, 4}, {9}, {1, 2, 3}]
    features = scale_simulation.Features(
        np.array([each for some in sets for each in sorted(some)], dtype=np.uint64), np.array([0, 3, 6, 7, 10])
    )
    assert features.similarities().tolist() == [0.5, 0, 1, 0, 0.5, 0]
    assert features.first(2).similarities().tolist() == [0.5]
    assert features.first(2).table().rows == [["0.5000", "1"]]


def test_what_was_measured_on_a_server_lies_within_what_hash_functions_make_of_it() -> None:
    rows = {
        row[0]: [float(cell.replace(",", "")) for cell in row[1:]]
        for row in SIMULATED["False candidates by bands"].rows
    }
    _, _, least, most, _ = rows[scale_simulation.in_words(DEFAULT.layout)]
    found = (MEASURED.found_candidates - 2) / MEASURED.found_documents
    assert least <= 1e6 * found <= most


# ---- shards


@pytest.mark.parametrize(
    ("documents", "bytes_a_document", "expected"),
    [(1, 1_000, 1), (30_000_000, 1_000, 1), (30_000_001, 1_000, 2), (200_000_001, 10, 2)],
)
def test_shards_are_as_many_as_bytes_and_documents_ask_for(
    documents: int, bytes_a_document: float, expected: int
) -> None:
    assert model.shards(documents, bytes_a_document) == expected


# ---- time, groups


def test_a_search_takes_as_long_as_was_measured_with_as_many_candidates() -> None:
    finding = Finding.of(MEASURED)
    assert finding(MEASURED.found_candidates) == pytest.approx(MEASURED.find_texts_ms)
    assert finding(10**6) == finding(10**9)


def test_machines_divide_the_time_of_a_backfill() -> None:
    assert model.backfill_seconds(10**6, 1, MEASURED) == pytest.approx(10**6 / MEASURED.backfill_rate)
    assert model.backfill_seconds(10**6, 4, MEASURED) == pytest.approx(10**6 / MEASURED.backfill_rate / 4)


def test_pairs_of_a_document_are_those_that_linking_makes() -> None:
    for documents in (2, 33, 34, 500):
        made = scale_machines.Run.of(np.zeros((documents, 1), dtype=np.uint32))
        assert model.pairs_a_document(np.array([1.0, documents])) == pytest.approx([0, len(made.first) / documents])


def test_shares_of_a_key_are_products_of_its_rows() -> None:
    values = np.array([[1, 5, 7, 0], [1, 5, 8, 0], [1, 6, 9, 0]], dtype=np.uint32)
    shares = scale_simulation.shares_with_key(values, Bands(2, 2, 14))
    # The last of a value has it by itself, and counts as one.
    assert shares.tolist() == [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]


def test_crowds_are_as_many_as_keys_that_are_counted() -> None:
    rng = np.random.default_rng(6)
    values = rng.choice(4, (3_000, 4), p=[0.7, 0.1, 0.1, 0.1]).astype(np.uint32)
    bands = Bands(2, 2, 12)
    keys = values.reshape(-1, 2, 2) @ np.array([4, 1])
    for band, expected in enumerate(scale_simulation.shares_with_key(values, bands).T):
        _, places, counts = np.unique(keys[:, band], return_inverse=True, return_counts=True)
        assert expected == pytest.approx((counts[places] - 1) / 2_999, abs=0.01)


def test_machines_make_the_groups_that_one_makes() -> None:
    run = scale_machines.Run.of(scale_machines.keys(3_000, 0.1))
    for machines in (1, 3, 16):
        first, second = run.stars(machines)
        assert len(first) <= len(run.first)
        groups = scale_machines._groups(run.documents, first, second)
        assert np.array_equal(groups.firsts, run.groups.firsts)


def test_every_hash_has_one_machine_and_ranges_are_even() -> None:
    hashes = np.arange(0, 1 << 32, 1 << 16)
    counts = np.bincount(scale_machines.machine_of(hashes, 16), minlength=16)
    assert counts.tolist() == [len(hashes) // 16] * 16


# ---- words


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0"), (0.00051151, "0.00051"), (9.96, "10"), (72.6, "73"), (1234.5, "1,200"), (1.5e9, "1,500,000,000")],
)
def test_numbers_have_the_digits_that_count(value: float, expected: str) -> None:
    assert rounded(value) == expected


def test_bytes_and_seconds_have_the_unit_that_suits_them() -> None:
    assert [size(each) for each in (12, 1_500, 1.98e9, 5e14)] == ["12.0 B", "1.50 kB", "1.98 GB", "500 TB"]
    assert [duration(each) for each in (2.4, 119, 600, 8_000, 400_000)] == [
        "2.4 s",
        "120 s",
        "10 min",
        "2.2 hours",
        "4.6 days",
    ]


def test_prose_is_wrapped_and_lists_and_html_stay_what_they_are() -> None:
    text = "<p>\n<b>\n\n" + "word " * 40 + "\n\n- one\n  more\n- two\n\nEnd."
    lines = prose(text).splitlines()
    assert max(map(len, lines)) <= 120
    assert lines[:3] == ["<p>", "<b>", ""]
    assert lines[-5:] == ["", "- one more", "- two", "", "End."]
