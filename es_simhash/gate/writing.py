"""Writing accepted documents to the gate's index, and diverted ones to another."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, run
from es_simhash.errors import EngineError, InputError
from es_simhash.gate.options import GateOptions
from es_simhash.gate.pending import OWN
from es_simhash.gate.placing import placed, rounds
from es_simhash.plans.add import Writer, Written
from es_simhash.plans.index_plans import IndexPlans


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

        Where it refuses a request as a whole for what is in it, the others are written without that.
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
