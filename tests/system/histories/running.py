"""Running a history, and looking for what is wrong when it is over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.system.histories import commands
from tests.system.histories.course import Course
from tests.system.histories.ground import State, index_of, state_of
from tests.system.histories.history import History
from tests.system.histories.looks import Looks
from tests.system.histories.others import Others
from tests.system.histories.outcome import Outcome
from tests.system.histories.target import Target
from tests.system.histories.verbs import VERBS, problems


def problems_of(target: Target, history: History) -> list[str]:
    """Find the problems after a history, and after one more run, which sees what came too late for the first."""
    verb = VERBS[history.verb]
    with index_of(history, target) as others:
        looks = Looks(others, verb.look, verb.refreshes)
        first = outcome_of(target, others, history, looks)
        found = list(problems(history, first))
        has_seen_all = others.serial == looks.last and others.said_at <= looks.begun
        if found or verb.runs_once or has_seen_all:
            return found
        others.take(first.after.hits)
        again = outcome_of(target, others, replace(history, events=()), looks)
        return [f"one more run: {problem}" for problem in problems(history, again)]


def outcome_of(target: Target, others: Others, history: History, looks: Looks) -> Outcome:
    """A history, and what there is in the end."""
    before, verb = index_now(others), VERBS[history.verb]
    course = Course(history.events, others.happen, looks.see)
    with TemporaryDirectory() as folder:
        file = Path(folder, "new.jsonl")
        others.write_new(file, len(history.documents))
        places = {
            "index": others.index,
            "copy": others.copy,
            "file": file,
            "rejects": "{rejects}",
            "patience": "{patience}",
            "behind": history.shape.behind,
            "count": len(history.documents),
        }
        more = verb.of_streams if history.shape.behind == "stream" else ()
        arguments = [each.format(**places) for each in (*verb.arguments, *more, "--url", target.url)]
        ended = commands.run(target, course, Path(folder), looks.begin, verb.program, arguments)
    target.settle(others.index)
    verb.afterwards(others)
    adds_again = bool(others.generations) and verb.forgets and ended.runs > 1
    after, copy = index_now(others), state_of(others, others.copy)
    return Outcome(others, before, after, copy, ended, looks, course.unheard, adds_again, history.parts_nodes)


def index_now(others: Others) -> State:
    """The index as it is."""
    state = state_of(others, others.index)
    assert state
    return state
