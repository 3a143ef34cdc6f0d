"""How rare features are in an index: as it was learnt and noted in the mapping, or else by a sample.

What is noted stays until it is learnt again, so the same texts have the same similarity tomorrow, and on another
machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents, readable_text
from es_simhash.plans.mapping_notes import note_in_meta, noted
from es_simhash.plans.operations import Count, Plan, Sample
from es_simhash.plans.other_clusters import readable_mappings
from es_simhash.plans.reply_size import ReplySize, with_source
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.learnt import LearntRarity, is_of
from es_simhash.scheme.verdict.rarity import SAMPLE, Rarity
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier, rarity_of
from es_simhash.text.idf import IdfTable

# The index and id of a document, and the numbers of its last change.
_Version: TypeAlias = tuple[object, ...]


@dataclass
class IndexRarity:
    """The rarity that comparisons of texts of one index go by; it is read once.

    ``is_read`` if the mapping has just been looked at.
    """

    _found: LearntRarity | None = None
    is_read: bool = False
    _sampled: Rarity | None = None
    # The texts of the sample by the versions of their documents, so that each is read once.
    _read: dict[_Version, str | None] = field(default_factory=dict)
    _size: ReplySize = field(default_factory=ReplySize)
    _last: Verifier | None = None

    def table(self, index: str, documents: Documents) -> Plan[Rarity | None]:
        """Return the weights of features; None while the index has no texts."""
        if self._found is not None:
            return self._found.rarity
        if not self.is_read:
            self._found = noted_rarity((yield from readable_mappings(index)), documents)
        # What is not noted now may soon be.
        self.is_read = False
        if self._found is not None:
            return self._found.rarity
        hits: list[Json] = yield Sample(index, SAMPLE, {"match_all": {}})
        known = {version: self._read.get(version) for version in map(_version, hits)}
        unknown = [hit for hit in hits if _version(hit) not in self._read]
        for hit in (yield from with_source(index, unknown, documents.fields, self._size)):
            known[_version(hit)] = readable_text(documents, hit.get("_source") or {})
        if self._sampled is None or self._read != known:
            # Each text once, as a job counts them.
            texts = list(dict.fromkeys(text for text in known.values() if text))
            self._read, self._sampled = known, rarity_of(documents.scheme, texts) if texts else None
        found = self._sampled
        # A small index may soon have other documents.
        if found is not None and len(hits) == SAMPLE:
            self._found, self._read, self._sampled = LearntRarity(found, None), {}, None
        return found

    def verifier(self, settings: Settings, verification: Verification, weights: IdfTable | Rarity | None) -> Verifier:
        """Return what compares texts: the last one if it fits, since its tables take a while to prepare."""
        last = self._last
        if last is None or last.settings is not settings or last.weights is not weights:
            last = None
        if last is None or last.verification != verification:
            last = self._last = Verifier(settings, verification, weights)
        return last


def fingerprinted(index: str, documents: Documents) -> Plan[int]:
    """Count the documents that rarity can be learnt from."""
    return (yield Count(index, {"term": {f"{documents.prefix}.scheme": documents.scheme.id}}))


def noted_rarity(mappings: dict[str, Json], documents: Documents) -> LearntRarity | None:
    """Return what was learnt for the scheme in one of these indices: the oldest, which no new index can replace."""
    scheme, found = documents.scheme, (noted(mapping, _name(documents)) for _, mapping in sorted(mappings.items()))
    ours = [each for each in found if each and is_of(each, scheme)]
    return LearntRarity.from_json(min(ours, key=lambda each: str(each["when"])), scheme) if ours else None


def note_rarity(index: str, documents: Documents, learnt: LearntRarity) -> Plan[None]:
    """Note in the mapping of one index what was learnt."""
    yield from note_in_meta(index, _name(documents), learnt.to_json(documents.scheme))


def forget_rarity(index: str, documents: Documents) -> Plan[None]:
    """Remove the note of what was learnt."""
    yield from note_in_meta(index, _name(documents), None)


def _version(hit: Json) -> _Version:
    return hit["_index"], hit["_id"], hit.get("_seq_no"), hit.get("_primary_term")


def _name(documents: Documents) -> str:
    return f"_rarity_{documents.prefix}"
