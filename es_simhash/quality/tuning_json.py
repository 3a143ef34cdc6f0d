"""The results of tuning, and the histogram of a sample, as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from es_simhash._core.json_paths import Json
from es_simhash.plans.explain.excerpts import Piece
from es_simhash.quality.similarity_histogram import Histogram, Level
from es_simhash.quality.threshold_choice import ThresholdChoice
from es_simhash.quality.tuning import Tuned


def tuning_json(tuned: Tuned) -> Json:
    """Return the thresholds that were tried, and the scheme."""
    return {
        "documents": tuned.documents,
        "why": tuned.why,
        "warning": tuned.warning,
        "threshold": _threshold(tuned.threshold) if tuned.threshold else None,
        "scheme": json.loads(tuned.scheme.to_json()),
    }


def _threshold(threshold: ThresholdChoice) -> Json:
    return {
        "similarity": threshold.best.similarity,
        "own": threshold.own.similarity,
        "nearest_level": threshold.nearest.level,
        "tried": [
            {"similarity": each.similarity, "level": each.level, **asdict(each.scores)} for each in threshold.tried
        ],
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
