"""Checks of the texts: how they look in a sample, and how they are compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from es_simhash.documents.documents import Documents
from es_simhash.live.doctor.facts import Facts, IndexFacts
from es_simhash.live.doctor.finding import Finding
from es_simhash.plans.open_index import noted_rarity, with_outdated_rarity
from es_simhash.scheme.mapping import DEFAULT_PREFIX, entries
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS
from es_simhash.scheme.verdict.rarity import SAMPLE
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import is_by_rarity

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
