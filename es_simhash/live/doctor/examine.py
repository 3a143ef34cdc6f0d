"""The examination: facts are gathered once, and each check turns them into findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from es_simhash.documents.documents import Documents
from es_simhash.live.doctor import engine, finding, index, texts
from es_simhash.live.doctor.facts import Facts, IndexFacts, Part, gather
from es_simhash.live.doctor.finding import Finding
from es_simhash.plans.open_index import CLOSED
from es_simhash.plans.operations import Plan


def examine(
    index: str, documents: Documents | None, due: Sequence[Part], changes_settings: bool = False
) -> Plan[list[Finding]]:
    """Examine what would go wrong if the due documents were fingerprinted.

    Without ``documents``, only what does not depend on scheme and fields is examined. ``changes_settings`` if the run
    will change settings of the index.
    """
    facts = yield from gather(index, documents, due, changes_settings)
    return list(_findings(index, facts))


def _findings(name: str, facts: Facts) -> Iterator[Finding]:
    yield from engine.check_engine(facts)
    yield from engine.check_names(name, facts)
    yield from engine.check_cluster(facts)
    for there in facts.indices:
        yield from index.check_index(there)
        if not there.is_set(CLOSED):  # nothing more can be learned about a closed index
            yield from _of_index(there, facts)
    if facts.documents:
        yield from index.check_texts(facts, facts.documents)
        yield from engine.check_disks(facts, facts.documents.scheme)
        yield from texts.check_rule(facts, facts.documents)
        yield from texts.check_rarity(facts, facts.documents)
    yield from texts.check_scripts(facts)
    yield from engine.check_rights(facts)


def _of_index(there: IndexFacts, facts: Facts) -> Iterator[Finding]:
    if facts.documents:
        yield from index.check_mapping(there, facts.documents)
    yield from index.check_dynamic(there)
    yield from finding.check_source(there)
    yield from index.check_nested(there)
    yield from index.check_pipelines(there)
    yield from index.check_changes(facts, there)
    yield from index.check_speed(there)
    yield from texts.check_noise(there)
