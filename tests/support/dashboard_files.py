"""The saved objects in ``mappings/dashboards/``; ``python -m tests.support.dashboard_files`` writes them anew."""

from __future__ import annotations

from es_simhash.cli.reports.dashboards.saved_objects import ndjson, saved_objects
from es_simhash.cli.reports.dashboards.subject import Subject
from tools.mapping_files import DIRECTORY as MAPPINGS

DIRECTORY = MAPPINGS / "dashboards"
# For every index whose fields have the usual prefix, whatever else its documents have.
_ALL = Subject("*", by_field="_index")
SUBJECTS = {
    "all-indices.ndjson": _ALL,
    "all-indices-simhash-only.ndjson": Subject(_ALL.index, by_field=_ALL.by_field, measure="distance"),
}


def files() -> dict[str, str]:
    """The content of each file by its name."""
    return {name: ndjson(saved_objects(subject)) for name, subject in SUBJECTS.items()}


if __name__ == "__main__":
    DIRECTORY.mkdir(exist_ok=True)
    for name, text in files().items():
        (DIRECTORY / name).write_text(text, encoding="utf-8")
