"""Texts are compared only where signatures leave hope, and wherever pairs are compared these are the same texts."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from es_simhash import Scheme, Verification
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.index import Index
from es_simhash.plans import reply_size
from es_simhash.plans.operations import GetDocuments
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import Layout, MinHash
from es_simhash.scheme.verdict.rule import lowest_estimate
from es_simhash.sketches.minhash.common import estimates, standard_error
from es_simhash.sketches.tradeoffs import sharing
from tests.support.corpus import corpus
from tests.support.meddling import Meddler

STRICT = Verification(0.95, measure="balanced", features="text")
BY_FEATURES = replace(STRICT, measure="jaccard", features="scheme")
# Of an estimate of .6 by 108 values of 8 bits.
ERROR = standard_error(0.6, 108, 8)
SCHEMES = {
    "default": Scheme(verification=BY_FEATURES),
    "keys of a part": Scheme(minhash=MinHash(bands=42, rows=3), verification=BY_FEATURES),
    "signatures": Scheme(layout=Layout(signature_bits=4), verification=BY_FEATURES),
}


@pytest.mark.parametrize(
    ("verification", "least"),
    [
        (None, -1.0),
        (Verification(0.6, measure="jaccard", features="scheme"), 0.6 - 0.15 - 3 * ERROR),
        (Verification(0.6, measure="jaccard", features="text"), 0.22),
        (Verification(0.6, measure="balanced", features="scheme"), 0.22),
    ],
)
def test_the_bound_depends_on_how_texts_are_compared(verification: Verification | None, least: float) -> None:
    assert lowest_estimate(Criteria(None, 0.6, verification), MinHash(), 8) == pytest.approx(least, abs=1e-3)


@pytest.mark.parametrize("minhash", [MinHash(), MinHash(bands=32, rows=4), MinHash(bands=20, rows=6, key_bits=30)])
def test_keys_seldom_find_what_is_not_compared(minhash: MinHash) -> None:
    least = lowest_estimate(Criteria(None, 0.95, STRICT), minhash, minhash.layout.value_bits)
    assert (
        sharing(least - 0.01, minhash.layout, minhash.shared) < 0.05 <= sharing(least, minhash.layout, minhash.shared)
    )


def test_signatures_are_compared_by_the_values_of_keys() -> None:
    first = np.arange(108, dtype=np.uint32)
    others = np.stack([np.where(np.arange(108) < count, first, first + 1) for count in (23, 24, 25, 108)])
    # By chance, one of 256 values agrees.
    shares = [(count / 108 - 1 / 256) / (1 - 1 / 256) for count in (23, 24, 25, 108)]
    assert [share >= 0.22 for share in shares] == [False, False, True, True]
    least = lowest_estimate(Criteria(None, 0.95, STRICT), MinHash(), 8)
    assert (estimates(first, others, 8) >= least).tolist() == [False, False, True, True]


def texts() -> dict[str, str]:
    """Texts that share more or fewer words, all unequal."""
    chosen = random.Random(3)
    made = set[str]()
    for document in corpus():
        words = document["body"].split()
        for share in (0.0, 0.05, 0.1, 0.15, 0.2, 0.3):
            edited = [f"{chosen.random():.6f}" if chosen.random() < share else word for word in words]
            made.add(" ".join(edited))
    return {f"t{number}": text for number, text in enumerate(sorted(made))}


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_a_search_and_a_check_compare_the_same_texts(
    scheme: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Texts that come with the candidates are not counted.
    monkeypatch.setattr(reply_size, "_SECOND_REQUEST", 0)
    monkeypatch.setattr(reply_size, "_LEFT_OUT", 0)
    documents = texts()
    engine = Meddler(EmbeddedEngine(tmp_path))
    index = Index("texts", engine, scheme=scheme, fields=["body"])
    index.init()
    index.add([{"_id": id_, "body": text} for id_, text in documents.items()], refresh=True)
    candidates = sum(index.find(text).candidates for text in documents.values())
    read = sum(len(each.ids) for each in engine.seen if isinstance(each, GetDocuments))
    assert len(documents) < read < candidates

    index = Index("none", engine, scheme=scheme, fields=["body"])
    index.init()
    checked: list[Any] = list(index.check([{"_id": id_, "body": text} for id_, text in documents.items()]))
    # Each text also finds itself.
    assert candidates == len(documents) + 2 * sum(each.earlier.candidates for each in checked)
