"""What keys find and take, in words and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from es_simhash._core.humanize import rounded
from es_simhash.scheme.sized_keys import keys_in_words

if TYPE_CHECKING:
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.sized_keys import KeyLoad


def keys_json(scheme: Scheme, load: KeyLoad) -> dict[str, Any]:
    """Return keys and their load as JSON."""
    simhash, minhash = scheme.simhash, scheme.minhash
    return {
        "bands": minhash.bands if minhash else None,
        "rows": minhash.rows if minhash else None,
        "key_bits": minhash.key_bits if minhash else None,
        "blocks": simhash.blocks if simhash else None,
        "documents": load.documents,
        "similarity": load.similarity,
        "recall": load.recall,
        "false_by_bands": load.by_bands,
        "false_by_blocks": load.by_blocks,
        "bytes": load.bytes,
        "is_outgrown": load.is_outgrown,
    }


def describe_keys(scheme: Scheme, load: KeyLoad) -> str:
    """Describe keys, and what they find and take, in a sentence."""
    found = f"find {load.recall:.1%} of the pairs of similarity {load.similarity:g}, and " if load.recall else ""
    return (
        f"{keys_in_words(scheme)}: among {load.documents:,} documents they {found}meet about "
        f"{rounded(load.false_candidates)} others in vain, in {load.bytes:,} bytes a document"
    )
