"""Fingerprints of any features, and the keys that find them: SimHash, MinHash, blocks and bands.

Import the modules `simhash`, `hamming`, `minhash` and `similarity` from here as well.

    from es_simhash.sketches import Blocks, hamming, simhash
"""

from __future__ import annotations

from es_simhash._core.exports import lazily

TYPE_CHECKING = False  # loading `typing` for it takes longer than all else here
if TYPE_CHECKING:
    from es_simhash.sketches.all_pairs import iter_self_join, self_join
    from es_simhash.sketches.bands import Bands
    from es_simhash.sketches.blocks import Blocks, PrefixTables
    from es_simhash.sketches.in_memory import SEARCHES, Search, SearchResult
    from es_simhash.sketches.minhash.codec import SignatureCodec
    from es_simhash.sketches.minhash.common import standard_error
    from es_simhash.sketches.tradeoffs import block_candidates, manku_postings
    from es_simhash.text.features import FeatureBatch

_NAMES = {
    "sketches.all_pairs": "iter_self_join self_join",
    "sketches.bands": "Bands",
    "sketches.blocks": "Blocks PrefixTables",
    "sketches.in_memory": "SEARCHES Search SearchResult",
    "sketches.minhash.codec": "SignatureCodec",
    "sketches.minhash.common": "standard_error",
    "sketches.tradeoffs": "block_candidates manku_postings",
    "text.features": "FeatureBatch",
}

__all__ = [
    "SEARCHES",
    "Bands",
    "Blocks",
    "FeatureBatch",
    "PrefixTables",
    "Search",
    "SearchResult",
    "SignatureCodec",
    "block_candidates",
    "iter_self_join",
    "manku_postings",
    "self_join",
    "standard_error",
]

__getattr__, __dir__ = lazily(__name__, _NAMES)
