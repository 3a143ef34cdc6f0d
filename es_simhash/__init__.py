"""Near-duplicate detection for the Elasticsearch or OpenSearch index that you already have.

The names here are for users: a `Scheme` says how texts become fingerprints, and makes them. Kernels and searches are
libraries of their own: `es_simhash.simhash`, `es_simhash.minhash`, `es_simhash.hamming`, `es_simhash.similarity`,
`es_simhash.blocks`, `es_simhash.manku`, `es_simhash.bands`, `es_simhash.search`, `es_simhash.self_join` and
`es_simhash.planning`.
"""

from es_simhash._version import __version__
from es_simhash.errors import (
    EsSimhashError,
    FormatError,
    HashError,
    InputError,
    MissingExtraError,
    SchemeError,
    TextError,
    WeightError,
)
from es_simhash.fingerprint import Fingerprint, Fingerprints
from es_simhash.hashing.registry import HashFunction, custom_hash
from es_simhash.idf import IdfTable
from es_simhash.presets import PRESETS
from es_simhash.scheme import Scheme
from es_simhash.settings import MinHash, SimHash
from es_simhash.stop_words import load_stop_words
from es_simhash.text.normalise import Normalisation
from es_simhash.tokens.kinds import Chars, Chinese, Custom, Keywords, Words

__all__ = [
    "PRESETS",
    "Chars",
    "Chinese",
    "Custom",
    "EsSimhashError",
    "Fingerprint",
    "Fingerprints",
    "FormatError",
    "HashError",
    "HashFunction",
    "IdfTable",
    "InputError",
    "Keywords",
    "MinHash",
    "MissingExtraError",
    "Normalisation",
    "Scheme",
    "SchemeError",
    "SimHash",
    "TextError",
    "WeightError",
    "Words",
    "__version__",
    "custom_hash",
    "load_stop_words",
]
