"""The settings of a scheme: every choice between a text and its fingerprint, checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, get_args

from es_simhash._core.arrays import words_per_code
from es_simhash._core.environment import by_kernels, native
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import Result, Shown
from es_simhash.errors import SchemeError
from es_simhash.scheme.verification import Verification, check_similarity
from es_simhash.sketches.keys import BITS_A_DIGIT, MAX_KEYED_BLOCKS, Bands, Blocks, least_shared
from es_simhash.sketches.minhash import k_hash, one_permutation, weighted
from es_simhash.sketches.minhash.common import Signatures, check_size, check_value_bits
from es_simhash.text.features import FeatureBatch, IdfTable
from es_simhash.text.hashing import DEFAULT, HASH_FUNCTIONS, HashFunction, hash_function
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens import KINDS, Chars, Custom, Keywords, Runs, RunsAndNumbers, Tokens, Words

if TYPE_CHECKING:
    from es_simhash_native import Fingerprinter


# The weight of a feature: "set" 1, however often it occurs in the text; "tf" its occurrences; "idf" its inverse
# document frequency; "tfidf" their product; "own" the weight that comes with the token.
Weights: TypeAlias = Literal["set", "tf", "idf", "tfidf", "own"]

MINHASH_KINDS: dict[str, Callable[[FeatureBatch, int], Signatures]] = {
    "one-permutation": one_permutation.signatures,
    "k-hash": k_hash.signatures,
    "weighted": weighted.signatures,
}


# Of passages: longer runs are hardly ever quoted without a change.
MAX_WORDS, MAX_WINDOW = 100, 1000

# Engines take queries of 1,024 clauses, and a filter of the user's own needs some.
MAX_KEYS = 1000

# How a document stores the keys: all of a kind in one text field, separated by spaces; in one keyword field of many
# values; or each in a keyword field of its own.
KeyForm: TypeAlias = Literal["text", "keyword", "fields"]
# How a document stores the SimHash: in a field of its own, or as the keys of its blocks alone, which hold all its bits.
SimHashForm: TypeAlias = Literal["field", "blocks"]


@dataclass(frozen=True)
class Layout:
    """How a document's fields store a fingerprint (see `es_simhash.scheme.own_fields`).

    The keys of MinHash hold the lowest bits of the signature, which suffice to estimate similarities. With
    ``signature_bits`` the signature is stored as well, with that many bits of each value. Without ``doc_values`` of the
    SimHash, the engine's scripts and aggregations cannot read it, and a document takes some 16 bytes less; with a
    ``simhash`` in ``blocks`` alone, some 23 bytes less again.

    >>> Scheme(layout=Layout(simhash="blocks")).layout.simhash
    'blocks'
    """

    keys: KeyForm = "text"
    signature_bits: int = 0
    doc_values: bool = True
    simhash: SimHashForm = "field"

    def __post_init__(self) -> None:
        if self.keys not in get_args(KeyForm):
            raise SchemeError(f"Keys cannot lie as {self.keys!r}. Choose from: {', '.join(get_args(KeyForm))}.")
        if self.simhash not in get_args(SimHashForm):
            raise SchemeError(
                f"A SimHash cannot lie as {self.simhash!r}. Choose from: {', '.join(get_args(SimHashForm))}."
            )
        if self.signature_bits != 0:
            check_value_bits(self.signature_bits)
        if not isinstance(self.doc_values, bool):
            raise SchemeError(f"Doc values cannot be {self.doc_values!r}. Choose True or False.")


@dataclass(frozen=True)
class SimHash:
    """A SimHash of ``bits`` bits in ``blocks`` blocks, which find every document within ``distance`` bits.

    >>> Scheme(simhash=SimHash(blocks=8, distance=5)).simhash.distance
    5
    """

    bits: int = 64
    blocks: int = 6
    distance: int = 3

    def __post_init__(self) -> None:
        self.layout.min_shared(self.distance)
        if self.blocks > MAX_KEYED_BLOCKS:
            raise SchemeError(f"{self.blocks} blocks have no keys. Choose at most {MAX_KEYED_BLOCKS} blocks.")

    @cached_property
    def layout(self) -> Blocks:
        """The blocks."""
        return Blocks(self.bits, self.blocks)


@dataclass(frozen=True)
class MinHash:
    """A MinHash signature of ``size`` values, found by ``bands`` bands of ``rows`` rows; several must agree.

    ``similarity`` is the minimum Jaccard similarity of a match, unless a query asks for another; by it and the bands it
    is known how many of these a candidate must share (`shared`).

    >>> Scheme(minhash=MinHash(bands=42)).minhash.bands
    42
    """

    kind: str = "one-permutation"
    size: int = 128
    bands: int = 36
    rows: int = 3
    key_bits: int = 24
    similarity: float = 0.6

    def __post_init__(self) -> None:
        if self.kind not in MINHASH_KINDS:
            raise SchemeError(f"Unknown MinHash kind {self.kind!r}. Choose from: {', '.join(MINHASH_KINDS)}.")
        check_size(self.size)
        if self.layout.count * self.layout.rows > self.size:
            raise SchemeError(
                f"{self.bands} bands of {self.rows} rows need a signature of {self.bands * self.rows} values, not "
                f"{self.size}. Choose a larger size or fewer bands."
            )
        if self.key_bits % BITS_A_DIGIT:
            raise SchemeError(f"Keys of {self.key_bits} bits do not fill base64 digits. Choose a multiple of 6.")
        check_similarity(self.similarity)

    @property
    def is_weighted(self) -> bool:
        """Whether the signature depends on the weights of the features."""
        return self.kind == "weighted"

    @cached_property
    def layout(self) -> Bands:
        """The bands."""
        return Bands(self.bands, self.rows, self.key_bits)

    @property
    def shared(self) -> int:
        """How many bands a candidate shares at least, as nearly all pairs of the ``similarity`` do."""
        return least_shared(self.layout, self.similarity)


@dataclass(frozen=True)
class Passages:
    """Keys of passages, by which texts are found that contain one another (see `es_simhash.scheme.passages`).

    A passage is a run of words that two texts have in common, ``words`` or more; an ideograph or Hiragana is a word.
    Texts with a run of ``words + window - 1`` in common always share a key of ``key_bits`` bits. A larger ``window``
    makes fewer keys: about ``2 / (window + 1)`` of the number of words.

    >>> Passages(words=6, window=16).guarantee
    21
    """

    words: int = 6
    window: int = 16
    key_bits: int = 36

    def __post_init__(self) -> None:
        for name, most in (("words", MAX_WORDS), ("window", MAX_WINDOW)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
                raise SchemeError(f"Passages cannot have {name}={value!r}. Choose a whole number from 1 to {most}.")
        if self.key_bits not in range(24, 61, BITS_A_DIGIT):
            raise SchemeError(f"Keys of passages cannot have {self.key_bits!r} bits. Choose 24, 30, 36, … 60.")

    @property
    def guarantee(self) -> int:
        """The number of words from which a common run is always found."""
        return self.words + self.window - 1

    @property
    def key_digits(self) -> int:
        """The number of characters of a key."""
        return self.key_bits // BITS_A_DIGIT


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How texts become fingerprints, and how documents store them.

    ``hash`` may be given by its name. ``floor`` is the number of distinct features below which a text is ``short``.
    ``name``, the distance of `SimHash`, the similarity of `MinHash` and ``verification`` play no part in what is
    stored. Without ``verification``, fingerprints alone decide what matches. With ``passages``, documents that contain
    one another are found as well.
    """

    name: str = "custom"
    html: bool = False
    normalisation: Normalisation = field(default_factory=lambda: Normalisation(fold=("han",)))
    tokens: Tokens = field(default_factory=lambda: Runs(dense=3))
    # Of keywords, which have weights, "own"; else "set".
    weights: Weights = None  # type: ignore[assignment]
    idf: IdfTable | None = None
    hash: HashFunction | str = DEFAULT
    simhash: SimHash | None = field(default_factory=SimHash)
    minhash: MinHash | None = field(default_factory=MinHash)
    floor: int = 8
    layout: Layout = field(default_factory=Layout)
    verification: Verification | None = field(default_factory=Verification)
    passages: Passages | None = None

    def __post_init__(self) -> None:
        self._set("hash", _resolved(self.hash))
        if self.weights is None:
            self._set("weights", "own" if isinstance(self.tokens, Keywords) else "set")
        self._check_types()
        self._set("tokens", _with_normalised_stop_words(self.tokens, self.normalisation))
        self._check_kinds()
        self._check_weights()
        if not isinstance(self.floor, int) or isinstance(self.floor, bool) or self.floor < 1:
            raise SchemeError(f"The floor cannot be {self.floor!r} features. Choose a whole number from 1.")

    @property
    def hash_function(self) -> HashFunction:
        """The hash function of the features."""
        return cast("HashFunction", self.hash)

    @property
    def hash_bits(self) -> int:
        """The width of the features' hashes: 64 or 128 bits."""
        needed = self.hash_function.bits or (self.simhash.bits if self.simhash else 64)
        return 64 * words_per_code(needed)

    @cached_property
    def fingerprinter(self) -> Fingerprinter:
        """The compiled kernels with these settings, which must be installed."""
        kernels = native()
        assert kernels
        steps, minhash = self.normalisation, self.minhash
        made: Fingerprinter = kernels.Fingerprinter(
            normalisation=(steps.nfkc, steps.casefold, steps.whitespace, steps.fold),
            tokens=_tokens(self),
            hash=self.hash_function.name,
            hash_bits=self.hash_bits,
            weights=self.weights,
            idf=self.idf.columns if self.idf else None,
            simhash_bits=self.simhash.bits if self.simhash else 0,
            minhash=(minhash.kind, minhash.size) if minhash else None,
            floor=self.floor,
        )
        return made

    @cached_property
    def by_text(self) -> Settings:
        """The same settings, but with the runs and numbers of the text as features, which all weigh the same."""
        return replace(self, tokens=RunsAndNumbers(), weights="set", idf=None)

    @cached_property
    def by_words(self) -> Settings:
        """Settings with every word of the same normalised text as a feature, in the order of the text."""
        return Settings(html=self.html, normalisation=self.normalisation, tokens=Words(), weights="tf")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is derived when settings are sent to other processes."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_types(self) -> None:
        kinds: dict[str, type | tuple[type, ...]] = {
            "name": str,
            "html": bool,
            "normalisation": Normalisation,
            "tokens": tuple(KINDS.values()),
            "idf": (IdfTable, type(None)),
            "simhash": (SimHash, type(None)),
            "minhash": (MinHash, type(None)),
            "layout": Layout,
            "verification": (Verification, type(None)),
            "passages": (Passages, type(None)),
        }
        for name, kind in kinds.items():
            value = getattr(self, name)
            if not isinstance(value, kind):
                wanted = [each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,))]
                raise SchemeError(f"The setting {name} cannot be {value!r}. Give one of: {', '.join(wanted)}.")

    def _check_kinds(self) -> None:
        if self.simhash is None and self.minhash is None:
            raise SchemeError("A scheme without SimHash and MinHash has no fingerprint. Give at least one of them.")
        bits = self.hash_function.bits
        if bits and self.simhash and self.simhash.bits > bits:
            raise SchemeError(
                f"A SimHash of {self.simhash.bits} bits cannot be made of hashes of {bits} bits. "
                "Choose a narrower SimHash or a wider hash function."
            )
        if bits and self.minhash and bits < 64:
            raise SchemeError(f"MinHash needs hashes of 64 bits, not {bits}. Set minhash=None.")
        keys = (self.simhash.blocks if self.simhash else 0) + (self.minhash.bands if self.minhash else 0)
        if keys > MAX_KEYS:
            raise SchemeError(f"No query can ask for {keys} keys. Choose blocks and bands of {MAX_KEYS} together.")
        if self.layout.signature_bits and self.minhash is None:
            raise SchemeError("A scheme without MinHash has no signature to store. Set Layout(signature_bits=0).")
        if isinstance(self.tokens, Custom) and self.tokens.name == self.hash_function.name:
            raise SchemeError(f"Tokens and hash function are both named {self.tokens.name!r}. Rename one of them.")

    def _check_weights(self) -> None:
        if self.weights not in get_args(Weights):
            raise SchemeError(f"Unknown weights {self.weights!r}. Choose from: {', '.join(get_args(Weights))}.")
        if (self.weights in ("idf", "tfidf")) != (self.idf is not None):
            raise SchemeError(
                "The weights idf and tfidf, and only they, need an idf table. Learn one with Scheme.with_idf(texts)."
            )
        if self.weights == "own" and not isinstance(self.tokens, Keywords | Custom):
            raise SchemeError(
                f"The tokens {self.tokens.kind!r} have no weights of their own. Choose weights set, tf, idf or tfidf."
            )


def _resolved(function: HashFunction | str) -> HashFunction:
    if not isinstance(function, HashFunction):
        return hash_function(function)
    if HASH_FUNCTIONS.get(function.name, function) != function:
        raise SchemeError(f"{function.name!r} is the name of a built-in hash function. Make your own by custom_hash.")
    return function


def _with_normalised_stop_words(tokens: Any, normalisation: Normalisation) -> Any:
    """Normalise the stop words of tokens as texts are."""
    stop_words = getattr(tokens, "stop_words", None)
    if not stop_words:
        return tokens
    return replace(tokens, stop_words=frozenset(map(normalisation, stop_words)))


Made = TypeVar("Made")

# The kinds of tokens that the kernels cut texts into.
_CUT = (Chars, Runs, RunsAndNumbers, Words)


def by_fingerprinter(settings: Settings, make: Callable[[Fingerprinter], Made], takes: bool = True) -> Made | None:
    """Return what the compiled kernels of a scheme make, if they are said to take it.

    None where numpy must make it, or say what is wrong.
    """
    return by_kernels(lambda _: make(settings.fingerprinter)) if takes else None


def reads_texts(settings: Settings) -> bool:
    """Return whether the kernels are there, and go all the way from texts: others are given tokens, or hashes."""
    return native() is not None and isinstance(settings.tokens, _CUT) and hashes_tokens(settings)


def hashes_tokens(settings: Settings) -> bool:
    """Return whether the kernels hash tokens: a caller's own function is called in Python."""
    return settings.hash_function.name in HASH_FUNCTIONS


def _tokens(settings: Settings) -> tuple[Any, ...]:
    tokens = settings.tokens
    if isinstance(tokens, Chars):
        return "chars", tokens.n
    if isinstance(tokens, Runs):
        return "runs", tokens.dense
    if isinstance(tokens, RunsAndNumbers):
        return (tokens.kind,)
    if isinstance(tokens, Words):
        return "words", tokens.n, sorted(tokens.stop_words)
    return ("given",)


@dataclass(frozen=True)
class Preset:
    """Settings of a scheme, and one sentence on when to choose them."""

    use: str
    settings: dict[str, Any]


class Presets(dict[str, Preset], Result):
    """The presets by their names; a notebook shows them as a table."""

    __repr__ = Result.__repr__

    def shown(self) -> Shown:
        """Return the names, and when to choose each."""
        rows = [(name, preset.use) for name, preset in self.items()]
        return Shown(f"{len(self)} presets: {', '.join(self)}", ("preset", "use"), rows, len(self))

    def to_json(self) -> Json:
        """Return when to choose each, by the names."""
        return {name: preset.use for name, preset in self.items()}


_PRESETS = {
    "default": Preset(
        "Texts of a paragraph or more, in any language.",
        {},
    ),
    "short": Preset(
        "Short texts: titles, queries, product names and posts.",
        {
            "tokens": Chars(3),
            "simhash": SimHash(64, 8, 5),
            "minhash": MinHash(bands=42),
            "floor": 4,
            "verification": Verification(features="scheme"),
        },
    ),
    "passages": Preset(
        "As default, and for documents that quote or contain one another; long texts need larger fields.",
        {"passages": Passages()},
    ),
    "chinese-keywords": Preset(
        "Long Chinese texts by their 22 weightiest words, in any order; finds less than default (extra: chinese).",
        {"tokens": Keywords("tfidf", 22), "weights": "own", "minhash": None, "floor": 4, "verification": None},
    ),
    "strict": Preset(
        "Almost identical texts only, with the smallest fields.",
        {"minhash": None, "layout": Layout(simhash="blocks"), "verification": None},
    ),
}

PRESETS = Presets(_PRESETS)
