"""The state after a history, and the conditions that must hold after each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from es_simhash._core.json_codec import Json
from es_simhash.cli.show.output import FINE, LATER, SOME_FAILED
from es_simhash.errors import DocumentError
from tests.system.histories.commands import Ended
from tests.system.histories.ground import DOCUMENTS, State
from tests.system.histories.looks import Looks
from tests.system.histories.others import NOTE, Known, Others, id_of

PREFIX = DOCUMENTS.prefix


@dataclass(frozen=True)
class Outcome:
    """A history that is over: how the index was, how it is, how its copy is, and how the command ended.

    ``unheard`` changes were made without the command having been able to know. It ``adds_again`` if it was begun more
    than once, and knows nothing of what it added before. If nodes were ``parted``, a server may have repeated a bulk
    that it had answered, after later ones (see `clusters.test_repeated_bulks`).
    """

    others: Others
    before: State
    after: State
    copy: State | None
    ended: Ended
    looks: Looks
    unheard: int
    adds_again: bool = False
    parted: bool = False

    def documents(self, state: State | None = None) -> Iterator[tuple[str, Known, Json]]:
        """The documents of the others, as they know them, and as they are in the index, or in another."""
        hits = (state or self.after).hits
        for number, known in self.others.known.items():
            if known.source is not None and (hit := hits.get(id_of(number))):
                yield id_of(number), known, hit

    @property
    def steps(self) -> int:
        """How many versions of documents are not those of the others, where versions are counted."""
        if self.others.target.is_cluster or not self.others.target.is_server:
            return 0
        gone = sum(known.steps for known in self.others.known.values())
        return gone + sum(hit["_version"] - known.version for _, known, hit in self.documents())


def nothing_is_twice(outcome: Outcome) -> Iterator[str]:
    """No id is there twice; but a run that begins again writes by the name what one wrote in an earlier generation."""
    may_be = outcome.others.new.keys() if outcome.adds_again else set()
    for state in (outcome.after, outcome.copy):
        if state and (twice := set(state.twice) - may_be):
            yield f"{sorted(twice)} are there twice"


def own(hit: Json) -> Json:
    """Our fields in a document, without those that an update has taken out by a null."""
    fields: Json = hit["_source"].get(PREFIX) or {}
    return {name: value for name, value in fields.items() if value is not None and name != NOTE}


def theirs(hit: Json) -> Json:
    """All other fields of a document, also in the object of ours."""
    shared = {PREFIX: {NOTE: note}} if (note := (hit["_source"].get(PREFIX) or {}).get(NOTE)) else {}
    return {name: value for name, value in hit["_source"].items() if name != PREFIX} | shared


def fields_of(source: Json) -> Json | None:
    """The fields that a document is to have; None where its text cannot be read."""
    try:
        [fields] = DOCUMENTS.fields_of([DOCUMENTS.text_of(source)])
    except DocumentError:
        return None
    assert isinstance(fields, dict)
    return fields


def nothing_of_others_is_changed(outcome: Outcome, but: str = "") -> Iterator[str]:
    """Sources, routing values, what searches find, mapping and settings are theirs, ``but`` for one of the settings."""
    known = {id_of(number) for number, known in outcome.others.known.items() if known.source is not None}
    if known != (there := outcome.after.hits.keys() - outcome.others.new.keys()):
        yield f"there are {sorted(there)} instead of {sorted(known)}"
    for id_, now, hit in outcome.documents():
        yield from differences(id_, now, hit)
    found = {name for hit in outcome.after.hits.values() for name in hit.get("matched_queries", ())}
    for id_, field, value in outcome.others.values():
        if f"{field} {id_}" not in found:
            yield f"{id_} is not found by {field}: {value}"
    if {**outcome.after.settings, but: None} != {**outcome.before.settings, but: None}:
        yield f"the settings are {outcome.after.settings} instead of {outcome.before.settings}"
    if outcome.after.foreign_mapping != outcome.before.foreign_mapping:
        yield f"the mapping is {outcome.after.foreign_mapping} instead of {outcome.before.foreign_mapping}"


def differences(id_: str, known: Known, hit: Json) -> Iterator[str]:
    """Whether a document, or its copy, is not what the others have made it."""
    if theirs(hit) != known.source:
        yield f"{id_} has the source {theirs(hit)} instead of {known.source}"
    if hit.get("_routing") != known.routing:
        yield f"{id_} has the routing value {hit.get('_routing')} instead of {known.routing}"


def fingerprints_are_of_texts(
    outcome: Outcome, is_excused: Callable[[Known, Json], bool], state: State | None = None
) -> Iterator[str]:
    """Each document has the fields of its text, or is named as rejected."""
    for id_, known, hit in outcome.documents(state):
        is_right = fields_of(hit["_source"]) == own(hit)
        if not is_right and id_ not in outcome.ended.ids_rejected and not is_excused(known, own(hit)):
            yield f"{id_} has not the fields of its text, but is {own(hit).get('status')}"


def versions_are_accounted_for(outcome: Outcome) -> Iterator[str]:
    """As many versions came as the command says that it wrote; none of what it says it left alone."""
    written = outcome.ended.summary["written"]
    if outcome.others.target.is_cluster or not outcome.others.target.is_server:
        return
    if outcome.steps < written:
        yield f"{written} were written, and there were {outcome.steps} changes"
    if outcome.ended.runs == 1 and outcome.steps > written + outcome.unheard:
        yield f"{written} were written, {outcome.unheard} unheard, and there were {outcome.steps} changes"
    for id_, known, hit in outcome.documents():
        is_alone = known.as_begun and id_ in outcome.ended.ids_rejected
        if is_alone and hit["_version"] != known.version:
            yield f"{id_} is named as rejected, and was written"


def code_after(rejected: Sequence[Json], *, fails: bool = False) -> int:
    """Return the exit code of a run with these rejections, or that ``fails`` for other reasons."""
    if fails or any(not each.get("may_pass") for each in rejected):
        return SOME_FAILED
    return LATER if rejected else FINE


def the_end_is_reported(outcome: Outcome, *, fails: bool = False) -> Iterator[str]:
    """The exit code and the summary agree with what the reject file names."""
    ended = outcome.ended
    if ended.code != code_after(ended.rejected, fails=fails):
        yield f"the exit code is {ended.code} with {len(ended.rejected)} rejected: {ended.said}"
    if ended.summary["rejected"] != len(ended.ids_rejected):
        yield f"{ended.summary['rejected']} are counted as rejected, and {len(ended.ids_rejected)} are named"
