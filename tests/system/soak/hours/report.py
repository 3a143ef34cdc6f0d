"""The report on soaks, as a page of the documentation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from es_simhash._core.json_codec import Json
from tests.system.soak.hours.tally import Sample

# What became of documents, by the counts that are added up; finds, commands and others are counted as they are checked.
_OPERATIONS = {
    "written": (
        "documents loaded",
        "documents added",
        "documents written by others",
        "documents accepted by gates",
        "documents written after a check",
    ),
    "texts changed": ("texts updated", "texts changed by others"),
    "deleted": ("documents deleted", "documents erased"),
}
# Processes that are ours and live as long as the soak.
STEADY = ("gate", "finder")
_SHOWN = (*STEADY, "killed gate", "node")
# What such a process may grow by from the second quarter of a soak to the last one.
_MORE_MEMORY, _MORE_MEGABYTES, _MORE_HANDLES = 1.1, 8.0, 4
_LEAST_SAMPLES = 40
_MOST_PROBLEMS, _MOST_WORDS = 5, 2


def page(soaks: Sequence[Json], command: str) -> str:
    """Return the page about soaks of several servers."""
    return "\n".join(_page(soaks, command)) + "\n"


def _page(soaks: Sequence[Json], command: str) -> Iterator[str]:
    yield "# A soak of hours"
    yield ""
    yield "Users, jobs and faults at once; a node each, a write queue of one:"
    yield ""
    yield "<!-- not run: hours -->"
    yield "```console"
    yield f"$ {command}"
    yield "```"
    yield ""
    yield f"| | {' | '.join(map(_named, soaks))} |"
    yield f"|---|{'---|' * len(soaks)}"
    yield _row("minutes", [round(each["seconds"] / 60) for each in soaks])
    for name, parts in _OPERATIONS.items():
        yield _row(name, [sum(each["operations"].get(part, 0) for part in parts) for each in soaks])
    yield from _section("faults", soaks, [each["faults"] for each in soaks])
    yield from _section("errors seen", soaks, [errors_by_kind(each["errors"]) for each in soaks])
    yield from _section("checked", soaks, [each["checked"] for each in soaks])
    yield _row("**broken**", [len(each["broken"]) for each in soaks])
    yield f"| **MB; open files** by quarters |{' |' * len(soaks)}"
    for name in _SHOWN:
        yield _row(name, [_quarters([Sample(*each) for each in soak["samples"].get(name, ())]) for soak in soaks])
    yield ""
    yield from _problems(soaks)
    yield "Not covered: several nodes (`tests/system/clusters`), logins, the server's clock, long texts."


def _section(title: str, soaks: Sequence[Json], counts: Sequence[Mapping[str, int]]) -> Iterator[str]:
    yield f"| **{title}** |{' |' * len(soaks)}"
    for name in sorted({name for each in counts for name in each}):
        yield _row(name, [each.get(name, 0) for each in counts])


def _row(name: str, cells: Sequence[int | str]) -> str:
    return f"| {name} | {' | '.join(each if isinstance(each, str) else f'{each:,}' for each in cells)} |"


def errors_by_kind(errors: Json) -> Counter[str]:
    """Count errors by what was said, by any user and in any fault; what has no short name is among the others."""
    kinds: Counter[str] = Counter()
    for name, count in errors.items():
        kind = re.sub(r"^[^:]*: | \([^)]*\)$", "", name)
        kinds[kind if len(kind.split()) <= _MOST_WORDS else "others"] += count
    return kinds


def _quarters(samples: Sequence[Sample]) -> str:
    if not samples:
        return "–"
    parts = quarters(samples)
    memory = " ".join(f"{median(each.memory for each in part):.0f}" for part in parts)
    handles = " ".join(f"{median(each.handles for each in part):.0f}" for part in parts)
    return f"{memory}; {handles}"


def quarters(samples: Sequence[Sample]) -> list[Sequence[Sample]]:
    """Divide what was measured into four parts, without empty ones."""
    length = -(-len(samples) // 4)
    return [samples[first : first + length] for first in range(0, len(samples), length)]


def grown(name: str, samples: Sequence[Sample]) -> Iterator[str]:
    """Say by what a process has grown that is to stay as it is; nothing where too little was measured."""
    if len(samples) < _LEAST_SAMPLES:
        return
    _, before, _, after = quarters(samples)
    memory = [median(each.memory for each in part) for part in (before, after)]
    handles = [median(each.handles for each in part) for part in (before, after)]
    if memory[1] > max(memory[0] * _MORE_MEMORY, memory[0] + _MORE_MEGABYTES):
        yield f"the memory of the {name} grew from {memory[0]:.0f} to {memory[1]:.0f} MB"
    if handles[1] > handles[0] + _MORE_HANDLES:
        yield f"the open files of the {name} grew from {handles[0]:.0f} to {handles[1]:.0f}"


def _problems(soaks: Sequence[Json]) -> Iterator[str]:
    for soak in soaks:
        problems = [*soak["broken"], *soak["failures"]]
        problems += [] if soak["is_complete"] else ["it did not come to its end"]
        for each in problems[:_MOST_PROBLEMS]:
            yield f"- {_named(soak)}: {each.strip().splitlines()[-1][:200]}"
        if problems:
            yield ""


def _named(soak: Json) -> str:
    name, _, version = str(soak["server"]).partition(" ")
    known = {"opensearch": "OpenSearch", "elasticsearch": "Elasticsearch"}
    return f"{known.get(name, name)} {version.strip('()')}".strip()
