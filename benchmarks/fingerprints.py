"""Documents fingerprinted per second, compared with other libraries.

One process, one thread, CPU time, medians of {rounds} turns; slow libraries get fewer documents. A library that only
has an index is queried on an empty one, which costs little more than the fingerprint. es_simhash normalises the texts,
the others take them as they are; Python cuts them for those that take tokens, unless these are given.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.corpora import chinese, english
from benchmarks.fingerprint_contenders import (
    GIVEN_TOKENS,
    Contender,
    datasketch,
    gaoya_minhash,
    gaoya_simhash,
    in_turns,
    n_grams,
    ours,
    rensa,
    simhash_package,
)
from benchmarks.tables import Table, side_by_side
from es_simhash import MinHash, Scheme
from es_simhash.text import Chars, Words

ROUNDS = 7
__doc__ = __doc__.format(rounds=ROUNDS)


def run(documents_in_english: int = 50_000, documents_in_chinese: int = 20_000) -> list[Table]:
    """Measure everything."""
    corpora = {"English": english(documents_in_english), "Chinese": chinese(documents_in_chinese)}
    sketches = {
        "SimHash-64": (_simhash_of_characters, _simhash_of_words),
        "MinHash-128": (_minhash_of_characters, _minhash_of_words),
    }
    tables = []
    for title, (of_characters, of_words) in sketches.items():
        labelled = [
            (f"{language}, character 3-grams", _table(documents, of_characters()))
            for language, documents in corpora.items()
        ]
        words = _table(corpora["English"], of_words())
        tables.append(side_by_side(title, [*labelled, ("English, words", words)]))
    return tables


def _table(documents: Sequence[str], contenders: list[Contender]) -> Table:
    in_turns(contenders, documents, ROUNDS)
    peers = [each for each in contenders if not each.name.startswith("es_simhash")]
    best = max((peer.rate for peer in peers if not peer.name.endswith(GIVEN_TOKENS)), default=0.0)
    columns = ["", "documents a second", *(["× the best peer"] if peers else [])]
    table = Table("", columns)
    for contender in contenders:
        ratio = [f"{contender.rate / best:.2f}"] if peers else []
        table.add(contender.name, f"{contender.rate:,.0f}", *ratio)
    return table


# --- SimHash ---


def _simhash_of_characters() -> list[Contender]:
    return [*_our_simhash(Chars(3)), *gaoya_simhash("char", 3), *simhash_package(n_grams(3))]


def _simhash_of_words() -> list[Contender]:
    return [*_our_simhash(Words(1)), *gaoya_simhash("word", 1), *simhash_package(str.split)]


def _our_simhash(tokens: Chars | Words) -> list[Contender]:
    return [
        *ours("each occurrence", Scheme(tokens=tokens, weights="tf", minhash=None)),
        *ours("each feature once", Scheme(tokens=tokens, minhash=None)),
    ]


# --- MinHash ---


def _minhash_of_characters() -> list[Contender]:
    cut = n_grams(3)
    return [*_our_minhash(Chars(3)), *gaoya_minhash("char", 3), *rensa(cut), *datasketch(cut)]


def _minhash_of_words() -> list[Contender]:
    return [*_our_minhash(Words(1)), *gaoya_minhash("word", 1), *rensa(str.split), *datasketch(str.split)]


def _our_minhash(tokens: Chars | Words) -> list[Contender]:
    # MinHash does not look at the weights: with "tf" nothing is spent on them.
    one_permutation = Scheme(tokens=tokens, weights="tf", simhash=None)
    k_hash = Scheme(tokens=tokens, weights="tf", simhash=None, minhash=MinHash("k-hash"))
    return [*ours("one-permutation", one_permutation), *ours("k-hash", k_hash, 0.1)]
