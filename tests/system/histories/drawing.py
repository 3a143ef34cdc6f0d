"""Histories at random, such that one which fails can be made smaller."""

from __future__ import annotations

from typing import TypeAlias, get_args

from hypothesis import strategies as st

from es_simhash.documents.decisions import VERDICTS
from tests.system.histories.history import (
    KINDS,
    Behind,
    Event,
    Fault,
    History,
    How,
    Saying,
    Shape,
    Start,
    Upset,
    Write,
)

Whats: TypeAlias = "st.SearchStrategy[Fault] | st.SearchStrategy[Upset]"

_MOST_DOCUMENTS = 20
# Most of what others do is of interest where it changes a text under a fingerprint.
_HOWS = [*get_args(How), "text", "text", "text", "copy"]

_OF_ONE_NODE = [fault for fault in Fault if fault is not Fault.FAILOVER]
_FAULTS = [*_OF_ONE_NODE, Fault.BUSY_ITEMS, Fault.BUSY_ITEMS, Fault.KILLED]
_UPSETS = [Upset.REFRESH, Upset.NEW_TERM]
_RARELY = st.integers(0, 7).map(lambda number: number == 7)


def histories(verb: str, requests: int, states: tuple[str, ...], says: bool = False) -> st.SearchStrategy[History]:
    """Draw histories of a command with this many requests, on documents in some of the states.

    Others also decide about documents if one ``says`` so.
    """
    return st.builds(
        History,
        st.just(verb),
        st.lists(_starts(states), min_size=4, max_size=_MOST_DOCUMENTS).map(tuple),
        st.lists(_sayings(requests) | _events(requests) if says else _events(requests), min_size=3, max_size=12).map(
            tuple
        ),
        st.builds(Shape, st.sampled_from([1, 1, 2, 3]), _RARELY, st.booleans(), _RARELY),
    )


def rolling_histories(verb: str, requests: int, states: tuple[str, ...], behind: Behind) -> st.SearchStrategy[History]:
    """Draw histories of a command by the name of an alias or a data stream that rolls over; nobody else writes."""
    rollovers = _at(requests, st.just(Upset.ROLLOVER), (1,))
    return st.builds(
        History,
        st.just(verb),
        st.lists(_starts(states), min_size=4, max_size=_MOST_DOCUMENTS).map(tuple),
        st.tuples(
            st.lists(rollovers, min_size=1, max_size=4),
            st.lists(_at(requests, st.sampled_from(_FAULTS), (1, 1, 4)), max_size=5),
        ).map(lambda parts: (*parts[0], *parts[1])),
        st.builds(Shape, st.sampled_from([1, 1, 2]), _RARELY, st.booleans(), behind=st.just(behind)),
    )


def _at(requests: int, what: Whats, times: tuple[int, ...]) -> st.SearchStrategy[Event]:
    places = [(KINDS[:1], requests), (("/_bulk", "/_refresh", "/_search"), 6)]
    return st.one_of(
        [
            st.builds(Event, st.integers(1, most), what, st.sampled_from(times), st.sampled_from(kinds))
            for kinds, most in places
        ]
    )


def _sayings(requests: int) -> st.SearchStrategy[Event]:
    saying = st.builds(
        Saying,
        # Texts are alike if their numbers are four apart.
        st.sampled_from([*VERDICTS, "different", "different"]),
        st.integers(0, _MOST_DOCUMENTS - 1),
        st.sampled_from([4, 4, 8, 1]),
        st.sampled_from(["Ben", "Ann"]),
        st.sampled_from([True, True, True, False]),
    )
    return st.builds(Event, st.integers(1, requests), saying, st.sampled_from([1, 1, 3]))


def _starts(states: tuple[str, ...]) -> st.SearchStrategy[Start]:
    return st.builds(Start, st.sampled_from(states), st.booleans())


def _events(requests: int) -> st.SearchStrategy[Event]:
    writes = st.builds(Write, st.sampled_from(_HOWS), st.integers(0, _MOST_DOCUMENTS - 1))
    # A client tries again three times by itself.
    whats = [(writes, (1, 1, 3, 10, requests)), (st.sampled_from(_UPSETS), (1,)), (st.sampled_from(_FAULTS), (1, 1, 4))]
    places = [(KINDS[:1], requests), (KINDS[1:], 4)]
    return st.one_of(
        [
            st.builds(Event, st.integers(1, most), what, st.sampled_from(times), st.sampled_from(kinds))
            for what, times in (whats[0], *whats)
            for kinds, most in places
        ]
    )
