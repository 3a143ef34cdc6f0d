"""The numbers of the README, of a tutorial and of the page of pipelines are those of the pages of benchmarks."""

from __future__ import annotations

import re

from benchmarks.page import tables_of
from tests import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = " ".join(README.split())
PAGES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("benchmarks.md", "quality.md")]
TABLES = {title: table for page in PAGES for (_, title), table in tables_of(page).items()}


def numbers(title: str, row: str, column: str) -> list[float]:
    """A column of the rows that are named so, in all tables with such titles."""
    tables = [table for name, table in TABLES.items() if re.fullmatch(title, name)]
    found = [
        float(cells[list(table.columns).index(column)].replace(",", ""))
        for table in tables
        for cells in table.rows
        if re.fullmatch(row, cells[0])
    ]
    assert found, (title, row, column)
    return found


def line(beginning: str) -> str:
    """The line of the README that begins so."""
    [found] = [each for each in README.splitlines() if each.startswith(beginning)]
    return found


def test_the_price_of_each_way_is_what_was_measured() -> None:
    layouts, prices = "Layouts on .*", "English on .*: what is found, and at what price|Chinese on .*: what is found.*"
    small, large = (numbers(layouts, row, "bytes a document") for row in (r"strict \(SimHash alone\)", "default: text"))
    assert f"{min(small):.0f} to {min(large):.0f} bytes" in line("| **es_simhash**")
    ours, filters, vectors = (
        numbers(prices, row, "bulk × plain") for row in ("es_simhash, MinHash", "min_hash.*", "dense_vector.*")
    )
    assert f"{_share(min(ours))} to {_share(max(ours))} of their speed" in line("| **es_simhash**")
    assert _share(min(filters)) == _share(max(filters))
    assert f"bulk at {_share(min(filters))}" in line("| `min_hash`")
    assert f"bulk at {_share(min(vectors))} to {_share(max(vectors))}" in line("| `dense_vector`")
    tokens = numbers(prices, "min_hash.*", "bytes a document")
    assert f"{min(tokens) // 100 * 100:,.0f} to {max(tokens) // 100 * 100:,.0f} bytes" in line("| `min_hash`")
    bits = numbers(prices, "dense_vector.*", "bytes a document")
    assert f"{min(bits):.0f} to {max(bits):.0f} bytes" in line("| `dense_vector`")


def _share(ratio: float) -> str:
    return f"{ratio:.1f}".lstrip("0")


def test_datasketch_takes_so_many_times_our_time_for_a_file() -> None:
    [its] = numbers(r"50,000 English texts.*", "datasketch, chars", "CPU s")
    ours = numbers(r"50,000 English texts.*", "es_simhash, chars.*", "CPU s")
    assert f"{its / min(ours) // 10 * 10:.0f} times our processor time" in line("| datasketch")


def test_a_search_takes_so_many_times_that_of_the_quickest_other() -> None:
    ratios = numbers("(English|Chinese) on .*: latency", "es_simhash, MinHash.*", "× best peer")
    least, most = map(float, re.findall(r"takes ([\d.]+) to ([\d.]+) times as long", README)[0])
    assert least == round(min(ratios), 1)
    assert most == round(max(ratios), 1)


def test_a_search_grows_more_slowly_than_more_like_this() -> None:
    [least, *_, most] = numbers("Texts", "es_simhash, MinHash, texts compared", "× more_like_this")
    assert f"takes {least:.1f} times as long among 10,000 short texts, and {most:.1f} times among a million" in PROSE


def test_so_many_duplicates_are_found_by_vectors_among_a_million_texts() -> None:
    [*_, most] = numbers("Texts", "dense_vector.*", "recall in all")
    assert f"among a million texts {most:.0%} of the duplicates" in line("| `dense_vector`")


def test_so_few_rewordings_are_found() -> None:
    [recall] = numbers("bible_chapters", "es_simhash, default", "recall")
    assert f"{recall:.0%} are, though they say the same" in README


def test_the_tutorial_tells_how_quick_a_backfill_of_a_million_was() -> None:
    tutorial = (ROOT / "docs" / "tutorials" / "existing-index.md").read_text(encoding="utf-8")
    [rate] = numbers("Backfills of more and more documents, .*", "1,000,000", "documents a second")
    assert f"a million documents of 1.3 kB were done at {rate // 100 * 100:,.0f} a second" in tutorial


def test_the_page_of_pipelines_tells_what_they_cost() -> None:
    page = " ".join((ROOT / "docs" / "pipeline.md").read_text(encoding="utf-8").split())
    by_server, by_client = (
        [
            f"{float(cells[list(table.columns).index('× plain')]):.0%}"
            for (section, title), table in tables_of(PAGES[0]).items()
            if section == "Pipeline" and title.startswith("Bulk indexing into")
            for cells in table.rows
            if cells[0] == f"fingerprints by the {maker}"
        ]
        for maker in ("pipeline", "client")
    )
    assert f"came in at {by_server[0]} of the speed" in page
    assert f"at {by_server[1]} on OpenSearch" in page
    assert f"came at {by_client[0]} and {by_client[1]}" in page
