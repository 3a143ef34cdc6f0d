"""From texts to fingerprints by a scheme's settings: cut, hash, weigh, condense."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from es_simhash._core.arrays import keep_freed_memory
from es_simhash.errors import InputError, SchemeError, TextError
from es_simhash.scheme.fingerprint import STATUSES, Fingerprint, Fingerprints
from es_simhash.scheme.settings import MINHASH_KINDS, Settings, by_fingerprinter, hashes_tokens, reads_texts
from es_simhash.sketches import simhash
from es_simhash.sketches.minhash.common import EMPTY, Signatures
from es_simhash.sketches.simhash import BitSums
from es_simhash.text.features import FeatureBatch, TextBatch, check_texts, distinct, distinct_counts
from es_simhash.text.hashing import registry
from es_simhash.text.hashing.registry import DEFAULT
from es_simhash.text.normalise import normalise_batch, strip_html
from es_simhash.text.tokens.kinds import Chars, Cut, Runs, RunsAndNumbers, cut_given
from es_simhash.text.tokens.numbers import run_and_number_features
from es_simhash.text.tokens.runs import char_features, run_features

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
        hashes = registry.hash_spans(spans.units, spans.starts, spans.ends, bits)
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
    mixed = hashes if settings.hash_function.is_mixed else registry.fmix64(hashes)
    return MINHASH_KINDS[settings.minhash.kind](replace(features, hashes=mixed), settings.minhash.size)
