"""Analyzers: how a text is split into the words under which it is found.

Each returns the words as one text, with a space between each two, as the store takes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

from es_simhash._core.native import by_kernels
from es_simhash.text.tokens.words import words

# Longer words are split, as by Elasticsearch's tokenizers.
_LONGEST = 255
# Texts whose words are found without Unicode's rules.
_PLAIN = re.compile(r"[A-Za-z0-9 ]*")


def whitespace(text: str) -> str:
    """Split a text at white space."""
    return _joined(text.split(), len(text))


def standard(text: str) -> str:
    """Split a text at Unicode's default word boundaries, in lower case; each ideograph is a word."""
    if _PLAIN.fullmatch(text):
        return _joined(text.lower().split(), len(text))
    found = by_kernels(lambda kernels: cast(str, kernels.words(text, _LONGEST)))
    return (_joined(words(text), len(text)) if found is None else found).lower()


def _joined(found: list[str], length: int) -> str:
    """Join the words of a text of this length, the long ones in pieces."""
    if length > _LONGEST and max(map(len, found), default=0) > _LONGEST:
        found = [word[start : start + _LONGEST] for word in found for start in range(0, len(word), _LONGEST)]
    return " ".join(found)


ANALYZERS: dict[str, Callable[[str], str]] = {"standard": standard, "whitespace": whitespace}
