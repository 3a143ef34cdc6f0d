"""Checks of the engine, of what the name stands for, and of settings."""

from __future__ import annotations

from collections.abc import Iterator

from es_simhash._core.humanize import counted
from es_simhash.live.doctor.facts import Facts, IndexFacts
from es_simhash.live.doctor.finding import Finding

# The releases that every change of this package is tested with.
TESTED = {"elasticsearch": (8, 9), "opensearch": (2, 3)}
_TITLES = {"elasticsearch": "Elasticsearch", "opensearch": "OpenSearch", "embedded": "the embedded engine"}
# The number of documents from which it pays to change settings during the run.
_MANY = 100_000


def check_engine(facts: Facts) -> Iterator[Finding]:
    """Check whether the engine is a tested one."""
    distribution, version = facts.engine.distribution, ".".join(map(str, facts.engine.version))
    title = f"{_TITLES.get(distribution, distribution)} {version}"
    tested = TESTED.get(distribution, facts.engine.version[:1])
    if not facts.engine.version:
        yield Finding(
            "engine",
            "note",
            f"This is said to be {_TITLES.get(distribution, distribution)}; its version is not known.",
            f"See that it is one that is known to work: {_known_to_work()}.",
        )
    elif facts.engine.version[0] in tested:
        yield Finding("engine", "ok", f"This is {title}.")
    else:
        remedy = f"Try it on a copy of the index first: known to work are {_known_to_work()}."
        yield Finding("engine", "warning", f"This is {title}, which es_simhash is not tested with.", remedy)


def _known_to_work() -> str:
    return "; ".join(f"{_TITLES[name]} {' and '.join(map(str, majors))}" for name, majors in TESTED.items())


def check_names(name: str, facts: Facts) -> Iterator[Finding]:
    """Check what a name stands for, unless it is an index."""
    concrete = [each.name for each in facts.indices]
    streams = [each["name"] for each in facts.behind.get("data_streams", [])]
    if streams:
        yield Finding(
            "indices",
            "note",
            f"{name!r} has data streams ({_listed(streams)}): documents are updated in the indices behind them.",
            "Fields of indices that are made later come from the stream's template: give it those of "
            "`es-simhash schemes --mapping default --template`.",
        )
    if concrete != [name]:
        what = "the index" if len(concrete) == 1 else f"{len(concrete)} indices:"
        yield Finding(
            "indices",
            "note",
            f"{name!r} stands for {what} {_listed(concrete)}.",
            "Name fewer if not all are meant.",
        )


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
        options.append(f"--no-replicas (it has {replicas}; meanwhile there is one copy only)")
    if not refreshes.startswith("-"):
        options.append(f"--no-refresh (it refreshes each {refreshes}; meanwhile searches see nothing new)")
    if options:
        yield Finding(
            "speed",
            "note",
            f"{counted(there.due, 'document')} will be written in the index {there.name!r}.",
            f"Quicker, if you can do without, are {' and '.join(options)}; both are set back afterwards.",
            there.name,
        )


def _listed(names: list[str]) -> str:
    """List the first names, and count the rest."""
    more = len(names) - 10
    return ", ".join(names[:10]) + (f" and {more} more" if more > 0 else "")
