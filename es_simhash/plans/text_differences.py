"""How two texts differ: word by word, in numbers and folded words, and as excerpts for people."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from typing import Literal, TypeAlias

from es_simhash._core.humanize import counted
from es_simhash.scheme.fingerprinting import stripped
from es_simhash.scheme.passages import words_of
from es_simhash.scheme.settings import Settings
from es_simhash.text.features import batch
from es_simhash.text.normalise import strip_html
from es_simhash.text.numbers import masked, numbers_of
from es_simhash.text.words import word_spans

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
    # Of white space, a space stays, where alone it would vanish.
    keys = {unit: settings.normalisation(unit) or " " for unit in {*a, *b}}
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


# Numbers of each text that a sentence names.
_NAMED = 3


@dataclass(frozen=True)
class Changes:
    """How many ``words`` and ``numbers`` of the text with more of them, ``of_words`` and ``of_numbers``, differ.

    ``removed`` and ``added`` are the numbers that only the first text has, and only the second. ``folded`` words agree
    only by the folding of the scheme, as 愛 and 爱 do.
    """

    words: int
    of_words: int
    numbers: int
    of_numbers: int
    removed: tuple[str, ...]
    added: tuple[str, ...]
    folded: int

    @property
    def sentence(self) -> str:
        """The counts in words: "2 of 160 words and 1 of 6 numbers differ: 14 → 15"."""
        parts = []
        if self.words or not self.numbers:
            parts.append(f"{self.words or 'none'} of {self.of_words} words")
        if self.numbers:
            parts.append(f"{self.numbers} of {self.of_numbers} numbers")
        count = self.numbers or self.words
        said = f"{' and '.join(parts)} differ{'s' if len(parts) == 1 and count <= 1 else ''}"
        if self.numbers:
            said += f": {_some(self.removed)} → {_some(self.added)}"
        return f"{said}; {counted(self.folded, 'word')} agree only as folded" if self.folded else said


def changes(settings: Settings, texts: tuple[str, str]) -> Changes:
    """Count what differs between two texts; a number counts once, however often it occurs."""
    shown = stripped(settings, texts)
    words, of_words = _differing_words(settings, shown)
    numbers = [dict.fromkeys(numbers_of(settings.normalisation(text))) for text in shown]
    removed, added = (tuple(number for number in own if number not in other) for own, other in (numbers, numbers[::-1]))
    folded = 0
    if settings.normalisation.fold:
        unfolded = replace(settings, normalisation=replace(settings.normalisation, fold=()))
        folded = max(0, _differing_words(unfolded, shown)[0] - words)
    return Changes(
        words=words,
        of_words=of_words,
        numbers=max(len(removed), len(added)),
        of_numbers=max(map(len, numbers)),
        removed=removed,
        added=added,
        folded=folded,
    )


def _differing_words(settings: Settings, texts: Sequence[str]) -> tuple[int, int]:
    """Return how many words of the text with more of them the other lacks, and how many it has, without numbers."""
    plain = [masked(settings.normalisation(text)) for text in texts]
    first, second = (Counter(words_of(settings, [text])[0].tolist()) for text in plain)
    return max((first - second).total(), (second - first).total()), max(first.total(), second.total())


def _some(numbers: Sequence[str]) -> str:
    more = " …" if len(numbers) > _NAMED else ""
    return ", ".join(numbers[:_NAMED]) + more if numbers else "none"


def aligned(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions, in both lists, of the items of a longest common subsequence."""
    rows = _rows(a, b)
    pairs = []
    i, j = len(a), len(b)
    while i and j:
        if rows[i] >> (j - 1) & 1:
            j -= 1
        elif not rows[i - 1] >> (j - 1) & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def _rows(a: Sequence[str], b: Sequence[str]) -> list[int]:
    places: defaultdict[str, int] = defaultdict(int)
    for place, item in enumerate(b):
        places[item] |= 1 << place
    every = (1 << len(b)) - 1
    rows = [every]
    for item in a:
        row = rows[-1]
        matching = row & places[item]
        rows.append(((row + matching) | (row - matching)) & every)
    return rows


# Text of both documents, of the canonical one only, or of the member only; then characters that are not shown, because
# both have them or because there are too many.
PieceKind: TypeAlias = Literal["both", "removed", "added", "same", "more"]

# Maximum number of characters: of a text to compare, of a change to show, of all changes together, of their context.
_COMPARED = 100_000
_CHANGE = 240
_SHOWN = 1_200
_AROUND = 60

_MARKS = {"both": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}


@dataclass(frozen=True)
class Piece:
    """A piece of text, or the number of characters that are not shown."""

    kind: PieceKind
    text: str = ""
    left_out: int = 0


def marked(pieces: Iterable[Piece]) -> str:
    """Join pieces to one text: ``[-removed-]``, ``{+added+}``, and the number of characters left out."""
    return "".join(
        _MARKS[piece.kind].format(piece.text) if piece.text else f" … {piece.left_out:,} characters … "
        for piece in pieces
    )


def excerpt(settings: Settings, text: str, most: int) -> tuple[Piece, ...]:
    """Return the beginning of a text, as the scheme reads it."""
    return tuple(_shortened("both", (strip_html(text) if settings.html else text).strip(), most))


def marked_changes(settings: Settings, canonical: str, member: str) -> tuple[Piece, ...]:
    """Return the differences between two texts with some context; nothing if the scheme sees no difference."""
    parts = _parts_as_pieces(settings, canonical, member)
    return () if all(part.kind == "equal" for part in parts) else tuple(_within(_pieces(parts)))


def _parts_as_pieces(settings: Settings, canonical: str, member: str) -> list[TextPart]:
    """Return the parts of both texts, each cut joined with a preceding part that may be no change."""
    rest = TextPart("cut", canonical[_COMPARED:], member[_COMPARED:])
    compared = difference(settings, (canonical[:_COMPARED], member[:_COMPARED]))
    parts: list[TextPart] = []
    for part in (*compared, rest) if rest.a or rest.b else compared:
        if part.kind == "cut" and parts and _may_go_on(parts[-1]):
            before = parts.pop()
            parts.append(TextPart("cut", before.a + part.a, before.b + part.b))
        else:
            parts.append(part)
    return parts


def _may_go_on(part: TextPart) -> bool:
    """Return whether a part before a cut may continue, in the other text, beyond the point where comparison stopped."""
    return part.kind == "cut" or (part.kind == "changed" and min(len(part.a), len(part.b)) <= _AROUND)


def _pieces(parts: Sequence[TextPart]) -> Iterator[Piece]:
    for row in rows(parts, _AROUND):
        if row.skipped:
            yield Piece("same", left_out=row.skipped)
        for part in row.parts:
            if part.kind == "equal":
                yield Piece("both", part.b)
            elif part.kind == "cut":
                yield Piece("more", left_out=max(len(part.a), len(part.b)))
            else:
                yield from _shortened("removed", part.a, _CHANGE)
                yield from _shortened("added", part.b, _CHANGE)


def _shortened(kind: PieceKind, text: str, most: int) -> Iterator[Piece]:
    if text:
        yield Piece(kind, text[:most])
    if len(text) > most:
        yield Piece("more", left_out=len(text) - most)


def _within(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield pieces up to a total length, then the number of characters left out of the rest."""
    room, left_out = _SHOWN, 0
    for piece in pieces:
        if room > 0:
            yield piece
        else:
            left_out += len(piece.text) + piece.left_out
        room -= len(piece.text)
    if left_out:
        yield Piece("more", left_out=left_out)
