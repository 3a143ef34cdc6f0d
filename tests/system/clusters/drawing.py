"""Histories of clusters at random."""

from __future__ import annotations

from itertools import chain
from typing import TypeAlias

from hypothesis import strategies as st

from tests.system.histories.history import Behind, Blow, Event, Fault, History, Shape, Start, Upset, Write
from tests.system.histories.verbs import ROLLING, VERBS

_MOST_DOCUMENTS = 16
_HOWS = ("put", "put by helper", "text", "text", "text by helper", "number", "delete", "move")
_FAULTS = (Fault.FAILOVER, Fault.LOST_REPLY, Fault.RESET, Fault.BUSY_ITEMS, Fault.KILLED)
_KINDS = ("/", "/_bulk", "/_search", "/_refresh", "/_mapping")

_Whats: TypeAlias = (
    "st.SearchStrategy[Blow] | st.SearchStrategy[Fault] | st.SearchStrategy[Write] | st.SearchStrategy[Upset]"
)


def histories(has_streams: bool) -> st.SearchStrategy[History]:
    """Draw a command, and what happens to its documents, its requests and the nodes.

    While an alias or a data stream rolls over, nobody else writes.
    """
    rolling: list[Behind] = ["alias", "stream"] if has_streams else ["alias"]
    names: list[tuple[str, Behind]] = [(name, "index") for name in sorted(VERBS)]
    names += [(name, kind) for name in ROLLING for kind in rolling]
    return st.sampled_from(names).flatmap(lambda chosen: _of_command(*chosen))


def _of_command(name: str, behind: Behind) -> st.SearchStrategy[History]:
    verb = VERBS[name]
    others = _writes() if behind == "index" else st.just(Upset.ROLLOVER)
    starts = st.builds(Start, st.sampled_from(verb.states), st.booleans())
    return st.builds(
        History,
        st.just(name),
        st.lists(starts, min_size=6, max_size=_MOST_DOCUMENTS).map(tuple),
        st.tuples(
            st.lists(_events(st.sampled_from(Blow), verb.requests), min_size=1, max_size=3),
            st.lists(_events(st.sampled_from(_FAULTS), verb.requests), max_size=3),
            st.lists(_events(others, verb.requests), max_size=5),
        ).map(lambda parts: tuple(chain(*parts))),
        st.builds(Shape, st.integers(1, 3), st.booleans(), replicas=st.just(1), behind=st.just(behind)),
    )


def _writes() -> st.SearchStrategy[Write]:
    return st.builds(Write, st.sampled_from(_HOWS), st.integers(0, _MOST_DOCUMENTS - 1))


def _events(what: _Whats, requests: int) -> st.SearchStrategy[Event]:
    anywhere = st.builds(Event, st.integers(1, requests), what)
    at_a_kind = st.builds(Event, st.integers(1, 3), what, kind=st.sampled_from(_KINDS[1:]))
    return st.one_of(anywhere, at_a_kind)
