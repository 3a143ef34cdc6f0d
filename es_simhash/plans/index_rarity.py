"""How rare features are in an index: as it was learnt and noted in the mapping, or else as the built-in table says.

Nothing else of an index decides how similar two texts are. What is noted stays until it is learnt again, so they have
the same similarity tomorrow, and on another machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.plans.mapping_notes import note_in_meta, noted
from es_simhash.plans.operations import Count, Plan
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.learnt import LearntRarity, is_of, is_of_scheme
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier, table_for
from es_simhash.text.idf import IdfTable


@dataclass
class IndexRarity:
    """What comparisons of the texts of one index go by: what was ``learnt`` there, if anything was."""

    learnt: LearntRarity | None = None
    _last: Verifier | None = None

    @property
    def previous(self) -> Rarity | None:
        """The table before that one."""
        before = self.learnt.previous if self.learnt else None
        return before.rarity if before else None

    def verifier(self, settings: Settings, verification: Verification, idf: IdfTable | None) -> Verifier:
        """Return what compares texts, by ``idf`` if it is given: the last one, if it fits.

        Its tables take a while to prepare.
        """
        weights: IdfTable | Rarity | None = idf
        if idf is None:
            weights = table_for(settings, verification, self.learnt.rarity if self.learnt else None)
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
    """Return what was learnt for the scheme in one of these indices: the oldest, which no new index can replace.

    What was learnt of other features than are compared now does not count.
    """
    scheme, found = documents.scheme, _notes(mappings, documents).values()
    ours = [each for each in found if is_of(each, scheme)]
    return LearntRarity.from_json(min(ours, key=lambda each: str(each["when"])), scheme) if ours else None


def with_outdated_rarity(mappings: dict[str, Json], documents: Documents) -> list[str]:
    """Return which of these indices note what was learnt for the scheme of features that are no longer compared."""
    scheme, found = documents.scheme, _notes(mappings, documents)
    return [name for name, each in found.items() if is_of_scheme(each, scheme) and not is_of(each, scheme)]


def note_rarity(index: str, documents: Documents, learnt: LearntRarity) -> Plan[None]:
    """Note in the mapping of one index what was learnt."""
    yield from note_in_meta(index, _name(documents), learnt.to_json(documents.scheme))


def forget_rarity(index: str, documents: Documents) -> Plan[None]:
    """Remove the note of what was learnt."""
    yield from note_in_meta(index, _name(documents), None)


def _notes(mappings: dict[str, Json], documents: Documents) -> dict[str, Json]:
    found = {index: noted(mapping, _name(documents)) for index, mapping in sorted(mappings.items())}
    return {index: note for index, note in found.items() if note}


def _name(documents: Documents) -> str:
    return f"_rarity_{documents.prefix}"
