"""What a body of JSON holds, found in its bytes before it is parsed: a list of millions takes no memory to refuse."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from es_simhash.gate import limits

# Bytes that are looked at together.
_CHUNK = 1 << 16
# Bytes that Python takes for a value, which may be a field with its name, and for a list or an object beyond that.
_OF_VALUE, _OF_CONTAINER = 100, 150
# In UTF-8, what begins the characters that take four bytes, and what continues any.
_WIDE, _CONTINUING = re.compile(rb"[\xf0-\xff]"), bytes(range(0x80, 0xC0))

_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1
_QUOTE, _COMMA = b'",'


@dataclass(frozen=True)
class Shape:
    """Numbers of values, of documents in a list, and of containers, and how deep they nest; or upper bounds of them."""

    values: int = 0
    documents: int = 1
    containers: int = 0
    depth: int = 0

    @property
    def problem(self) -> str | None:
        """What exceeds a limit, and what to do."""
        if self.documents > limits.DOCUMENTS:
            return (
                f"A list has at most {limits.DOCUMENTS:,} documents. Send shorter lists, or a document a line to /bulk."
            )
        if self.depth > limits.DEPTH:
            return f"It is nested deeper than {limits.DEPTH:,} levels. Send flatter documents."
        if self.values > limits.VALUES:
            return (
                f"It has more than {limits.VALUES:,} values, all lists and objects in it together. "
                "Send fewer documents at once, without fields that the index does not need."
            )
        return None


def shape_of(raw: bytes) -> Shape:
    """Return the shape of a body; what exceeds a limit is counted no further."""
    containers = raw.count(b"[") + raw.count(b"{")
    values = containers + raw.count(b",")
    is_list = raw.lstrip()[:1] == b"["
    if containers <= limits.DEPTH and values < limits.DOCUMENTS:
        # Whatever of this stands in strings, it is within the limits.
        return Shape(values, values + 1 if is_list else 1, containers, containers)
    return _counted(raw, is_list)


def memory_of(raw: bytes, shape: Shape) -> int:
    """Return the bytes that Python takes for a body of this shape when it is parsed, at most."""
    if b"\\u" in raw:
        text = 4 * len(raw)
    elif raw.isascii():
        text = len(raw)
    else:
        text = (4 if _WIDE.search(raw) else 2) * len(raw.translate(None, _CONTINUING))
    return text + _OF_VALUE * shape.values + _OF_CONTAINER * shape.containers


def _counted(raw: bytes, is_list: bool) -> Shape:
    if b"\\" in raw:
        # Then each quote begins or ends a string.
        raw = raw.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
    found, quotes, level = Shape(), 0, 0
    for start in range(0, len(raw), _CHUNK):
        part = np.frombuffer(raw, np.uint8, min(_CHUNK, len(raw) - start), start)
        ends = np.cumsum(part == _QUOTE, dtype=np.int32) + quotes
        quotes = int(ends[-1]) & 1
        outside = part[ends & 1 == 0]
        steps = _STEPS[outside]
        levels = np.cumsum(steps, dtype=np.int32) + level
        level = int(levels[-1]) if len(levels) else level
        commas, opened = outside == _COMMA, int(np.count_nonzero(steps == 1))
        found = Shape(
            found.values + opened + int(np.count_nonzero(commas)),
            found.documents + (int(np.count_nonzero(commas & (levels == 1))) if is_list else 0),
            found.containers + opened,
            max(found.depth, int(levels.max(initial=0))),
        )
        if found.problem:
            break
    return found
