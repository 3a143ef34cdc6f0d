"""The work of a reindexing: write documents, with the fields of their texts, to another index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents, prepared
from es_simhash.documents.rejected import Rejected
from es_simhash.live.sweep.document_ref import DocumentRef
from es_simhash.live.sweep.work import Prepared, Update, read_again
from es_simhash.plans.foreign_values import REMEDY, foreign_in
from es_simhash.plans.operations import Action, Plan


@dataclass(frozen=True)
class Copying:
    """Write each document to ``destination`` with its id, its routing value and its version.

    A document whose text cannot be fingerprinted is copied without a fingerprint, and reported. ``old`` names the
    fields of another scheme that documents may have under the same prefix; the copies do not get them.
    """

    documents: Documents
    destination: str
    old: frozenset[str] = frozenset()

    @property
    def source(self) -> bool:
        """The whole document."""
        return True

    def prepare(self, hits: Sequence[Json]) -> Prepared:
        """Make the copies of the documents of hits."""
        bodies, unfit = self.bodies(hits)
        updates = [
            (DocumentRef.of(hit), self._action(hit, body, _version(hit)))
            for hit, body in zip(hits, bodies, strict=True)
        ]
        return Prepared(updates, unfit=unfit)

    def bodies(self, hits: Sequence[Json]) -> tuple[list[Json], list[Rejected]]:
        """Make the documents of the destination; also return those that get no fingerprint."""
        unfit = {i: reason for i, hit in enumerate(hits) if (reason := self._taken(hit))}
        bodies = [hit["_source"] if i in unfit else self._without_ours(hit["_source"]) for i, hit in enumerate(hits)]
        due = [i for i in range(len(hits)) if i not in unfit]
        sources = ({"_id": hits[i]["_id"], "_source": bodies[i]} for i in due)
        made = iter(list(prepared(self.documents, sources, lambda one: unfit.update({due[one.position]: one.reason}))))
        bodies = [body if i in unfit else next(made)["_source"] for i, body in enumerate(bodies)]
        unfingerprinted = [
            Rejected(index=hits[i]["_index"], id=hits[i]["_id"], reason=f"Copied without a fingerprint: {reason}")
            for i, reason in sorted(unfit.items())
        ]
        return bodies, unfingerprinted

    def _taken(self, hit: Json) -> str | None:
        """Return why a document keeps what others have written where our fields belong, if it does."""
        found = foreign_in(self.documents, hit["_source"])
        return found and f"Document {hit['_id']!r} {found}. {REMEDY}"

    def _without_ours(self, source: Json) -> Json:
        prefix = self.documents.prefix
        own = source.get(prefix)
        if not isinstance(own, dict) or not self._names & own.keys():
            return source
        kept = {name: value for name, value in own.items() if name not in self._names}
        rest = {name: value for name, value in source.items() if name != prefix}
        return {**rest, prefix: kept} if kept else rest

    @cached_property
    def _names(self) -> frozenset[str]:
        return self.old.union(self.documents.names)

    def _action(self, hit: Json, body: Json, condition: Json) -> Action:
        return Action(
            "index", hit["_id"], body, self.destination, {**condition, **DocumentRef.of(hit).routing_metadata} or None
        )

    def settle(self, conflicts: Sequence[Update], patience: float) -> Plan[Prepared]:
        """Compare copies in the same or a newer version, and overwrite them if they are different.

        The versions of a document that was deleted and written again start from 1.
        """
        copies = yield from read_again(self.destination, conflicts, True, patience)
        pairs = zip(conflicts, copies, strict=True)
        differing = [(update, copy) for update, copy in pairs if copy.get("_source") != update[1].body]
        prepared = Prepared(current=len(conflicts) - len(differing))
        if differing:
            yield from self._settle_differing(differing, prepared, patience)
        return prepared

    def _settle_differing(
        self, differing: Sequence[tuple[Update, Json]], prepared: Prepared, patience: float
    ) -> Plan[None]:
        """Compare copies with the documents as they are now."""
        updates = [update for update, _ in differing]
        now = yield from read_again(updates[0][0].index, updates, True, patience)
        found = [(hit, copy) for hit, (_, copy) in zip(now, differing, strict=True) if hit["found"]]
        prepared.gone += len(now) - len(found)
        bodies, prepared.unfit = self.bodies([hit for hit, _ in found])
        for (hit, copy), body in zip(found, bodies, strict=True):
            if copy.get("_source") == body:
                prepared.current += 1
            else:
                prepared.updates.append((DocumentRef.of(hit), self._action(hit, body, _unless_changed(copy))))


def _version(hit: Json) -> Json:
    """Return the condition that the copy is older than the document, if the engine has versions."""
    return {"version": hit["_version"], "version_type": "external"} if "_version" in hit else {}


def _unless_changed(copy: Json) -> Json:
    """Return the condition that the copy has not changed since it was read."""
    return DocumentRef.of(copy).version if copy["found"] else {}
