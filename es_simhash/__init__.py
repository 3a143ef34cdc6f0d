"""Near-duplicate detection for the Elasticsearch or OpenSearch index that you already have.

Import what you need from here, or from `es_simhash.errors`, `es_simhash.sketches`, `es_simhash.spark` and
`es_simhash.testing`. Everything deeper is private and may move.
"""

from __future__ import annotations

from importlib import import_module

from es_simhash._version import __version__

TYPE_CHECKING = False  # loading `typing` for it takes longer than all else here
if TYPE_CHECKING:
    from es_simhash.documents.documents import Documents, Rejected
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
    from es_simhash.index import AsyncIndex, Index
    from es_simhash.scheme.fingerprint import Fingerprint, Fingerprints
    from es_simhash.scheme.presets import PRESETS
    from es_simhash.scheme.rerank import Match, Matches
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.settings import Layout, MinHash, SimHash
    from es_simhash.text.hashing.registry import HashFunction, custom_hash
    from es_simhash.text.idf import IdfTable
    from es_simhash.text.normalise import Normalisation
    from es_simhash.text.stop_words import load_stop_words
    from es_simhash.text.tokens.kinds import Chars, Chinese, Custom, Keywords, Words

# Modules are loaded when a name of theirs is first asked for: the command line answers before numpy is there.
_MODULES = {
    "documents.documents": ("Documents", "Rejected"),
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
    "scheme.fingerprint": ("Fingerprint", "Fingerprints"),
    "text.hashing.registry": ("HashFunction", "custom_hash"),
    "text.idf": ("IdfTable",),
    "index": ("AsyncIndex", "Index"),
    "scheme.presets": ("PRESETS",),
    "scheme.rerank": ("Match", "Matches"),
    "scheme.scheme": ("Scheme",),
    "scheme.settings": ("Layout", "MinHash", "SimHash"),
    "text.stop_words": ("load_stop_words",),
    "text.normalise": ("Normalisation",),
    "text.tokens.kinds": ("Chars", "Chinese", "Custom", "Keywords", "Words"),
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
