"""Chinese words by jieba's dictionary and hidden Markov model ("accurate mode"), with jieba or with rjieba.

Tokens without a letter, a digit or an ideograph are dropped: white space, punctuation, symbols.

rjieba (Rust) is some 12 times as fast. It cuts ideographs as jieba does, but does not split Latin that jieba splits
("github.com", "10.0.1.5", "AUTO_INCREMENT"), and it knows ideographs outside U+4E00 to U+9FD5, which jieba does not.
Both differences are removed here in favour of jieba, so that words do not depend on the library. With jieba 0.42.1 and
rjieba 0.2.2 the words were then the same in each of 2,852 pages of Chinese technical documentation (3.4 million words);
without that, they were the same in 8 pages, and 17% of jieba's words, all of them Latin, were not among rjieba's.

The words depend only on the text and the dictionary in the library: not on Python's version or hash seed, not on user
dictionaries that were loaded elsewhere in the process, and not on the cache that jieba keeps in a temporary file.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Literal

from es_simhash.errors import MissingExtraError
from es_simhash.text.tokens.words import ALPHANUMERIC, properties_table

Backend = Literal["jieba", "rjieba"]

# Ideographs for which jieba has no word and no model: each is a word of its own.
_UNKNOWN_IDEOGRAPH = re.compile("([\u3400-\u4dbf\u9fd6-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])")
# How jieba splits what is not in its dictionary, and the words of its dictionary that this would split.
_LATIN_WORD = re.compile(r"[a-zA-Z0-9]+(?:\.[0-9]+)?%?")
_LATIN_WORDS_WITH_SIGNS = frozenset({"AT&T", "C#", "C++", "c#", "c++"})


def cut(text: str, backend: Backend) -> list[str]:
    """Return the words of a Chinese text, its Latin words and numbers included."""
    return list(chain.from_iterable(map(_words_of_token, _BACKENDS[backend](text))))


@cache
def jieba_tokenizer() -> Any:
    """Return a tokenizer of jieba with its own dictionary and nothing else."""
    with loading("jieba", extra="chinese"):
        import jieba

        tokenizer = jieba.Tokenizer()
        dictionary = tokenizer.get_dict_file()
    # As `Tokenizer.initialize`, without its messages and its cache file, which anyone can write.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(dictionary)
    tokenizer.initialized = True
    return tokenizer


@contextmanager
def loading(library: str, extra: str) -> Iterator[None]:
    """Import an optional library and read its data, without the warnings that its age causes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except ModuleNotFoundError:
            raise MissingExtraError(library, extra) from None


# rjieba before 0.2.2 splits this elsewhere; its words would give other fingerprints under the same scheme id.
_AS_JIEBA_SPLITS = ["1", "+", "1.5"]


@cache
def _rjieba_cut() -> Callable[[str], list[str]]:
    with loading("rjieba", extra="fast"):
        import rjieba
    own_dictionary = rjieba.Jieba()
    cut_by_it: Callable[[str], list[str]] = own_dictionary.cut
    if cut_by_it("".join(_AS_JIEBA_SPLITS)) != _AS_JIEBA_SPLITS:
        raise MissingExtraError("A rjieba that splits texts as jieba does (0.2.2 or later)", extra="fast")
    return cut_by_it


def _cut_by_jieba(text: str) -> Iterable[str]:
    tokens: Iterable[str] = jieba_tokenizer().cut(text)
    return tokens


def _cut_by_rjieba(text: str) -> Iterable[str]:
    return chain.from_iterable(map(_rjieba_cut(), _UNKNOWN_IDEOGRAPH.split(text)))


_BACKENDS: dict[str, Callable[[str], Iterable[str]]] = {"jieba": _cut_by_jieba, "rjieba": _cut_by_rjieba}


@lru_cache(maxsize=1 << 16)
def _words_of_token(token: str) -> tuple[str, ...]:
    """Return the word that a token is, or its words; none if it has nothing alphanumeric."""
    if token.isascii() and token not in _LATIN_WORDS_WITH_SIGNS:
        return tuple(_LATIN_WORD.findall(token))
    table = properties_table()
    return (token,) if any(table[ord(character)] & ALPHANUMERIC for character in token) else ()


Method = Literal["tfidf", "textrank"]


def keywords(text: str, method: Method = "tfidf", top: int = 22) -> list[tuple[str, float]]:
    """Return the ``top`` keywords of a text with their weights, the heaviest first."""
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
