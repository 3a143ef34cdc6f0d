from __future__ import annotations

from dataclasses import replace

from es_simhash import Documents, Scheme, Verification
from es_simhash._core.json_codec import Json
from es_simhash.plans.open_index import note_rarity, noted_rarity
from es_simhash.plans.operations import PutMapping
from es_simhash.scheme.verdict.learnt import LearntRarity
from es_simhash.scheme.verdict.verifier import rarity_of
from es_simhash.text import Custom

BY_RUNS = Scheme()
BY_TOKENS = replace(BY_RUNS, verification=Verification(features="scheme"))
TEXTS = ["見出しと本文 one", "見出しと本文 two"]


def mapping_of(scheme: Scheme) -> Json:
    """The mapping with what was learnt for a scheme."""
    plan = note_rarity("i", Documents(scheme, ["text"]), LearntRarity(rarity_of(scheme, TEXTS), "2030-01-01"))
    next(plan)
    written = plan.send({"i": {}})
    assert isinstance(written, PutMapping)
    return written.body


def test_what_was_learnt_of_other_features_does_not_count() -> None:
    for scheme, other in ((BY_TOKENS, BY_RUNS), (BY_RUNS, BY_TOKENS)):
        noted = {"i": mapping_of(scheme)}
        found = noted_rarity(noted, Documents(scheme, ["text"]))
        assert found
        assert found.rarity == rarity_of(scheme, TEXTS)
        assert noted_rarity(noted, Documents(other, ["text"])) is None


def test_notes_of_the_scheme_s_own_features_are_as_they_always_were() -> None:
    [note] = (each for name, each in mapping_of(BY_TOKENS)["_meta"]["es_simhash"].items() if "rarity" in name)
    assert set(note) == {"scheme", "when", "id", "rarity"}


def test_notes_of_a_caller_s_own_tokens_name_no_runs() -> None:
    own = replace(BY_RUNS, tokens=Custom("blanks", str.split))
    [note] = (each for name, each in mapping_of(own)["_meta"]["es_simhash"].items() if "rarity" in name)
    assert "features" not in note
    assert rarity_of(own, TEXTS) != rarity_of(BY_RUNS, TEXTS)
