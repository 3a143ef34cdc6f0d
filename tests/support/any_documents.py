"""Documents with anything that Python reads as JSON: full Unicode with halves of characters, numbers that are none."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from tests.support.fuzzing import json_values, nested

# With halves of surrogate pairs, unlike st.text() by itself.
any_text = st.text(st.characters(), max_size=12)
_ODD = st.sampled_from(
    ["", "\0", "\ud800", "\udfff", "a\udc00b", "x" * 512, "x" * 513, "é" * 257, "\U0001f600" * 128, "a/b?c#d", "_all"]
)
_VALUES = json_values() | st.sampled_from([float("nan"), float("inf"), 10**400, "\ud800", "x" * 40_000])
names = any_text | _ODD
ids = any_text | _ODD | _VALUES
routings = any_text | _ODD | _VALUES | st.sampled_from(["r" * 32_766, "r" * 32_767, ["a"], {"a": 1}])


@st.composite
def any_documents(draw: st.DrawFn) -> Any:
    """Documents of the fields ``title`` and ``body``, and of tenants; or what is none at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(_VALUES)
    document: Json = {"title": draw(any_text), "body": draw(any_text | _VALUES)}
    for name, values in (("id", ids), ("_id", ids), ("_routing", routings), ("tenant", names | _VALUES)):
        if draw(st.booleans()):
            document[name] = draw(values)
    document |= draw(st.dictionaries(names, _VALUES, max_size=2))
    match draw(st.integers(0, 9)):
        case 0:
            document["deep"] = nested(draw(st.sampled_from([20, 99, 101, 900, 3_000])), draw(st.none() | any_text))
        case 1:
            document["dedup"] = draw(_VALUES | st.dictionaries(st.sampled_from(["group", "content", "x"]), _VALUES))
        case 2:
            document = {name: document.pop(name) for name in ("_id", "_routing") if name in document} | {
                "_source": document
            }
        case 3:
            document |= draw(st.dictionaries(st.sampled_from(["_index", "_op_type", "_source", "_version"]), _VALUES))
    return document


def as_json(value: Any) -> bytes:
    """Write a value as JSON with escapes, as deep as it is."""
    try:
        return json.dumps(value).encode()
    except RecursionError:
        return _deep(value)


def _deep(value: Any) -> bytes:
    """Write a value of one path that is deeper than Python's stack."""
    parts, ends = list[str](), list[str]()
    while True:
        if isinstance(value, dict) and value:
            *rest, (name, inner) = sorted(value.items(), key=lambda item: isinstance(item[1], dict | list))
            parts.append("{" + "".join(f"{json.dumps(n)}:{json.dumps(v)}," for n, v in rest) + json.dumps(name) + ":")
            ends.append("}")
            value = inner
        elif isinstance(value, list) and len(value) == 1:
            parts.append("[")
            ends.append("]")
            [value] = value
        else:
            return ("".join([*parts, json.dumps(value)]) + "".join(reversed(ends))).encode()
