"""Removing the fields of fingerprints from the documents of an index, and our note from its mapping.

The mapping itself keeps the fields: mappings cannot lose any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from es_simhash._core.batches import OnProgress, Stop, stage
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import OnReject
from es_simhash.engines.base import Engine, run
from es_simhash.live.doctor.facts import Finding, IndexPart, losses, of_error, stopped
from es_simhash.live.sweep.reading import DocumentRef, Survey, UpdateOptions, part_of
from es_simhash.live.sweep.writing import Job, Pass, Prepared, Progress, Work
from es_simhash.plans.open_index import closed_index, closed_ones, forget_prefix, note_rarity
from es_simhash.plans.operations import Action, Count, GetInfo, GetMappings, Plan, Refresh, retry, retry_each
from es_simhash.plans.text_fields import foreign_in
from es_simhash.scheme.mapping import entries

# The most passes over an index; the rest is for the next run.
_MOST = 5
# With parameters, so that a server compiles it once.
_SCRIPT = """
def own = ctx._source[params.prefix];
if (own instanceof Map) {
  for (name in params.names) { own.remove(name); }
  if (own.isEmpty()) { ctx._source.remove(params.prefix); }
}
"""


@dataclass(frozen=True)
class Removing(Work):
    """The work: remove our fields from each document, and their object if nothing else is in it.

    A script of the server does so, or, if it runs none, the whole document is written again.
    """

    documents: Documents
    by_script: bool

    @property
    def source(self) -> Sequence[str] | bool:
        """Our own fields, or the whole document if it must be written again."""
        return [self.documents.prefix] if self.by_script else True

    def prepare(self, hits: Sequence[Json]) -> Prepared:
        """Prepare the removal of the fields from the documents of hits."""
        prepared = Prepared()
        for hit in hits:
            self._prepare(hit, prepared)
        return prepared

    def _prepare(self, hit: Json, prepared: Prepared) -> None:
        ref = DocumentRef.of(hit)
        source: Json = hit.get("_source") or {}
        own = source.get(self.documents.prefix)
        if found := foreign_in(self.documents, source):
            prepared.rejected.append(ref.rejected(found))
        elif isinstance(own, dict) and any(name in own for name in self.documents.all_names):
            prepared.updates.append((ref, self._action(ref, source)))
        else:
            prepared.current += 1

    def _action(self, ref: DocumentRef, source: Json) -> Action:
        prefix = self.documents.prefix
        if self.by_script:
            parameters = {"prefix": prefix, "names": self.documents.all_names}
            script = {"lang": "painless", "source": _SCRIPT, "params": parameters}
            return Action("update", ref.id, {"script": script}, ref.index, ref.metadata)
        rest = {name: value for name, value in source[prefix].items() if name not in self.documents.all_names}
        body = {name: value for name, value in source.items() if name != prefix} | ({prefix: rest} if rest else {})
        return Action("index", ref.id, body, ref.index, ref.metadata)


@dataclass(frozen=True)
class RemovalSurvey(Survey):
    """The survey before a removal, and its work."""

    removing: Removing


@dataclass
class Removed:
    """The result of a removal; ``left`` documents still have the fields, or have them again."""

    progress: Progress
    left: int = 0


def survey(index: str, documents: Documents, options: UpdateOptions) -> Plan[RemovalSurvey]:
    """Count the documents that have the fields, and examine what updating them would lose."""
    by_script = (yield GetInfo()).distribution != "embedded"
    found = entries((yield GetMappings(index)), documents.prefix)
    parts, findings = list[IndexPart](), list[Finding]()
    for name, entry in sorted(found.items()):
        if entry:
            parts.append((yield from part_of(name, _query(documents))))
        else:
            there = f"The index {name!r} has no fields for fingerprints under {documents.prefix!r}"
            remedy = "Check the prefix, or name fewer indices."
            findings.append(Finding("no-fields", "warning", f"{there}, so nothing is removed from it.", remedy, name))
    due, closed = [part.index for part in parts if part.due], (yield from closed_ones(index))
    findings += [of_error("closed", closed_index(name), name) for name in closed]
    findings += yield from losses(due, options.accept)
    left_out = stopped([*due, *closed], findings)
    parts = [part for part in parts if part.index not in left_out]
    return RemovalSurvey(index, parts, left_out, findings, Removing(documents, by_script))


def _query(documents: Documents) -> Json:
    """Return the query for documents with the fields."""
    has = [{"exists": {"field": f"{documents.prefix}.{name}"}} for name in ("scheme", "status")]
    return {"bool": {"should": has, "minimum_should_match": 1}}


def _remove(survey: RemovalSurvey, patience: float, removed: Removed) -> Plan[Removed]:
    documents = survey.removing.documents
    query = _query(documents)
    for part in survey.parts:
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
            yield from retry_each(forget_prefix(part.index, documents.prefix), patience)
            yield from retry_each(note_rarity(part.index, documents, None), patience)
    return removed


class Removal(Job[RemovalSurvey, UpdateOptions]):
    """One run of a removal."""

    def __init__(
        self,
        engine: Engine,
        index: str,
        documents: Documents,
        options: UpdateOptions | None = None,
        stop: Stop | None = None,
    ) -> None:
        options = options or UpdateOptions()
        super().__init__(engine, survey(index, documents, options), options, stop)
        self.progress = Progress.of(index, self.survey.parts, self.survey.left_out)

    def run(self, on_progress: OnProgress[Progress] | None = None, on_reject: OnReject | None = None) -> Removed:
        """Do it, and return the counts. A finding that stops it is raised."""
        self.survey.check()
        runner = self._runner(self.survey.removing, self.progress, on_progress, on_reject)
        with stage("documents"):
            return run(_remove(self.survey, self._options.patience, Removed(self.progress)), runner)
