"""Contenders that find near-duplicates in a labelled set: ours as `dedup` runs, and what people set up today."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from benchmarks.labelled import Found, LabelledSet, Ranked
from benchmarks.nodes import Json, Server
from benchmarks.ways import MinHashShould, MoreLikeThis, Way
from es_simhash import GroupOptions, Scheme, SimHash, dedup
from es_simhash._core.arrays import Codes, Integers
from es_simhash.groups.pairs.candidates import pair_codes
from es_simhash.groups.pairs.fingerprint_store import settings_needed
from es_simhash.quality.ceiling import KeyMatcher, similar_pairs
from es_simhash.quality.evaluation import LEAST
from es_simhash.quality.labels import predict_pairs
from es_simhash.quality.scores import script_of
from es_simhash.scheme.settings import PRESETS
from es_simhash.scheme.verification import Level
from es_simhash.sketches.hamming import distances
from es_simhash.text import Chars, Words

SHARE, PAGE, AT_ONCE = 0.8, 50, 20
PERMUTATIONS, RECIPE = 128, 0.8
NEAR_BITS, FAR_BITS = 3, 16
GOOGLE = Scheme(
    name="SimHash", tokens=Words(1), weights="tf", simhash=SimHash(64, 4, NEAR_BITS), minhash=None, verification=None
)

Contender: TypeAlias = Callable[[LabelledSet], Found]


# ---- ours


def levels() -> dict[str, tuple[Scheme, GroupOptions]]:
    """Return how texts are grouped by each level, by its name; ``near`` is the default."""
    names: tuple[Level, ...] = ("near", "copies", "versions")
    return {f"es_simhash, {level}": (Scheme(), GroupOptions(similarity=level)) for level in names}


def ours(on: LabelledSet) -> dict[str, Contender]:
    """List the levels, the default by estimates, and the presets."""
    is_chinese = [script_of(text) for text in on.texts[:100]].count("Han") > 50
    presets = [name for name in PRESETS if name != "default" and (is_chinese or not name.startswith("chinese"))]
    others = {f"es_simhash, preset {name}": (Scheme.preset(name), GroupOptions()) for name in presets}
    estimates = {"es_simhash, near, by estimates": (Scheme(), GroupOptions(estimate=True))}
    return {name: partial(deduplicated, *how) for name, how in {**levels(), **estimates, **others}.items()}


def deduplicated(scheme: Scheme, options: GroupOptions, on: LabelledSet) -> Found:
    """Take the pairs and groups of a run."""
    criteria = options.criteria(scheme)
    met = KeyMatcher(settings_needed(scheme, criteria), criteria, on.texts).meet(on.truth.positives)
    with dedup(on.documents, scheme=scheme, **vars(options)) as groups:
        return Found(predict_pairs(groups, on.apart).pairs, groups.firsts, float(met.mean()))


# ---- what people set up


def peers(server: Server) -> dict[str, Contender]:
    """List what people set up, on a node where it needs one."""
    ranking: dict[str, Callable[[LabelledSet], Ranked]] = {
        "exact Jaccard, best threshold": _exact,
        "MinHash at 0.8, runs of 3 words": partial(_by_datasketch, _words),
        "MinHash at 0.8, character 5-grams": partial(_by_datasketch, _characters),
        "SimHash of words, within 3 bits": _google,
        **{way.name: partial(_by_search, server, way) for way in (_Like(server), _Tokens(server))},
    }
    return {name: partial(_found, rank) for name, rank in ranking.items()}


def _found(rank: Callable[[LabelledSet], Ranked], on: LabelledSet) -> Found:
    return rank(on).found(on)


def _exact(on: LabelledSet) -> Ranked:
    near = similar_pairs(Scheme(tokens=Chars(5)), on.texts, on.apart).predicted
    ranked = Ranked(near.pairs, near.similarities, 1.0)
    return replace(ranked, threshold=ranked.best(on.truth).at)


def _words(text: str) -> list[str]:
    words = re.findall(r"\w+", text.lower())
    return [" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))]


def _characters(text: str) -> list[str]:
    return [text[i : i + 5] for i in range(max(1, len(text) - 4))]


def _by_datasketch(cut: Callable[[str], list[str]], on: LabelledSet) -> Ranked:
    """Rank what an index for 0.8 finds by default, and one for the lowest threshold otherwise."""
    from datasketch import MinHash, MinHashLSH

    signatures = []
    for text in on.texts:
        signatures.append(MinHash(num_perm=PERMUTATIONS))
        signatures[-1].update_batch([feature.encode() for feature in sorted(set(cut(text)))])

    def met(threshold: float) -> dict[tuple[int, int], float]:
        index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
        scores: dict[tuple[int, int], float] = {}
        for place, signature in enumerate(signatures):
            for other in index.query(signature):
                scores[other, place] = float(signature.jaccard(signatures[other]))
            index.insert(place, signature)
        return scores

    usual, low = met(RECIPE), met(LEAST)
    # What the index for 0.8 does not meet is not found at 0.8, however similar.
    below = {pair: min(score, RECIPE - 1e-9) for pair, score in low.items() if pair not in usual}
    ranked = Ranked.of({**below, **usual}, RECIPE, on.truth)
    return replace(ranked, candidates=Ranked.of(usual, RECIPE, on.truth).candidates)


def _google(on: LabelledSet) -> Ranked:
    """Rank all pairs within 16 bits, for the best threshold; candidates are those of tables for 3 bits."""
    batches = [batch.simhashes for batch in GOOGLE.fingerprint_batches(on.texts)]
    simhashes = np.concatenate([batch for batch in batches if batch is not None])
    pairs, scores = zip(*_within(simhashes, FAR_BITS), strict=True)
    met = KeyMatcher(GOOGLE, GroupOptions().criteria(GOOGLE), on.texts).meet(on.truth.positives)
    return Ranked(np.concatenate(pairs), -np.concatenate(scores).astype(np.float64), -NEAR_BITS, float(met.mean()))


def _within(simhashes: Codes, most: int) -> Iterator[tuple[Codes, Integers]]:
    for place in range(len(simhashes)):
        bits = distances(simhashes[place + 1 :], simhashes[place])
        near = np.flatnonzero(bits <= most)
        yield pair_codes(np.full(len(near), place), place + 1 + near), bits[near].astype(np.int64)


# ---- on a real node


class _Like(MoreLikeThis):
    name = f"more_like_this, {SHARE:.0%} of the score"


class _Tokens(MinHashShould):
    def __init__(self, server: Server) -> None:
        super().__init__(server, "30%")
        self.name = f"min_hash, {SHARE:.0%} of the tokens"


def _by_search(server: Server, way: Way, on: LabelledSet) -> Ranked:
    """Search for the duplicates of each document; scores are relative to its own."""
    way.create(way.index)
    actions = [{"_id": str(place), "_source": {"body": text}} for place, text in enumerate(on.texts)]
    server.load(way.index, way.actions(way.index, actions))
    server.merge(way.index)
    found: dict[tuple[int, int], float] = {}
    for first in range(0, len(on.texts), AT_ONCE):
        texts = on.texts[first : first + AT_ONCE]
        asked = [(first + place, _request(way, text)) for place, text in enumerate(texts) if text.strip()]
        replies = server.many_hits(way.index, [body for _, body in asked])
        for (place, _), hits in zip(asked, replies, strict=True):
            for other, score in _relative(place, hits):
                pair = min(place, other), max(place, other)
                found[pair] = max(found.get(pair, 0.0), score)
    server.delete(way.index)
    return Ranked.of(found, SHARE, on.truth)


def _request(way: Way, text: str) -> Json:
    return {**way.body(text), "size": PAGE}


def _relative(place: int, hits: Sequence[Any]) -> Iterator[tuple[int, float]]:
    """Yield other documents with their scores relative to the document's own, or else to the highest."""
    scores = {int(hit["_id"]): float(hit["_score"]) for hit in hits}
    own = scores.pop(place, max(scores.values(), default=1.0)) or 1.0
    for other, score in scores.items():
        yield other, min(score / own, 1.0)
