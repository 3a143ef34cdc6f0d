"""Schemes as JSON, and their ids."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from hashlib import sha256
from typing import Any, TypeAlias

from es_simhash._core.json_codec import parse_json
from es_simhash.errors import FormatError, SchemeError
from es_simhash.scheme.settings import Layout, MinHash, Passages, Settings, SimHash
from es_simhash.scheme.verdict.levels import LEVELS
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.text.features import IdfTable
from es_simhash.text.hashing.registry import HASH_FUNCTIONS, HashFunction
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens.kinds import tokens_from_json, tokens_to_json

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
