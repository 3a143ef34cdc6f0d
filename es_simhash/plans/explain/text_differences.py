"""The differences between two texts, word by word; in scripts without spaces, character by character.

Only what the scheme distinguishes counts as a difference: not the case of letters, say, if the scheme folds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Literal, TypeAlias

from es_simhash.plans.explain.common_subsequence import aligned
from es_simhash.scheme.settings import Settings
from es_simhash.text.html import strip_html
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens.words import word_spans
from es_simhash.text.units import batch

PartKind: TypeAlias = Literal["equal", "changed", "cut"]

# Maximum number of words to align on each side, after the common beginning and end: time grows with their product.
_MOST_UNITS = 10_000


@dataclass(frozen=True)
class TextPart:
    """A part of both texts: ``equal``, ``changed``, or ``cut`` (too long to be aligned)."""

    kind: PartKind
    a: str
    b: str


@dataclass(frozen=True)
class TextRow:
    """Parts to show side by side, after ``skipped`` characters of the first text that both share."""

    skipped: int
    parts: tuple[TextPart, ...]


def difference(settings: Settings, texts: tuple[str, str]) -> tuple[TextPart, ...]:
    """Split two texts into parts; joined, these are the texts without what the scheme ignores around them."""
    a, b = (list(units(compared_text(settings, text))) for text in texts)
    keys = _keys(settings.normalisation, {*a, *b})
    parts = _merged(_parts(a, b, [keys[unit] for unit in a], [keys[unit] for unit in b]))
    while (tidied := _tidied(parts)) != parts:
        parts = tidied
    return tuple(parts)


def units(text: str) -> Iterator[str]:
    """Yield the words of a text and what separates them; each ideograph or Hiragana is a word of its own."""
    data = text.encode("utf-16-le")
    spans = word_spans(batch([text]))
    last = 0
    for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True):
        yield from _between(data[2 * last : 2 * start])
        yield data[2 * start : 2 * end].decode("utf-16-le")
        last = end
    yield from _between(data[2 * last :])


def rows(parts: Sequence[TextPart], around: int) -> list[TextRow]:
    """Leave out the middle of long equal parts: ``around`` characters stay on each side of a change."""
    shown: list[TextRow] = []
    skipped = 0
    row: list[TextPart] = []
    for place, part in enumerate(parts):
        if part.kind != "equal" or len(part.a) <= 2 * around:
            row.append(part)
            continue
        head, tail = (around if place else 0), (around if place < len(parts) - 1 else 0)
        if not place and not tail:
            head = 2 * around  # the texts are identical
        if head:
            row.append(TextPart("equal", part.a[:head], part.b[:head]))
        if row:
            shown.append(TextRow(skipped, tuple(row)))
        skipped = len(part.a) - head - tail
        row = [TextPart("equal", part.a[-tail:], part.b[-tail:])] if tail else []
    if row or skipped:
        shown.append(TextRow(skipped, tuple(row)))
    return shown


def compared_text(settings: Settings, text: str) -> str:
    """Return a text without what the scheme ignores around it."""
    text = strip_html(text) if settings.html else text
    return text.strip() if settings.normalisation.whitespace else text


def _between(data: bytes) -> list[str]:
    return re.findall(r"\s+|\S+", data.decode("utf-16-le"))


def _keys(normalisation: Normalisation, distinct: set[str]) -> dict[str, str]:
    """Return what the scheme makes of each unit; white space stays a space, where alone it would vanish."""
    return {unit: normalisation(unit) or " " for unit in distinct}


def _parts(a: Sequence[str], b: Sequence[str], keys_a: Sequence[str], keys_b: Sequence[str]) -> Iterator[TextPart]:
    before = _common(keys_a, keys_b)
    after = _common(keys_a[before:][::-1], keys_b[before:][::-1])
    end_a, end_b = len(a) - after, len(b) - after
    yield _part("equal", a[:before], b[:before])
    last_a, last_b = min(end_a, before + _MOST_UNITS), min(end_b, before + _MOST_UNITS)
    own_a, own_b = a[before:last_a], b[before:last_b]
    i = k = 0
    for j, m in aligned(keys_a[before:last_a], keys_b[before:last_b]):
        yield _part("changed", own_a[i:j], own_b[k:m])
        yield _part("equal", own_a[j], own_b[m])
        i, k = j + 1, m + 1
    yield _part("changed", own_a[i:], own_b[k:])
    yield _part("cut", a[last_a:end_a], b[last_b:end_b])
    yield _part("equal", a[end_a:], b[end_b:])


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """Count the units that both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _part(kind: PartKind, a: Sequence[str], b: Sequence[str]) -> TextPart:
    return TextPart(kind, "".join(a), "".join(b))


def _merged(parts: Iterable[TextPart]) -> list[TextPart]:
    """Drop empty parts, and join neighbours of the same kind."""
    filled = (part for part in parts if part.a or part.b)
    runs = (list(run) for _, run in groupby(filled, key=lambda part: part.kind))
    return [TextPart(run[0].kind, "".join(part.a for part in run), "".join(part.b for part in run)) for run in runs]


def _tidied(parts: Sequence[TextPart]) -> list[TextPart]:
    """Turn equal parts into changes where the changes around them are both longer.

    Unrelated texts share a word here and there, which means nothing (Fraser's diff-match-patch does the same).
    """
    tidied = list(parts)
    for place in range(1, len(parts) - 1):
        before, part, after = tidied[place - 1], parts[place], parts[place + 1]
        if part.kind == "equal" and "equal" not in (before.kind, after.kind):
            length = max(len(part.a), len(part.b))
            if length < max(len(before.a), len(before.b)) and length < max(len(after.a), len(after.b)):
                tidied[place] = TextPart("changed", part.a, part.b)
    return _merged(tidied)
