"""Fingerprints, and making them: texts in, SimHashes and MinHash signatures out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Codes, keep_freed_memory
from es_simhash._core.rows import ArrowTable
from es_simhash.errors import InputError, SchemeError, TextError
from es_simhash.scheme.settings import MINHASH_KINDS, Settings, by_fingerprinter, hashes_tokens, reads_texts
from es_simhash.sketches import simhash
from es_simhash.sketches.minhash.common import EMPTY, Signatures
from es_simhash.sketches.simhash import BitSums
from es_simhash.text import hashing
from es_simhash.text.features import FeatureBatch, TextBatch, check_texts, distinct, distinct_counts
from es_simhash.text.hashing import DEFAULT
from es_simhash.text.normalise import normalise_batch, strip_html
from es_simhash.text.numbers import run_and_number_features
from es_simhash.text.tokens import Chars, Cut, Runs, RunsAndNumbers, cut_given
from es_simhash.text.words import char_features, run_features

Status: TypeAlias = Literal["ok", "short", "empty"]
STATUSES: tuple[Status, ...] = ("ok", "short", "empty")
EMPTY_STATUS = STATUSES.index("empty")
_WORD = 64


@dataclass(frozen=True)
class Fingerprint:
    """Return the fingerprint of one text.

    ``status`` is ``ok``; or ``short`` if the text has too few features for anything but an exact comparison; or
    ``empty`` if it has none, and so no fingerprint. ``minhash`` holds the values of the signature, four bytes each,
    little-endian. What the scheme does not compute is ``None``.

    >>> fingerprint = scheme.fingerprint(text)
    >>> fingerprint.status, fingerprint.simhash == scheme.fingerprint(text.upper()).simhash
    ('ok', True)
    """

    status: Status
    simhash: int | None
    minhash: bytes | None

    @classmethod
    def of(cls, status: Status, simhash: int | None, minhash: bytes | None) -> Fingerprint:
        """Return the fingerprint with these parts, which mean nothing for an empty text.

        >>> Fingerprint.of("empty", 7, None).simhash is None
        True
        """
        return cls(status, None, None) if status == "empty" else cls(status, simhash, minhash)

    def __str__(self) -> str:
        """Write the fingerprint in one short line."""
        parts: list[str] = [self.status]
        if self.simhash is not None:
            parts.append(f"simhash={self.simhash:x}")
        if self.minhash is not None:
            parts.append(f"minhash={self.minhash[:8].hex()}… ({len(self.minhash) // 4} values)")
        return f"Fingerprint({', '.join(parts)})"

    @property
    def signature(self) -> npt.NDArray[np.uint32]:
        """The values of the MinHash signature; none without a signature."""
        return np.frombuffer(self.minhash or b"", dtype="<u4").astype(np.uint32, copy=False)


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """The fingerprints of many texts, a row each; those of empty texts mean nothing.

    >>> [batch.statuses.tolist() for batch in scheme.fingerprint_batches([text, ""])]
    [[0, 2]]
    """

    statuses: npt.NDArray[np.uint8]
    simhashes: Codes | None
    signatures: Signatures | None

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.statuses)

    def __iter__(self) -> Iterator[Fingerprint]:
        """Yield each text's fingerprint."""
        simhashes: list[int] | list[None] = [None] * len(self)
        signatures: list[bytes] | list[None] = [None] * len(self)
        if self.simhashes is not None:
            simhashes = arrays.to_ints(self.simhashes)
        if self.signatures is not None:
            signatures = [row.tobytes() for row in self.signatures.astype("<u4", copy=False)]
        for number, value, signature in zip(self.statuses.tolist(), simhashes, signatures, strict=True):
            yield Fingerprint.of(STATUSES[number], value, signature)


class FingerprintBatches(ArrowTable, Iterator[Fingerprints]):
    """Fingerprints in batches, which are made as they are taken, and taken once.

    As a table of Arrow they have a row for each text: its ``status``; the ``simhash``, a number or, of more than 64
    bits, 16 bytes; and the values of the signature as ``minhash``. What an empty text has not is null.
    """

    def __init__(self, batches: Iterator[Fingerprints], settings: Settings) -> None:
        self._batches = batches
        self._settings = settings

    def __iter__(self) -> FingerprintBatches:
        """Return the batches that are left."""
        return self

    def __next__(self) -> Fingerprints:
        """Return the next batch."""
        return next(self._batches)

    def _arrow_schema(self, pyarrow: Any) -> Any:
        columns = [("status", pyarrow.string())]
        if self._settings.simhash:
            is_wide = self._settings.simhash.bits > _WORD
            columns.append(("simhash", pyarrow.binary(2 * _WORD // 8) if is_wide else pyarrow.uint64()))
        if self._settings.minhash:
            columns.append(("minhash", pyarrow.list_(pyarrow.uint32(), self._settings.minhash.size)))
        return pyarrow.schema(columns)

    def _arrow_batches(self, pyarrow: Any) -> Iterator[Any]:
        schema = self._arrow_schema(pyarrow)
        for batch in self:
            columns = list(_columns(pyarrow, batch))
            yield pyarrow.record_batch(columns, schema=schema)


def _columns(pyarrow: Any, batch: Fingerprints) -> Iterator[Any]:
    """Yield the columns of a batch; the arrays of numbers are not copied."""
    has_none = batch.statuses == EMPTY_STATUS
    names = pyarrow.array(STATUSES)
    yield pyarrow.DictionaryArray.from_arrays(batch.statuses.astype("int8"), names).cast(pyarrow.string())
    if (codes := batch.simhashes) is not None:
        if codes.ndim == 1:
            yield pyarrow.array(codes, mask=has_none)
        else:
            wide = [row.tobytes() for row in codes.astype(">u8")]
            yield pyarrow.array(wide, pyarrow.binary(2 * _WORD // 8), mask=has_none)
    if (signatures := batch.signatures) is not None:
        values = pyarrow.array(signatures.astype("uint32", copy=False).reshape(-1))
        yield pyarrow.FixedSizeListArray.from_arrays(values, signatures.shape[1], mask=pyarrow.array(has_none))


Item = TypeVar("Item")
Result = TypeVar("Result")

# The size of a batch: large enough for numpy's calls to cost little, and small enough for memory.
_CHUNK_LENGTH = 1 << 18
_CHUNK_ITEMS = 1 << 12


def in_batches(items: Iterable[Item], make: Callable[[Sequence[Item]], Result], threads: int = 1) -> Iterator[Result]:
    """Yield what ``make`` returns for batches of texts, or of lists of tokens, which are read as they are needed.

    The items before one that cannot be used are made before the error names it. With several ``threads``, batches are
    made while others are read; they come in the same order.
    """
    if isinstance(items, str | bytes):
        raise TextError(f"One {type(items).__name__} was given for many texts. Give a list of texts.")
    check_threads(threads)
    keep_freed_memory()
    first = 0
    for chunk, result in _each_chunk(_in_chunks(items), make, threads):
        yield from _made(chunk, make, first, result)
        first += len(chunk)


def check_threads(threads: int) -> None:
    """Refuse what is not a number of threads."""
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise SchemeError(f"There cannot be {threads!r} threads. Choose a whole number from 1.")


def _each_chunk(
    chunks: Iterable[list[Item]], make: Callable[[Sequence[Item]], Result], threads: int
) -> Iterator[tuple[list[Item], Callable[[], Result]]]:
    """Yield each chunk with the call that returns what is made of it."""
    if threads == 1:
        for chunk in chunks:
            yield chunk, partial(make, chunk)
        return
    from concurrent.futures import ThreadPoolExecutor  # takes commands without texts too long to load

    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[tuple[list[Item], Callable[[], Result]]] = deque()
        for chunk in chunks:
            waiting.append((chunk, pool.submit(make, chunk).result))
            if len(waiting) > threads:
                yield waiting.popleft()
        yield from waiting


def _made(
    chunk: Sequence[Item], make: Callable[[Sequence[Item]], Result], first: int, result: Callable[[], Result]
) -> Iterator[Result]:
    """Yield the result of a chunk, or that of what stands in it before the first item that cannot be used."""
    try:
        made = result()
    except InputError as error:
        if error.position is None:
            raise
        if error.position:
            before = chunk[: error.position]
            yield from _made(before, make, first, partial(make, before))
        raise type(error)(error.problem, first + error.position) from None
    yield made


def _in_chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield lists of consecutive items of a bounded total length; a longer item makes a longer chunk."""
    rest = iter(items)
    while True:
        chunk: list[Item] = []
        length = 0
        for item in islice(rest, _CHUNK_ITEMS):
            chunk.append(item)
            # What has no length is not a text: it is refused, with its position, when the chunk is read.
            try:  # noqa: SIM105 - suppress would cost more than the rest of the loop
                length += len(item)  # type: ignore[arg-type]
            except TypeError:
                pass
            if length >= _CHUNK_LENGTH:
                break
        if not chunk:
            return
        yield chunk


def fingerprint_of_text(settings: Settings, text: str) -> Fingerprint:
    """Make the fingerprint of one text."""
    takes = reads_texts(settings) and isinstance(text, str)
    made = by_fingerprinter(settings, lambda kernels: kernels.fingerprint(stripped(settings, [text])[0]), takes)
    if made:
        status, simhash, signature = made
        return Fingerprint.of(STATUSES[status], simhash, signature)
    return next(iter(next(in_batches([text], partial(fingerprints_of_texts, settings)))))


def fingerprints_of_texts(settings: Settings, texts: Sequence[str]) -> Fingerprints:
    """Make the fingerprints of texts."""
    takes = reads_texts(settings)
    made = by_fingerprinter(settings, lambda kernels: kernels.fingerprints(stripped(settings, texts)), takes)
    return Fingerprints(*made) if made else _condensed(settings, hashed_features(settings, texts))


def fingerprints_of_tokens(settings: Settings, lists: Sequence[Sequence[Any]]) -> Fingerprints:
    """Make the fingerprints of texts given as tokens, or as (token, weight) pairs."""
    given: list[Any] = list(lists)
    takes = hashes_tokens(settings)
    made = by_fingerprinter(settings, lambda kernels: kernels.fingerprints_of_tokens(given), takes)
    return Fingerprints(*made) if made else _condensed(settings, _hash(settings, cut_given(lists)))


def normalised(settings: Settings, texts: Sequence[str]) -> TextBatch:
    """Normalise texts, ready to be cut into tokens."""
    return normalise_batch(stripped(settings, texts), settings.normalisation)


def stripped(settings: Settings, texts: Sequence[str]) -> list[str]:
    """Return the texts without HTML, if the scheme says that they have it."""
    if not settings.html:
        return list(texts)
    check_texts(texts)
    return [strip_html(text) for text in texts]


def features_of_texts(settings: Settings, texts: Sequence[str]) -> FeatureBatch:
    """Return the weighted features of texts."""
    takes = reads_texts(settings)
    made = by_fingerprinter(settings, lambda kernels: kernels.features(stripped(settings, texts)), takes)
    return FeatureBatch(*made) if made else _weigh(settings, hashed_features(settings, texts))


def features_of_tokens(settings: Settings, lists: Sequence[Sequence[Any]]) -> FeatureBatch:
    """Return the weighted features of texts given as tokens, or as (token, weight) pairs."""
    given: list[Any] = list(lists)
    takes = hashes_tokens(settings)
    made = by_fingerprinter(settings, lambda kernels: kernels.features_of_tokens(given), takes)
    return FeatureBatch(*made) if made else _weigh(settings, _hash(settings, cut_given(lists)))


def hashed_features(settings: Settings, texts: Sequence[str]) -> FeatureBatch:
    """Return the features of texts as they occur, with weights only if they have any of their own."""
    batch = normalised(settings, texts)
    match settings.tokens:
        case Chars(n) if _by_poly64(settings):
            return char_features(batch, n, settings.hash_bits)
        case Runs(dense) if _by_poly64(settings):
            return run_features(batch, dense, settings.hash_bits)
        case RunsAndNumbers() if _by_poly64(settings):
            return run_and_number_features(batch, settings.hash_bits)
    return _hash(settings, settings.tokens.cut(batch))


def _condensed(settings: Settings, features: FeatureBatch) -> Fingerprints:
    """Weigh features as they occur, and condense them to fingerprints."""
    hashes, offsets = features.hashes, features.offsets
    made = by_fingerprinter(settings, lambda kernels: kernels.condense(hashes, offsets, features.weights))
    return Fingerprints(*made) if made else fingerprints(settings, _weigh(settings, features))


def fingerprints(settings: Settings, features: FeatureBatch) -> Fingerprints:
    """Condense weighted features to fingerprints."""
    counts = np.diff(features.offsets) if _is_distinct(settings) else distinct_counts(features, settings.floor)
    simhashes = simhash.from_sums(bit_sums(settings, features)) if settings.simhash else None
    signatures = _signatures(settings, features)
    if signatures is not None and settings.weights == "own":
        # Without any positive weight there is no signature.
        counts[(signatures == EMPTY).all(axis=1)] = 0
    # Positions in STATUSES: 0 is ok, 1 is short, 2 is empty.
    statuses = (counts < settings.floor).astype(np.uint8) + (counts == 0)
    return Fingerprints(statuses, simhashes, signatures)


def bit_sums(settings: Settings, features: FeatureBatch) -> BitSums:
    """Return the sums of the SimHash's bits, one row a document."""
    if settings.simhash is None:
        raise SchemeError(f"The scheme {settings.name!r} has no SimHash, so no sums of its bits. Give it one.")
    # The SimHash is made of the first bits of the hashes.
    return simhash.bit_sums(features, settings.hash_bits)[:, : settings.simhash.bits]


def _hash(settings: Settings, cut: Cut) -> FeatureBatch:
    spans, weights = cut
    bits = settings.hash_bits
    if _by_poly64(settings):
        hashes = hashing.hash_spans(spans.units, spans.starts, spans.ends, bits)
    else:
        hashes = settings.hash_function.hash_tokens(spans.strings(), bits)
    return FeatureBatch(hashes, spans.offsets, weights if settings.weights == "own" else None)


def _by_poly64(settings: Settings) -> bool:
    """Return whether features are hashed by poly64, which reads units and needs no strings."""
    return settings.hash_function.name == DEFAULT


def _weigh(settings: Settings, features: FeatureBatch) -> FeatureBatch:
    """Weigh features as the settings ask; features that repeat add up their weights."""
    if _is_distinct(settings):
        features = distinct(features)
    if settings.idf is None:
        return features
    return replace(features, weights=settings.idf.weights_of(features.first_words))


def _is_distinct(settings: Settings) -> bool:
    """Return whether each feature of a text counts once, however often it occurs."""
    return settings.weights in ("set", "idf")


def _signatures(settings: Settings, features: FeatureBatch) -> Signatures | None:
    if settings.minhash is None:
        return None
    hashes = features.first_words
    mixed = hashes if settings.hash_function.is_mixed else hashing.fmix64(hashes)
    return MINHASH_KINDS[settings.minhash.kind](replace(features, hashes=mixed), settings.minhash.size)
