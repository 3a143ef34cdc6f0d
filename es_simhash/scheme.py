"""The scheme: every choice between a text and its fingerprint as one frozen value, and the way there.

Mapping, documents, queries and re-ranking are all derived from it. Its id names the fingerprints that it makes: the id
changes when, and only when, they or their keys change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash import codes, fingerprinting, hamming, scheme_json, similarity
from es_simhash.errors import InputError, SchemeError
from es_simhash.features import FeatureBatch, distinct
from es_simhash.fingerprint import Fingerprint, Fingerprints
from es_simhash.idf import IdfTable
from es_simhash.minhash.estimate import estimate
from es_simhash.presets import PRESETS
from es_simhash.scheme_json import Functions
from es_simhash.settings import Settings
from es_simhash.simhash import BitSums, from_sums

TokenList: TypeAlias = Sequence[str] | Sequence[tuple[str, float]]


class Scheme(Settings):
    """How texts become fingerprints. Make a variant with `dataclasses.replace`."""

    @classmethod
    def preset(cls, name: str) -> Scheme:
        """The preset of that name (see `es_simhash.presets`)."""
        if name not in PRESETS:
            raise SchemeError(f"There is no preset {name!r}. Choose from: {', '.join(PRESETS)}.")
        return cls(name=name, **PRESETS[name].settings)

    def with_idf(self, texts: Iterable[str], weights: Literal["idf", "tfidf"] = "idf") -> Scheme:
        """The scheme with idf weights learnt from a corpus, or from a sample of an index."""
        plain = replace(self, weights="set", idf=None)
        return replace(self, weights=weights, idf=IdfTable.learn(plain.features(texts)))

    # --- from texts to fingerprints ---

    def fingerprint(self, text: str) -> Fingerprint:
        """The fingerprint of one text."""
        return next(self.fingerprints([text]))

    def fingerprints(self, texts: Iterable[str]) -> Iterator[Fingerprint]:
        """The fingerprints of any number of texts, which are read as they are needed."""
        for batch in self.fingerprint_batches(texts):
            yield from batch

    def fingerprint_batches(self, texts: Iterable[str]) -> Iterator[Fingerprints]:
        """The same as columns of arrays, as many texts at a time as are quickest together."""
        return fingerprinting.in_batches(texts, self._fingerprint_texts)

    def fingerprint_tokens(self, tokens: TokenList) -> Fingerprint:
        """The fingerprint of a text given as tokens, or as (token, weight) pairs for the weights "own"."""
        return next(self.fingerprints_of_tokens([tokens]))

    def fingerprints_of_tokens(self, lists: Iterable[TokenList]) -> Iterator[Fingerprint]:
        """The fingerprints of any number of texts given as tokens, or as (token, weight) pairs."""
        for batch in self.fingerprint_batches_of_tokens(lists):
            yield from batch

    def fingerprint_batches_of_tokens(self, lists: Iterable[TokenList]) -> Iterator[Fingerprints]:
        """The same as columns of arrays."""
        return fingerprinting.in_batches(lists, self._fingerprint_tokens)

    def features(self, texts: Iterable[str]) -> Iterator[FeatureBatch]:
        """The hashed and weighted features of texts, in any order, as many texts at a time as are quickest together."""
        return fingerprinting.in_batches(texts, partial(fingerprinting.features_of_texts, self))

    def _fingerprint_texts(self, texts: Sequence[str]) -> Fingerprints:
        return fingerprinting.fingerprints(self, fingerprinting.features_of_texts(self, texts))

    def _fingerprint_tokens(self, lists: Sequence[TokenList]) -> Fingerprints:
        return fingerprinting.fingerprints(self, fingerprinting.features_of_tokens(self, lists))

    def bit_sums(self, text: str) -> BitSums:
        """The sums of the SimHash of a text, which add up to those of a whole (see `simhash_of_sums`).

        With the weights "set" and "idf" a feature counts once for each part that it is in.
        """
        return fingerprinting.bit_sums(self, fingerprinting.features_of_texts(self, [text]))[0]

    def simhash_of_sums(self, sums: BitSums) -> int:
        """The SimHash of a document that has these sums."""
        if self.simhash is None or sums.shape != (self.simhash.bits,):
            raise InputError(f"Sums of shape {sums.shape} are not of this scheme. Make them by its bit_sums.")
        return codes.to_ints(from_sums(sums[np.newaxis]))[0]

    # --- from fingerprints to keys and comparisons ---

    def block_keys(self, fingerprint: Fingerprint) -> list[str]:
        """The keys of the SimHash's blocks; none without a SimHash."""
        if self.simhash is None or fingerprint.simhash is None:
            return []
        return self.simhash.layout.keys(fingerprint.simhash)

    def band_keys(self, fingerprint: Fingerprint) -> list[str]:
        """The keys of the signature's bands; none without a signature."""
        if self.minhash is None or fingerprint.minhash is None:
            return []
        return self.minhash.layout.keys(self._signature(fingerprint)[np.newaxis])[0]

    def distance(self, a: Fingerprint, b: Fingerprint) -> int:
        """The Hamming distance of two SimHashes."""
        if a.simhash is None or b.simhash is None:
            raise InputError("One of the fingerprints has no SimHash to compare. Compare texts that are not empty.")
        return hamming.distance(a.simhash, b.simhash)

    def estimated_jaccard(self, a: Fingerprint, b: Fingerprint) -> float:
        """The Jaccard similarity that two signatures tell (see `es_simhash.minhash.estimate` for its error)."""
        if a.minhash is None or b.minhash is None:
            raise InputError("One of the fingerprints has no signature to compare. Compare texts that are not empty.")
        return estimate(self._signature(a), self._signature(b))

    def exact_jaccard(self, a: str, b: str) -> float:
        """The Jaccard similarity of two texts' features, that of their weights if the scheme has any."""
        return similarity.weighted_jaccard(*map(self._comparable_features, (a, b)))

    def _signature(self, fingerprint: Fingerprint) -> npt.NDArray[np.uint32]:
        signature = fingerprint.signature
        if self.minhash is None or len(signature) != self.minhash.size:
            raise InputError(f"A signature of {len(signature)} values is not of this scheme. Fingerprint with it.")
        return signature

    def _comparable_features(self, text: str) -> similarity.Features:
        features = next(self.features([text]))
        if self.weights == "tf":
            features = replace(features, weights=np.ones(len(features.hashes), dtype=np.int64))
        features = distinct(features)
        hashes = features.first_words
        order = np.argsort(hashes)
        return hashes[order] if features.weights is None else (hashes[order], features.weights[order])

    # --- JSON and id ---

    @cached_property
    def id(self) -> str:
        """A short name of the fingerprints: it changes when, and only when, they or their keys change."""
        return scheme_json.identity(self)

    def to_json(self) -> str:
        """The scheme as JSON, in which the idf table and a caller's functions have their names only."""
        return scheme_json.to_json(self)

    @classmethod
    def from_json(cls, text: str, *, idf: IdfTable | None = None, functions: Functions | None = None) -> Scheme:
        """The scheme of `to_json`, given the idf table and the functions that it names."""
        return cls(**scheme_json.from_json(text, idf, functions or {}))
