"""Findings of the doctor, each with its code, its level and its remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json, is_false
from es_simhash._core.rows import Result, Shown
from es_simhash.errors import EngineError, IndexStateError, InputError
from es_simhash.live.doctor.facts import IndexFacts, Part, index_facts
from es_simhash.plans.operations import Plan

# From harmless to what prevents a backfill.
Level: TypeAlias = Literal["ok", "note", "warning", "stop"]
_LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Code:
    """The subject of a code's findings, their levels, and whether the user may accept them."""

    about: str
    levels: tuple[Level, ...]
    may_be_accepted: bool = False


CODES = {
    "engine": Code("which engine this is, and whether it is a tested one", ("ok", "note", "warning")),
    "indices": Code("which indices a name, alias, pattern or data stream stands for", ("note",)),
    "writable": Code("no block keeps documents from being updated", ("ok",)),
    "closed": Code("the index is closed", ("stop",)),
    "read-only": Code("a block, of the index or of the cluster, or a full disk, refuses updates", ("stop",)),
    "searchable-snapshot": Code("the index is a snapshot that is searched, and cannot be written to", ("stop",)),
    "mapping": Code("the mapping has, or can take, the fields", ("ok", "warning")),
    "no-fields": Code("neither the index nor the caller says which fields the texts are in", ("warning", "stop")),
    "mapping-conflict": Code("the mapping has other fields where ours are to be", ("stop",)),
    "foreign-values": Code("documents have something else where our fields are to be", ("stop",), True),
    "scheme-mismatch": Code("the index holds fingerprints of another scheme, or of other fields", ("stop",)),
    "subobjects": Code("the mapping takes no objects (`subobjects: false`)", ("stop",)),
    "dynamic": Code("the mapping takes no unmapped fields (`dynamic: strict` or `false`)", ("note",)),
    "total-fields": Code("how many fields the index may have, and has", ("ok", "warning", "stop")),
    "nested": Code("nested documents, which each update writes again", ("warning",)),
    "source": Code("`_source` is whole, so that updates lose nothing", ("ok",)),
    "source-disabled": Code("`_source` is not kept, so there are neither texts nor updates", ("stop",)),
    "source-excludes": Code("`_source` leaves fields out, which every update would lose", ("stop",), True),
    "source-synthetic": Code("`_source` is put together from other parts of the index", ("warning",), True),
    "text-fields": Code("whether documents have text in the source fields", ("ok", "warning", "stop"), True),
    "derived-field": Code("a source field is an alias, a multi-field or computed: no document has it", ("stop",)),
    "pipeline": Code("the index has an ingest pipeline", ("note",)),
    "changes-unknown": Code("changes by others during the run cannot be noticed", ("warning",), True),
    "disk": Code("the room that the fields and the rewritten documents take", ("ok", "warning", "stop"), True),
    "disk-unknown": Code("how much room there is cannot be seen", ("note",)),
    "privileges": Code("what the login may do with the index", ("ok", "stop"), True),
    "privileges-unknown": Code("what the login may do cannot be seen", ("note",)),
    "hidden-parts": Code("the login does not see all fields, or all documents", ("stop",), True),
    "rule": Code("texts are compared by the rule of an earlier version", ("warning", "note")),
    "rarity": Code("by which table of rarity texts are compared", ("ok", "note", "warning")),
    "scripts": Code("the server refuses scripts, which quicken searches within some bits", ("note",)),
    "misread": Code("digits within words, as in misread scans, whose copies look unlike", ("warning",)),
    "boilerplate": Code("most of each text is in most others, too, so that searches compare nearly all", ("warning",)),
    "two-scripts": Code("texts in simplified and in traditional Chinese, whose copies look unlike", ("warning",)),
    "speed": Code("what would make the backfill of a large index quicker", ("note",)),
}


@dataclass(frozen=True)
class Finding:
    """A finding, and its remedy; ``index`` is set if it concerns one concrete index."""

    code: str
    level: Level
    message: str
    remedy: str = ""
    index: str | None = None

    @classmethod
    def of(cls, code: str, message: str, remedy: str, index: str | None = None) -> Finding:
        """Return a finding of a code that has one level only.

        >>> Finding.of("closed", "The index 'news' is closed.", "Open it.").level
        'stop'
        """
        [level] = CODES[code].levels
        return cls(code, level, message, remedy, index)


class Findings(list[Finding], Result):
    """The findings of the doctor; a notebook shows the most urgent ones first.

    >>> Findings([Finding.of("closed", "The index 'news' is closed.", "Open it.", "news")])
    Findings(1 problem stops a backfill)
    """

    JSON = ("findings",)
    __repr__ = Result.__repr__

    @property
    def findings(self) -> list[Finding]:
        """The findings as a plain list."""
        return list(self)

    def shown(self) -> Shown:
        """Return the findings that need a person, the most urgent first, and in a note the passed checks."""
        urgent = sorted((each for each in self if each.level != "ok"), key=lambda each: -_LEVELS.index(each.level))
        stops = sum(each.level == "stop" for each in urgent)
        heading = f"{counted(stops, 'problem stops', 'problems stop')} a backfill" if stops else "A backfill can begin"
        fine = [each.code for each in self if each.level == "ok"]
        rows = [(each.level, each.code, each.message, each.remedy) for each in urgent]
        columns = ("level", "subject", "what was found", "what to do")
        return Shown(heading, columns, rows, len(rows), [f"Passed: {', '.join(fine)}."] if fine else [])


def of_error(code: str, error: EngineError, index: str) -> Finding:
    """Make a finding of an exception, whose last sentence is its remedy."""
    message, _, remedy = str(error).rpartition(". ")
    return Finding(code, "stop", f"{message}.", remedy, index)


def stopped(indices: Iterable[str], findings: Collection[Finding]) -> list[str]:
    """Return the indices with a finding that stops the job."""
    names = {finding.index for finding in findings if finding.level == "stop"}
    return [index for index in indices if index in names or None in names]


def refusal(index: str, findings: Iterable[Finding]) -> IndexStateError:
    """Return the error that says what stops the job, and what of it can be accepted."""
    stops = [finding for finding in findings if finding.level == "stop"]
    reasons = " ".join(f"{stop.code}: {stop.message} {stop.remedy}" for stop in stops)
    acceptable = sorted({stop.code for stop in stops if CODES[stop.code].may_be_accepted})
    accept = "".join(f" --accept {code}" for code in acceptable)
    end = f"Do this, or accept it:{accept}." if acceptable else "Do this, then run the command again."
    return IndexStateError(f"{index!r} cannot be updated. {reasons} {end}")


def check_accepted(codes: Iterable[str]) -> None:
    """Refuse codes that cannot be accepted."""
    acceptable = [name for name, code in CODES.items() if code.may_be_accepted]
    for code in codes:
        if code not in acceptable:
            raise InputError(f"{code!r} cannot be accepted. Choose from: {', '.join(acceptable)}.")


def accepting(findings: Iterable[Finding], accepted: Collection[str]) -> list[Finding]:
    """Return the findings, with accepted ones a level lower: a stop becomes a warning, a warning a note."""
    lower: dict[Level, Level] = {"stop": "warning", "warning": "note"}
    return [
        replace(finding, level=lower.get(finding.level, finding.level)) if finding.code in accepted else finding
        for finding in findings
    ]


def losses(indices: Iterable[str], accepted: Collection[str]) -> Plan[list[Finding]]:
    """Return what updates of documents would lose in each of these indices.

    Every job that updates documents asks this first; a backfill does so within the whole examination.
    """
    found = list[Finding]()
    for index in indices:
        found += check_source((yield from index_facts(Part(index, 0, 0))))
    return accepting(found, accepted)


def check_source(there: IndexFacts) -> Iterator[Finding]:
    """Check whether updates lose anything."""
    found = list(_losses(there))
    whole = Finding("source", "ok", f"The index {there.name!r} keeps documents whole.", index=there.name)
    yield from found or [whole]


def _losses(there: IndexFacts) -> Iterator[Finding]:
    kept: Json = there.mapping.get("_source") or {}
    mode = kept.get("mode") or there.settings.get("index.mapping.source.mode") or ""
    name = there.name
    if is_false(kept.get("enabled")) or mode == "disabled":
        yield Finding.of(
            "source-disabled",
            f"The index {name!r} keeps no _source, so its documents can neither be read nor updated.",
            "Index the documents again from their origin, into an index that keeps it.",
            name,
        )
        return
    filters = [f"{kind} {', '.join(kept[kind])}" for kind in ("includes", "excludes") if kept.get(kind)]
    if filters:
        yield Finding.of(
            "source-excludes",
            f"The _source of the index {name!r} leaves fields out ({'; '.join(filters)}): each update rebuilds the "
            "document without them, so they can no longer be searched.",
            "Index the documents again from their origin, with their fields (load); or accept the loss.",
            name,
        )
    if mode == "synthetic" or (not mode and there.settings.get("index.mode") in ("logsdb", "time_series")):
        yield Finding.of(
            "source-synthetic",
            f"The _source of the index {name!r} may be rebuilt from the index (synthetic): a document that is "
            "updated is written as it then looks, with sorted arrays, say.",
            "Accept it if the order and the form of values do not matter.",
            name,
        )
