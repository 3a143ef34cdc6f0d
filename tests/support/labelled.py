"""Documents with labels, small and with errors of every kind, for tests of evaluations."""

from __future__ import annotations

from es_simhash.quality.labels import Labels
from tests.support.corpus import corpus, edited


def documents() -> list[tuple[str, str]]:
    """Ten texts of English, Chinese and others, each with a near copy, a byte-identical one and one that is rewritten;
    and one that is empty.
    """
    found = []
    originals = corpus(20)
    for number, original in enumerate(originals[:10]):
        found.append((f"{number}", original["body"]))
        found.append((f"{number} near", edited(original, 2)["body"]))
        found.append((f"{number} same", original["body"]))
        found.append((f"{number} rewritten", originals[10 + number]["body"]))
    return [*found, ("empty", "")]


def clusters() -> list[list[str]]:
    """Return labels: copies and rewritten texts are duplicates, except for one near copy."""
    found = [[f"{number}", f"{number} near", f"{number} same", f"{number} rewritten"] for number in range(1, 10)]
    return [["0", "0 same"], *found]


def labels() -> Labels:
    """Return the clusters as labels."""
    return Labels.of_clusters(clusters())
