"""Checks of how texts are compared: by which rule, by what was learnt of how rare features are, and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.live.doctor.facts import Facts
from es_simhash.live.doctor.finding import Finding
from es_simhash.plans.open_index import noted_rarity, with_outdated_rarity
from es_simhash.scheme.mapping import DEFAULT_PREFIX, entries
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS
from es_simhash.scheme.verdict.rarity import SAMPLE
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import is_by_rarity

# An index that has grown by more than this factor may be about other things.
_MUCH = 10
# What the presets said before.
_BY_FEATURES = Verification.of_fingerprints(0.55, weights="rarity")
_FORMER = (_BY_FEATURES, replace(_BY_FEATURES, similarity=0.45, numbers=0.5), replace(_BY_FEATURES, similarity=0.4))
# Similarities change a little with the table, and so may verdicts near the minimum.
_REMEDY = "Run: es-simhash learn {}. Then es-simhash explain shows how it changed a pair."


def check_rule(facts: Facts, documents: Documents) -> Iterator[Finding]:
    """Check whether texts are compared, or were before, by another rule than that of now."""
    scheme = documents.scheme
    preset = next((name for name in PRESETS if Scheme.preset(name).id == scheme.id), None)
    fields = "".join(f" --field {field}" for field in documents.fields)
    prefix = "" if documents.prefix == DEFAULT_PREFIX else f" --prefix {documents.prefix}"
    for there in facts.indices:
        if _notes_surroundings(there.mapping, documents.prefix):
            yield Finding(
                "rule",
                "warning",
                f"The index {there.name!r} was made with an earlier rule, by which other documents counted, too. The "
                "current rule depends on the two texts alone: it finds more copies, and groups change.",
                f"Adopt it: es-simhash init {there.name}{fields}{prefix}; then es-simhash learn {there.name}{prefix}, "
                "and group again. The fingerprints stay, and no backfill is needed.",
                there.name,
            )
    if preset is None or scheme.verification not in _FORMER:
        return
    for there in facts.indices:
        if there.fingerprinted:
            yield Finding(
                "rule",
                "note",
                f"The index {there.name!r} compares texts by an earlier rule, which misses more revisions and "
                "mistakes more templates for copies.",
                f"Adopt the current rule: es-simhash init {there.name} --scheme {preset}{fields}{prefix}. "
                "The fingerprints stay.",
                there.name,
            )


def _notes_surroundings(mapping: Json, prefix: str) -> bool:
    """Return whether the note of an index is of a version in which the surroundings of texts counted."""
    entry = entries({"": mapping}, prefix)[""]
    verification = entry["scheme"].get("verification") if entry else None
    return isinstance(verification, dict) and verification.get("features") == "runs"


def check_rarity(facts: Facts, documents: Documents) -> Iterator[Finding]:
    """Check whether texts are compared by a table of rarity that fits what is compared, and the documents of now."""
    if not is_by_rarity(documents.scheme, documents.scheme.verification):
        return
    mappings = {there.name: there.mapping for there in facts.indices}
    learnt, now = noted_rarity(mappings, documents), sum(there.fingerprinted for there in facts.indices)
    remedy = _REMEDY.format(",".join(sorted(mappings)))
    for name in with_outdated_rarity(mappings, documents):
        message = f"What the index {name!r} learnt about common phrases was for other settings, and is not used."
        yield Finding("rarity", "warning", message, _REMEDY.format(name), name)
    if learnt is None:
        if now >= SAMPLE:
            message = f"The index has not learnt which phrases are common in its {now:,} documents: built-in values"
            yield Finding("rarity", "note", f"{message} are used.", remedy)
        return
    then = learnt.among or learnt.rarity.documents
    message = f"Common phrases were learnt on {learnt.day} from {learnt.rarity.documents:,} of {then:,} documents"
    if now > _MUCH * then:
        yield Finding("rarity", "note", f"{message}; the index now has {now:,}.", remedy)
    else:
        yield Finding("rarity", "ok", f"{message}.")


def check_scripts(facts: Facts) -> Iterator[Finding]:
    """Check whether the server can drop candidates that are too many bits away."""
    if facts.refuses_scripts:
        yield Finding(
            "scripts",
            "note",
            "The server refuses scripts, so searches by --distance fetch more documents than necessary.",
            "If such searches are slow, allow scripts: see script.allowed_types, script.allowed_contexts and "
            "search.allow_expensive_queries.",
        )
