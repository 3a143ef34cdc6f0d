"""The layers of the package: each module may import what stands above it in this list, and its own line."""

from __future__ import annotations

LAYERS = [
    {"errors", "_version", "environment"},
    {"native", "chunks", "ahead"},
    {"files"},
    {"codes", "arrays", "digits", "wording"},
    {"hamming", "text"},
    {"hashing", "stop_words", "features"},
    {"tokens", "bit_counts", "idf"},
    {"simhash", "minhash", "similarity", "blocks"},
    {"manku", "bands", "native_kernels"},
    {"planning"},
    {"search", "self_join", "settings", "fingerprint"},
    {"weighed", "held"},
    {"presets", "fingerprinting", "scheme_json", "fields", "group_fields", "sources", "source_filter", "conditions"},
    {"mapping", "verification", "bulk_actions"},
    {"query", "distinct_hits", "scripts"},
    {"rerank"},
    {"scheme"},
    {"documents", "operations", "foreign"},
    {"explaining", "pipelines"},
    {"plans", "engines"},
    {"doctor", "dashboards"},
    {"groups", "backfill"},
    {"reindex", "removal"},
    {"dedup"},
    {"grouping"},
    {"spark", "quality"},
    {"index"},
    {"jobs", "demo", "pages"},
    {"cli"},
    {"testing", "__main__"},
    {"__init__"},
]

# What does no I/O: all that stands above the engines, but what reads files; with the plans, groups and pages.
ENGINES = next(level for level, names in enumerate(LAYERS) if "engines" in names)
PURE = set().union(*LAYERS[:ENGINES]) - {"files"} | {"plans", "groups", "pages"}
# What of it can be tested whole; of what numba compiles no coverage can be told.
COVERED = PURE - {"native_kernels", "_version"}
