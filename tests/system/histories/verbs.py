"""The commands that histories are of, and what must hold after each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, get_args

from es_simhash._core.json_codec import Json
from es_simhash.cli.show.output import REFUSED
from es_simhash.scheme import mapping
from es_simhash.scheme import mapping as notes
from es_simhash.scheme.own_fields import DEFERRED
from tests.support.commands import run
from tests.system.histories import adding, clients, deciding
from tests.system.histories.answers import check_distinct, check_gate
from tests.system.histories.commands import Program
from tests.system.histories.deciding import broken_law
from tests.system.histories.ground import DOCUMENTS
from tests.system.histories.history import History, Write
from tests.system.histories.history import State as DocumentState
from tests.system.histories.others import Known, Others, family_of
from tests.system.histories.outcome import (
    PREFIX,
    Outcome,
    code_after,
    differences,
    fields_of,
    fingerprints_are_of_texts,
    nothing_is_twice,
    nothing_of_others_is_changed,
    own,
    the_end_is_reported,
    theirs,
    versions_are_accounted_for,
)

Check: TypeAlias = Callable[[Outcome], Iterator[str]]


@dataclass(frozen=True)
class Verb:
    """A command: its ``arguments``, with places for the index, a copy and files, and what its ``check`` finds wrong.

    It makes about this many ``requests``; by those with ``look`` in them it sees what others write (see `Looks`, also
    for ``refreshes``). Documents are in some ``states`` at the start. The ``program`` takes the arguments.
    ``afterwards`` has what the others do then. What came too late is seen by one more run, unless it ``runs_once``. Its
    arguments ``of_streams`` are further ones. One that ``forgets`` adds all its documents each time that it is begun.
    If it ``says`` so, others decide about documents.
    """

    arguments: tuple[str, ...]
    check: Check
    requests: int = 40
    look: str = "seq_no"
    states: tuple[str, ...] = field(default=get_args(DocumentState))
    program: Program = run
    refreshes: bool = False
    afterwards: Callable[[Others], None] = lambda others: None
    runs_once: bool = False
    of_streams: tuple[str, ...] = ()
    forgets: bool = False
    says: bool = False


def problems(history: History, outcome: Outcome) -> Iterator[str]:
    """Find the problems; if an update would lose something, a command that stops may change nothing.

    On a cluster, a command goes on by itself.
    """
    if outcome.others.target.is_cluster:
        yield from (f"a run gave up: {said}" for said in outcome.ended.given_up if not _has_rolled(outcome, said))
    yield from nothing_is_twice(outcome)
    if not (outcome.others.has_secrets and outcome.ended.code == REFUSED and "_source" in outcome.ended.said):
        yield from VERBS[history.verb].check(outcome)
        return
    yield from nothing_of_others_is_changed(outcome)
    if outcome.steps:
        yield f"the command stopped after {outcome.steps} changes: {outcome.ended.said}"


# --- backfill


def _check_backfill(is_plain: bool, outcome: Outcome) -> Iterator[str]:
    looks, summary = outcome.looks, outcome.ended.summary

    def is_excused(known: Known, own: Json) -> bool:
        """Without --refresh-stale, texts that were changed before do not matter."""
        is_done = "scheme" in own and own.get("status") != DEFERRED
        return looks.is_late(known) or (is_plain and is_done and looks.is_before(known))

    yield from nothing_of_others_is_changed(outcome)
    yield from versions_are_accounted_for(outcome)
    yield from the_end_is_reported(outcome, fails=bool(summary["unsettled"]))
    if not summary["unsettled"]:
        yield from fingerprints_are_of_texts(outcome, is_excused)
        # They may write other things than texts to the end, and beyond.
        is_noted = all(looks.is_before(known) for _, known in outcome.others.by_id()) and outcome.after.notes
        if is_noted or any("settings" in name for name in outcome.after.notes):
            yield f"a note was left: {outcome.after.notes}"
    elif not any("begun" in name for name in outcome.after.notes):
        yield f"{summary['unsettled']} changes are not settled, and no note says so: {outcome.after.notes}"


# --- remove


def _check_removal(outcome: Outcome) -> Iterator[str]:
    yield from nothing_of_others_is_changed(outcome)
    left = [id_ for id_, known, hit in outcome.documents() if own(hit) and not outcome.looks.is_late(known)]
    has_note = PREFIX in notes.names(outcome.after.mapping)
    if outcome.ended.code == REFUSED and not has_note:
        # A run that was killed had come to its end, so that there was nothing for the last one.
        if left:
            yield f"{left} have the fields still, and nothing says so"
        return
    counted = outcome.ended.summary["left"]
    yield from versions_are_accounted_for(outcome)
    yield from the_end_is_reported(outcome, fails=counted > len(outcome.ended.rejected))
    if has_note != bool(counted):
        yield f"{counted} are left, and the mapping's note is {'there' if has_note else 'gone'}"
    if len(left) > counted:
        yield f"{left} have the fields still, and {counted} are counted"


# --- reindex


def _check_copy(outcome: Outcome) -> Iterator[str]:
    ended, looks, copy = outcome.ended, outcome.looks, outcome.copy
    yield from nothing_of_others_is_changed(outcome)
    if outcome.steps:
        yield f"the source was changed {outcome.steps} times"
    if ended.code == REFUSED and _has_rolled(outcome, ended.said):
        return
    if copy is None:
        yield f"there is no copy: {ended.said}"
        return
    fails = not (ended.rejected or ended.summary["is_whole"])
    if ended.code != code_after(ended.rejected, fails=fails):
        yield f"the exit code is {ended.code} with {len(ended.rejected)} rejected: {ended.said}"
    found = dict.fromkeys(copy.hits)
    for id_, known, hit in outcome.documents(copy):
        found.pop(id_)
        if id_ in ended.ids_rejected or known.serial > looks.last:
            continue
        yield from differences(id_, known, hit)
        if own(hit) != (fields_of(hit["_source"]) or {}):
            yield f"the copy of {id_} has not the fields of its text"
    late = {id_ for id_, known in outcome.others.by_id() if known.serial > looks.last}
    missing = {id_ for id_, known in outcome.others.by_id() if known.source is not None} - copy.hits.keys()
    if ended.code == 0 and (wrong := (missing | found.keys()) - late):
        yield f"{sorted(wrong)} are in one of the two only, and the exit code is 0"


def _has_rolled(outcome: Outcome, said: str) -> bool:
    """Whether a name had rolled over before it was asked which index, to be copied, it stands for."""
    return outcome.others.generations is not None and "one index is copied at a time" in said


# --- group


def _check_groups(further: Check, outcome: Outcome) -> Iterator[str]:
    """If nobody has written since they were read, groups have as many members as they say, and documents to keep."""
    yield from nothing_of_others_is_changed(outcome)
    if outcome.ended.code == REFUSED and "has a whole fingerprint" in outcome.ended.said:
        yield from _wrongly_refused(outcome)
        return
    for id_, known, hit in outcome.documents():
        if known.as_begun and _fingerprint(hit) != _fingerprint(outcome.before.hits[id_]):
            yield f"{id_} has another fingerprint than before"
    rejected = outcome.ended.summary["summary"]["written"]["rejected"]
    if outcome.ended.code != code_after(rejected):
        yield f"the exit code is {outcome.ended.code} with {len(rejected)} rejected: {outcome.ended.said}"
    if not rejected and all(outcome.looks.is_before(known) for _, known in outcome.others.by_id()):
        yield from _wrong_groups(outcome)
        yield from further(outcome)


def _wrongly_refused(outcome: Outcome) -> Iterator[str]:
    """Others have replaced all documents by some without fingerprints: nothing is concluded, and nothing written."""
    before = [(id_, own(hit)) for id_, known, hit in outcome.documents() if outcome.looks.is_before(known)]
    left = [id_ for id_, fields in before if fields.get("content")]
    if left:
        yield f"{left} have fingerprints, and the command says that there are none: {outcome.ended.said}"
    if outcome.ended.runs == 1 and outcome.steps:
        yield f"the command stopped after {outcome.steps} changes: {outcome.ended.said}"


def _fingerprint(hit: Json) -> Json:
    return {name: value for name, value in own(hit).items() if name not in mapping.NAMES}


def _wrong_groups(outcome: Outcome) -> Iterator[str]:
    groups: dict[str, list[Json]] = defaultdict(list)
    standing: dict[str, set[str]] = defaultdict(set)
    for id_, _, hit in outcome.documents():
        if group := own(hit).get("group"):
            groups[group].append(own(hit))
            if own(hit)["is_canonical"]:
                standing[group] |= {id_, f"{hit['_index']}/{id_}"}
    # Of groups that are extended, only those are counted that may have changed.
    is_whole = outcome.ended.summary["summary"]["new"] is None
    if is_whole and len(groups) != outcome.ended.summary["summary"]["groups"]:
        yield f"there are the groups {sorted(groups)}, and {outcome.ended.summary['summary']} says otherwise"
    for name, members in groups.items():
        if {each["group_size"] for each in members} != {len(members)}:
            yield f"the group {name} has {len(members)} members, and some of them say otherwise"
        if unknown := {each["canonical"] for each in members} - standing[name]:
            yield f"in the group {name}, {sorted(unknown)} are to stand for others, and do not stand for themselves"


def _parted_families(outcome: Outcome) -> Iterator[str]:
    families: dict[int, set[str | None]] = defaultdict(set)
    for _, _, hit in outcome.documents():
        if own(hit) and _fingerprint(hit) == fields_of(hit["_source"]):
            families[family_of(hit["_source"]["body"])].add(own(hit).get("group"))
    for family, names in families.items():
        if len(names) > 1:
            yield f"the texts of family {family}, which are alike, are in {names}"


def _wrong_decided(outcome: Outcome) -> Iterator[str]:
    """The groups are as people have decided before the last run."""
    if outcome.others.said_at <= outcome.looks.begun:
        yield from broken_law(outcome)


# --- load


def _check_loaded(outcome: Outcome) -> Iterator[str]:
    """All that can be read is there, whatever was refused on the way."""
    ended = outcome.ended
    yield from nothing_of_others_is_changed(outcome)
    if ended.code != code_after(ended.rejected):
        yield f"the exit code is {ended.code} with {len(ended.rejected)} rejected: {ended.said}"
        return
    if ended.summary["written"] + ended.summary["rejected"] != len(outcome.others.new):
        yield f"{ended.summary} does not account for {len(outcome.others.new)} documents"
    reasons = {each["id"]: each["reason"] for each in ended.rejected}
    for id_, source in outcome.others.new.items():
        is_readable = fields_of(source) is not None
        hit = outcome.after.hits.get(id_)
        # A data stream refuses what an earlier run has created, unless it has rolled over since.
        is_known = outcome.adds_again and "document already exists" in reasons.get(id_, "")
        if (id_ in ended.ids_rejected) == is_readable and not is_known:
            yield f"{id_} is {'named as' if is_readable else 'not named as'} rejected: {ended.rejected}"
        elif is_readable and (hit is None or hit["_source"] != {**source, PREFIX: fields_of(source)}):
            yield f"{id_} is {hit} instead of {source}"


# --- add


def _check_added(outcome: Outcome) -> Iterator[str]:
    """Actions came to what they come to one by one; where a reply was lost, one may be refused that was done."""
    actions = list(adding.actions(outcome.others.new.values(), outcome.others.behind))
    ended, expected = outcome.ended, adding.added(DOCUMENTS, actions)
    yield from nothing_of_others_is_changed(outcome)
    if ended.code != code_after(ended.rejected):
        yield f"the exit code is {ended.code} with {len(ended.rejected)} refused: {ended.said}"
        return
    if ended.summary["written"] + len(ended.rejected) != len(actions):
        yield f"{ended.summary} does not account for {len(actions)} actions"
    if outcome.others.generations:
        yield from _wrong_in_generations(outcome, expected)
        return
    is_doubtful = outcome.unheard or outcome.parted
    if not ended.ids_rejected >= expected.refused or (ended.ids_rejected > expected.refused and not is_doubtful):
        yield f"{ended.rejected} were refused instead of {expected.refused}"
    for id_ in outcome.others.new:
        was = expected.states.get(id_, [None])
        yield from _unless_in(was if outcome.parted else was[-1:], id_, outcome)


def _wrong_in_generations(outcome: Outcome, expected: adding.Added) -> Iterator[str]:
    """An update or a delete by the name reaches the present generation only; where it does not, it is named."""
    reasons = {each["id"]: each["reason"] for each in outcome.ended.rejected}
    for id_, was in expected.states.items():
        reason = reasons.pop(id_, None)
        may_be = was[-1:]
        if outcome.adds_again or outcome.parted:
            # An earlier run may have got further, in an earlier generation.
            may_be = was
        elif reason is not None:
            may_be = was[:1]
            if "earlier attempt" in reason and outcome.unheard:
                may_be = was
            elif len(was) == 1 or "If another index behind" not in reason:
                yield f"{id_} was refused: {reason}"
        yield from _unless_in(may_be, id_, outcome)
    if reasons:
        yield f"{reasons} were refused"


def _unless_in(may_be: adding.States, id_: str, outcome: Outcome) -> Iterator[str]:
    hit = outcome.after.hits.get(id_)
    if (hit and (theirs(hit), own(hit))) not in may_be:
        yield f"{id_} is {hit} instead of {may_be}"


# --- pipeline


def _check_pipeline(outcome: Outcome) -> Iterator[str]:
    """Documents written whole from then on have the fields of their text, made by the server."""
    ended = outcome.ended
    default = outcome.after.settings.get("default_pipeline")
    if ended.code or default != ended.summary["pipeline"]:
        yield f"the exit code is {ended.code}, and the default pipeline {default}: {ended.said}"
    yield from nothing_of_others_is_changed(outcome, but="default_pipeline")
    if outcome.steps:
        yield f"documents were changed {outcome.steps} times"
    for id_, known, hit in outcome.documents():
        if known.serial > outcome.looks.last and own(hit) != fields_of(hit["_source"]):
            yield f"{id_} has not the fields of its text"


def _write_whole(others: Others) -> None:
    for number in range(3):
        others.happen(Write("put", number))


# What may be done with the name of an alias or a data stream: documents are read, updated where they are, or added.
IN_PLACE = ("backfill", "refresh-stale", "slices", "remove", "group", "incremental", "distinct", "reindex")
ADDING = ("add", "load", "gate")
ROLLING = (*IN_PLACE, *ADDING)
_LIMITED = ("--patience", "{patience}", "--rejects", "{rejects}")
# All texts may be empty.
_BACKFILL = ("backfill", "{index}", "--accept", "text-fields", *_LIMITED)
_GROUP = ("group", "{index}", "--write", *_LIMITED[:2])
_GROUPED = ("done", "done", "stale")
_check_grouped = partial(_check_groups, _parted_families)
VERBS = {
    "backfill": Verb(_BACKFILL, partial(_check_backfill, True), refreshes=True),
    "refresh-stale": Verb((*_BACKFILL, "--refresh-stale"), partial(_check_backfill, False), refreshes=True),
    "slices": Verb((*_BACKFILL, "--workers", "2", "--no-refresh"), partial(_check_backfill, True), refreshes=True),
    "remove": Verb(("remove", "{index}", "--yes", *_LIMITED), _check_removal, 25, look="_refresh"),
    "reindex": Verb(("reindex", "{index}", "{copy}", *_LIMITED), _check_copy),
    "group": Verb(_GROUP, _check_grouped, 25, states=_GROUPED),
    "incremental": Verb((*_GROUP, "--incremental"), _check_grouped, 25, states=_GROUPED),
    "decide": Verb(
        ("{index}", "{count}", "{patience}"),
        partial(_check_groups, _wrong_decided),
        30,
        states=_GROUPED,
        program=deciding.run,
        says=True,
    ),
    "add": Verb(
        ("{index}", "{file}", "{rejects}", "{patience}", "{behind}"),
        _check_added,
        15,
        look="/",
        program=adding.run,
        forgets=True,
    ),
    "load": Verb(
        ("load", "{index}", "{file}", "--id-field", "id", *_LIMITED),
        _check_loaded,
        10,
        look="/",
        of_streams=("--create-only",),
        forgets=True,
    ),
    "gate": Verb(
        ("{index}", "{file}", "{patience}"),
        check_gate,
        25,
        look="/",
        states=("plain", "empty", "unreadable"),
        program=clients.ask_gate,
        runs_once=True,
    ),
    "distinct": Verb(
        ("{index}", "{patience}"),
        check_distinct,
        8,
        look="/",
        states=("done",),
        program=clients.read_distinct,
        runs_once=True,
    ),
    "pipeline": Verb(
        ("scripts", "{index}", "--pipeline", "--install", "--default"),
        _check_pipeline,
        8,
        look="/",
        afterwards=_write_whole,
    ),
}
