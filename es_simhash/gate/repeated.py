"""What a document was answered before: a client that asks again with its id missed the answer, and gets it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from es_simhash._core.json_paths import Json
from es_simhash.gate.judging import Judged
from es_simhash.gate.options import GateOptions
from es_simhash.gate.pending import OWN, Pending
from es_simhash.gate.verdict import Verdict
from es_simhash.plans.operations import GetDocuments, Plan
from es_simhash.scheme.group_fields import GROUP
from es_simhash.scheme.own_fields import DUPLICATE_OF, object_in


@dataclass
class Repeated:
    """The answers about documents that are the same as before: by their ids, texts and values in the scope.

    What was tagged is in the index beside its original, which must not become the duplicate of its own copy. So there
    the index is asked, too, by the ids of a request.
    """

    pending: Pending
    options: GateOptions
    _stored: dict[str, Json] = field(default_factory=dict)

    def look(self, actions: Sequence[Json]) -> Plan[None]:
        """Read what the index has under the ids of some documents, where that counts."""
        self._stored = {}
        if self.options.mode != "tag" or not actions:
            return
        terms = self.pending.seen.terms
        names = [f"{terms.documents.prefix}.{name}" for name in ("scheme", "content", DUPLICATE_OF, GROUP)]
        routings = [action.get("_routing") for action in actions]
        ids = [str(action["_id"]) for action in actions]
        source = [*names, *terms.scope_paths]
        replies: list[Json] = yield GetDocuments(terms.index, ids, source, routings if any(routings) else None)
        self._stored = {reply["_id"]: reply["_source"] for reply in replies if reply["found"]}

    def verdict(self, judged: Judged) -> Verdict | None:
        """Return the verdict on the same document, if it was accepted before."""
        id_, content = str(judged.wanted.id), judged.made[1]["content"]
        values = self.pending.seen.terms.values_of(judged.wanted.document)
        for target in (OWN, self.options.divert_to):
            known = None if target is None else self.pending.get((target, id_))
            if known and known.content == content and known.values == values:
                return known.verdict
        stored = self._stored.get(id_, {})
        own = object_in(stored, self.pending.seen.terms.documents.prefix)
        if not judged.duplicates or own.get("content") != content:
            return None
        if own.get("scheme") != judged.made[1]["scheme"] or self.pending.seen.terms.values_of(stored) != values:
            return None
        tags = {name: own[name] for name in (DUPLICATE_OF, GROUP) if isinstance(own.get(name), str)}
        if DUPLICATE_OF not in tags:
            return Verdict(id_, "new", True)
        return Verdict(id_, judged.kind, True, None, judged.duplicates, judged.complete, (), tags)
