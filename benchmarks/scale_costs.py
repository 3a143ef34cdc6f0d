"""What was measured, and what shards, searches, backfills and groups of more documents cost by it."""

from __future__ import annotations

from benchmarks import scale_model as model
from benchmarks.scale_model import DEFAULT, SIZES, Finding
from benchmarks.scale_numbers import SIMHASH, Numbers, noted, text
from benchmarks.scale_simulation import CROWDED, FALSE_BY_BANDS, in_words
from benchmarks.tables import Table
from es_simhash.groups.pairs.document_links import ALL, FEW

# Tables of docs/benchmarks.md that stand here too, once they are there, and the command that makes them.
PUBLISHED = {
    "Grouping of generated fingerprints": "python -m benchmarks scale_groups",
    "Finding at scale on Elasticsearch": "python -m benchmarks scale_finding",
    "Finding at scale on OpenSearch": "python -m benchmarks scale_finding",
}


def measured(numbers: Numbers) -> str:
    """Write what was measured, and nothing else."""
    found = numbers.measured
    table = noted("On one machine", ["", "documents", "measured"], "Two cores for client and server.")
    computed, _, least, most, _ = _false_candidates(numbers)
    per_million = 1e6 * (found.layout_candidates - 1) / found.layout_documents
    for what, documents, result in (
        ("fields of the default scheme", found.layout_documents, f"{found.default_bytes:,.0f} bytes a document"),
        ("its request by MinHash, and a `term` query", 1e6, f"{found.minhash_ms} ms, {found.term_ms} ms"),
        ("`find`, texts compared", found.found_documents, f"{found.find_texts_ms} ms"),
        ("`backfill`", 1e6, f"{found.backfill_rate:,.0f} documents a second"),
        ("`group`", 1e6, f"{found.group_reading + found.group_rest:.0f} s"),
        ("false candidates of a query by MinHash, for a million", found.layout_documents, f"{per_million:,.0f}"),
    ):
        table.add(what, f"{documents:,.0f}", result)
    return text(
        table,
        f"""
A scheme has one hash function, and that may be unlucky: simulated with several, {least} to {most} candidates are false;
computed, {computed}.
""",
        *(_published(numbers, title, command) for title, command in PUBLISHED.items()),
    )


def _published(numbers: Numbers, title: str, command: str) -> Table | str:
    there = numbers.published.get(title)
    return there or f"{title}: not published yet; `{command}` measures them."


def _false_candidates(numbers: Numbers) -> list[str]:
    simulated = {name: cells for name, *cells in numbers.simulated[FALSE_BY_BANDS].rows}
    return simulated[in_words(DEFAULT.layout)]


def costs(numbers: Numbers) -> str:
    """Write what the numbers of larger indices are computed from."""
    found, finding = numbers.measured, Finding.of(numbers.measured)
    columns, rows = numbers.simulated[CROWDED].columns, numbers.simulated[CROWDED].rows
    last = dict(zip(columns, rows[-1], strict=True))
    return text(
        f"""
- **Shards** have {model.SHARD_BYTES / 1e9:.0f} GB, in the middle of the
  [advised](https://www.elastic.co/guide/en/elasticsearch/reference/8.15/size-your-shards.html) 10 to 50 GB, and at most
  {model.SHARD_DOCUMENTS:,} documents. A query reads the postings of {SIMHASH.blocks} or {DEFAULT.bands} keys in each,
  at random places of {found.key_bytes:,.0f} bytes a document: these should fit the page cache.
- **A search** takes {finding.request:.1f} ms, {1000 * finding.candidate:.0f} µs per candidate to fetch and compare it,
  and {1000 * finding.text:.0f} µs to read its text; keys decide how many there are.
- **A backfill** of yours, on nodes that fail, is simulated by [`es-simhash plan backfill INDEX`](backfill.md#before).
- **Groups**: if more than {ALL} documents share a key, it is *crowded*, and each further document is compared with
  {FEW} only; `left_out` counts the others. A run over {SIZES[-1]:,} documents with the default fields finds
  {last["found of 0.6"]} of the pairs of similarity .6 and {last["found of 0.8"]} of those of .8 (simulated).
""",
    )
