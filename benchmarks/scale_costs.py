"""What was measured, and what shards, searches, backfills and groups of more documents cost by it."""

from __future__ import annotations

from benchmarks import scale_model as model
from benchmarks.scale_model import DEFAULT, SIZES, Finding
from benchmarks.scale_numbers import SIMHASH, Numbers, noted, text
from benchmarks.scale_simulation import CROWDED, FALSE_BY_BANDS, in_words
from benchmarks.tables import Table
from es_simhash.groups.pairs.document_links import ALL, FEW

# Of tables that show several sizes: what the largest came to, by their columns.
AT_SCALE = {
    "Grouping of generated fingerprints": ("groups of generated fingerprints", "{grouping, s} s in {peak, MB} MB"),
    "Finding at scale on Elasticsearch": ("`find`, at most 100 false candidates, Elasticsearch", "{find p50, ms} ms"),
    "Finding at scale on Elasticsearch, merged": ("merged to one segment", "{find p50, ms} ms"),
    "Finding at scale on OpenSearch": ("`find`, at most 100 false candidates, OpenSearch", "{find p50, ms} ms"),
    "Finding at scale on OpenSearch, merged": ("merged to one segment", "{find p50, ms} ms"),
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
    for title, (what, form) in AT_SCALE.items():
        if title in numbers.published:
            largest = _largest(numbers.published[title])
            table.add(what, largest["documents"], form.format_map(largest))
    return text(
        table,
        f"""
A search asks each segment, and a fill leaves many. Merge what is complete: `POST
/INDEX/_forcemerge?max_num_segments=1`.

A scheme has one hash function, and that may be unlucky: simulated with several, {least} to {most} candidates are false;
computed, {computed}.
""",
    )


def _largest(table: Table) -> dict[str, str]:
    return dict(zip(table.columns, table.rows[-1], strict=True))


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
- **Groups**: if more than {ALL} documents share a key, each further document is compared with {FEW} only; `left_out`
  counts the others. A run over {SIZES[-1]:,} documents with the default fields finds
  {last["found of 0.6"]} of the pairs of similarity .6 and {last["found of 0.8"]} of those of .8 (simulated).
""",
    )
