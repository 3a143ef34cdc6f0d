"""The results of tuning, and the histogram of a sample, as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from es_simhash._core.json_paths import Json
from es_simhash.plans.explain.excerpts import Piece
from es_simhash.quality.key_choice import KeyOption
from es_simhash.quality.similarity_histogram import Histogram, Level
from es_simhash.quality.tuning import Tried, Tuned
from es_simhash.scheme.json_form import verification_to_dict
from es_simhash.text.tokens.kinds import tokens_to_json


def tuning_json(tuned: Tuned) -> Json:
    """Return all options, the rules that were tried, and the chosen scheme."""
    return {
        "documents": tuned.documents,
        "texts": tuned.texts,
        "unseen": tuned.unseen,
        "wish": {
            "documents": tuned.goal.documents,
            "recall": tuned.goal.recall,
            "candidates": tuned.goal.candidates,
        },
        "why": tuned.why,
        "warning": tuned.warning,
        "choice": tuned.choice + 1,
        "options": [_option(option) for option in tuned.front],
        "rules": [_tried(tried) for tried in tuned.tried],
        "scheme": json.loads(tuned.scheme.to_json()),
    }


def _option(option: KeyOption) -> Json:
    scheme = option.scheme
    return {
        "id": scheme.id,
        "minhash": asdict(scheme.minhash) if scheme.minhash else None,
        "simhash": asdict(scheme.simhash) if scheme.simhash else None,
        "expected_recall": option.expected_recall,
        "recall": option.recall,
        "random_candidates": option.random_candidates,
        "candidates": option.candidates,
        "json_bytes": option.json_bytes,
        "cpu_seconds": option.cpu_seconds,
    }


def _tried(tried: Tried) -> Json:
    return {
        "tokens": tokens_to_json(tried.tokens),
        "verification": verification_to_dict(tried.rule.verification),
        "f1": tried.rule.f1,
        "jaccard": tried.jaccard,
        "others": tried.others,
    }


def histogram_json(histogram: Histogram) -> Json:
    """Return the levels with their examples."""
    return {
        "documents": histogram.documents,
        "threshold": histogram.threshold,
        "near": histogram.near,
        "valley": histogram.valley,
        "levels": [_level(level) for level in histogram.levels],
    }


def _level(level: Level) -> Json:
    return {
        "least": level.least,
        "below": level.below,
        "pairs": level.pairs,
        "examples": [
            {
                "first": example.first,
                "second": example.second,
                "similarity": example.similarity,
                "text": marked(example.beginning),
                "difference": marked(example.difference),
            }
            for example in level.examples
        ],
    }


def marked(pieces: Sequence[Piece]) -> str:
    """Join pieces to one text: ``[-removed-]``, ``{+added+}``, and ``…`` for what is left out."""
    marks = {"both": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return "".join(marks.get(piece.kind, "…").format(piece.text) for piece in pieces)
