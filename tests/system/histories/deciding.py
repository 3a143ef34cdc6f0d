"""People who decide about documents while these are grouped, as a command of histories, and what must come of it."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO

from es_simhash.cli.show import output
from es_simhash.documents.decisions import VERDICTS, Decided, Decision
from es_simhash.index import Index
from tests.support import commands
from tests.system.histories.history import Saying
from tests.system.histories.others import id_of
from tests.system.histories.outcome import Outcome, own

Groups = dict[str, set[str]]


def own_decisions(index: str, documents: int) -> list[Decision]:
    """The decisions at the beginning of each run."""
    chosen, ids = random.Random(documents), [id_of(number) for number in range(documents)]
    sayings = (
        Saying(
            chosen.choice(VERDICTS), chosen.randrange(documents), chosen.choice([4, 8, 1]), chosen.choice(["Mia", ""])
        )
        for _ in range(4)
    )
    return [saying.decision(index, ids) for saying in sayings]


def run(index: str, count: str, patience: str, *target: str, XDG_STATE_HOME: str = "", **_: object) -> commands.Run:
    """Write groups, decide, and write those that change; the arguments and the result are those of a command."""
    url, arguments = target[1], ("group", index, "--write", "--incremental", "--patience", patience, *target)
    if (done := commands.run(*arguments, code=None, XDG_STATE_HOME=XDG_STATE_HOME)).code:
        return done
    try:
        with Index(index, url) as opened:
            opened.decide(own_decisions(index, int(count)))
    except BaseException as error:
        with redirect_stderr(StringIO()) as said:
            code = output.code_of(error, debug=False)
        return commands.Run(code, "", said.getvalue())
    return commands.run(*arguments, code=None, XDG_STATE_HOME=XDG_STATE_HOME)


def broken_law(outcome: Outcome) -> Iterator[str]:
    """No group has two different documents, or one that is alone, and all groups are those of a full run."""
    with Index(outcome.others.index, outcome.others.target.url) as index:
        decided = Decided(index.decisions())
        with index.group() as found:
            full = {frozenset(id_.rsplit("/", 1)[-1] for id_ in ids) for ids in found.ids()}
            chosen = {each.canonical.id for each in found}
    others = outcome.others
    said = [*others.said, *own_decisions(others.index, len(others.known))]
    latest = {(each.subject, each.who): each for each in said}
    held = sorted(json.dumps(each.to_json()) for each in latest.values())
    if held != (kept := sorted(json.dumps(each.to_json()) for each in decided.decisions)):
        yield f"the decisions are {kept} instead of {held}"
    groups: Groups = defaultdict(set)
    standing = set()
    for id_, _, hit in outcome.documents():
        if group := own(hit).get("group"):
            groups[group].add(id_)
            standing |= {id_} if own(hit)["is_canonical"] else set()
    for members in groups.values():
        if apart := [pair for pair in decided.different if {id_ for _, id_ in pair} <= members]:
            yield f"{apart} are in one group, and different"
        if alone := [id_ for _, id_ in decided.alone if id_ in members]:
            yield f"{alone} are in the group {members}, and alone"
    if (written := set(map(frozenset, groups.values()))) != full:
        yield f"the groups are {written}, and a full run finds {full}"
    if not chosen <= standing:
        yield f"{chosen - standing} stand for groups by a full run only"
