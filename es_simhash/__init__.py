"""Near-duplicate detection for the Elasticsearch or OpenSearch index that you already have.

The names here are for users: a `Scheme` says how texts become fingerprints, and makes them. Kernels and searches are
libraries of their own: `es_simhash.simhash`, `es_simhash.minhash`, `es_simhash.hamming`, `es_simhash.similarity`,
`es_simhash.blocks`, `es_simhash.manku`, `es_simhash.bands`, `es_simhash.search`, `es_simhash.self_join` and
`es_simhash.planning`.
"""

from __future__ import annotations

from importlib import import_module

from es_simhash._version import __version__

TYPE_CHECKING = False  # loading `typing` for it takes longer than all else here
if TYPE_CHECKING:
    from es_simhash.documents import Documents, Rejected
    from es_simhash.errors import (
        AccessError,
        ClientVersionError,
        DocumentError,
        EngineError,
        EsSimhashError,
        FormatError,
        HashError,
        IndexStateError,
        InputError,
        InUseError,
        MappingError,
        MissingError,
        MissingExtraError,
        ReaderLostError,
        SchemeError,
        SchemeMismatchError,
        ScriptError,
        StorageError,
        TextError,
        TooLargeError,
        UnavailableError,
        UnreachableError,
        WeightError,
        WorkerError,
        WritesLostError,
    )
    from es_simhash.fingerprint import Fingerprint, Fingerprints
    from es_simhash.hashing.registry import HashFunction, custom_hash
    from es_simhash.idf import IdfTable
    from es_simhash.index import AsyncIndex, Index
    from es_simhash.presets import PRESETS
    from es_simhash.rerank import Match, Matches
    from es_simhash.scheme import Scheme
    from es_simhash.settings import Layout, MinHash, SimHash
    from es_simhash.stop_words import load_stop_words
    from es_simhash.text.normalise import Normalisation
    from es_simhash.tokens.kinds import Chars, Chinese, Custom, Keywords, Words

# Modules are loaded when a name of theirs is first asked for: the command line answers before numpy is there.
_MODULES = {
    "documents": ("Documents", "Rejected"),
    "errors": (
        "AccessError",
        "ClientVersionError",
        "DocumentError",
        "EngineError",
        "EsSimhashError",
        "FormatError",
        "HashError",
        "IndexStateError",
        "InputError",
        "InUseError",
        "MappingError",
        "MissingError",
        "MissingExtraError",
        "ReaderLostError",
        "SchemeError",
        "SchemeMismatchError",
        "ScriptError",
        "StorageError",
        "TextError",
        "TooLargeError",
        "UnavailableError",
        "UnreachableError",
        "WeightError",
        "WorkerError",
        "WritesLostError",
    ),
    "fingerprint": ("Fingerprint", "Fingerprints"),
    "hashing.registry": ("HashFunction", "custom_hash"),
    "idf": ("IdfTable",),
    "index": ("AsyncIndex", "Index"),
    "presets": ("PRESETS",),
    "rerank": ("Match", "Matches"),
    "scheme": ("Scheme",),
    "settings": ("Layout", "MinHash", "SimHash"),
    "stop_words": ("load_stop_words",),
    "text.normalise": ("Normalisation",),
    "tokens.kinds": ("Chars", "Chinese", "Custom", "Keywords", "Words"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "PRESETS",
    "AccessError",
    "AsyncIndex",
    "Chars",
    "Chinese",
    "ClientVersionError",
    "Custom",
    "DocumentError",
    "Documents",
    "EngineError",
    "EsSimhashError",
    "Fingerprint",
    "Fingerprints",
    "FormatError",
    "HashError",
    "HashFunction",
    "IdfTable",
    "InUseError",
    "Index",
    "IndexStateError",
    "InputError",
    "Keywords",
    "Layout",
    "MappingError",
    "Match",
    "Matches",
    "MinHash",
    "MissingError",
    "MissingExtraError",
    "Normalisation",
    "ReaderLostError",
    "Rejected",
    "Scheme",
    "SchemeError",
    "SchemeMismatchError",
    "ScriptError",
    "SimHash",
    "StorageError",
    "TextError",
    "TooLargeError",
    "UnavailableError",
    "UnreachableError",
    "WeightError",
    "Words",
    "WorkerError",
    "WritesLostError",
    "__version__",
    "custom_hash",
    "load_stop_words",
]


def __getattr__(name: str) -> object:
    """A public name, from the module that it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__
