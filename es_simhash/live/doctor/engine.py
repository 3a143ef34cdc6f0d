"""Checks of the engine, and of what the name stands for."""

from __future__ import annotations

from collections.abc import Iterator

from es_simhash.live.doctor.facts import Facts
from es_simhash.live.doctor.finding import Finding

# The releases that every change of this package is tested with.
TESTED = {"elasticsearch": (8, 9), "opensearch": (2, 3)}
_TITLES = {"elasticsearch": "Elasticsearch", "opensearch": "OpenSearch", "embedded": "the embedded engine"}


def check_engine(facts: Facts) -> Iterator[Finding]:
    """Check whether the engine is a tested one."""
    distribution, version = facts.engine.distribution, ".".join(map(str, facts.engine.version))
    title = f"{_TITLES.get(distribution, distribution)} {version}"
    tested = TESTED.get(distribution, facts.engine.version[:1])
    if not facts.engine.version:
        yield Finding(
            "engine",
            "note",
            f"You named the engine {_TITLES.get(distribution, distribution)}; its version is unknown.",
            f"Check that its version is known to work: {_known_to_work()}.",
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
            "Fields of indices that are made later come from the stream's template: give it those that "
            "`es-simhash init INDEX --field FIELD --template` prints.",
        )
    if concrete != [name]:
        what = "the index" if len(concrete) == 1 else f"{len(concrete)} indices:"
        yield Finding(
            "indices",
            "note",
            f"{name!r} stands for {what} {_listed(concrete)}.",
            "Name fewer if not all are meant.",
        )


def _listed(names: list[str]) -> str:
    """List the first names, and count the rest."""
    more = len(names) - 10
    return ", ".join(names[:10]) + (f" and {more} more" if more > 0 else "")
