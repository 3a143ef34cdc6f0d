"""An evaluation as JSON, and its pairs as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import IO, Any

import numpy as np

from es_simhash._core.json_paths import Json
from es_simhash.groups.pairs.candidates import positions
from es_simhash.quality.curve import Curve
from es_simhash.quality.evaluation import Evaluation
from es_simhash.quality.worst_errors import PairError

_EXCERPT = 300
_NAMED = 20


def evaluation_json(evaluation: Evaluation) -> Json:
    """Return all but the predicted pairs; texts are cut."""
    truth, criteria = evaluation.truth, evaluation.criteria
    return {
        "documents": len(evaluation.ids),
        "unscoped": evaluation.counts.unscoped,
        "labels": {
            "kind": evaluation.kind,
            "duplicates": len(truth.positives),
            "others": None if truth.negatives is None else len(truth.negatives),
            "unknown_ids": _named(truth.unknown),
            "contradictory": _named(truth.contradictory),
            "out_of_scope": evaluation.out_of_scope,
        },
        "near": {
            "distance": criteria.distance,
            "similarity": criteria.similarity,
            "decided_by": criteria.decided_by,
        },
        "intervals": asdict(evaluation.bootstrap),
        "pairs": {**asdict(evaluation.pairs), "not_labelled": evaluation.judged.not_labelled},
        "clusters": asdict(evaluation.clusters) if evaluation.clusters else None,
        "buckets": {
            kind: {name: asdict(scores) for name, scores in buckets.items()}
            for kind, buckets in evaluation.buckets.items()
        },
        "thresholds": [_curve(curve) for curve in evaluation.curves],
        "exact_jaccard": {
            "best": _point(evaluation.ceiling.curve),
            "is_complete": evaluation.ceiling.is_complete,
            "standard_error": evaluation.ceiling.standard_error,
            "candidate_recall": evaluation.ceiling.candidates,
            "candidate_recall_of_duplicates": evaluation.ceiling.true_candidates,
        },
        "false_positives": [_error(evaluation, error) for error in evaluation.wrong],
        "false_negatives": [_error(evaluation, error) for error in evaluation.missed],
    }


def _named(names: Sequence[str]) -> Json:
    return {"count": len(names), "first": list(names[:_NAMED])}


def _curve(curve: Curve) -> Json:
    return {"by": curve.axis, "best": _point(curve), "points": [asdict(point) for point in curve.points]}


def _point(curve: Curve) -> Json | None:
    return asdict(curve.best) if curve.best else None


def _error(evaluation: Evaluation, error: PairError) -> Json:
    sides = {
        side: {"id": evaluation.ids[place], "text": evaluation.texts[place][:_EXCERPT]}
        for side, place in (("first", error.first), ("second", error.second))
    }
    known = {
        name: getattr(error, name) for name in ("similarity", "standard_error", "distance", "jaccard", "keys_meet")
    }
    return {**sides, **known}


def write_pairs(evaluation: Evaluation, out: IO[str]) -> None:
    """Write each pair that was found, as JSON lines, with ``is_right``: null if it was not labelled."""
    for pair in _pairs(evaluation):
        out.write(json.dumps(pair, ensure_ascii=False) + "\n")


def _pairs(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    found, truth, ids = evaluation.found, evaluation.truth, evaluation.ids
    known, right = truth.are_known(found.pairs), truth.are_positive(found.pairs)
    columns = (*positions(found.pairs), known, right, found.similarities, found.distances)
    for a, b, is_known, is_right, similarity, distance in zip(*(column.tolist() for column in columns), strict=True):
        pair: dict[str, Any] = {"first": ids[a], "second": ids[b], "is_right": is_right if is_known else None}
        if not np.isnan(similarity):
            pair["similarity"] = similarity
        if distance >= 0:
            pair["distance"] = distance
        yield pair
