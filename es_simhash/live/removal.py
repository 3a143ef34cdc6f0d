"""Taking the fields of fingerprints out of the documents of an index again, and our note out of its mapping.

The mapping itself cannot lose fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.rejected import OnReject
from es_simhash.engines.base import AsyncEngine, Engine, run, run_async
from es_simhash.live.backfill.passes import Pass
from es_simhash.live.backfill.run import Runner
from es_simhash.live.backfill.run_async import AsyncRunner
from es_simhash.live.backfill.scope import UpdateOptions, part_of
from es_simhash.live.backfill.survey import Survey
from es_simhash.live.doctor.finding import Finding, of_error, stopped
from es_simhash.live.doctor.source import losses
from es_simhash.live.sweep.found import Place, Prepared, Update
from es_simhash.live.sweep.notes import note
from es_simhash.live.sweep.progress import OnProgress, Progress, Teller
from es_simhash.live.sweep.work import as_they_are_now
from es_simhash.plans.closed_indices import closed_index, closed_ones
from es_simhash.plans.foreign_values import REMEDY, foreign_in
from es_simhash.plans.operations import Action, Count, GetInfo, GetMappings, Plan, Refresh
from es_simhash.plans.retry import retry
from es_simhash.scheme.mapping import entries

# How often an index is gone through; the rest is for the next run.
_MOST = 5
# By parameters, so that a server compiles it once.
_SCRIPT = """
def own = ctx._source[params.prefix];
if (own instanceof Map) {
  for (name in params.names) { own.remove(name); }
  if (own.isEmpty()) { ctx._source.remove(params.prefix); }
}
"""


@dataclass(frozen=True)
class Removing:
    """The work: our fields go from each document, and their object if nothing else is in it.

    By a script of the server, or where it runs none, by writing the document anew.
    """

    documents: Documents
    by_script: bool

    @property
    def source(self) -> Sequence[str] | bool:
        """Our own fields, or all that is to be written anew."""
        return [self.documents.prefix] if self.by_script else True

    def prepare(self, hits: Sequence[Json]) -> Prepared:
        """What takes the fields out of the documents of hits."""
        prepared = Prepared()
        for hit in hits:
            self._prepare(hit, prepared)
        return prepared

    def _prepare(self, hit: Json, prepared: Prepared) -> None:
        place = Place.at(hit)
        source: Json = hit.get("_source") or {}
        own = source.get(self.documents.prefix)
        if found := foreign_in(self.documents, source):
            prepared.rejected.append(place.rejected(f"{found}. {REMEDY}"))
        elif isinstance(own, dict) and any(name in own for name in self.documents.all_names):
            prepared.updates.append((place, self._action(place, source)))
        else:
            prepared.current += 1

    def _action(self, place: Place, source: Json) -> Action:
        prefix = self.documents.prefix
        if self.by_script:
            parameters = {"prefix": prefix, "names": self.documents.all_names}
            script = {"lang": "painless", "source": _SCRIPT, "params": parameters}
            return Action("update", place.id, {"script": script}, place.index, place.metadata)
        rest = {name: value for name, value in source[prefix].items() if name not in self.documents.all_names}
        body = {name: value for name, value in source.items() if name != prefix} | ({prefix: rest} if rest else {})
        return Action("index", place.id, body, place.index, place.metadata)

    def settle(self, conflicts: Sequence[Update], patience: float) -> Plan[Prepared]:
        """The same of the documents as they are now."""
        return (yield from as_they_are_now(self, conflicts, patience))


@dataclass(frozen=True)
class Prospect(Survey):
    """What is to be done in each index that a name stands for, and by which work."""

    removing: Removing


@dataclass
class Removed:
    """What a removal came to; ``left`` documents have the fields still, or again."""

    progress: Progress
    left: int = 0


def look(index: str, documents: Documents, options: UpdateOptions) -> Plan[Prospect]:
    """What is to be done, and what would be lost by it."""
    by_script = (yield GetInfo()).distribution != "embedded"
    found = entries((yield GetMappings(index)), documents.prefix)
    parts = []
    for name, entry in sorted(found.items()):
        if entry:
            parts.append((yield from part_of(name, _query(documents))))
    due, closed = [part.index for part in parts if part.due], (yield from closed_ones(index))
    findings = [_not_ours(name, documents.prefix) for name, entry in sorted(found.items()) if not entry]
    findings += [of_error("closed", closed_index(name), name) for name in closed]
    findings += yield from losses(due, options.accept)
    left_out = stopped([*due, *closed], findings)
    parts = [part for part in parts if part.index not in left_out]
    return Prospect(index, parts, left_out, findings, Removing(documents, by_script))


def _not_ours(index: str, prefix: str) -> Finding:
    message = f"The index {index!r} has no fields for fingerprints under {prefix!r}, so nothing is taken out of it."
    return Finding("no-fields", "warning", message, "See that the prefix is right, or name fewer indices.", index)


def _query(documents: Documents) -> Json:
    """The documents that have the fields."""
    has = [{"exists": {"field": f"{documents.prefix}.{name}"}} for name in ("scheme", "status")]
    return {"bool": {"should": has, "minimum_should_match": 1}}


def _remove(prospect: Prospect, patience: float, removed: Removed) -> Plan[Removed]:
    documents = prospect.removing.documents
    query = _query(documents)
    for part in prospect.parts:
        left = part.due
        rejected = removed.progress.rejected
        for round_ in range(_MOST):
            if left <= removed.progress.rejected - rejected:
                break
            yield Pass(part.index, query, again=round_ > 0)
            yield from retry(Refresh(part.index), patience)
            left = yield from retry(Count(part.index, query), patience)
        removed.left += left
        if not left:
            yield from note(part.index, documents.prefix, None)
    return removed


class Removal:
    """One run, by an engine that can be used by several threads."""

    def __init__(self, engine: Engine, index: str, documents: Documents, options: UpdateOptions | None = None) -> None:
        self._engine = engine
        self._options = options or UpdateOptions()
        self.prospect = run(look(index, documents, self._options), engine)
        self.progress = Progress.of(index, self.prospect.parts, self.prospect.left_out)

    def run(self, on_progress: OnProgress | None = None, on_undone: OnReject | None = None) -> Removed:
        """Do what is to be done. If the doctor found what stops it, that is raised."""
        self.prospect.check()
        teller = Teller(self.progress, on_progress, on_undone)
        runner = Runner(self._engine, self.prospect.removing, self._options, teller)
        return run(_remove(self.prospect, self._options.patience, Removed(self.progress)), runner)


class AsyncRemoval:
    """The same by an asynchronous engine."""

    def __init__(self, engine: AsyncEngine, prospect: Prospect, options: UpdateOptions) -> None:
        self._engine = engine
        self._options = options
        self.prospect = prospect
        self.progress = Progress.of(prospect.index, prospect.parts, prospect.left_out)

    @classmethod
    async def begin(
        cls, engine: AsyncEngine, index: str, documents: Documents, options: UpdateOptions | None = None
    ) -> AsyncRemoval:
        """A run, with what is to be done already known."""
        options = options or UpdateOptions()
        return cls(engine, await run_async(look(index, documents, options), engine), options)

    async def run(self, on_progress: OnProgress | None = None, on_undone: OnReject | None = None) -> Removed:
        """See `Removal.run`."""
        self.prospect.check()
        teller = Teller(self.progress, on_progress, on_undone)
        runner = AsyncRunner(self._engine, self.prospect.removing, self._options, teller)
        return await run_async(_remove(self.prospect, self._options.patience, Removed(self.progress)), runner)
