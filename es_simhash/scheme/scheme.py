"""The scheme: one frozen value with every choice between a text and its fingerprint.

Mapping, documents, queries and re-ranking are all derived from it. Its id names its fingerprints: the id changes when,
and only when, they or their keys change.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arguments import wrong_type
from es_simhash._core.arrow import Texts, each_text
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import Shown
from es_simhash.errors import InputError, SchemeError
from es_simhash.scheme import fingerprinting, json_form, mapping, query
from es_simhash.scheme.fingerprint import Fingerprint, FingerprintBatches, Fingerprints
from es_simhash.scheme.json_form import Functions
from es_simhash.scheme.mapping import DEFAULT_PREFIX
from es_simhash.scheme.query import By, Criteria, Filter
from es_simhash.scheme.settings import PRESETS, Settings
from es_simhash.scheme.verdict.levels import Level
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.common import estimate
from es_simhash.sketches.simhash import BitSums, from_sums
from es_simhash.text.features import FeatureBatch, IdfTable

if TYPE_CHECKING:
    from es_simhash.scheme.rerank import Matches

TokenList: TypeAlias = Sequence[str] | Sequence[tuple[str, float]]


def scheme_of(given: Scheme | str) -> Scheme:
    """Return the scheme that an argument is, or the preset that it names."""
    if not isinstance(given, Scheme | str):
        raise wrong_type("scheme", given, "a Scheme, or the name of a preset")
    return Scheme.preset(given) if isinstance(given, str) else given


def is_preset(scheme: Scheme) -> bool:
    """Return whether the fingerprints are those of the preset of that name."""
    return scheme.name in PRESETS and scheme.id == Scheme.preset(scheme.name).id


class Scheme(Settings):
    """How texts become fingerprints. Make a variant with `dataclasses.replace`.

    >>> Scheme(floor=4, verification=Verification(numbers=0.5)).floor
    4
    """

    @classmethod
    def preset(cls, name: str) -> Scheme:
        """Return the preset of that name (see `es_simhash.scheme.settings`).

        >>> Scheme.preset("short")
        Scheme(preset 'short', id ...)
        """
        if name not in PRESETS:
            raise SchemeError(f"Unknown preset {name!r}. Choose from: {', '.join(PRESETS)}.")
        return cls(name=name, **PRESETS[name].settings)

    def __repr__(self) -> str:
        return f"Scheme({'preset' if is_preset(self) else 'custom'} {self.name!r}, id {self.id})"

    def _repr_html_(self) -> str:
        from es_simhash._core.html import in_notebook

        values = {each.name: getattr(self, each.name) for each in fields(self)}
        rows = [(name, repr(value)) for name, value in values.items() if value and name != "name"]
        return in_notebook(Shown(repr(self), ("setting", "value"), rows, len(rows)))

    def with_idf(self, texts: Texts, weights: Literal["idf", "tfidf"] = "idf") -> Scheme:
        """Learn idf weights from a corpus, or from a sample of an index, and return the scheme with them.

        >>> scheme.with_idf([text, "It rains."]).weights
        'idf'
        """
        plain = replace(self, weights="set", idf=None)
        return replace(self, weights=weights, idf=IdfTable.learn(plain.features(texts)))

    # --- from texts to fingerprints ---

    def fingerprint(self, text: str) -> Fingerprint:
        """Return the fingerprint of one text.

        >>> scheme.fingerprint(text).status
        'ok'
        """
        return fingerprinting.fingerprint_of_text(self, text)

    def fingerprints(self, texts: Texts, *, threads: int = 1) -> Iterator[Fingerprint]:
        """Yield the fingerprints of any number of texts, or of a column of a frame, read as they are needed.

        With the compiled kernels, several ``threads`` make them at once. They are the same, in the same order.

        >>> [fingerprint.status for fingerprint in scheme.fingerprints([text, ""])]
        ['ok', 'empty']
        """
        for batch in self.fingerprint_batches(texts, threads=threads):
            yield from batch

    def fingerprint_batches(self, texts: Texts, *, threads: int = 1) -> FingerprintBatches:
        """Yield the same as columns of arrays, in batches of whatever size is quickest; or as a table of Arrow.

        >>> [len(batch) for batch in scheme.fingerprint_batches([text, ""])]
        [2]
        """
        make = partial(fingerprinting.fingerprints_of_texts, self)
        return FingerprintBatches(fingerprinting.in_batches(each_text(texts), make, threads), self)

    def fingerprint_tokens(self, tokens: TokenList) -> Fingerprint:
        """Return the fingerprint of a text given as tokens, or as (token, weight) pairs for the weights "own".

        >>> scheme.fingerprint_tokens(["it", "rains"]).status
        'short'
        """
        return next(self.fingerprints_of_tokens([tokens]))

    def fingerprints_of_tokens(self, lists: Iterable[TokenList]) -> Iterator[Fingerprint]:
        """Yield the fingerprints of any number of texts given as tokens, or as (token, weight) pairs.

        >>> [fingerprint.status for fingerprint in scheme.fingerprints_of_tokens([["it", "rains"], []])]
        ['short', 'empty']
        """
        for batch in self.fingerprint_batches_of_tokens(lists):
            yield from batch

    def fingerprint_batches_of_tokens(self, lists: Iterable[TokenList]) -> Iterator[Fingerprints]:
        """Yield the same as columns of arrays.

        >>> [len(batch) for batch in scheme.fingerprint_batches_of_tokens([["it", "rains"], []])]
        [2]
        """
        return fingerprinting.in_batches(lists, partial(fingerprinting.fingerprints_of_tokens, self))

    def features(self, texts: Texts) -> Iterator[FeatureBatch]:
        """Yield the hashed and weighted features of texts, in any order, in batches of whatever size is quickest.

        >>> sum(len(batch) for batch in scheme.features([text, "It rains."]))
        2
        """
        return fingerprinting.in_batches(each_text(texts), partial(fingerprinting.features_of_texts, self))

    def bit_sums(self, text: str) -> BitSums:
        """Return the sums of a text's SimHash; those of parts add up to those of a whole (see `simhash_of_sums`).

        With the weights "set" and "idf" a feature counts once for each part that contains it.

        >>> scheme.bit_sums(text).shape
        (64,)
        """
        return fingerprinting.bit_sums(self, fingerprinting.features_of_texts(self, [text]))[0]

    def simhash_of_sums(self, sums: BitSums) -> int:
        """Return the SimHash of a document that has these sums.

        >>> scheme.simhash_of_sums(scheme.bit_sums(text)) == scheme.fingerprint(text).simhash
        True
        """
        if self.simhash is None or sums.shape != (self.simhash.bits,):
            raise InputError(f"Sums of shape {sums.shape} are not of this scheme. Make them by its bit_sums.")
        return arrays.to_ints(from_sums(sums[np.newaxis]))[0]

    # --- from fingerprints to keys and comparisons ---

    def block_keys(self, fingerprint: Fingerprint) -> list[str]:
        """Return the keys of the SimHash's blocks; none without a SimHash.

        >>> len(scheme.block_keys(scheme.fingerprint(text)))
        6
        """
        if self.simhash is None or fingerprint.simhash is None:
            return []
        return self.simhash.layout.keys(fingerprint.simhash)

    def band_keys(self, fingerprint: Fingerprint) -> list[str]:
        """Return the keys of the signature's bands; none without a signature.

        >>> len(scheme.band_keys(scheme.fingerprint(text)))
        36
        """
        if self.minhash is None or fingerprint.minhash is None:
            return []
        return self.minhash.layout.keys(self._signature(fingerprint)[np.newaxis])[0]

    def distance(self, a: Fingerprint, b: Fingerprint) -> int:
        """Return the Hamming distance of two SimHashes.

        >>> scheme.distance(scheme.fingerprint(text), scheme.fingerprint(text.upper()))
        0
        """
        if a.simhash is None or b.simhash is None:
            raise InputError("One of the fingerprints has no SimHash to compare. Compare texts that are not empty.")
        return hamming.distance(a.simhash, b.simhash)

    def estimated_jaccard(self, a: Fingerprint, b: Fingerprint) -> float:
        """Estimate the Jaccard similarity by two signatures (see `standard_error` for its error).

        >>> scheme.estimated_jaccard(scheme.fingerprint(text), scheme.fingerprint(text.upper()))
        1.0
        """
        if a.minhash is None or b.minhash is None:
            raise InputError("One of the fingerprints has no signature to compare. Compare texts that are not empty.")
        return estimate(self._signature(a), self._signature(b))

    def exact_jaccard(self, a: str, b: str) -> float:
        """Return the Jaccard similarity of two texts' features, weighted if the scheme has weights.

        >>> scheme.exact_jaccard(text, text.upper())
        1.0
        """
        return Verifier(self, Verification.of_fingerprints(1.0)).to_others(a, [b])[0]

    def _signature(self, fingerprint: Fingerprint) -> npt.NDArray[np.uint32]:
        signature = fingerprint.signature
        if self.minhash is None or len(signature) != self.minhash.size:
            raise InputError(f"A signature of {len(signature)} values is not of this scheme. Fingerprint with it.")
        return signature

    # --- what an index needs ---

    def mapping(self, prefix: str = DEFAULT_PREFIX, fields: Sequence[str] = ()) -> Json:
        """Return the mapping of an index that holds fingerprints of texts in these source fields.

        >>> list(scheme.mapping(fields=["title", "body"])["properties"])
        ['dedup']
        """
        return mapping.mapping(self, json.loads(self.to_json()), self.id, prefix, fields)

    def dedupe_clause(
        self,
        fingerprint: Fingerprint,
        *,
        by: By | None = None,
        distance: int | None = None,
        similarity: float | Level | None = None,
        prefix: str = DEFAULT_PREFIX,
    ) -> Json:
        """Return a clause that matches all possible near-duplicates, to drop into a search request of your own.

        >>> list(scheme.dedupe_clause(scheme.fingerprint(text)))
        ['bool']
        """
        return query.clause(self, fingerprint, Criteria.of(self, by, distance, similarity), prefix)

    def query(
        self,
        fingerprint: Fingerprint,
        *,
        by: By | None = None,
        distance: int | None = None,
        similarity: float | Level | None = None,
        filter: Filter = None,
        exclude: Sequence[str] = (),
        size: int = 100,
        prefix: str = DEFAULT_PREFIX,
    ) -> Json:
        """Return a search request for ``size`` candidates, whose reply `rerank` reads.

        ``filter`` is a query of your own, or a list of them; documents with the ids ``exclude`` are left out.

        >>> scheme.query(scheme.fingerprint(text), size=20)["size"]
        20
        """
        clause = self.dedupe_clause(fingerprint, by=by, distance=distance, similarity=similarity, prefix=prefix)
        source = query.compared_fields(self, prefix)
        return query.body(clause, size=size, source=source, filter=filter, exclude=exclude)

    def rerank(
        self,
        fingerprint: Fingerprint,
        reply: Json,
        *,
        by: By | None = None,
        distance: int | None = None,
        similarity: float | Level | None = None,
        prefix: str = DEFAULT_PREFIX,
    ) -> Matches:
        """Return the matches among the candidates of a search's reply, nearest first.

        >>> len(scheme.rerank(scheme.fingerprint(text), {"hits": {"hits": []}}))
        0
        """
        from es_simhash.scheme import rerank  # takes programs that search for nothing too long to load

        criteria = Criteria.of(self, by, distance, similarity)
        compared = rerank.compare(self, self.id, fingerprint, reply["hits"]["hits"], prefix=prefix)
        return rerank.matches_of(rerank.Measured(compared), criteria, status=fingerprint.status)

    # --- JSON and id ---

    @cached_property
    def id(self) -> str:
        """A short name of the fingerprints: it changes when, and only when, they or their keys change."""
        return json_form.identity(self)

    def to_json(self) -> str:
        """Write the scheme as JSON, with the idf table and a caller's functions by their names only.

        >>> Scheme.from_json(scheme.to_json()) == scheme
        True
        """
        return json_form.to_json(self)

    @classmethod
    def from_json(cls, text: str, *, idf: IdfTable | None = None, functions: Functions | None = None) -> Scheme:
        """Read what `to_json` wrote, given the idf table and the functions that it names.

        >>> Scheme.from_json(Scheme.preset("short").to_json()).name
        'short'
        """
        return cls(**json_form.from_json(text, idf, functions or {}))
