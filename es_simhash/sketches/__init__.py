"""Fingerprints of any features, and the keys that find them: SimHash, MinHash, blocks and bands.

Import the modules `simhash`, `hamming`, `minhash` and `similarity` from here as well.

    from es_simhash.sketches import Blocks, hamming, simhash
"""

from __future__ import annotations

from es_simhash._core import lazily

TYPE_CHECKING = False  # loading `typing` for it takes longer than all else here
if TYPE_CHECKING:
    from es_simhash.sketches.in_memory import SEARCHES, Search, SearchResult, iter_self_join, self_join
    from es_simhash.sketches.keys import Bands, Blocks, PrefixTables, block_candidates, manku_postings
    from es_simhash.sketches.minhash.common import SignatureCodec, standard_error
    from es_simhash.text.features import FeatureBatch

_NAMES = {
    "sketches.in_memory": "iter_self_join self_join SEARCHES Search SearchResult",
    "sketches.keys": "Bands Blocks PrefixTables block_candidates manku_postings",
    "sketches.minhash.common": "SignatureCodec standard_error",
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
