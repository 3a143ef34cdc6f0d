"""The kinds of tokens that texts are cut into: values in a scheme, with a JSON form.

Each kind is a frozen dataclass with a method ``cut``, from a batch of normalised texts to their tokens, with weights if
the kind has any of its own. A new kind is one class here and one line in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, cast, get_args

from es_simhash.errors import SchemeError, TextError
from es_simhash.text.features import TextBatch, Weights, check_weights
from es_simhash.text.tokens.chinese import Backend, Method, keywords
from es_simhash.text.tokens.chinese import cut as cut_chinese
from es_simhash.text.tokens.numbers import run_and_number_spans
from es_simhash.text.tokens.runs import char_spans, run_spans
from es_simhash.text.tokens.words import Spans, spans_from_lists, word_spans

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
    """Runs of 2 or 3 characters in Han, kana and hangul, of 5 in other scripts (see `es_simhash.text.tokens.runs`).

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
    """Runs without numbers, and the numbers, each as much as seven runs (see `es_simhash.text.tokens.numbers`)."""

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
        words = spans_from_lists([cut_chinese(text, self.backend) for text in batch.texts()])
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


def _shingles(words: Spans, stop_words: frozenset[str], n: int) -> Spans:
    kept = words.without(stop_words) if stop_words else words
    return kept.shingles(n)
