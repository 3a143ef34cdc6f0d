"""What must hold of the answers of a gate, and of the distinct hits of a search."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from es_simhash._core.json_codec import Json
from tests.system.histories.others import family_of
from tests.system.histories.outcome import PREFIX, Outcome, fields_of, nothing_of_others_is_changed


def check_gate(outcome: Outcome) -> Iterator[str]:
    """Accepted documents are there as they were given, no others are, and of similar texts one was accepted."""
    yield from nothing_of_others_is_changed(outcome)
    if outcome.ended.code:
        yield f"the exit code is {outcome.ended.code}: {outcome.ended.said}"
        return
    new, answers = outcome.others.new, {each["id"]: each for each in outcome.ended.summary["answers"]}
    if answers.keys() != new.keys():
        yield f"{sorted(answers)} were answered instead of {sorted(new)}"
    accepted = {id_ for id_, answer in answers.items() if answer["accepted"]}
    for id_, answer in answers.items():
        hit = outcome.after.hits.get(id_)
        if (answer["verdict"] == "rejected") != (fields_of(new[id_]) is None):
            yield f"{id_} has the answer {answer}"
        elif id_ in accepted and (hit is None or hit["_source"] != {**new[id_], PREFIX: fields_of(new[id_])}):
            yield f"{id_} was accepted, and is {hit}"
        elif id_ not in accepted and hit:
            yield f"{id_} is there, and has the answer {answer}"
        elif answer["verdict"] in ("equal", "near-duplicate"):
            yield from _wrong_originals(outcome, accepted, answer)
    families = Counter(family_of(new[id_]["body"]) for id_ in accepted)
    if several := {family: count for family, count in families.items() if count > 1}:
        yield f"of families, several were accepted: {several}, of {sorted(accepted)}"


def _wrong_originals(outcome: Outcome, accepted: set[str], answer: Json) -> Iterator[str]:
    """Whether a document was refused for another that is not there; those of others may have changed since."""
    new = outcome.others.new
    for original in [each["id"] for each in answer["duplicates"]]:
        if original in new:
            are_alike = family_of(new[original]["body"]) == family_of(new[answer["id"]]["body"])
            if original not in accepted or not are_alike:
                yield f"{answer['id']} was refused for {original}, which is {outcome.after.hits.get(original)}"


def check_distinct(outcome: Outcome) -> Iterator[str]:
    """Of documents that nobody changed, the first of those alike is shown, and stands for others of them only."""
    yield from nothing_of_others_is_changed(outcome)
    if outcome.ended.code:
        yield f"the exit code is {outcome.ended.code}: {outcome.ended.said}"
        return
    shown: list[Json] = outcome.ended.summary["shown"]
    ids = [each["id"] for each in shown]
    if len(set(ids)) < len(ids):
        yield f"of {ids}, some are shown again"
    known = dict(outcome.others.by_id())
    families: dict[int, list[str]] = defaultdict(list)
    for id_, one in known.items():
        if one.as_begun and one.source:
            families[family_of(one.source["body"])].append(id_)
    is_alike = {frozenset((a, b)) for family in families.values() for a in family for b in family}
    for each in shown:
        for id_ in each["similar"]:
            if known[id_].as_begun and known[each["id"]].as_begun and {each["id"], id_} not in is_alike:
                yield f"{each['id']} stands for {id_}"
    for family in families.values():
        there = [id_ for id_ in ids if id_ in family]
        if len(there) > 1:
            yield f"{there} are alike, and all are shown"
        if all(one.as_begun for one in known.values()) and there != family[:1]:
            yield f"of {family}, {there} are shown"
