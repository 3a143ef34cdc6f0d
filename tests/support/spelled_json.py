"""JSON in all spellings, and what is almost JSON."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from tests.support.texts import any_text

NUMBERS = [
    "0", "-0", "7", "-1.50", "-0.0", "1e3", "1E+05", "1e-7", "1e15", "1e16", "9007199254740993", "0.1", "5e-324",
    "1e99", "1e100", "1e308", "1e309", "-1e999", "01", "1.", ".5", "+1", "-", "1e", "0x1", "1_0", "NaN", "Infinity",
    "-Infinity", "true", "false", "null", "True", "nul", "\u0661", "123456789012345678", "18446744073709551616",
    "9" * 600, "9" * 5_000, "9" * 201 + ".5", "0." + "1" * 400, "1e0000005",
]  # fmt: skip
STRINGS = [
    r'"\ud800"', r'"\udc00\ud800"', r'"\ud83d\ude00"', r'"\ud83dx"', r'"\ud83d\n"', r'"\/\b\f\n\r\t\"\\"',
    r'"\u0000"', r'"\u00E9\u4e2d"', r'"\x41"', r'"\u12g4"', r'"\u"', '"\x01"', '"\x7f"', '"\0"', '"\t"', '"', "''",
    '"\ufeff"', '"é"', '"7"', '"None"', '"[]"', '"1000.0"', '""',
]  # fmt: skip
OTHERS = ["", "[", "]", "{", "{}", "[]", "[1,]", "[[]]", "[" * 45 + "]" * 45, "[" * 60 + "]" * 60, "[" * 3_000]
NAMES = [
    '"id"', '"_id"', '"_routing"', '"_source"', '"a"', '"b"', '"c"', '"a.b"', r'"\u0061"', '"é"', r'"\u00e9"', '""',
]  # fmt: skip
_SPACES = st.sampled_from(["", "", "", " ", "\t", "\r", "  ", "\x0b", "\u00a0"])


@st.composite
def spelled_objects(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    members = draw(st.lists(st.tuples(st.sampled_from(NAMES), values, _SPACES), max_size=5))
    return "{" + ",".join(f"{space}{name}:{space}{value}" for name, value, space in members) + "}"


@st.composite
def _spelled_arrays(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    return "[" + ",".join(draw(st.lists(values, max_size=3))) + draw(_SPACES) + "]"


_scalars = (
    st.sampled_from([*NUMBERS, *STRINGS, *OTHERS])
    | st.builds(json.dumps, any_text(), ensure_ascii=st.booleans())
    | st.floats().map(json.dumps)
    | st.integers().map(str)
)
values = st.recursive(_scalars, lambda inner: spelled_objects(inner) | _spelled_arrays(inner), max_leaves=8)
