"""Excerpts of a text and of its differences from another, with the number of characters left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from es_simhash.plans.explain.text_differences import TextPart, difference, rows
from es_simhash.scheme.settings import Settings
from es_simhash.text.html import strip_html

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


def changes(settings: Settings, canonical: str, member: str) -> tuple[Piece, ...]:
    """Return the differences between two texts with some context; nothing if the scheme sees no difference."""
    parts = _parts(settings, canonical, member)
    return () if all(part.kind == "equal" for part in parts) else tuple(_within(_pieces(parts)))


def _parts(settings: Settings, canonical: str, member: str) -> list[TextPart]:
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
