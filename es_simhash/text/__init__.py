"""From texts to weighted features: HTML, normalisation, tokens, hashes, weights.

Public names are imported from here: `from es_simhash.text import Words`.
"""

from __future__ import annotations

from es_simhash._core import lazily

TYPE_CHECKING = False  # loading `typing` for it takes longer than all else here
if TYPE_CHECKING:
    from es_simhash.text.features import IdfTable, load_stop_words
    from es_simhash.text.hashing import HashFunction, custom_hash
    from es_simhash.text.normalise import Normalisation
    from es_simhash.text.tokens import Chars, Chinese, Custom, Keywords, Runs, Words

_NAMES = {
    "text.features": "IdfTable load_stop_words",
    "text.hashing": "HashFunction custom_hash",
    "text.normalise": "Normalisation",
    "text.tokens": "Chars Chinese Custom Keywords Runs Words",
}

__all__ = [
    "Chars",
    "Chinese",
    "Custom",
    "HashFunction",
    "IdfTable",
    "Keywords",
    "Normalisation",
    "Runs",
    "Words",
    "custom_hash",
    "load_stop_words",
]

__getattr__, __dir__ = lazily(__name__, _NAMES)
