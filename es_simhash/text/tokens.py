"""The kinds of tokens that texts are cut into, and Chinese words by a dictionary.

Each kind is a frozen dataclass with a method ``cut``, from a batch of normalised texts to their tokens, with weights if
the kind has any of its own. A new kind is one class here and one line in `KINDS`.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from itertools import chain
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, cast, get_args

from es_simhash.errors import MissingExtraError, SchemeError, TextError
from es_simhash.text.features import TextBatch, Weights, check_weights
from es_simhash.text.numbers import run_and_number_spans
from es_simhash.text.words import (
    ALPHANUMERIC,
    Spans,
    char_spans,
    properties_table,
    run_spans,
    spans_from_lists,
    word_spans,
)

_LARGEST_N = 1_000_000
# What a JSON form leaves out, for kinds that got settings later: the ids of schemes stay.
_LEFT_OUT: dict[str, dict[str, Any]] = {"runs": {"dense": 2}}

# Characters of a run that begins in a dense script.
DenseRun: TypeAlias = Literal[2, 3]
Cut: TypeAlias = tuple[Spans, Weights | None]
Pairs: TypeAlias = Iterable[str] | Iterable[tuple[str, float]]


class Tokens(Protocol):
    """What a scheme needs of a kind of tokens."""

    kind: ClassVar[str]

    def cut(self, batch: TextBatch) -> Cut:
        """Return the tokens of each text, and their weights if they have any of their own."""
        ...


@dataclass(frozen=True)
class Chars:
    """Character n-grams, which need no spaces and so suit every language."""

    n: int = 5
    kind: ClassVar[str] = "chars"

    def __post_init__(self) -> None:
        check_n(self.n)

    def cut(self, batch: TextBatch) -> Cut:
        """Return every window of n code points."""
        return char_spans(batch, self.n), None


@dataclass(frozen=True)
class Runs:
    """Runs of 2 or 3 characters in Han, kana and hangul, of 5 in other scripts (see `es_simhash.text.words`).

    ``dense`` is how many characters a run has that begins in a dense script.
    """

    dense: DenseRun = 2
    kind: ClassVar[str] = "runs"

    def __post_init__(self) -> None:
        if not isinstance(self.dense, int) or self.dense not in get_args(DenseRun):
            raise SchemeError(f"Runs cannot have dense={self.dense!r}. Choose 2 or 3.")

    def cut(self, batch: TextBatch) -> Cut:
        """Return the run that begins at each position."""
        return run_spans(batch, self.dense), None


@dataclass(frozen=True)
class RunsAndNumbers:
    """Runs without numbers, and the numbers, each as much as seven runs (see `es_simhash.text.numbers`)."""

    kind: ClassVar[str] = "runs-and-numbers"

    def cut(self, batch: TextBatch) -> Cut:
        """Return the runs of the masked text, and the tokens of its numbers."""
        return run_and_number_spans(batch), None


@dataclass(frozen=True)
class Words:
    """Runs of n words by Unicode's word boundaries, without the stop words."""

    n: int = 1
    stop_words: frozenset[str] = frozenset()
    kind: ClassVar[str] = "words"

    def __post_init__(self) -> None:
        check_n(self.n)
        object.__setattr__(self, "stop_words", check_stop_words(self.stop_words))

    def cut(self, batch: TextBatch) -> Cut:
        """Return every run of n words, joined by spaces."""
        return _shingles(word_spans(batch), self.stop_words, self.n), None


@dataclass(frozen=True)
class Chinese:
    """Runs of n Chinese words as jieba cuts them, without the stop words; the backend rjieba is faster."""

    backend: Backend = "jieba"
    n: int = 1
    stop_words: frozenset[str] = frozenset()
    kind: ClassVar[str] = "chinese"

    def __post_init__(self) -> None:
        check_n(self.n)
        object.__setattr__(self, "stop_words", check_stop_words(self.stop_words))
        if self.backend not in get_args(Backend):
            raise SchemeError(f"Unknown backend {self.backend!r} for Chinese words. Choose jieba or rjieba.")

    def cut(self, batch: TextBatch) -> Cut:
        """Return every run of n words, joined by spaces."""
        words = spans_from_lists([cut(text, self.backend) for text in batch.texts()])
        return _shingles(words, self.stop_words, self.n), None


@dataclass(frozen=True)
class Keywords:
    """The top keywords of Chinese texts with jieba's weights, by TF-IDF or TextRank."""

    method: Method = "tfidf"
    top: int = 22
    kind: ClassVar[str] = "keywords"

    def __post_init__(self) -> None:
        check_n(self.top, "top")
        if self.method not in get_args(Method):
            raise SchemeError(f"Unknown keyword method {self.method!r}. Choose tfidf or textrank.")

    def cut(self, batch: TextBatch) -> Cut:
        """Return the keywords and their weights."""
        return cut_given([keywords(text, self.method, self.top) for text in batch.texts()])


@dataclass(frozen=True)
class Custom:
    """A caller's own function from a normalised text to tokens, or to (token, weight) pairs.

    The name represents the function in the scheme's JSON form and id: give a changed function another name.
    """

    name: str
    function: Callable[[str], Pairs] = field(compare=False)
    kind: ClassVar[str] = "custom"

    def cut(self, batch: TextBatch) -> Cut:
        """Return what the function returns."""
        return cut_given([self.function(text) for text in batch.texts()])


def check_n(n: int, name: str = "n") -> None:
    """Refuse what is not a whole number from 1, or absurdly large."""
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= _LARGEST_N:
        raise SchemeError(f"Tokens cannot have {name}={n!r}. Choose a whole number from 1 to {_LARGEST_N:,}.")


def check_stop_words(stop_words: Iterable[str]) -> frozenset[str]:
    """Return the stop words as a set; refuse what is not a collection of strings."""
    if isinstance(stop_words, str) or not isinstance(stop_words, Iterable):
        raise SchemeError(f"The stop words are {stop_words!r}. Give a set or a list of words.")
    words = frozenset(stop_words)
    if not all(isinstance(word, str) for word in words):
        raise SchemeError("A stop word is not a string. Give a set or a list of words.")
    return words


Backend = Literal["jieba", "rjieba"]

Method = Literal["tfidf", "textrank"]

KINDS: dict[str, type[Chars | Runs | RunsAndNumbers | Words | Chinese | Keywords | Custom]] = {
    kind.kind: kind for kind in (Chars, Runs, RunsAndNumbers, Words, Chinese, Keywords, Custom)
}


def tokens_to_json(tokens: Tokens) -> dict[str, Any]:
    """Return the JSON form: the kind and its settings, without functions."""
    names = [setting.name for setting in fields(cast("Any", tokens)) if setting.name != "function"]
    values = {name: getattr(tokens, name) for name in names}
    left_out = _LEFT_OUT.get(tokens.kind, {})
    return {"kind": tokens.kind} | {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in values.items()
        if left_out.get(name) != value
    }


def tokens_from_json(form: dict[str, Any], functions: Mapping[str, Any]) -> Tokens:
    """Read tokens from their JSON form; a custom one takes its function from ``functions`` by name."""
    settings = dict(form) if isinstance(form, dict) else {}
    kind = KINDS.get(settings.pop("kind", ""))
    if kind is None:
        raise SchemeError(f"{form!r} is not a kind of tokens. Choose from: {', '.join(KINDS)}.")
    if kind is Custom:
        name = settings.get("name", "")
        if name not in functions:
            raise SchemeError(
                f"The scheme cuts texts with the function {name!r}. Pass it as functions={{{name!r}: …}}."
            )
        settings["function"] = functions[name]
    try:
        return kind(**_LEFT_OUT.get(kind.kind, {}) | settings)
    except TypeError:
        raise SchemeError(f"{form!r} are not settings of {kind.kind} tokens. Compare with the documentation.") from None


def cut_given(lists: Sequence[Iterable[Any]]) -> Cut:
    """Return tokens given as strings, or as (token, weight) pairs, a list a text."""
    listed = [_listed(tokens, text) for text, tokens in enumerate(lists)]
    if not any(map(_is_weighted, listed)):
        return spans_from_lists(listed), None
    pairs = [_pairs(tokens, text) for text, tokens in enumerate(listed)]
    spans = spans_from_lists([[token for token, _ in each] for each in pairs])
    return spans, check_weights(weight for each in pairs for _, weight in each)


def _listed(tokens: Iterable[Any], text: int) -> list[Any]:
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):
        raise TextError(f"is a {type(tokens).__name__}, not a list of tokens. Give a list.", text)
    return tokens if isinstance(tokens, list) else list(tokens)


def _is_weighted(tokens: list[Any]) -> bool:
    return bool(tokens) and isinstance(tokens[0], tuple | list)


def _pairs(tokens: list[Any], text: int) -> list[Any]:
    if not _is_weighted(tokens):
        return [(token, 1) for token in tokens]
    if all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in tokens):
        return tokens
    raise TextError("has tokens that are neither all strings nor all (string, number) pairs. Correct them.", text)


def _shingles(words: Spans, stop_words: frozenset[str], n: int) -> Spans:
    kept = words.without(stop_words) if stop_words else words
    return kept.shingles(n)


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
