"""Searches whose order is the same at each request, as pages need it: seeds for chance, and what has none."""

from __future__ import annotations

import re
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.errors import InputError

# Parts of a request that decide neither which hits there are, nor in which order.
_BESIDE = ("aggs", "aggregations", "highlight", "script_fields", "suggest")
# What Painless has of chance; a Random with a seed is always the same.
_CHANCE = re.compile(r"\bMath\s*\.\s*random\b|\bnew\s+Random\s*\(\s*\)|\brandomUUID\b|\bCollections\s*\.\s*shuffle\b")


def with_seeds(request: Any, seed: int) -> Any:
    """Return a search request with a seed wherever it asks for chance without one."""
    if isinstance(request, list):
        return [with_seeds(each, seed) for each in request]
    if not isinstance(request, dict):
        return request
    seeded = {name: with_seeds(each, seed) for name, each in request.items()}
    for spec in (seeded.get("function_score"), *_functions(seeded.get("function_score"))):
        if isinstance(spec, dict) and isinstance(given := spec.get("random_score"), dict) and "seed" not in given:
            # Places of documents in files differ between copies of a shard.
            spec["random_score"] = {"field": "_seq_no", **given, "seed": seed}
    if isinstance(given := seeded.get("random_reranker"), dict) and "retriever" in given:
        seeded["random_reranker"] = {"seed": seed, **given}
    return seeded


def _functions(spec: Any) -> list[Any]:
    functions = spec.get("functions") if isinstance(spec, dict) else None
    return functions if isinstance(functions, list) else []


def check_scripts(body: Json) -> None:
    """Raise if a script puts the hits in another order at each request."""
    for source in _scripts({name: each for name, each in body.items() if name not in _BESIDE}):
        if found := _CHANCE.search(source):
            raise InputError(
                f"A search for distinct hits needs one order, and {found[0]!r} in a script gives another one at each "
                "request. Use random_score, or a number from params instead."
            )


def _scripts(part: Any) -> list[str]:
    """Return the source of each script in a part of a request."""
    if isinstance(part, list):
        return [source for each in part for source in _scripts(each)]
    if not isinstance(part, dict):
        return []
    found = [source for each in part.values() for source in _scripts(each)]
    script = part.get("script")
    source = script.get("source") if isinstance(script, dict) else script
    return [*found, source] if isinstance(source, str) else found
