"""Writing accepted documents to the gate's index, and diverted ones to another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, run
from es_simhash.errors import EngineError, InputError
from es_simhash.gate.judging import OWN
from es_simhash.gate.verdict import GateOptions
from es_simhash.plans.add import Writer, Written
from es_simhash.plans.bulk import hits_by_id, holds
from es_simhash.plans.index_plans import IndexPlans
from es_simhash.plans.operations import Plan
from es_simhash.scheme.own_fields import object_in


def rounds(actions: Sequence[Json]) -> Iterator[list[int]]:
    """Yield the places of actions such that no id is in a round twice, and those of an id stay in order."""
    waiting = list(range(len(actions)))
    while waiting:
        first = {actions[place]["_id"]: place for place in reversed(waiting)}
        yield sorted(first.values())
        waiting = [place for place in waiting if first[actions[place]["_id"]] != place]


def placed(
    writer: Writer, actions: Sequence[Json], sought: Collection[str], refresh: bool
) -> Plan[list[Json | str | None]]:
    """Return each action as it is to be sent, None where that is done, or why it cannot be.

    Only ``sought`` ids may be there already; with ``refresh``, since a moment ago.
    """
    ids = [str(action["_id"]) for action in actions if str(action["_id"]) in sought]
    found = (yield from hits_by_id(writer.index, ids, None, refresh=refresh)) if ids else {}
    return [_placed(writer, action, found.get(str(action["_id"]), ())) for action in actions]


def _placed(writer: Writer, action: Json, hits: Sequence[Json]) -> Json | str | None:
    if not hits:
        return {**action, "_op_type": "create"} if writer.is_stream else action
    if len(hits) > 1:
        there = " and in ".join(repr(hit["_index"]) for hit in hits)
        return f"There are documents with this id in {there}. Delete all but one of them, then send it again."
    [hit] = hits
    if _is_as_given(writer, action, hit.get("_source") or {}):
        return None
    # A data stream takes nothing else.
    version = {"_if_seq_no": hit["_seq_no"], "_if_primary_term": hit["_primary_term"]} if writer.is_stream else {}
    return {**action, "_index": hit["_index"], **version}


def _is_as_given(writer: Writer, action: Json, source: Json) -> bool:
    """Return whether a document is there with all that is given, and with a fingerprint."""
    is_ours = object_in(source, writer.documents.prefix).get("scheme") == writer.documents.scheme.id
    return is_ours and holds(source, action["_source"])


class Writing:
    """Writers to the indices of a gate, which get the fields that they need."""

    def __init__(self, plans: IndexPlans, engine: Engine, options: GateOptions, documents: Documents) -> None:
        self._engine = engine
        is_tagged = options.mode == "tag"
        if is_tagged:
            run(plans.bring_tags(), engine)
        self._writers: dict[str, Writer] = {
            OWN: run(plans.writer(False, options.patience, grouped=is_tagged), engine),
        }
        if options.divert_to is not None:
            prefix, fields = documents.prefix, documents.fields
            other = IndexPlans(options.divert_to, scheme=documents.scheme, fields=fields, prefix=prefix)
            run(other.init(None, False, None), engine)
            run(other.bring_tags(), engine)
            self._writers[options.divert_to] = run(other.writer(False, options.patience), engine)

    def index_of(self, target: str) -> str:
        """Return the name of the index that a key names."""
        return self._writers[target].index

    def has(self, target: str) -> bool:
        """Return whether the gate writes to an index."""
        return target in self._writers

    def rolls(self, target: str) -> bool:
        """Return whether documents come by the name of an alias or a data stream."""
        return self._writers[target].rolls

    def write(
        self, target: str, actions: Sequence[Json], sought: Collection[str] = (), again: bool = False
    ) -> dict[int, str]:
        """Write documents; return the positions of those that are refused, and why.

        Some ids are ``sought`` where a document may be there already, perhaps since a moment ago (``again``).
        """
        if not self.rolls(target):
            return self._written(target, actions)
        refused: dict[int, str] = {}
        for number, places in enumerate(rounds(actions)):
            plan = placed(self._writers[target], [actions[place] for place in places], sought, again or number > 0)
            ready = dict(zip(places, run(plan, self._engine), strict=True))
            refused |= {place: each for place, each in ready.items() if isinstance(each, str)}
            due = {place: each for place, each in ready.items() if isinstance(each, dict)}
            answers = self._written(target, list(due.values()))
            refused |= {list(due)[position]: reason for position, reason in answers.items()}
        return refused

    def _written(self, target: str, actions: Sequence[Json]) -> dict[int, str]:
        """Write documents; return the positions of those that the engine refuses, and why.

        If it refuses a request as a whole for what is in it, the others are written without that.
        """
        written = Written()
        try:
            run(self._writers[target].write(actions, 0, written), self._engine)
        except (EngineError, InputError) as error:
            if isinstance(error, EngineError) and type(error) is not EngineError:
                raise
            if len(actions) == 1:
                return {0: str(error)}
            half = len(actions) // 2
            first = self._written(target, actions[:half])
            return first | {half + place: why for place, why in self._written(target, actions[half:]).items()}
        return {one.position: one.reason for one in written.rejected}
