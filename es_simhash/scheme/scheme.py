"""The scheme: the one value from which mapping, documents, query and re-rank are derived; and its JSON form.

Mapping, documents, queries and re-ranking are all derived from it. Its id names its fingerprints: the id changes when,
and only when, they or their keys change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import cached_property, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arguments import wrong_type
from es_simhash._core.arrow import Texts, each_text
from es_simhash._core.json_codec import Json, parse_json
from es_simhash._core.rows import Shown
from es_simhash.errors import FormatError, InputError, SchemeError
from es_simhash.scheme import fingerprinting, mapping, query
from es_simhash.scheme.fingerprinting import Fingerprint, FingerprintBatches, Fingerprints
from es_simhash.scheme.mapping import DEFAULT_PREFIX
from es_simhash.scheme.query import By, Criteria, Filter
from es_simhash.scheme.settings import PRESETS, Layout, MinHash, Passages, Settings, SimHash
from es_simhash.scheme.verification import LEVELS, Level, Verification
from es_simhash.scheme.verifier import Verifier
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.common import estimate
from es_simhash.sketches.simhash import BitSums, from_sums
from es_simhash.text.features import FeatureBatch, IdfTable
from es_simhash.text.hashing import HASH_FUNCTIONS, HashFunction
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens import tokens_from_json, tokens_to_json

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
        return identity(self)

    def to_json(self) -> str:
        """Write the scheme as JSON, with the idf table and a caller's functions by their names only.

        >>> Scheme.from_json(scheme.to_json()) == scheme
        True
        """
        return to_json(self)

    @classmethod
    def from_json(cls, text: str, *, idf: IdfTable | None = None, functions: Functions | None = None) -> Scheme:
        """Read what `to_json` wrote, given the idf table and the functions that it names.

        >>> Scheme.from_json(Scheme.preset("short").to_json()).name
        'short'
        """
        return cls(**from_json(text, idf, functions or {}))


# What JSON cannot hold, by name: a caller's tokenizers and hash functions.
Functions: TypeAlias = Mapping[str, Callable[[str], Any] | HashFunction]

FORMAT = "es_simhash.scheme/1"
SCHEMA = "urn:es-simhash:schema:scheme:1"
"""The name of the JSON Schema of such files, ``schemas/scheme.json``, by which editors know it."""
LATER_PARTS = ("verification", "passages")
"""Settings that schemes of an index may be older than."""
_ID_DIGITS = 12
_IDENTITY = re.compile(f"[0-9a-f]{{{_ID_DIGITS}}}")
# What schemes did before these settings were added to a verification, a layout and a normalisation; they are still
# written without.
_LATER: dict[str, Any] = {"features": "scheme"}
# What earlier versions compared, too: conditions, which were off if 0, and measures.
_GONE, _GONE_MEASURES = ("lengths", "first_lines"), ("containment", "overlap", "cosine")
_NEAR_BY_RUNS, _NUMBERS_BY_RUNS = 0.65, 0.5
_LATER_LAYOUT: dict[str, Any] = {"simhash": "field"}
_LATER_NORMALISATION: dict[str, Any] = {"fold": ()}


def to_json(settings: Settings) -> str:
    """Write the settings as JSON."""
    return _in_json({"format": FORMAT} | _to_dict(settings))


def to_file(settings: Settings) -> str:
    """Write the settings as JSON that names its schema, for a file that people edit."""
    return _in_json({"$schema": SCHEMA, "format": FORMAT} | _to_dict(settings)) + "\n"


def from_json(text: str, idf: IdfTable | None, functions: Functions) -> dict[str, Any]:
    """Read the settings that `to_json` or `to_file` wrote, as keyword arguments."""
    form = _read(text)
    parsers: dict[str, Callable[[Any], Any]] = {
        "normalisation": lambda value: Normalisation(**value),
        "tokens": lambda value: tokens_from_json(value, functions),
        "idf": lambda value: _idf(value, idf),
        "hash": lambda value: _hash(value, functions),
        "simhash": lambda value: None if value is None else SimHash(**value),
        "minhash": lambda value: None if value is None else MinHash(**value),
        "layout": lambda value: Layout(**value),
        "verification": lambda value: None if value is None else _verification(**value),
        "passages": lambda value: None if value is None else Passages(**value),
    }
    try:
        return {name: parsers.get(name, lambda value: value)(value) for name, value in form.items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"A setting of the scheme cannot be read: {error}. Correct it.") from None


def _in_json(form: dict[str, Any]) -> str:
    return json.dumps(form, ensure_ascii=False, indent=2)


def verification_to_dict(verification: Verification) -> dict[str, Any]:
    """Return the JSON form of how texts are compared."""
    return _without(_LATER, asdict(verification))


def _without(later: dict[str, Any], form: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in form.items() if name not in later or value != later[name]}


def _verification(**form: Any) -> Verification:
    return Verification(**_of_today(_LATER | _without_what_went(form)))


def _without_what_went(form: dict[str, Any]) -> dict[str, Any]:
    """Return a verification without what earlier versions compared; raise if this was asked for."""
    asked = [name for name in _GONE if form.get(name)]
    asked += ["measure"] if form.get("measure") in _GONE_MEASURES else []
    if asked:
        wishes = " and ".join(f"{name} {form[name]!r}" for name in asked)
        raise SchemeError(
            f"The scheme's verification asks for {wishes}, which this version no longer supports. Write the scheme "
            "again with the measure 'balanced' or 'jaccard', and a share of numbers if these must agree."
        )
    return {name: value for name, value in form.items() if name not in _GONE}


def _of_today(form: dict[str, Any]) -> dict[str, Any]:
    """Return a verification that an earlier version wrote as one of today.

    By runs of characters, the surroundings of texts counted, which the form may still have; and half of the numbers
    had to agree, where nobody said otherwise. The level near was another similarity.
    """
    if form["features"] == "text":
        return form
    form = {name: value for name, value in form.items() if name != "crowding"}
    if form["features"] != "runs":
        return form
    numbers = 0.0 if form["numbers"] == _NUMBERS_BY_RUNS else form["numbers"]
    was_near = (form["measure"], form["similarity"]) == ("balanced", _NEAR_BY_RUNS)
    similarity = LEVELS["balanced"]["near"] if was_near else form["similarity"]
    return form | {"features": "text", "numbers": numbers, "similarity": similarity}


def identity(settings: Settings) -> str:
    """Hash all that the fingerprints, their keys and their fields depend on.

    A setting that is added later must be left out of the form if it changes nothing, or else all ids would change.
    """
    form = _to_dict(settings)
    # Neither the name nor the library changes the tokens, nor a threshold the index.
    del form["name"]
    form["tokens"].pop("backend", None)
    # Doc values are built from a document, and do not change it.
    del form["layout"]["doc_values"]
    # Nor does the comparison of texts.
    del form["verification"]
    if form["minhash"]:
        del form["minhash"]["similarity"]
    if form["simhash"]:
        del form["simhash"]["distance"]
    else:
        form["layout"].pop("simhash", None)
        if not (settings.minhash and settings.minhash.is_weighted):
            # Without SimHash only weighted MinHash uses weights.
            del form["weights"], form["idf"]
    canonical = json.dumps(form, sort_keys=True, separators=(",", ":"))
    return sha256(canonical.encode("ascii")).hexdigest()[:_ID_DIGITS]


def is_identity(text: object) -> bool:
    """Return whether a text has the form of an `identity`."""
    return isinstance(text, str) and _IDENTITY.fullmatch(text) is not None


def _read(text: str) -> dict[str, Any]:
    names = {setting.name for setting in fields(Settings)}
    try:
        form = parse_json(text)
        written_as = form.pop("format")
        form.pop("$schema", None)
        for name in LATER_PARTS:
            form.setdefault(name, None)
        unknown, missing = sorted(set(form) - names), sorted(names - set(form))
    except (ValueError, KeyError, AttributeError, TypeError):
        raise FormatError("This is not the JSON form of a scheme. Make it with Scheme.to_json.") from None
    if written_as != FORMAT:
        raise FormatError("This scheme is of another format. Make it again with this version of es_simhash.")
    if unknown or missing:
        problem = f"no setting {unknown[0]!r}" if unknown else f"to have the setting {missing[0]!r}"
        raise FormatError(f"A scheme has {problem}. Correct the form, or make it with Scheme.to_json.")
    return dict(form)


def _to_dict(settings: Settings) -> dict[str, Any]:
    form = {setting.name: getattr(settings, setting.name) for setting in fields(Settings)}
    passages = form.pop("passages")
    return (
        form
        | ({"passages": asdict(passages)} if passages else {})
        | {
            "normalisation": _without(_LATER_NORMALISATION, asdict(settings.normalisation)),
            "tokens": tokens_to_json(settings.tokens),
            "idf": settings.idf and settings.idf.name,
            "hash": _hash_to_json(settings.hash_function),
            "simhash": settings.simhash and asdict(settings.simhash),
            "minhash": settings.minhash and asdict(settings.minhash),
            "layout": _without(_LATER_LAYOUT, asdict(settings.layout)),
            "verification": settings.verification and verification_to_dict(settings.verification),
        }
    )


def _idf(name: str | None, table: IdfTable | None) -> IdfTable | None:
    if name is None:
        return None
    if table is None or table.name != name:
        given = "none was given" if table is None else f"{table.name[:12]}… was given"
        raise SchemeError(f"The scheme needs the idf table {name[:12]}…, but {given}. Load it and pass it as idf=….")
    return table


def _hash_to_json(function: HashFunction) -> str | dict[str, Any]:
    """Return the name; for a caller's function, with whatever else its hashes depend on."""
    if function.name in HASH_FUNCTIONS:
        return function.name
    return {"name": function.name, "bits": function.bits, "is_mixed": function.is_mixed}


def _hash(form: Any, functions: Functions) -> HashFunction:
    name = form["name"] if isinstance(form, dict) else form
    function = HASH_FUNCTIONS.get(name) or functions.get(name)
    if isinstance(function, HashFunction) and _hash_to_json(function) == form:
        return function
    raise SchemeError(
        f"The scheme hashes with the function {form!r}. Pass it, made by custom_hash, as functions={{{name!r}: …}}."
    )
