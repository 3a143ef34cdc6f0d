"""Why documents count as duplicates: true copies, or something else that makes different documents look alike.

This decides nothing: it says what to look at before duplicates go. Some texts of a group are looked at:

- **empty**: hardly any text, which very many documents have in common,
- **form**: they differ in the same places all over the text (see `es_simhash.groups.form_detection`),
- **boilerplate**: they differ in one place, where each has words of its own, and share the rest; or what two of them
  share stands in other groups as well,
- **log**, **table**, **code**, **noise**: they differ in any of these ways, and look like that,
- **copies**: their texts are equal, or differ as edits do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Literal, TypeAlias

from es_simhash.groups.form_detection import Slots, slots_of
from es_simhash.scheme.settings import Settings

Reason: TypeAlias = Literal["copies", "form", "boilerplate", "empty", "log", "table", "code", "noise"]

# Bytes of a text, and the size of its group, for there to be hardly any text; equal texts may be a little longer.
_HARDLY_ANY, _ALIKE_BY_CHANCE = 120, 8
_A_NOTICE, _MANY = 600, 50
# In a group of fewer, each may have the header of its site around one text.
_LEAST_AROUND, _LEAST_OWN, _LEAST_SHARE = 8, 3, 0.03
_MOST_CHARACTERS = 1_500
# The length of shared passages in words, and the share of them that other groups have, too.
_PASSAGE, _RECURS = 5, 0.6
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Looked:
    """The likeliest reason of a group, and the one ``instead`` if other groups share the ``passages``."""

    reason: Reason
    passages: frozenset[tuple[str, ...]] = frozenset()
    instead: Reason = "boilerplate"


def look_at(settings: Settings, texts: Sequence[str], size: int) -> Looked:
    """Look at some texts of a group of this ``size``.

    >>> from es_simhash import Scheme
    >>> look_at(Scheme(), ["Storm hits the coast."] * 2, 2).reason
    'copies'
    """
    if not texts:
        return Looked("copies")
    length = sorted(len(text.encode()) for text in texts)[len(texts) // 2]
    cut = ((text[:_MOST_CHARACTERS], text[_MOST_CHARACTERS:]) for text in dict.fromkeys(texts))
    distinct = list({(" ".join(head.lower().split()), rest): head for head, rest in cut}.values())
    is_notice = length < _A_NOTICE and size >= _MANY and 2 * len(distinct) <= len(texts)
    kind = _kind(texts)
    if is_notice or (length < _HARDLY_ANY and size >= _ALIKE_BY_CHANCE):
        return Looked(kind or "empty")
    return _differing(settings, distinct, size, kind) if distinct[1:] else Looked("copies")


def _differing(settings: Settings, distinct: Sequence[str], size: int, kind: Reason | None) -> Looked:
    slots = slots_of(settings, distinct)
    if kind == "noise" or (kind in ("log", "table") and slots and slots.places):
        return Looked(kind)
    if slots and slots.is_form:
        return Looked(kind or "form")
    if slots and size >= _LEAST_AROUND and _is_around(slots):
        return Looked(kind or "boilerplate")
    return Looked("copies", _shared(distinct), kind or "boilerplate")


def reasons_of(looked: Iterable[Looked]) -> list[Reason]:
    """Return the reasons of groups: not copies where most of what the texts share stands in other groups, too."""
    groups = list(looked)
    often = Counter(passage for each in groups for passage in each.passages)
    return [each.instead if _recurs(each.passages, often) else each.reason for each in groups]


def _recurs(passages: Collection[object], often: Mapping[Any, int]) -> bool:
    return bool(passages) and sum(often[each] > 1 for each in passages) >= _RECURS * len(passages)


def _is_around(slots: Slots) -> bool:
    """Return whether each text has words of its own, and the same around them."""
    own = sum(map(len, slots.places))
    return bool(slots.wordy) and own >= _LEAST_OWN and slots.share >= _LEAST_SHARE and slots.are_all


def _shared(texts: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Return the passages that any two of some texts share."""
    passages = [_passages(text) for text in texts[:3]]
    return frozenset().union(*(one & other for one, other in combinations(passages, 2)))


def _passages(text: str) -> frozenset[tuple[str, ...]]:
    found = _WORD.findall(text[:_MOST_CHARACTERS].lower())
    return frozenset(zip(*(found[start:] for start in range(_PASSAGE)), strict=False))


# ---- kinds of text that are not prose

_STAMP = re.compile(
    r"\W{0,3}(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d|\d{1,3}(?:\.\d{1,3}){3}\b)"
)
_LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b|HTTP/\d|\[\d+\]")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|<!--)")
_CODE = re.compile(r"[;{}(,:\\]\s*(?://.*|/\*.*)?$|^\s*(?:import\b|from\b|return\b|@\w|</?\w)|[)}\]]$")
_CODE_MARKS = re.compile(r"[{}();=<>\[\]]")
_LEAST_LINES, _LEAST_CELLS, _WORDS_OF_A_CELL = 5, 4, 3
_MOSTLY, _CODE_LINES, _CODE_DENSITY, _NOISE = 0.7, 0.5, 0.03, 0.4
_LEAST_MARKS, _MOST_OF_A_TOKEN = 3, 5


def _kind(texts: Sequence[str]) -> Reason | None:
    """Return what most of some texts look like; None of prose."""
    kinds = Counter(_kind_of(text[:_MOST_CHARACTERS]) for text in texts[:3])
    [(kind, count)] = kinds.most_common(1)
    return kind if 2 * count > sum(kinds.values()) else None


def _kind_of(text: str) -> Reason | None:
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    if _is_log(lines):
        return "log"
    if _is_table(lines):
        return "table"
    if _is_code(lines):
        return "code"
    return "noise" if _is_noise(text) else None


def _is_log(lines: Sequence[str]) -> bool:
    stamped = sum(bool(_STAMP.match(line)) for line in lines)
    marked = sum(bool(_LEVEL.search(line)) for line in lines)
    return stamped >= _MOSTLY * len(lines) and 2 * marked >= len(lines)


def _is_table(lines: Sequence[str]) -> bool:
    for delimiter in ("\t", ";", "|", ","):
        cells = [line.split(delimiter) for line in lines]
        if min(map(len, cells)) < _LEAST_CELLS:
            continue
        same = sum(len(one) == len(other) for one, other in pairwise(cells))
        own = [cell for row in cells for cell in row]
        of_words = sum(len(cell.split()) for cell in own) / len(own)
        has_digits = sum(any(map(str.isdigit, cell)) for cell in own)
        if same >= _MOSTLY * (len(lines) - 1) and of_words < _WORDS_OF_A_CELL and 4 * has_digits >= len(own):
            return True
    return False


def _is_code(lines: Sequence[str]) -> bool:
    """Return whether lines end or begin as code does, and have its brackets and signs outside of comments."""
    own = "\n".join(line for line in lines if not _COMMENT.match(line))
    of_code = sum(bool(_COMMENT.match(line) or _CODE.search(line)) for line in lines)
    return (
        len(lines) >= _LEAST_LINES
        and of_code >= _CODE_LINES * len(lines)
        and len(_CODE_MARKS.findall(own)) >= max(_LEAST_MARKS, _CODE_DENSITY * len(own))
    )


def _is_noise(text: str) -> bool:
    """Return whether much of a text is short pieces instead of words: signs, and letters mixed with digits or signs.

    Scripts without spaces between words are left out.
    """
    tokens = text.split()
    if len(tokens) < _LEAST_LINES or len(text) > _MOST_OF_A_TOKEN * len(tokens):
        return False
    return sum(map(_is_noisy, tokens)) >= _NOISE * len(tokens)


def _is_noisy(token: str) -> bool:
    inner = token.strip("\"'“”‘’()[].,;:!?…-–—")
    if not inner:
        return len(token) > 1
    letters, digits = sum(map(str.isalpha, inner)), sum(map(str.isdigit, inner))
    return bool(letters and digits) or letters + digits < 0.7 * len(inner)
