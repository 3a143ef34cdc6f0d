"""Deduplication by the surroundings of documents, beside a reference that compares all pairs."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Deduplicator, Scheme, Verification
from es_simhash.scheme.verdict.rule import CLAUSES
from es_simhash.scheme.verdict.verification import Crowding
from es_simhash.scheme.verdict.verifier import Verifier, rarity_of
from tests.support.fuzzing import examples
from tests.support.random_corpus import corpus, forms

CROWDING = Crowding()
VERIFICATION = Verification(0.65, measure="balanced", numbers=0.5, crowding=CROWDING)
SCHEME = replace(Scheme(), verification=VERIFICATION)


def shares_a_key(scheme: Scheme, texts: list[str]) -> list[set[str]]:
    assert scheme.minhash
    bands = scheme.minhash.layout
    prints = scheme.fingerprints(texts)
    return [set() if each.minhash is None else set(bands.keys(each.signature[None])[0]) for each in prints]


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


def clause(s: float, a: str, b: str, best: float, crowd: int) -> str | None:
    """The clause by which two unequal texts are near-duplicates."""
    common, all_ = numbers(a) & numbers(b), numbers(a) | numbers(b)
    fewer = min(len(numbers(a)), len(numbers(b)))
    agree = len(common) >= 0.75 * len(all_)
    least = 0.65 - (0.1 if agree and len(common) >= 3 else 0)
    if (fewer and len(common) < 0.5 * fewer) or s < least:
        return None
    if s >= least + 0.2 * math.log2(max(1, crowd / 2)):
        return "apart"
    return "nearest" if (agree or s >= 0.85) and s >= 0.9 * best else None


def reference(texts: list[str]) -> dict[tuple[int, int], str]:
    """The deciding clause of each pair of unequal texts that a key brings together, if they are near-duplicates."""
    keys, firsts = shares_a_key(SCHEME, texts), {text: place for place, text in reversed(list(enumerate(texts)))}
    own = [place for place, text in enumerate(texts) if firsts[text] == place and keys[place]]
    pairs = [(a, b) for a, b in combinations(own, 2) if keys[a] & keys[b]]
    verifier = Verifier(SCHEME, Verification(measure="balanced"), rarity_of(SCHEME, [texts[place] for place in own]))
    found = verifier.similarities(texts, np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
    s = dict(zip(pairs, found.tolist(), strict=True))
    copies = Counter(texts)
    near = {d: [(s[pair], copies[texts[sum(pair) - d]]) for pair in pairs if d in pair] for d in own}
    for d in own:
        near[d] += [(1.0, copies[texts[d]] - 1)] if copies[texts[d]] > 1 else []
    best = {d: max((similarity for similarity, _ in near[d]), default=0.0) for d in own}
    crowd = {d: sum(count for similarity, count in near[d] if similarity >= 0.4) for d in own}
    clauses = {
        (a, b): clause(s[a, b], texts[a], texts[b], best[a] * best[b], min(crowd[a], crowd[b])) for a, b in pairs
    }
    return {pair: found for pair, found in clauses.items() if found}


@given(st.integers(0, 10_000))
@examples(40)
def test_pairs_are_near_by_the_clauses_of_the_rule(seed: int) -> None:
    texts = corpus(seed)
    documents = [(str(place), text) for place, text in enumerate(texts)]
    with Deduplicator(SCHEME, threads=1).run(documents) as duplicates:
        blocks = list(duplicates.pairs())
    found = {(int(pair["first"]), int(pair["second"])): CLAUSES[pair["clause"]] for block in blocks for pair in block}
    assert {pair: clause for pair, clause in found.items() if clause != "equal"} == reference(texts)
    assert all(texts[a] == texts[b] for (a, b), clause in found.items() if clause == "equal")


def test_forms_are_kept_apart_and_their_copies_are_grouped() -> None:
    texts = [text for form in forms(random.Random(0), 12) for text in (form, form.replace("examined", "inspected"))]
    documents = [(str(place), text) for place, text in enumerate(texts)]
    found = []
    for crowding in (CROWDING, None):
        scheme = replace(SCHEME, verification=replace(VERIFICATION, crowding=crowding))
        with Deduplicator(scheme, threads=1).run(documents) as duplicates:
            found.append(list(duplicates.groups_of_ids()))
    apart, together = found
    assert apart == [[str(place), str(place + 1)] for place in range(0, 24, 2)]
    assert len(together) < 12


@pytest.mark.parametrize("seed", range(5, 15))
def test_which_copy_of_a_text_stands_for_it_changes_no_group(seed: int) -> None:
    chosen = random.Random(seed)
    texts = [text for part in range(4) for text in corpus(4 * seed + part) for _ in range(chosen.randrange(1, 4))]
    order = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    documents = [(str(place), text) for place, text in enumerate(texts)]
    groups = []
    for direction in (1, -1):
        rank = [(order[text], direction * place) for place, text in enumerate(texts)]
        with Deduplicator(Scheme(), threads=1).run(documents, rank=rank.__getitem__) as found:
            groups.append({frozenset(group) for group in found.standing})
    assert groups[0] == groups[1]
