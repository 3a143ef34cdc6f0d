"""Checks of an index's settings, and of what its statistics show."""

from __future__ import annotations

from collections.abc import Iterator

from es_simhash._core.humanize import counted
from es_simhash.live.doctor.facts import Facts, IndexFacts
from es_simhash.live.doctor.finding import Finding

# The number of documents from which it pays to change settings during the run.
_MANY = 100_000


def check_pipelines(there: IndexFacts) -> Iterator[Finding]:
    """Check whether whole documents go through a pipeline."""
    settings = {kind: there.settings.get(f"index.{kind}") for kind in ("default_pipeline", "final_pipeline")}
    named = [f"{kind} {name!r}" for kind, name in settings.items() if name and name != "_none"]
    if named:
        yield Finding(
            "pipeline",
            "note",
            f"The index {there.name!r} has the {' and the '.join(named)}, which our partial updates do not run.",
            "Nothing to do, unless it changes the text fields of documents that were written before it.",
            there.name,
        )


def check_changes(facts: Facts, there: IndexFacts) -> Iterator[Finding]:
    """Check whether changes by others can be noticed."""
    if there.copies is None and facts.engine.distribution != "embedded":
        yield Finding(
            "changes-unknown",
            "warning",
            f"This login cannot see the statistics of the index {there.name!r}, so texts that others change during "
            "the backfill go unnoticed.",
            "Have the privilege monitor granted, or run it with --refresh-stale afterwards.",
            there.name,
        )


def check_speed(there: IndexFacts) -> Iterator[Finding]:
    """Check which settings would make the backfill of a large index faster."""
    if there.due < _MANY or not there.settings:
        return
    replicas = there.settings.get("index.number_of_replicas", "1")
    refreshes = there.settings.get("index.refresh_interval", "1s")
    options = []
    if replicas != "0":
        options.append(f"--no-replicas (it has {replicas}; during the run there is a single copy)")
    if not refreshes.startswith("-"):
        options.append(f"--no-refresh (it refreshes every {refreshes}; during the run searches see nothing new)")
    if options:
        yield Finding(
            "speed",
            "note",
            f"{counted(there.due, 'document')} will be written in the index {there.name!r}.",
            f"Quicker, if you can do without, are {' and '.join(options)}; both are set back afterwards.",
            there.name,
        )
