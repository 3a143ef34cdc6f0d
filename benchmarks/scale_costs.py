"""What so many documents cost: shards, searches, the backfill, and groups."""

from __future__ import annotations

from benchmarks import scale_model as model
from benchmarks.scale_machines import MACHINES
from benchmarks.scale_model import DEFAULT, SIZES, Finding
from benchmarks.scale_numbers import SIMHASH, Numbers, noted, text
from benchmarks.scale_simulation import CROWDED, in_words
from benchmarks.scale_words import duration, rounded, size
from es_simhash.groups.pairs.linking import ALL, FEW
from es_simhash.plans.find_options import MOST_CANDIDATES

_MACHINES, _MEMORIES = (1, 4, 16), (256 << 20, 4 << 30, 64 << 30)


# ---- shards


def shards(numbers: Numbers) -> str:
    """How large the index is, and what of it is read at random."""
    measured = numbers.measured
    keys = measured.block_bytes + measured.band_bytes
    table = noted(
        "Shards",
        [
            *("documents", "index with our fields", "shards", "documents a shard", "of Lucene's limit"),
            *("keys in the index", "keys a shard", "fields of `strict`", "fields of the largest layout"),
        ],
        f"Computed, for documents of {measured.plain_bytes:,.0f} bytes without our fields, without replicas.",
    )
    for documents in SIZES:
        count = model.shards(documents, numbers.document_bytes)
        table.add(
            f"{documents:,}",
            size(documents * numbers.document_bytes),
            f"{count:,}",
            f"{documents / count:,.0f}",
            f"{documents / count / model.LUCENE_DOCUMENTS:.2%}",
            size(documents * keys),
            size(documents * keys / count),
            size(documents * measured.simhash_bytes),
            size(documents * numbers.key_bytes(numbers.largest)),
        )
    return text(
        table,
        f"""
Shards are of {model.SHARD_BYTES / 1e9:.0f} GB, in the middle of the 10 to 50 GB that are
[advised](https://www.elastic.co/guide/en/elasticsearch/reference/8.15/size-your-shards.html), with at
most {model.SHARD_DOCUMENTS:,} documents; Lucene takes {model.LUCENE_DOCUMENTS:,} in one, deleted and nested ones
among them. It is the bytes that decide. `strict` is measured with doc values; the largest layout is
{in_words(numbers.largest)}.

A query reads the postings of some {SIMHASH.blocks} or {DEFAULT.bands} keys a shard, at random places of *keys in the
index*: these bytes should fit the page cache of the nodes. The heap holds little of them, since the [index of terms
lies off it](https://issues.apache.org/jira/browse/LUCENE-8635); how much was not measured. Replicas multiply
everything. While a backfill runs, each document that was updated lies there twice until segments are merged, so have
as much room free as the index takes.
""",
    )


# ---- query


def query(numbers: Numbers) -> str:
    """How long a search takes."""
    measured, finding = numbers.measured, Finding.of(numbers.measured)
    table = noted(
        "A search by MinHash, texts compared",
        [
            *("documents", "shards", "keys looked up", "work of the servers, at most, ms"),
            *("candidates, default", "find, ms", "candidates, largest layout", "find, ms"),
        ],
        "Computed, for nodes that have a free core for each shard.",
    )
    for documents in SIZES:
        count = model.shards(documents, numbers.document_bytes)
        default, largest = (documents * numbers.in_vain(bands) for bands in (DEFAULT.layout, numbers.largest))
        table.add(
            f"{documents:,}",
            f"{count:,}",
            f"{count * DEFAULT.bands:,}",
            rounded(count * measured.minhash_ms),
            f"{rounded(default)}{' *' if default > MOST_CANDIDATES else ''}",
            rounded(finding(default)),
            rounded(largest),
            rounded(finding(largest)),
        )
    return text(
        table,
        f"""
\\* `find` stops at {MOST_CANDIDATES:,}, and says `complete=False`.

- Looking keys up does not grow with the documents of a shard: the bare request took {measured.layout_ms} ms among
  {measured.layout_documents:,.0f}, and {measured.minhash_ms} ms among a million, where a `term` query took
  {measured.term_ms} ms. It is done on every shard, so the work of the servers grows with their number; the time does
  not while there are free cores.
- A candidate costs {1000 * finding.candidate:.0f} µs to fetch and compare, and {1000 * finding.text:.0f} µs more if
  its text is read; without any, a search takes {finding.request:.1f} ms. This is the part that grows, and the one
  that the choice of keys decides. All of it is client and server on one machine with two cores.
- The number of segments of a shard multiplies the look-ups too. It was not measured: all is measured on merged ones.
""",
    )


# ---- backfill


def backfill(numbers: Numbers) -> str:
    """How long a backfill takes, and what bounds it."""
    measured = numbers.measured
    table = noted(
        "Hours of a backfill",
        ["documents", *(f"{machines} machine{'s' if machines > 1 else ''}" for machines in _MACHINES), "written"],
        f"Computed from {measured.backfill_rate:,.0f} documents a second, which one of a million wrote; "
        "each machine is client and server together, with two cores.",
    )
    for documents in SIZES:
        times = [duration(model.backfill_seconds(documents, machines, measured)) for machines in _MACHINES]
        table.add(f"{documents:,}", *times, size(documents * numbers.document_bytes))
    return text(
        table,
        f"""
What bounds it is the server, which writes each document anew: the client computes {measured.backfill_client:.0f}% of
the time, so one could keep {100 / measured.backfill_client:.1f} such servers busy. Hence more nodes with shards of
the index first, and only then `--slice 1/M` on M machines ([backfill.md](backfill.md#the-run)). That several machines
are so many times as fast is assumed, not measured: it was measured that two slices on one machine, which share its
two cores with the server, write {measured.two_slices_rate:,.0f} documents a second where one writes
{measured.one_slice_rate:,.0f}.
""",
    )


# ---- groups


def groups(numbers: Numbers) -> str:
    """How long a group run takes, what it needs, and what it may miss."""
    measured = numbers.measured
    one = noted(
        "A group run on one machine",
        [
            *("documents", "read", "kept", "links, in memory", "one pass"),
            *(f"passes, {memory}" for memory in ("256 MiB", "4 GiB", "64 GiB")),
            "shuffled by Spark",
        ],
        "Computed, by MinHash.",
    )
    for documents in SIZES:
        one.add(
            f"{documents:,}",
            *(size(documents * each) for each in (measured.default_bytes, model.KEPT_BYTES, model.UNION_BYTES)),
            duration(model.grouping_seconds(documents, measured)),
            *(f"{model.passes(documents, memory):,}" for memory in _MEMORIES),
            size(documents * model.grouped_by(0.6).count * model.SPARK_ROW_BYTES),
        )
    return text(
        one,
        f"""
- *Read* is at most the bytes of our fields. *Kept*, of each document {model.KEPT_BYTES} bytes and its id, lies in
  temporary files once it exceeds the memory. *Links* are {model.UNION_BYTES} bytes a document, always in memory.
- A table of keys is sorted in so many parts that each fits `memory`, and is read once for each (*passes*). So with
  the default memory, 256 MiB, the time grows with the square of the documents from
  {rounded(_MEMORIES[0] / model.SORTED_BYTES)} on. *One pass* is the time that was measured for each document, where
  memory suffices and hardly any pair is compared in vain.
- The command `group` has no slices: one machine reads and links. Spark ([spark.md](spark.md)) has a row of
  {model.SPARK_ROW_BYTES} bytes for each key of each document, sorted by keys on many machines.
""",
        numbers.table(CROWDED),
        f"""
A run makes its keys for the similarity that it is asked for, of the values that the fields hold: at .6 of
{model.grouped_by(0.6).rows} rows, at .8 of {model.grouped_by(0.8).rows}. Of a key that more than {ALL} documents
have, not all pairs are made: each further document is compared with {FEW}. So pairs may be missed that meet by crowded
keys only; the run counts what was not compared (`left_out`). Ask for a higher similarity, or make the fields by a
layout with more rows. Comparing the pairs takes time too, which is not in *one pass*. What documents a key has is
reckoned by how often its values are those of other texts, row by row.
""",
        numbers.table(MACHINES),
        """
Half of the documents are in groups, of which few are large. Hashes divide keys evenly; a single key that many
documents have lies on one machine. If all its pairs were made, that machine would have much of the work; with few for
each document beyond the first ones it has little more than the others. Each machine makes stars of its links, and
only these are brought together: that is *links to merge*.
""",
    )
