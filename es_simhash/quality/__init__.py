"""How well near-duplicates are found, measured on labelled documents, and schemes tuned on them.

Public names are imported from here: `from es_simhash.quality import Labels, evaluate`.
"""

from __future__ import annotations

from es_simhash._core import lazily

TYPE_CHECKING = False  # loading `typing` for it takes longer than all else here
if TYPE_CHECKING:
    from es_simhash.quality.evaluation import evaluate
    from es_simhash.quality.labels import Labels
    from es_simhash.quality.tuning import tune_by_labels, tune_by_similarity

_NAMES = {
    "quality.evaluation": "evaluate",
    "quality.labels": "Labels",
    "quality.tuning": "tune_by_labels tune_by_similarity",
}

__all__ = [
    "Labels",
    "evaluate",
    "tune_by_labels",
    "tune_by_similarity",
]

__getattr__, __dir__ = lazily(__name__, _NAMES)
