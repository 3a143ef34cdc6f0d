"""The panel that explains the terms, as Markdown."""

from __future__ import annotations

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards.subject import Subject

KIND = "markdown"


def parameters(subject: Subject) -> Json:
    """Return the parameters of the visualization."""
    return {"fontSize": 12, "openLinksInNewTab": False, "markdown": explained(subject)}


def explained(subject: Subject) -> str:
    """Explain what the charts count, and what a click does."""
    near = {
        "similarity": "**Similarity**: what a duplicate has in common with the canonical document; 1 is all.",
        "distance": "**Distance**: in how many bits the fingerprints of a duplicate and the canonical document differ.",
    }
    lines = [
        "**Group**: documents with nearly the same text.",
        "**Canonical document**: the one that is kept, and stands for its group.",
        "**Duplicates**: all others of a group.",
        near[subject.measure],
    ]
    if subject.date_field:
        lines.append("**▲ ▼**: the later half of the time that is shown, against the earlier half.")
    lines.append("**Click** a number, column or bar to filter the page by it" + _zoom(subject))
    return "\n".join(f"- {line}" for line in lines) + "\n"


def _zoom(subject: Subject) -> str:
    return "; over time, click or drag to zoom." if subject.date_field else "."
