"""How a text becomes the terms that it is found by, for each analyzer that mappings can name."""

from __future__ import annotations

import re
from collections.abc import Callable

from es_simhash.text.tokens.words import words

# Longer tokens are cut into pieces, as Elasticsearch's tokenizers do.
_MAX_TOKEN_LENGTH = 255
# Texts whose words can be told without Unicode's rules.
_PLAIN = re.compile(r"[A-Za-z0-9 ]*")


def whitespace(text: str) -> list[str]:
    """The pieces between white space, as they are."""
    return _in_pieces(text.split())


def standard(text: str) -> list[str]:
    """The words by Unicode's default word boundaries, in lower case; an ideograph is a word of its own."""
    if _PLAIN.fullmatch(text):
        return _in_pieces(text.lower().split())
    return [word.lower() for word in _in_pieces(words(text))]


def _in_pieces(tokens: list[str]) -> list[str]:
    if max(map(len, tokens), default=0) <= _MAX_TOKEN_LENGTH:
        return tokens
    starts = ((token, start) for token in tokens for start in range(0, len(token), _MAX_TOKEN_LENGTH))
    return [token[start : start + _MAX_TOKEN_LENGTH] for token, start in starts]


ANALYZERS: dict[str, Callable[[str], list[str]]] = {"standard": standard, "whitespace": whitespace}
