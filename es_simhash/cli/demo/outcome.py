"""What came of the trial: which planted pairs were found, why others were missed, and what else was found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from es_simhash.cli.demo.copies import COPIERS
from es_simhash.cli.demo.corpus import LANGUAGES, Planted
from es_simhash.cli.demo.trial import Pair
from es_simhash.groups.union_find import UnionFind
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Verification
from es_simhash.scheme.verification import Verifier, rarity_of

# Two copies of the same original; these are near-duplicates too.
SIBLINGS = "siblings"
DUPLICATES = (*COPIERS, SIBLINGS)
LOOK_ALIKES = ("template", "boilerplate")

# Why a pair was missed: it is less similar than asked for; by the features that are rare in a sample
# of the index it is; no band is equal.
Why = Literal["below", "sample", "keys"]


def planted_pairs(documents: Sequence[Planted]) -> dict[str, set[Pair]]:
    """The pairs of each kind: of copies with their originals, and among look-alikes of one family."""
    families = defaultdict(list)
    for position, document in enumerate(documents):
        families[document.family].append(position)
    pairs: dict[str, set[Pair]] = {kind: set() for kind in (*DUPLICATES, *LOOK_ALIKES)}
    for family in families.values():
        for first, second in combinations(family, 2):
            pairs[_kind_of(documents[first], documents[second])].add((first, second))
    return pairs


def _kind_of(first: Planted, second: Planted) -> str:
    """The kind of a pair within a family; originals stand before their copies."""
    return second.kind if first.kind in ("original", *LOOK_ALIKES) else SIBLINGS


def unplanted(pairs: Collection[Pair], planted: dict[str, set[Pair]]) -> set[Pair]:
    """The pairs of two documents that have nothing to do with each other."""
    return set(pairs).difference(*planted.values())


@dataclass(frozen=True)
class Missed:
    """How many pairs of a kind were missed for one reason, and their exact similarities."""

    kind: str
    why: Why
    count: int
    lowest: float
    highest: float


def verifier(scheme: Scheme, documents: Sequence[Planted]) -> Verifier:
    """What compares texts as a search does; features are as rare as in all documents."""
    verification = scheme.verification or Verification()
    return Verifier(scheme, verification, rarity_of(scheme, [each.text for each in documents]))


def missed(
    scheme: Scheme,
    comparing: Verifier,
    documents: Sequence[Planted],
    planted: dict[str, set[Pair]],
    found: Collection[Pair],
) -> Iterator[Missed]:
    """Why planted near-duplicates were missed by a search as the scheme says."""
    for kind in DUPLICATES:
        similarities = defaultdict(list)
        for first, second in sorted(planted[kind].difference(found)):
            why, similarity = _why(scheme, comparing, documents[first].text, documents[second].text)
            similarities[why].append(similarity)
        for why, values in similarities.items():
            yield Missed(kind, why, len(values), min(values), max(values))


def _why(scheme: Scheme, comparing: Verifier, first: str, second: str) -> tuple[Why, float]:
    [similarity] = comparing.to_others(first, [second])
    if similarity < comparing.verification.similarity:
        return "below", similarity
    keys, others = (set(scheme.band_keys(scheme.fingerprint(text))) for text in (first, second))
    return ("sample" if keys & others else "keys"), similarity


@dataclass(frozen=True)
class Example:
    """Two near-duplicates that were found."""

    first: Planted
    second: Planted
    similarity: float


def examples(
    comparing: Verifier, documents: Sequence[Planted], planted: dict[str, set[Pair]], found: Collection[Pair]
) -> Iterator[Example]:
    """One pair of each language, edited if there is such a one."""
    for code in LANGUAGES:
        for kind in ("edited", "truncated", "reordered", "variant", "copy"):
            own = (pair for pair in sorted(planted[kind].intersection(found)) if documents[pair[0]].language == code)
            if pair := next(own, None):
                first, second = (documents[position] for position in pair)
                yield Example(first, second, *comparing.to_others(first.text, [second.text]))
                break


@dataclass(frozen=True)
class Group:
    """Documents that pairs link, and how many of them are of which kind."""

    documents: list[Planted]
    kinds: dict[str, int]


def groups(documents: Sequence[Planted], found: Collection[Pair]) -> list[Group]:
    """The groups that pairs come to, the largest first."""
    linked = UnionFind(len(documents))
    pairs = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    linked.union(pairs[:, 0], pairs[:, 1])
    members = ([documents[position] for position in group] for group in linked.groups())
    by_size = sorted(members, key=len, reverse=True)
    return [Group(group, dict(Counter(each.kind for each in group))) for group in by_size]
