"""The keywords of a Chinese text, by the two methods of jieba.

- ``tfidf``: a word's share of the text times its inverse document frequency in jieba's table, or the median
  of the table for words which are not in it.
- ``textrank``: a word's rank in the graph of nouns and verbs that stand at most four words apart,
  WS(v) = (1 - d) + d · Σ w(u, v) / Σ w(u, ·) · WS(u) with d = 0.85, ten times over, scaled to a maximum of 1.
  Mihalcea and Tarau, TextRank: Bringing Order into Texts, EMNLP 2004.

Both leave out words of one character and some English stop words. The weights are those of jieba. Words of the same
weight are in the order of their code points, so the result depends only on the text and jieba's data, not on Python's
version or hash seed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from es_simhash.errors import SchemeError
from es_simhash.text.tokens.chinese import jieba_tokenizer, loading
from es_simhash.text.units import check_texts

Method = Literal["tfidf", "textrank"]


def keywords(text: str, method: Method = "tfidf", top: int = 22) -> list[tuple[str, float]]:
    """Return the ``top`` keywords of a text with their weights, the heaviest first."""
    if method not in _EXTRACTORS:
        raise SchemeError(f"{method!r} is not a way to find keywords. Choose one of {', '.join(_EXTRACTORS)}.")
    if not isinstance(top, int) or top < 1:
        raise SchemeError(f"There cannot be {top!r} keywords. Choose a whole number from 1.")
    check_texts([text])
    weighted: list[tuple[str, float]] = _EXTRACTORS[method]().extract_tags(text, topK=None, withWeight=True)
    return sorted(weighted, key=lambda pair: (-pair[1], pair[0]))[:top]


@cache
def _tfidf() -> Any:
    tokenizer = jieba_tokenizer()
    with loading("jieba", extra="chinese"):
        from jieba.analyse import TFIDF

        extractor = TFIDF()
    extractor.tokenizer = tokenizer
    return extractor


@cache
def _textrank() -> Any:
    tokenizer = jieba_tokenizer()
    with loading("jieba", extra="chinese"):
        from jieba.analyse import TextRank
        from jieba.posseg import POSTokenizer

        extractor = TextRank()
        extractor.tokenizer = POSTokenizer(tokenizer)
    return extractor


_EXTRACTORS: dict[str, Callable[[], Any]] = {"tfidf": _tfidf, "textrank": _textrank}
