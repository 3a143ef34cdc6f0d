"""What the fuzz tests feed to parsers: JSON of every shape, and valid input that was damaged.

Their law: any input is either used correctly, or one of our errors says what is wrong with it.
`make fuzz` tries forty times as many examples as `make test`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from es_simhash.errors import EsSimhashError

Json: TypeAlias = Any

# Numbers at the ends of what formats take, and beyond.
_NUMBERS = st.sampled_from(
    [0, -1, 1, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**40, 10**400, 0.5, -0.0, 1e-320, 1e308]
)
_TEXTS = st.sampled_from(
    ["", " ", "\0", "\ud800", "a\ud800", "\ufeff", "𠀀", "ａ", "0", "-1", "1e999", "NaN", "a.b", ".", "*"]
)
_DEPTH = 3_000


# Each example writes over the files of the one before.
fuzzed_in_a_directory = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def check_message(error: EsSimhashError) -> None:
    """Check that a message is a sentence, though it repeats what was given."""
    assert re.fullmatch(r"\S.*\.", str(error), re.DOTALL)


def one_in(times: int) -> settings:
    """Fewer examples than usual, for a test that is slow."""
    return settings(max_examples=settings().max_examples // times)


def examples(usual: int) -> settings:
    """This many examples, and in proportion where other laws have more or fewer than usual (tests/conftest.py)."""
    return settings(max_examples=max(1, usual * settings().max_examples // 100))


scalars = st.none() | st.booleans() | st.integers() | st.floats() | _NUMBERS | st.text(max_size=20) | _TEXTS


def json_values(keys: Sequence[str] = (), leaves: Sequence[Json] = ()) -> st.SearchStrategy[Json]:
    """Values of JSON, in which these keys and leaves are likely."""
    names = st.text(max_size=8) | (st.sampled_from(keys) if keys else st.nothing())
    values = scalars | (st.sampled_from(leaves) if leaves else st.nothing())
    return st.recursive(
        values, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4), max_leaves=12
    )


def nested(depth: int = _DEPTH, key: str | None = None) -> Json:
    """Return a value in lists, or in objects under one key, deeper than Python's stack."""
    value: Json = 1
    for _ in range(depth):
        value = [value] if key is None else {key: value}
    return value


def places(value: Json) -> Iterator[tuple[Json, Any]]:
    """Each container within a value, with each of its keys or positions."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from places(inner)


@st.composite
def damaged(draw: st.DrawFn, valid: Json, other: st.SearchStrategy[Json] = scalars) -> Json:
    """Return a copy of a value, in which one to three parts were taken out or replaced."""
    value = copy.deepcopy(valid)
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(value))
        if not found:
            return draw(other)
        container, key = draw(st.sampled_from(found))
        if draw(st.booleans()):
            del container[key]
        else:
            container[key] = draw(other)
    return value


@st.composite
def damaged_bytes(draw: st.DrawFn, valid: bytes) -> bytes:
    """Bytes that were cut off, overwritten or lengthened in one to three places."""
    content = bytearray(valid)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        length = draw(st.integers(0, 8))
        cut = draw(st.sampled_from(["end", "part", "nothing"]))
        end = {"end": len(content), "part": start + length, "nothing": start}[cut]
        content[start:end] = draw(st.binary(max_size=8))
    return bytes(content)
