"""The outcome of the trial: planted pairs that were found, why others were missed, and unplanted pairs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from es_simhash.cli.demo.copies import COPIERS
from es_simhash.cli.demo.corpus import LANGUAGES, CorpusDocument
from es_simhash.cli.demo.trial import Pair
from es_simhash.groups.union_find import UnionFind
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier, table_for

# Two copies of the same original are near-duplicates, too.
SIBLINGS = "siblings"
DUPLICATES = (*COPIERS, SIBLINGS)
LOOK_ALIKES = ("template", "boilerplate")

# Why a pair was missed: its similarity is below the threshold, or no band is equal.
Why = Literal["below", "keys"]


def planted_pairs(documents: Sequence[CorpusDocument]) -> dict[str, set[Pair]]:
    """Return the pairs of each kind: copies with their originals, and look-alikes of one family."""
    families = defaultdict(list)
    for position, document in enumerate(documents):
        families[document.family].append(position)
    pairs: dict[str, set[Pair]] = {kind: set() for kind in (*DUPLICATES, *LOOK_ALIKES)}
    for family in families.values():
        for first, second in combinations(family, 2):
            pairs[_kind_of(documents[first], documents[second])].add((first, second))
    return pairs


def _kind_of(first: CorpusDocument, second: CorpusDocument) -> str:
    """Return the kind of a pair within a family; originals come before their copies."""
    return second.kind if first.kind in ("original", *LOOK_ALIKES) else SIBLINGS


def unplanted(pairs: Collection[Pair], planted: dict[str, set[Pair]]) -> set[Pair]:
    """Return the pairs of unrelated documents."""
    return set(pairs).difference(*planted.values())


@dataclass(frozen=True)
class Missed:
    """The number of pairs of a kind that were missed for one reason, and their exact similarities."""

    kind: str
    why: Why
    count: int
    lowest: float
    highest: float


def verifier(scheme: Scheme) -> Verifier:
    """Return a verifier that compares texts as a search does where no table was learnt."""
    verification = scheme.verification or Verification()
    return Verifier(scheme, verification, table_for(scheme, verification, None))


def missed(
    comparing: Verifier,
    documents: Sequence[CorpusDocument],
    planted: dict[str, set[Pair]],
    found: Collection[Pair],
) -> Iterator[Missed]:
    """Explain which planted near-duplicates a search without options missed."""
    for kind in DUPLICATES:
        similarities: dict[Why, list[float]] = defaultdict(list)
        for first, second in sorted(planted[kind].difference(found)):
            [similarity] = comparing.to_others(documents[first].text, [documents[second].text])
            is_below = similarity < comparing.verification.similarity
            similarities["below" if is_below else "keys"].append(similarity)
        for why, values in similarities.items():
            yield Missed(kind, why, len(values), min(values), max(values))


@dataclass(frozen=True)
class Example:
    """Two near-duplicates that were found."""

    first: CorpusDocument
    second: CorpusDocument
    similarity: float


def examples(
    comparing: Verifier, documents: Sequence[CorpusDocument], planted: dict[str, set[Pair]], found: Collection[Pair]
) -> Iterator[Example]:
    """Yield one pair of each language, an edited one if possible."""
    for code in LANGUAGES:
        for kind in ("edited", "truncated", "reordered", "variant", "copy"):
            own = (pair for pair in sorted(planted[kind].intersection(found)) if documents[pair[0]].language == code)
            if pair := next(own, None):
                first, second = (documents[position] for position in pair)
                yield Example(first, second, *comparing.to_others(first.text, [second.text]))
                break


@dataclass(frozen=True)
class DocumentGroup:
    """Documents that pairs link, and the number of each kind."""

    documents: list[CorpusDocument]
    kinds: dict[str, int]


def groups(documents: Sequence[CorpusDocument], found: Collection[Pair]) -> list[DocumentGroup]:
    """Return the groups that pairs link, the largest first."""
    linked = UnionFind(len(documents))
    pairs = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    linked.union(pairs[:, 0], pairs[:, 1])
    members = ([documents[position] for position in group] for group in linked.groups())
    by_size = sorted(members, key=len, reverse=True)
    return [DocumentGroup(group, dict(Counter(each.kind for each in group))) for group in by_size]
