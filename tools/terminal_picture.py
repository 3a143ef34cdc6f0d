"""The animated picture of the demo in a terminal, drawn of a real run; ``python -m tools.terminal_picture`` makes it.

The command runs on a terminal of its own, whose screen is drawn after each line and whenever a bar has moved: frame
below frame, a strip that moves past a window. What was printed at once is shown line by line, so that it can be read.
"""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from select import select

import pyte
from pyte.screens import Char

from tools import ROOT

FILE = ROOT / "docs" / "pictures" / "demo.svg"
COMMAND = ("demo", "--size", "100")
COLUMNS, ROWS = 100, 30
# Of a character, in pixels; the bar above the screen; the space around it.
_WIDE, _HIGH, _TITLE, _MARGIN = 8.0, 18, 28, 12
_BACKGROUND, _BAR, _TEXT = "#0d1117", "#21262d", "#e6edf3"
_COLOURS = {
    "black": "#484f58", "red": "#ff7b72", "green": "#7ee787", "brown": "#ffa657", "blue": "#79c0ff",
    "magenta": "#d2a8ff", "cyan": "#76e3ea", "white": "#e6edf3",
}  # fmt: skip
_PAUSE = 0.05
_TYPED, _LINE, _STEP, _END = 0.05, 0.14, 0.1, 5.0
"""Seconds that a typed character, a printed line, a change within a line, and the end are shown."""


@dataclass(frozen=True)
class Piece:
    """Characters of one style and one width, and their place in the line."""

    words: str
    colour: str
    is_bold: bool
    column: int
    columns: int


Row = tuple[Piece, ...]


@dataclass(frozen=True)
class Frame:
    """A screen, and how long it is shown."""

    rows: tuple[Row, ...]
    seconds: float


def output_of(command: Sequence[str]) -> Iterator[bytes]:
    """Run ``es-simhash`` on a terminal; yield what it writes between two pauses."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ES_SIMHASH")}
    environment |= {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    line = [sys.executable, "-m", "es_simhash", *command]
    with subprocess.Popen(line, stdin=its, stdout=its, stderr=its, env=environment, cwd=ROOT) as process:
        os.close(its)
        while written := _read(ours):
            yield written
    os.close(ours)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}.")


def _read(terminal: int) -> bytes:
    written = b""
    while not written or select([terminal], [], [], _PAUSE)[0]:
        try:
            written += os.read(terminal, 1 << 16)
        except OSError:  # the terminal's last process has ended
            break
    return written


def frames(command: Sequence[str], output: Iterator[bytes]) -> list[Frame]:
    """Return the screens of a prompt, the typed command and its output."""
    # One column more, for a wide character that begins in the last.
    screen = pyte.Screen(COLUMNS + 1, ROWS)
    stream = pyte.ByteStream(screen)
    stream.feed(b"$ ")
    shown = [Frame(_rows(screen), 0.8)]

    def feed(some: bytes, seconds: float) -> None:
        stream.feed(some)
        rows = _rows(screen)
        if rows != shown[-1].rows:
            shown.append(Frame(rows, seconds))

    for character in " ".join(("es-simhash", *command)):
        feed(character.encode(), _TYPED)
    feed(b"\r\n", 0.5)
    for written in output:
        *lines, rest = written.split(b"\n")
        for line in lines:
            feed(line + b"\n", _LINE)
        feed(rest, _STEP)
    return [*shown[:-1], Frame(shown[-1].rows, _END)]


def _rows(screen: pyte.Screen) -> tuple[Row, ...]:
    return tuple(_row([screen.buffer[number][column] for column in range(screen.columns)]) for number in range(ROWS))


def _row(cells: Sequence[Char]) -> Row:
    # A wide character takes two cells, the second without data.
    wide = [not after.data or not cell.data for cell, after in zip(cells, [*cells[1:], cells[0]], strict=True)]
    styles = [(_COLOURS.get(cell.fg, _TEXT), cell.bold, is_wide) for cell, is_wide in zip(cells, wide, strict=True)]
    pieces, column = [], 0
    for (colour, bold, _), some in groupby(range(len(cells)), key=styles.__getitem__):
        places = list(some)
        words = "".join(cells[place].data for place in places)
        if words.strip():
            kept = len(places) - (len(words) - len(words.rstrip()))
            pieces.append(Piece(words.rstrip(), colour, bold, column, kept))
        column += len(places)
    return tuple(pieces)


def picture(shown: Sequence[Frame]) -> str:
    """Draw the frames one below the other, behind a window that shows one at a time."""
    width, height = COLUMNS * _WIDE + 2 * _MARGIN, ROWS * _HIGH + 2 * _MARGIN
    numbers = {row: place for place, row in enumerate(dict.fromkeys(row for each in shown for row in each.rows if row))}
    last = -(len(shown) - 1) * height
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height + _TITLE}" '
            f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13" role="img">',
            f"<title>es-simhash {' '.join(COMMAND)}, in a terminal</title>",
            f"<style>text {{ fill: {_TEXT}; white-space: pre }}",
            f"#strip {{ animation: strip {sum(each.seconds for each in shown):.2f}s step-end infinite }}",
            f"@keyframes strip {{ {' '.join(_keyframes(shown, height))} }}",
            "@media (prefers-reduced-motion: reduce) "
            f"{{ #strip {{ animation: none; transform: translateY({last}px) }} }}</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{_BACKGROUND}"/>',
            f'<path d="M0 {_TITLE}V8a8 8 0 0 1 8-8H{width - 8:.0f}a8 8 0 0 1 8 8V{_TITLE}z" fill="{_BAR}"/>',
            "<defs>",
            *(f'<text id="l{number}" xml:space="preserve">{_spans(row)}</text>' for row, number in numbers.items()),
            "</defs>",
            f'<svg y="{_TITLE}" width="{width:.0f}" height="{height}"><g id="strip">',
            *(_frame(each, place * height, numbers) for place, each in enumerate(shown)),
            "</g></svg>",
            "</svg>\n",
        ]
    )


def _keyframes(shown: Sequence[Frame], height: int) -> Iterator[str]:
    whole, at = sum(each.seconds for each in shown), 0.0
    for place, each in enumerate(shown):
        yield f"{100 * at / whole:.3f}% {{ transform: translateY({-place * height}px) }}"
        at += each.seconds


def _spans(row: Row) -> str:
    written = []
    for piece in row:
        style = f' fill="{piece.colour}"' if piece.colour != _TEXT else ""
        style += ' font-weight="700"' if piece.is_bold else ""
        # Each begins and ends in its columns, whatever the reader's font makes of them.
        place = f'x="{_MARGIN + piece.column * _WIDE:.0f}" textLength="{piece.columns * _WIDE:.0f}"'
        written.append(f'<tspan {place} lengthAdjust="spacingAndGlyphs"{style}>{escape(piece.words)}</tspan>')
    return "".join(written)


def _frame(shown: Frame, top: int, numbers: dict[Row, int]) -> str:
    lines = (
        f'<use href="#l{numbers[row]}" y="{top + _MARGIN + (line + 1) * _HIGH - 5}"/>'
        for line, row in enumerate(shown.rows)
        if row
    )
    return "".join(lines)


if __name__ == "__main__":
    FILE.write_text(picture(frames(COMMAND, output_of(COMMAND))), encoding="utf-8")
