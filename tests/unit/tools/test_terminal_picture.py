"""The animated picture shows what the demo prints, in the columns where a terminal has it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

from tools import terminal_picture
from tools.terminal_picture import Piece, frames, picture

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*written: str) -> list[terminal_picture.Frame]:
    return frames(["find"], (each.encode() for each in written))


def lines(frame: terminal_picture.Frame) -> list[str]:
    return ["".join(piece.words for piece in row) for row in frame.rows if row]


def test_a_frame_is_drawn_after_each_line_and_for_each_change_within_one() -> None:
    shown = [lines(each) for each in drawn("loading 1\rloading 2", "\r\nfirst\r\nsecond\r\n")]
    typed = shown.index(["$ es-simhash find"])
    assert shown[typed + 1 :] == [
        ["$ es-simhash find", "loading 2"],
        ["$ es-simhash find", "loading 2", "first"],
        ["$ es-simhash find", "loading 2", "first", "second"],
    ]


def test_wide_characters_take_two_columns() -> None:
    [*_, last] = drawn("│ 云桥市 │\r\n")
    assert last.rows[1] == (
        Piece("│", "#e6edf3", False, 0, 1),
        Piece("云桥市", "#e6edf3", False, 2, 6),
        Piece(" │", "#e6edf3", False, 8, 2),
    )


def test_colours_and_bold_letters_are_kept() -> None:
    [*_, last] = drawn("\x1b[1;32mfound\x1b[0m 3\r\n")
    assert [(piece.words, piece.colour, piece.is_bold) for piece in last.rows[1]] == [
        ("found", "#7ee787", True),
        (" 3", "#e6edf3", False),
    ]


def test_each_frame_is_shown_in_its_turn_and_the_last_where_nothing_may_move() -> None:
    shown = drawn("a < b\r\n", "c\r\n")
    made = picture(shown)
    height = terminal_picture.ROWS * 18 + 24
    places = [int(place) for place in re.findall(r"translateY\((-?\d+)px\)", made)]
    assert places == [-height * number for number in range(len(shown))] + [-height * (len(shown) - 1)]
    texts = {each.get("id"): "".join(each.itertext()) for each in ET.fromstring(made).iter(f"{SVG}text")}
    assert list(texts.values())[-2:] == ["a < b", "c"]


@pytest.fixture(scope="module")
def kept() -> str:
    return terminal_picture.FILE.read_text(encoding="utf-8")


def test_the_picture_is_of_what_the_demo_prints_now(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the times that it took."""
    monkeypatch.setenv("TMPDIR", "/tmp")  # a longer name would break the line
    shown = frames(terminal_picture.COMMAND, terminal_picture.output_of(terminal_picture.COMMAND))
    assert _words(picture(shown)) == _words(kept), "python -m tools.terminal_picture"


def _words(made: str) -> set[str]:
    """Return the lines without numbers, spaces, bars and the name of the demo's directory."""
    lines = map("".join, _texts(made))
    masked = (re.sub(r"\d[\d,.]*|demo-\w+", "#", line) for line in lines if "━" not in line)
    return {" ".join(line.rstrip("│").split()) for line in masked}


def _texts(made: str) -> Iterator[Iterator[str]]:
    return (each.itertext() for each in ET.fromstring(made).iter(f"{SVG}text"))
