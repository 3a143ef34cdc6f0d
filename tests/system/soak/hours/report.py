"""The report on soaks, as a page of the documentation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from es_simhash._core.json_paths import Json
from tests.system.soak.hours.tally import Sample

_OPERATIONS = (
    "documents loaded",
    "documents added",
    "documents written by others",
    "documents offered to gates",
    "documents accepted by gates",
    "documents written after a check",
    "texts updated",
    "texts changed by others",
    "other fields changed by others",
    "documents deleted",
    "documents erased",
    "finds",
    "distinct searches",
)
_COMMANDS = ["load", "backfill", "group", "init", "remove", "erase", "find", "doctor"]
# Names of processes that live as long as the soak, and are ours.
STEADY = ("gate", "finder")
_SHOWN = (*STEADY, "killed gate", "node")
# What a process may grow by from the second quarter of a soak to the last one.
_MORE_MEMORY, _MORE_MEGABYTES, _MORE_HANDLES = 1.1, 8.0, 4
_LEAST_SAMPLES = 40


def page(soaks: Sequence[Json], command: str) -> str:
    """Return the page about soaks of several servers."""
    return "\n".join(_page(soaks, command)) + "\n"


def _page(soaks: Sequence[Json], command: str) -> Iterator[str]:
    yield "# A soak of hours"
    yield ""
    yield "Users, jobs and faults at once, on one node each, with 0 replicas and a write queue of one."
    yield ""
    yield "<!-- not run: it takes hours -->"
    yield "```console"
    yield f"$ {command}"
    yield "```"
    yield ""
    yield from _table("", soaks, [("minutes", [f"{each['seconds'] / 60:,.0f}" for each in soaks])])
    yield from _rows(soaks, "checkpoints", [str(each["checkpoints"]) for each in soaks])
    yield from _rows(soaks, "commands", [_number(_commands(each)) for each in soaks])
    for name in _OPERATIONS:
        if any(each["operations"].get(name) for each in soaks):
            yield from _rows(soaks, name, [_number(each["operations"].get(name, 0)) for each in soaks])
    yield ""
    yield from _counts("fault", soaks, "faults")
    yield from _counts("checked", soaks, "checked")
    yield from _rows(soaks, "**broken**", [f"**{len(each['broken'])}**" for each in soaks])
    yield ""
    yield from _errors(soaks)
    yield "Memory in MB, open files, at each quarter:"
    yield ""
    yield from _processes(soaks)
    yield ""
    yield from _problems(soaks)
    yield "Not covered: several nodes (`tests/system/clusters` has them), logins, the server's own clock, long texts."


def _table(title: str, soaks: Sequence[Json], rows: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    yield f"| {title} | {' | '.join(_named(each) for each in soaks)} |"
    yield f"|---|{'---|' * len(soaks)}"
    for name, cells in rows:
        yield from _rows(soaks, name, cells)


def _rows(soaks: Sequence[Json], name: str, cells: Sequence[str]) -> Iterator[str]:
    assert len(cells) == len(soaks)
    yield f"| {name} | {' | '.join(cells)} |"


def _counts(title: str, soaks: Sequence[Json], of: str) -> Iterator[str]:
    names = sorted({name for each in soaks for name in each[of]})
    rows = [(name, [_number(each[of].get(name, 0)) for each in soaks]) for name in names]
    yield from _table(title, soaks, rows)
    if of == "faults":
        yield ""


def _errors(soaks: Sequence[Json]) -> Iterator[str]:
    found = [errors_by_kind(each["errors"]) for each in soaks]
    kinds = [kind for kind, _ in sum(found, Counter[str]()).most_common()]
    yield from _table("errors seen", soaks, [(kind, [_number(each[kind]) for each in found]) for kind in kinds])
    yield ""


def errors_by_kind(errors: Json) -> Counter[str]:
    """Count errors by what was said, by any user and in any fault."""
    kinds: Counter[str] = Counter()
    for name, count in errors.items():
        kinds[re.sub(r"^[^:]*: | \([^)]*\)$", "", name)] += count
    return kinds


def _processes(soaks: Sequence[Json]) -> Iterator[str]:
    yield "| process | " + " | ".join(_named(each) for each in soaks) + " |"
    yield f"|---|{'---|' * len(soaks)}"
    for name in _SHOWN:
        cells = [_quarters([Sample(*each) for each in soak["samples"].get(name, ())]) for soak in soaks]
        yield from _rows(soaks, name, cells)


def _quarters(samples: Sequence[Sample]) -> str:
    if not samples:
        return "–"
    parts = quarters(samples)
    memory = " ".join(f"{median(each.memory for each in part):.0f}" for part in parts)
    handles = " ".join(f"{median(each.handles for each in part):.0f}" for part in parts)
    return f"{memory}; {handles}"


def quarters(samples: Sequence[Sample]) -> list[Sequence[Sample]]:
    """Divide what was measured into four parts, without empty ones."""
    length = max(-(-len(samples) // 4), 1)
    return [samples[first : first + length] for first in range(0, len(samples), length)]


def grown(name: str, samples: Sequence[Sample]) -> Iterator[str]:
    """Say by what a process has grown that is to stay as it is; nothing where too little was measured."""
    if len(samples) < _LEAST_SAMPLES:
        return
    _, before, *_, after = quarters(samples)
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
        for each in problems[:5]:
            yield f"- {_named(soak)}: {each.strip().splitlines()[-1][:200]}"
    if any(each["broken"] or each["failures"] or not each["is_complete"] for each in soaks):
        yield ""


def _commands(soak: Json) -> int:
    return sum(soak["operations"].get(name, 0) for name in _COMMANDS)


def _named(soak: Json) -> str:
    name, _, version = str(soak["server"]).partition(" ")
    known = {"opensearch": "OpenSearch", "elasticsearch": "Elasticsearch"}
    return f"{known.get(name, name)} {version.strip('()')}".strip()


def _number(value: int) -> str:
    return f"{value:,}"
