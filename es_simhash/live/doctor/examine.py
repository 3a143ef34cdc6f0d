"""The examination of an index: its settings, mapping and texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json, is_false
from es_simhash.documents.documents import Documents
from es_simhash.errors import EngineError, SchemeMismatchError
from es_simhash.live.doctor import engine
from es_simhash.live.doctor import facts as finding
from es_simhash.live.doctor.facts import Facts, Finding, IndexFacts, IndexPart, gather, of_error
from es_simhash.plans.open_index import CLOSED, noted_rarity, with_outdated_rarity
from es_simhash.plans.operations import Plan
from es_simhash.plans.text_fields import derived_errors, field_at, mapped_fields, no_text, texts_there
from es_simhash.scheme import mapping
from es_simhash.scheme.mapping import DEFAULT_PREFIX, entries, number_of_fields
from es_simhash.scheme.rarity import SAMPLE
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import is_by_rarity


def examine(
    index: str, documents: Documents | None, due: Sequence[IndexPart], changes_settings: bool = False
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
        yield from check_index(there)
        if not there.is_set(CLOSED):  # nothing more can be learned about a closed index
            yield from _of_index(there, facts)
    if facts.documents:
        yield from check_texts(facts, facts.documents)
        yield from engine.check_disks(facts, facts.documents.scheme)
        yield from check_rule(facts, facts.documents)
        yield from check_rarity(facts, facts.documents)
    yield from check_scripts(facts)
    yield from engine.check_rights(facts)


def _of_index(there: IndexFacts, facts: Facts) -> Iterator[Finding]:
    if facts.documents:
        yield from check_mapping(there, facts.documents)
    yield from check_dynamic(there)
    yield from finding.check_source(there)
    yield from check_nested(there)
    yield from check_pipelines(there)
    yield from check_changes(facts, there)
    yield from check_speed(there)
    yield from check_noise(there)


_BLOCKS = ("read_only", "read_only_allow_delete", "write", "metadata", "read")
# `index.store.type` of Elasticsearch and of OpenSearch.
_SNAPSHOTS = ("snapshot", "remote_snapshot")


def check_index(there: IndexFacts) -> Iterator[Finding]:
    """Check whether an index can be written to."""
    found = list(_reasons(there))
    yield from found or [Finding("writable", "ok", f"The index {there.name!r} can be written to.", index=there.name)]


def _reasons(there: IndexFacts) -> Iterator[Finding]:
    name = there.name
    if there.is_set(CLOSED):
        remedy = f"Open it with POST {name}/_open, or leave it out."
        yield Finding.of("closed", f"The index {name!r} is closed.", remedy, name)
    if there.settings.get("index.store.type") in _SNAPSHOTS or there.is_set("index.frozen"):
        yield Finding.of(
            "searchable-snapshot",
            f"The index {name!r} is a searchable snapshot, or frozen, and is never written to.",
            "Leave it out, or restore the snapshot as a plain index and name that.",
            name,
        )
        return  # its blocks come with that
    for block in _BLOCKS:
        if there.is_set(f"index.blocks.{block}"):
            why, remedy = "", "Ask the person who set the block to remove it, or leave the index out."
            if block == "read_only_allow_delete":
                why, remedy = ": its disk is nearly full", "Make room; the engine then removes the block itself."
            yield Finding.of("read-only", f"The index {name!r} is set to index.blocks.{block}{why}.", remedy, name)


# ---- settings and statistics

# The number of documents from which it pays to change settings during the run.
_MANY = 100_000


def check_pipelines(there: IndexFacts) -> Iterator[Finding]:
    """Check whether whole documents go through a pipeline."""
    settings = {kind: there.settings.get(f"index.{kind}") for kind in ("default_pipeline", "final_pipeline")}
    named = [f"{kind} {name!r}" for kind, name in settings.items() if name and name != "_none"]
    if named:
        yield Finding.of(
            "pipeline",
            f"The index {there.name!r} has the {' and the '.join(named)}, which our partial updates do not run.",
            "Nothing to do, unless it changes the text fields of documents that were written before it.",
            there.name,
        )


def check_changes(facts: Facts, there: IndexFacts) -> Iterator[Finding]:
    """Check whether changes by others can be noticed."""
    if there.copies is None and facts.engine.distribution != "embedded":
        yield Finding.of(
            "changes-unknown",
            f"This login cannot see the statistics of the index {there.name!r}, so texts that others change during "
            "the backfill go unnoticed.",
            "Have the privilege monitor granted, or run it with --refresh-stale afterwards.",
            there.name,
        )


def check_speed(there: IndexFacts) -> Iterator[Finding]:
    """Check whether the backfill of a large index would be faster without refreshes."""
    if there.due < _MANY or not there.settings:
        return
    refreshes = there.settings.get("index.refresh_interval", "1s")
    if not refreshes.startswith("-"):
        yield Finding.of(
            "speed",
            f"{counted(there.due, 'document')} will be written in the index {there.name!r}.",
            f"It refreshes every {refreshes}. Add --no-refresh if searches need not see anything new during the run.",
            there.name,
        )


# ---- mapping

_LIMIT = "index.mapping.total_fields.limit"
_DEFAULT_LIMIT = 1000
# A mapping that grows by itself needs some room: warn when less than this part of the limit is left.
_LITTLE = 0.05


def check_mapping(there: IndexFacts, documents: Documents) -> Iterator[Finding]:
    """Check that the mapping has the fields, or can take them, and that no document has something else there."""
    if there.foreign:
        yield of_error("foreign-values", there.foreign, there.name)
    if is_false(there.mapping.get("subobjects")):
        yield Finding.of(
            "subobjects",
            f"The index {there.name!r} is mapped with subobjects: false, so it cannot hold the object "
            f"{documents.prefix!r}.",
            "Reindex into an index with sub-objects.",
            there.name,
        )
        return
    change = there.change(documents)
    if isinstance(change, EngineError):
        code = "scheme-mismatch" if isinstance(change, SchemeMismatchError) else "mapping-conflict"
        yield of_error(code, change, there.name)
        return
    # A note that was removed with the fingerprints is not lost.
    has_note = mapping.note(there.mapping, documents.prefix) is not None
    has_note = has_note or documents.prefix in mapping.in_fields(there.mapping)
    if not change.added and not has_note:
        yield Finding(
            "mapping",
            "warning",
            f"The mapping of {there.name!r} has the fields under {documents.prefix!r}, but no note of how they were "
            "made: another program has replaced its _meta.",
            "Run es-simhash init, with the scheme and the source fields that the fingerprints were made by.",
            there.name,
        )
    else:
        can = f"can take the {len(change.added)} fields" if change.added else "has the fields"
        message = f"The mapping of {there.name!r} {can} under {documents.prefix!r}."
        yield Finding("mapping", "ok", message, index=there.name)
    yield from _total_fields(there, change.body or {})


def _total_fields(there: IndexFacts, added: Json) -> Iterator[Finding]:
    limit = int(there.settings.get(_LIMIT, _DEFAULT_LIMIT))
    # The object of a new prefix counts as one.
    objects_there = set(added.get("properties") or {}) & set(there.mapping.get("properties") or {})
    present, new = number_of_fields(there.mapping), number_of_fields(added) - len(objects_there)
    left = limit - present - new
    counts = f"The index {there.name!r} has {present:,} of at most {limit:,} fields"
    remedy = f"Raise its setting {_LIMIT}."
    if new and left < 0:
        message = f"{counts}, so {new} more do not fit."
        yield Finding("total-fields", "stop", message, remedy, there.name)
    elif left < _LITTLE * limit:
        message = f"{counts}{f', and gets {new} more' if new else ''}: {max(left, 0):,} are left for others."
        yield Finding("total-fields", "warning", message, remedy, there.name)
    else:
        yield Finding("total-fields", "ok", f"{counts}{f', and gets {new} more' if new else ''}.", index=there.name)


def check_dynamic(there: IndexFacts) -> Iterator[Finding]:
    """Check whether fields that are not mapped are refused, or not indexed."""
    dynamic = str(there.mapping.get("dynamic")).lower()
    if dynamic in ("strict", "false"):
        does = "refuses documents with" if dynamic == "strict" else "does not index"
        yield Finding.of(
            "dynamic",
            f"The index {there.name!r} {does} fields that are not mapped (dynamic: {dynamic}).",
            "Nothing to do: our fields are added to the mapping before any document is written.",
            there.name,
        )


def check_nested(there: IndexFacts) -> Iterator[Finding]:
    """Check what nested documents add to the cost of an update."""
    paths = [path for path, field in mapped_fields(there.mapping) if field.get("type") == "nested"]
    if not paths:
        return
    all_documents = sum(copy.documents for copy in there.copies or [] if copy.is_primary)
    cost = f"{all_documents / there.documents - 1:,.1f} on average" if there.documents and all_documents else "some"
    yield Finding.of(
        "nested",
        f"The index {there.name!r} has nested documents ({', '.join(paths)}): with each document that is updated, "
        f"those within it, {cost}, are written again.",
        "Run it when the cluster has time, with --max-rate.",
        there.name,
    )


def check_texts(facts: Facts, documents: Documents) -> Iterator[Finding]:
    """Check whether documents have text in the source fields."""
    found = [finding for there in facts.indices for finding in _texts_of(there, documents)]
    mappings = {there.name: there.mapping for there in facts.indices}
    for path in documents.fields:
        if _is_misspelt(facts, documents, path):
            message = f"No mapping has the source field {path!r}, nor has any document text in it."
            found.append(Finding("text-fields", "warning", message, texts_there(mappings, [path])))
    yield from found or [Finding("text-fields", "ok", f"The texts are in {', '.join(documents.fields)}.")]


def _texts_of(there: IndexFacts, documents: Documents) -> Iterator[Finding]:
    for error in derived_errors(there.name, there.derived):
        yield of_error("derived-field", error, there.name)
    if _has_none(there, documents) and not there.derived:
        message = f"{no_text(there.name, documents.fields)}, so all would be marked as empty."
        remedy = texts_there({there.name: there.mapping}, documents.fields)
        yield Finding("text-fields", "stop", message, remedy, there.name)
    for path in documents.fields:
        if "properties" in field_at(there.mapping, path):
            message = f"The source field {path!r} is an object in the index {there.name!r}, so documents are rejected."
            yield Finding("text-fields", "warning", message, "Name the fields within it that hold text.", there.name)


def _has_none(there: IndexFacts, documents: Documents) -> bool:
    return set(there.unseen) == set(documents.fields)


def _is_misspelt(facts: Facts, documents: Documents, path: str) -> bool:
    """Return whether a field is unmapped and has no text in any document, while another field has some."""
    filled = [there for there in facts.indices if there.documents]
    is_nowhere = all(path in there.unseen and not field_at(there.mapping, path) for there in filled)
    is_one_of_several = not all(_has_none(there, documents) for there in filled)
    return is_nowhere and is_one_of_several and not any(path in there.derived for there in filled)


_FEWEST = 20  # texts, below which nothing is concluded

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_DIGIT_WITHIN = re.compile(r"[A-Za-z]+[0-9][A-Za-z]+")
_WORDS, _MISREAD, _MISREAD_TEXTS = 50, 0.03, 0.15
_SENTENCE_END = re.compile(r"[\n.!?。！？]+")
_SENTENCE, _SHARED_BY, _SHARED = 12, 0.5, 0.5
# Among the commonest characters; Japanese as it is written today uses none of them.
_SIMPLIFIED = frozenset("们这说对发经还进过动长问间门开关头样东车见语请让认识从给为业产务员场应难电话书")
_TRADITIONAL = frozenset("們這說對發經還麼嗎樣點給讓當從會來學國實關")
_CHARACTERS, _SCRIPT_TEXTS = 3, 0.05


def check_noise(there: IndexFacts) -> Iterator[Finding]:
    """Check what the texts look like."""
    if len(there.texts) < _FEWEST:
        return
    misread = _share(there.texts, _is_misread)
    if misread >= _MISREAD_TEXTS:
        yield Finding.of(
            "misread",
            f"In {misread:.0%} of the texts of the index {there.name!r}, many words contain a digit, as in misread "
            "scans. By default, copies with one wrong character in ten are missed.",
            "Search with --similarity versions, or correct the texts.",
            there.name,
        )
    shared = _boilerplate(there.texts)
    if shared >= _SHARED:
        yield Finding.of(
            "boilerplate",
            f"{shared:.0%} of a typical text of the index {there.name!r} is in most others, too. It does not count, "
            "but searches must compare nearly all documents.",
            "Remove it with --strip REGEX.",
            there.name,
        )
    simplified = _share(there.texts, lambda text: _has(text, _SIMPLIFIED, _TRADITIONAL))
    traditional = _share(there.texts, lambda text: _has(text, _TRADITIONAL, _SIMPLIFIED))
    if min(simplified, traditional) >= _SCRIPT_TEXTS:
        yield Finding.of(
            "two-scripts",
            f"In the index {there.name!r}, {simplified:.0%} of the texts are in simplified and {traditional:.0%} in "
            "traditional Chinese characters. Copies in the other characters are not found.",
            "Convert the texts to one of them, for example with OpenCC.",
            there.name,
        )


def _share(texts: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(map(holds, texts)) / len(texts)


def _is_misread(text: str) -> bool:
    words = _WORD.findall(text)
    return len(words) >= _WORDS and sum(map(bool, map(_DIGIT_WITHIN.fullmatch, words))) >= _MISREAD * len(words)


def _boilerplate(texts: Sequence[str]) -> float:
    """Return how much of a text, by the median, are sentences that at least half of the texts have."""
    sentences = [[part.strip() for part in _SENTENCE_END.split(text)] for text in texts]
    texts_of = Counter(each for parts in sentences for each in set(parts) if len(each) >= _SENTENCE)
    shared = {each for each, count in texts_of.items() if count >= _SHARED_BY * len(texts)}
    shares = (sum(len(each) for each in parts if each in shared) / (sum(map(len, parts)) or 1) for parts in sentences)
    return median(shares)


def _has(text: str, wanted: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether several of the wanted characters occur, and hardly any of the others."""
    counts = Counter(text)
    found = sum(counts[each] for each in wanted)
    return found >= _CHARACTERS and found > 10 * sum(counts[each] for each in others)


# ---- how they are compared

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
    for name, entry in entries({there.name: there.mapping for there in facts.indices}, documents.prefix).items():
        verification = entry["scheme"].get("verification") if entry else None
        if isinstance(verification, dict) and verification.get("features") == "runs":
            # The surroundings of texts counted then.
            yield Finding(
                "rule",
                "warning",
                f"The index {name!r} was made with an earlier rule, by which other documents counted, too. The "
                "current rule depends on the two texts alone: it finds more copies, and groups change.",
                f"Adopt it: es-simhash init {name}{fields}{prefix}; then es-simhash learn {name}{prefix}, "
                "and group again. The fingerprints stay, and no backfill is needed.",
                name,
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
        yield Finding.of(
            "scripts",
            "The server refuses scripts, so searches by --distance fetch more documents than necessary.",
            "If such searches are slow, allow scripts: see script.allowed_types, script.allowed_contexts and "
            "search.allow_expensive_queries.",
        )
