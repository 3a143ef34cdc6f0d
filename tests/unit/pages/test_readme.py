"""The README, a tutorial and the page about pipelines quote the numbers of the benchmark pages."""

from __future__ import annotations

import re

from benchmarks.tables import number, tables_of
from tests import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = " ".join(README.split())
PAGES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("benchmarks.md", "quality.md")]
FIND, DEFAULT = "Find, .*", "find, second default"
TABLES = {title: table for page in PAGES for (_, title), table in tables_of(page).items()}


def numbers(title: str, row: str, column: str) -> list[float]:
    """Return all numbers in tables, rows and columns with such names."""
    tables = [table for name, table in TABLES.items() if re.fullmatch(title, name)]
    found = [
        number(cell)
        for table in tables
        for cells in table.rows
        if re.fullmatch(row, cells[0])
        # The first of the columns with one name.
        for name, cell in dict(reversed([*zip(table.columns, cells, strict=True)])).items()
        if cell and re.fullmatch(column, name)
    ]
    assert found, (title, row, column)
    return found


def line(beginning: str) -> str:
    """Return the only line of the README with this beginning."""
    [found] = [each for each in README.splitlines() if each.startswith(beginning)]
    return found


def default_bytes() -> list[float]:
    """Return the bytes of the default's fields in a document, on each server."""
    return numbers(FIND, DEFAULT, "bytes")


def test_the_five_numbers_are_those_of_the_benchmarks() -> None:
    ours, recipe = (
        numbers("F1 of pairs", row, "en_biblio_dedupe")[0]
        for row in ("es_simhash, near", "MinHash at 0.8, character 5-grams")
    )
    assert f"F1 of {ours:.3f} " in line("| quality")
    assert f"it: {recipe:.3f} |" in line("| quality")
    least = numbers("Layouts", r"strict \(SimHash alone\)", "bytes a document")
    assert f"| {min(default_bytes()):.0f} bytes per document by default, {min(least):.0f} with" in line("| size")
    [rate] = numbers("Backfills by size, .*", "1,000,000", "documents a second")
    assert f"| {rate // 100 * 100:,.0f} documents of 1.3 kB per second" in line("| `backfill`")
    latencies = numbers(FIND, DEFAULT, "p50")
    assert f"| {max(latencies):.1f} ms among 100,000 film reviews" in line("| `find`")
    grouping = [
        numbers("Grouping by size", "1,000,000", column)[0] for column in ("reading, s", "all else, s", "peak, MB")
    ]
    assert f"in {sum(grouping[:2]):.0f} seconds, with {grouping[2]:.0f} MB" in line("| `group`")


def test_the_alternatives_cost_what_was_measured() -> None:
    layouts, prices = "Layouts", "(English|Chinese): what is found, and at what price"
    small = numbers(layouts, r"strict \(SimHash alone\)", "bytes a document")
    assert f"{min(small):.0f} to {min(default_bytes()):.0f} bytes" in line("| **es_simhash**")
    ours, filters, vectors = (
        numbers(prices, row, ".*: bulk × plain") for row in ("es_simhash, MinHash", "min_hash.*", "dense_vector.*")
    )
    assert f"{_share(min(ours))} to {_share(max(ours))} of their speed" in line("| **es_simhash**")
    assert _share(min(filters)) == _share(max(filters))
    assert f"bulk at {_share(min(filters))}" in line("| `min_hash`")
    assert _share(min(vectors)) == _share(max(vectors))
    assert f"bulk at {_share(min(vectors))}" in line("| `dense_vector`")
    tokens = numbers(prices, "min_hash.*", "bytes a document")
    assert f"{min(tokens) // 100 * 100:,.0f} to {max(tokens) // 100 * 100:,.0f} bytes" in line("| `min_hash`")
    bits = numbers(prices, "dense_vector.*", "bytes a document")
    assert f"{min(bits):.0f} to {max(bits):.0f} bytes" in line("| `dense_vector`")


def _share(ratio: float) -> str:
    return f"{ratio:.1f}".lstrip("0")


def test_datasketch_takes_the_measured_multiple_of_our_time() -> None:
    [its] = numbers(r"50,000 English texts.*", "datasketch, chars", "CPU s")
    ours = numbers(r"50,000 English texts.*", "es_simhash, chars.*", "CPU s")
    assert f"{its / min(ours) // 10 * 10:.0f} times our processor time" in line("| datasketch")


def test_find_takes_the_measured_multiple_of_more_like_this() -> None:
    ours = numbers(FIND, DEFAULT, "p50")
    quicker, other = (
        [own / theirs for own, theirs in zip(ours, numbers(FIND, f"more_like_this, {terms} .*", "p50"), strict=True)]
        for terms in (25, 50)
    )
    times = f"takes {_share(min(other))} to {_share(max(other))} times as long as `more_like_this` of 50 terms"
    assert f"{times}, {min(quicker):.1f} to {max(quicker):.1f} times as long as of 25" in PROSE


def test_vectors_find_the_measured_share_of_duplicates_among_a_million_texts() -> None:
    [*_, most] = numbers("Texts", "dense_vector.*", "recall in all")
    assert f"among a million texts {most:.0%} of the duplicates" in line("| `dense_vector`")


def test_few_rewordings_are_found() -> None:
    [recall] = numbers("The sets, and the default on them", "bible_chapters", "recall")
    assert f"{recall:.0%} are, though they say the same" in README


def test_the_tutorial_has_the_speed_of_a_backfill_of_a_million() -> None:
    tutorial = (ROOT / "docs" / "tutorials" / "existing-index.md").read_text(encoding="utf-8")
    [rate] = numbers("Backfills by size, .*", "1,000,000", "documents a second")
    assert f"a million documents of 1.3 kB were done at {rate // 100 * 100:,.0f} a second" in tutorial


def test_the_tutorial_has_the_cost_of_a_large_file() -> None:
    tutorial = " ".join((ROOT / "docs" / "tutorials" / "batch.md").read_text(encoding="utf-8").split())
    [seconds], [peak] = (numbers("Memory .* 5 GB", "(?!numpy).+", column) for column in ("wall s", "peak, MB"))
    assert f"5 GB took {seconds:.0f} seconds and {peak:.0f} MB" in tutorial


def test_the_page_about_pipelines_has_their_cost() -> None:
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
