"""The compiled way from texts to fingerprints (see `es_simhash._core.native`), for the schemes that it knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from es_simhash._core.native import by_kernels, native
from es_simhash.text.hashing.registry import HASH_FUNCTIONS
from es_simhash.text.tokens.kinds import Chars, Runs, RunsAndNumbers, Words

if TYPE_CHECKING:
    from es_simhash_native import Fingerprinter

    from es_simhash.scheme.settings import Settings

Result = TypeVar("Result")

# The kinds of tokens that the kernels cut texts into.
_CUT = (Chars, Runs, RunsAndNumbers, Words)


def by_fingerprinter(settings: Settings, make: Callable[[Fingerprinter], Result]) -> Result | None:
    """Return what the compiled kernels of a scheme make; None where numpy must make it, or say what is wrong."""
    return by_kernels(lambda _: make(settings.fingerprinter))


def fingerprinter(settings: Settings) -> Fingerprinter:
    """Make the kernels for these settings, which must be installed."""
    kernels = native()
    assert kernels
    steps, minhash = settings.normalisation, settings.minhash
    made: Fingerprinter = kernels.Fingerprinter(
        normalisation=(steps.nfkc, steps.casefold, steps.whitespace, steps.fold),
        tokens=_tokens(settings),
        hash=settings.hash_function.name,
        hash_bits=settings.hash_bits,
        weights=settings.weights,
        idf=(settings.idf.hashes, settings.idf.weights, settings.idf.unseen) if settings.idf else None,
        simhash_bits=settings.simhash.bits if settings.simhash else 0,
        minhash=(minhash.kind, minhash.size) if minhash else None,
        floor=settings.floor,
    )
    return made


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
