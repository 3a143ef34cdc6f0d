"""What many documents cost: shards, searches, the backfill, and groups."""

from __future__ import annotations

from benchmarks import scale_model as model
from benchmarks.scale_model import DEFAULT, SIZES, Finding
from benchmarks.scale_numbers import SIMHASH, Numbers, noted, text
from benchmarks.scale_simulation import in_words
from benchmarks.scale_words import rounded, size
from es_simhash.groups.pairs.document_links import ALL, FEW
from es_simhash.plans.find_options import MOST_CANDIDATES

# ---- shards


def shards(numbers: Numbers) -> str:
    """Write about the size of the index, and of the part that is read at random."""
    measured = numbers.measured
    table = noted(
        "Shards",
        ["documents", "shards", "documents a shard", "keys in the index", "keys a shard", "fields of `strict`"],
        f"Computed, for documents of {measured.plain_bytes:,.0f} bytes without our fields, without replicas.",
    )
    for documents in SIZES:
        count = model.shards(documents, numbers.document_bytes)
        table.add(
            f"{documents:,}",
            f"{count:,}",
            f"{documents / count:,.0f}",
            size(documents * measured.key_bytes),
            size(documents * measured.key_bytes / count),
            size(documents * measured.strict_bytes),
        )
    return text(
        table,
        f"""
Shards have {model.SHARD_BYTES / 1e9:.0f} GB, in the middle of the
[advised](https://www.elastic.co/guide/en/elasticsearch/reference/8.15/size-your-shards.html) 10 to 50 GB, and at most
{model.SHARD_DOCUMENTS:,} documents (Lucene's limit is {model.LUCENE_DOCUMENTS:,}, deleted and nested ones included). A
query reads the postings of about {SIMHASH.blocks} or {DEFAULT.bands} keys per shard at random places of *keys in the
index*: these should fit the nodes' page cache. Little of them is on the heap, since the [terms index is
off-heap](https://issues.apache.org/jira/browse/LUCENE-8635). During a backfill, updated documents exist twice until
segments are merged: keep as much space free as the index takes. Replicas multiply everything.
""",
    )


# ---- query


def query(numbers: Numbers) -> str:
    """Write about the time of a search."""
    measured, finding = numbers.measured, Finding.of(numbers.measured)
    table = noted(
        "A search by MinHash, texts compared",
        [
            *("documents", "shards", "server work, at most, ms"),
            *("candidates, default", "find, ms", f"candidates, {in_words(numbers.largest)}", "find, ms"),
        ],
        "Computed, for nodes with a free core per shard.",
    )
    for documents in SIZES:
        count = model.shards(documents, numbers.document_bytes)
        default, largest = (documents * numbers.false_share(bands) for bands in (DEFAULT.layout, numbers.largest))
        table.add(
            f"{documents:,}",
            f"{count:,}",
            rounded(count * measured.minhash_ms),
            f"{rounded(default)}{' *' if default > MOST_CANDIDATES else ''}",
            rounded(finding(default)),
            rounded(largest),
            rounded(finding(largest)),
        )
    return text(
        table,
        f"""
\\* `find` stops at {MOST_CANDIDATES:,}, and reports `complete=False`.

Looking up keys takes the same time in a larger shard: {measured.layout_ms} ms among {measured.layout_documents:,.0f}
documents, {measured.minhash_ms} ms among a million (a `term` query: {measured.term_ms} ms), on merged segments. Each
shard repeats it. A search takes {finding.request:.1f} ms, plus {1000 * finding.candidate:.0f} µs per candidate to fetch
and compare it, and {1000 * finding.text:.0f} µs to read its text; keys decide how many there are.
""",
    )


# ---- backfill


def backfill(numbers: Numbers) -> str:
    """Write about the time of a backfill and its limit."""
    measured = numbers.measured
    return text(
        f"""
Computed from {measured.backfill_rate:,.0f} documents a second, measured on a million; a machine is client and server
together, with two cores. That M machines are M times as fast is assumed. The server is the bottleneck, since it writes
each document anew: the client computes {measured.backfill_client:.0f}% of the time, so one client keeps
{100 / measured.backfill_client:.1f} such servers busy. Add nodes first, then clients with `--shard 1/M`
([backfill.md](backfill.md#the-run)). Two parallel slices on one machine do not help: {measured.two_slices_rate:,.0f}
documents a second, and {measured.one_slice_rate:,.0f} with one.
""",
    )


# ---- groups


def groups(numbers: Numbers) -> str:
    """Write about the resources of a group run, and the pairs that it may miss."""
    measured = numbers.measured
    one = noted(
        "A group run on one machine",
        [
            *("documents", "read", "kept", "links, in memory"),
            "a table of keys, sorted",
            "shuffled by Spark",
        ],
        "Computed, by MinHash.",
    )
    for documents in SIZES:
        one.add(
            f"{documents:,}",
            *(size(documents * each) for each in (measured.default_bytes, model.KEPT_BYTES, model.UNION_BYTES)),
            size(documents * model.SORTED_BYTES),
            size(documents * model.grouped_by(0.6).count * model.SPARK_ROW_BYTES),
        )
    return text(
        one,
        f"""
What is *kept* goes to temporary files once it exceeds the memory. Keys are sorted there, table by table, in runs that
are merged. The [time above](#in-short) is that without comparing pairs. [Spark](spark.md) divides keys over machines;
even a key that 5% of the documents share leaves them balanced.

If more than {ALL} documents share a key, it is *crowded*: each further document is compared with {FEW} only. Pairs that
meet in crowded keys alone may be missed ([how many](#in-short)); `left_out` counts what was not compared. Ask for a
higher similarity, or use a layout with more rows.
""",
    )
