"""Whatever the order of the requests of several writers, no note of one is lost by the writing of another.

Plans are generators, so all orders of their operations can be tried: each from the beginning, on a mapping that changes
by the rules of servers. What a writer that has ended has written must be there in each state that follows. So nothing
that is killed midway can take it away, either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from es_simhash import Documents, Verification
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import run
from es_simhash.engines.embedded.mapping import IndexMapping
from es_simhash.errors import EngineError, IndexStateError, SchemeMismatchError
from es_simhash.plans.init import bring, new_index
from es_simhash.plans.open_index import forget_prefix, note, note_in_meta, note_rarity, noted, noted_rarity
from es_simhash.plans.operations import GetMappings, Plan, PutMapping
from es_simhash.scheme.learnt_rarity import LearntRarity
from es_simhash.scheme.mapping import entries, merge, with_groups, with_policy
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Policy, Scope
from es_simhash.scheme.verifier import rarity_of
from es_simhash.text import Custom

SHORT, STRICT = Scheme.preset("short"), Scheme.preset("strict")
TENANT = Policy(Scope(("tenant",)))
EMPTY: Json = {"_meta": {"owner": "us"}, "properties": {"body": {"type": "text"}}}


@dataclass(frozen=True)
class Writer:
    """A plan that writes, and whether what it wrote is in a mapping."""

    begin: Callable[[], Plan[Any]]
    is_there: Callable[[Json], bool]


def init(
    prefix: str, scheme: Scheme = SHORT, policy: Policy | None = None, fields: Sequence[str] = ("body",)
) -> Writer:
    wanted = scheme.mapping(prefix, fields)
    if policy is not None:
        wanted = with_policy(wanted, policy)

    def is_there(mapping: Json) -> bool:
        entry = entries({"i": mapping}, prefix)["i"]
        return bool(entry) and merge("i", mapping, wanted).is_needed is False

    return Writer(lambda: bring("i", wanted), is_there)


def group(prefix: str, scheme: Scheme = SHORT) -> Writer:
    wanted = with_groups(scheme.mapping(prefix, ["body"]))
    return Writer(lambda: bring("i", wanted), lambda mapping: not merge("i", mapping, wanted).is_needed)


def job(name: str, value: Json | None) -> Writer:
    return Writer(lambda: note("i", name, value), lambda mapping: noted(mapping, name) == value)


def learning(prefix: str) -> Writer:
    # Others may take it away later: it is learnt again.
    return Writer(lambda: note_in_meta("i", f"_rarity_{prefix}", {"scheme": "x"}), lambda _: True)


def removal(prefix: str) -> Writer:
    return Writer(lambda: forget_prefix("i", prefix), lambda mapping: entries({"i": mapping}, prefix)["i"] is None)


@dataclass(frozen=True)
class Step:
    """Where a writer stands: the operation that it asks for, or its end, maybe by an error."""

    operation: Any = None
    error: EngineError | None = None


@dataclass(frozen=True)
class End:
    """The mapping when all have ended, and the error of each that had one."""

    mapping: Json
    errors: list[EngineError]


class Orders:
    """All orders of the operations of some writers.

    A plan does the same whenever it is answered the same. So a state is the mapping, and what each was answered so far:
    mappings and errors, each by its number.
    """

    def __init__(self, writers: Sequence[Writer], present: Json) -> None:
        self._writers = writers
        self._answers: list[Any] = [None]
        self._numbers: dict[str, int] = {}
        self.first: tuple[int, tuple[tuple[int, ...], ...]] = (
            self._number(IndexMapping.of(present)),
            ((),) * len(writers),
        )
        self.step = cache(self._step)
        self.following = cache(self._following)
        self.is_there = cache(lambda writer, mapping: writers[writer].is_there(self.mapping(mapping)))

    def mapping(self, number: int) -> Json:
        return self._answers[number].body

    def _number(self, answer: Any) -> int:
        key = repr(answer.body if isinstance(answer, IndexMapping) else answer)
        if key not in self._numbers:
            self._numbers[key] = len(self._answers)
            self._answers.append(answer)
        return self._numbers[key]

    def _step(self, writer: int, answers: tuple[int, ...]) -> Step:
        plan = self._writers[writer].begin()
        try:
            operation = next(plan)
            for number in answers:
                match self._answers[number]:
                    case EngineError() as error:
                        operation = plan.throw(error)
                    case IndexMapping(body=body):
                        operation = plan.send({"i": body})
                    case _:
                        operation = plan.send(None)
        except StopIteration:
            return Step()
        except EngineError as error:
            return Step(error=error)
        return Step(operation)

    def _following(self, mapping: int, writer: int, answers: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """Perform the next operation of a writer as a server does: as a whole, or not at all."""
        operation = self.step(writer, answers).operation
        if isinstance(operation, GetMappings):
            return mapping, (*answers, mapping)
        assert isinstance(operation, PutMapping)
        try:
            return self._number(self._answers[mapping].merged(operation.body)), (*answers, 0)
        except EngineError as error:
            return mapping, (*answers, self._number(error))


def every_order(writers: Sequence[Writer], present: Json = EMPTY) -> list[End]:
    """Check every state that any order of the writers' operations leads to; return all ends."""
    orders = Orders(writers, present)
    ends, left, seen = [], [orders.first], {orders.first}
    while left:
        mapping, answers = left.pop()
        steps = [orders.step(*each) for each in enumerate(answers)]
        for number, step in enumerate(steps):
            if step.operation:
                there, own = orders.following(mapping, number, answers[number])
                following = (there, (*answers[:number], own, *answers[number + 1 :]))
                if following not in seen:
                    seen.add(following)
                    left.append(following)
            else:
                assert step.error or orders.is_there(number, mapping), orders.mapping(mapping)
        if not any(step.operation for step in steps):
            ends.append(End(orders.mapping(mapping), [step.error for step in steps if step.error]))
    return ends


def after(*writers: Writer) -> Json:
    """The mapping after some writers, one after the other."""
    mapping = EMPTY
    for writer in writers:
        [end] = every_order([writer], mapping)
        assert not end.errors
        mapping = end.mapping
    return mapping


THEIRS = after(init("dedup"), learning("dedup"))
FROM_A_TEMPLATE = new_index("i", SHORT.mapping("dedup", ["body"]), {"mappings": EMPTY})["mappings"]
del FROM_A_TEMPLATE["properties"]["_es_simhash"]


@pytest.mark.parametrize(
    "writers",
    [
        [init("a"), init("b", STRICT)],
        [init("a", policy=TENANT), init("b")],
        [init("a"), job("_settings_before_backfill", {"refresh_interval": "5s"})],
        [init("dedup", policy=TENANT), init("b"), job("_grouped_dedup", {"of": 1})],
        [init("dedup"), group("dedup"), init("b")],
        [learning("dedup"), init("a")],
        [learning("a"), learning("b"), job("_backfill_begun_a", {"scheme": "x"})],
        [job("_grouped_a", {"of": 1}), job("_grouped_b", {"of": 2}), job("_copied_from", {"index": "x"})],
        [removal("dedup"), init("b")],
        [removal("dedup"), job("_grouped_dedup", None), learning("dedup")],
    ],
)
@pytest.mark.parametrize("present", [EMPTY, THEIRS, FROM_A_TEMPLATE], ids=["empty", "theirs", "from a template"])
def test_what_one_has_written_no_other_takes_away(writers: list[Writer], present: Json) -> None:
    for end in every_order(writers, present):
        assert not end.errors
        assert end.mapping["_meta"]["owner"] == "us"


def test_three_who_prepare_an_index_at_once_all_get_what_they_ask_for() -> None:
    for end in every_order([init("a"), init("b", STRICT), init("c", policy=TENANT)]):
        assert not end.errors


@pytest.mark.parametrize(
    "rival", [init("a", STRICT), init("a", fields=["title"])], ids=["another scheme", "other source fields"]
)
@pytest.mark.parametrize("present", [EMPTY, after(init("a", fields=["old"]), removal("a"))], ids=["new", "removed"])
def test_of_two_who_want_different_things_of_one_prefix_one_is_refused(rival: Writer, present: Json) -> None:
    for end in every_order([init("a"), rival], present):
        assert [type(error) for error in end.errors] == [SchemeMismatchError]


def test_who_prepares_what_another_removes_gets_it_or_is_removed() -> None:
    orders = every_order([Writer(init("dedup", policy=TENANT).begin, lambda _: True), removal("b")], THEIRS)
    assert all(entries({"i": end.mapping}, "dedup")["i"] for end in orders)


def test_copies_in_meta_are_right_once_all_have_ended() -> None:
    wanted = {"a", "b", "c"}
    for end in every_order([init("a"), init("b", STRICT), init("c")]):
        copied = end.mapping["_meta"]["es_simhash"]
        assert {prefix: entries({"i": end.mapping}, prefix)["i"] for prefix in wanted} == copied


def test_a_note_that_others_replace_each_time_is_an_error() -> None:
    class Replacing:
        def perform(self, operation: Any) -> Any:
            return {"i": EMPTY} if isinstance(operation, GetMappings) else None

        def close(self) -> None: ...

    with pytest.raises(IndexStateError, match="Others replaced"):
        run(note_in_meta("i", "_rarity_dedup", {"scheme": "x"}), Replacing())


BY_RUNS = Scheme()
BY_TOKENS = replace(BY_RUNS, verification=Verification(features="scheme"))
TEXTS = ["見出しと本文 one", "見出しと本文 two"]


def mapping_of(scheme: Scheme) -> Json:
    """The mapping with what was learnt for a scheme."""
    plan = note_rarity("i", Documents(scheme, ["text"]), LearntRarity(rarity_of(scheme, TEXTS), "2030-01-01"))
    next(plan)
    written = plan.send({"i": {}})
    assert isinstance(written, PutMapping)
    return written.body


def test_what_was_learnt_of_other_features_does_not_count() -> None:
    for scheme, other in ((BY_TOKENS, BY_RUNS), (BY_RUNS, BY_TOKENS)):
        noted = {"i": mapping_of(scheme)}
        found = noted_rarity(noted, Documents(scheme, ["text"]))
        assert found
        assert found.rarity == rarity_of(scheme, TEXTS)
        assert noted_rarity(noted, Documents(other, ["text"])) is None


def test_notes_of_the_scheme_s_own_features_are_as_they_always_were() -> None:
    [note] = (each for name, each in mapping_of(BY_TOKENS)["_meta"]["es_simhash"].items() if "rarity" in name)
    assert set(note) == {"scheme", "when", "id", "rarity"}


def test_notes_of_a_caller_s_own_tokens_name_no_runs() -> None:
    own = replace(BY_RUNS, tokens=Custom("blanks", str.split))
    [note] = (each for name, each in mapping_of(own)["_meta"]["es_simhash"].items() if "rarity" in name)
    assert "features" not in note
    assert rarity_of(own, TEXTS) != rarity_of(BY_RUNS, TEXTS)
