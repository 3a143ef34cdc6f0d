"""Checks of what was learnt of how rare features are, by which texts are compared."""

from __future__ import annotations

from collections.abc import Iterator

from es_simhash.documents.documents import Documents
from es_simhash.live.doctor.facts import Facts
from es_simhash.live.doctor.finding import Finding
from es_simhash.plans.index_rarity import noted_rarity
from es_simhash.scheme.verdict.rarity import SAMPLE
from es_simhash.scheme.verdict.verifier import is_by_rarity

# An index that has grown by more than this factor may be about other things.
_MUCH = 10
_REMEDY = "Run es-simhash backfill --learn. Similarities will change a little."


def check_rarity(facts: Facts, documents: Documents) -> Iterator[Finding]:
    """Check whether similarities are the same every time, and by what the documents are like now."""
    if not is_by_rarity(documents.scheme, documents.scheme.verification):
        return
    learnt = noted_rarity({there.name: there.mapping for there in facts.indices}, documents)
    now = sum(there.fingerprinted for there in facts.indices)
    if learnt is None:
        if now >= SAMPLE:
            message = f"How rare features are was never learnt from the {now:,} documents with fingerprints, so each"
            yield Finding("rarity", "note", f"{message} program compares texts by a sample of its own.", _REMEDY)
        return
    then = learnt.among or learnt.rarity.documents
    message = f"How rare features are was learnt on {learnt.day} from {learnt.rarity.documents:,} of {then:,} documents"
    if now > _MUCH * then:
        yield Finding("rarity", "note", f"{message}, which are {now:,} by now.", _REMEDY)
    else:
        yield Finding("rarity", "ok", f"{message}.")
