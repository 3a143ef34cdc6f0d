"""What is to be known of the engine, and of what a name stands for."""

from __future__ import annotations

from collections.abc import Iterator

from es_simhash._core.humanize import counted
from es_simhash.live.doctor.facts import Facts, IndexFacts
from es_simhash.live.doctor.finding import Finding

# The releases that every change of this package is tested with.
TESTED = {"elasticsearch": (8, 9), "opensearch": (2, 3)}
_TITLES = {"elasticsearch": "Elasticsearch", "opensearch": "OpenSearch", "embedded": "the embedded engine"}
# From how many documents on it is worth while to change settings meanwhile.
_MANY = 100_000


def check_engine(facts: Facts) -> Iterator[Finding]:
    """Whether the engine is one of those tested."""
    distribution, version = facts.engine.distribution, ".".join(map(str, facts.engine.version))
    title = f"{_TITLES.get(distribution, distribution)} {version}"
    tested = TESTED.get(distribution, facts.engine.version[:1])
    if not facts.engine.version:
        yield Finding(
            "engine",
            "note",
            f"This is said to be {_TITLES.get(distribution, distribution)}; its version is not told.",
            f"See that it is one that is known to work: {_known_to_work()}.",
        )
    elif facts.engine.version[0] in tested:
        yield Finding("engine", "ok", f"This is {title}.")
    else:
        remedy = f"Try it on a copy of the index first: what is known to work is {_known_to_work()}."
        yield Finding("engine", "warning", f"This is {title}, which es_simhash is not tested with.", remedy)


def _known_to_work() -> str:
    return "; ".join(f"{_TITLES[name]} {' and '.join(map(str, majors))}" for name, majors in TESTED.items())


def check_names(name: str, facts: Facts) -> Iterator[Finding]:
    """What a name stands for, where it is not just an index."""
    concrete = [each.name for each in facts.indices]
    streams = [each["name"] for each in facts.behind.get("data_streams", [])]
    if streams:
        yield Finding(
            "indices",
            "note",
            f"{name!r} has data streams ({_listed(streams)}): documents are updated in the indices behind them.",
            "Fields of indices that are made later come from the stream's template: give it those of "
            "`es-simhash mapping --template`.",
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
    """Whether documents go through a pipeline when they are written whole."""
    settings = {kind: there.settings.get(f"index.{kind}") for kind in ("default_pipeline", "final_pipeline")}
    named = [f"{kind} {name!r}" for kind, name in settings.items() if name and name != "_none"]
    if named:
        yield Finding(
            "pipeline",
            "note",
            f"The index {there.name!r} has the {' and the '.join(named)}, which partial updates as ours do not run.",
            "Nothing is to be done, unless it changes the text fields of documents that were written before it.",
            there.name,
        )


def check_changes(facts: Facts, there: IndexFacts) -> Iterator[Finding]:
    """Whether it can be noticed that others write."""
    if there.copies is None and facts.engine.distribution != "embedded":
        yield Finding(
            "changes-unknown",
            "warning",
            f"The statistics of the index {there.name!r} are not told, so texts that others change during the "
            "backfill are not noticed.",
            "Have the privilege monitor granted, or run it with --refresh-stale afterwards.",
            there.name,
        )


def check_speed(there: IndexFacts) -> Iterator[Finding]:
    """What would be quicker, where it matters and there are settings to change."""
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
            f"{counted(there.due, 'document is', 'documents are')} to be written in the index {there.name!r}.",
            f"Quicker, if you can do without, are {' and '.join(options)}; both are set back afterwards.",
            there.name,
        )


def _listed(names: list[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - 10
    return ", ".join(names[:10]) + (f" and {more} more" if more > 0 else "")
