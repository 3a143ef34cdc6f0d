"""The words of default outputs: the ten of docs/reference/words.md, everyday English, and the data of the user."""

from __future__ import annotations

import re
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path

import es_simhash.sketches
from es_simhash.scheme import settings
from tests import ROOT

_LISTS = (ROOT / "tests" / "data" / "plain_words.txt").read_text(encoding="utf-8")
_PAGE = (ROOT / "docs" / "reference" / "words.md").read_text(encoding="utf-8")


def _listed(heading: str) -> set[str]:
    """Return the words below a heading of the list, and below those within it."""
    part = _LISTS.split(f"# {heading}\n")[1].split("\n\n")[0]
    return {word for line in part.splitlines() if not line.startswith("#") for word in line.split()}


TEN = re.findall(r"^\| \*\*([a-z -]+)\*\* \|", _PAGE, re.MULTILINE)
EVERYDAY = _listed("The everyday English of default outputs. A word that needs an explanation does not belong here.")

_JARGON = _listed("Ours to know, not the user's; the names of the code add to it.")
_KNOWN = _listed("Words of the names of the code that everybody knows.")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# Where texts differ.
_CHANGES = re.compile(r"\S*(?:\[-.*?-\]|\{\+.*?\+\})\S*")
# Tables cut long texts.
_CUT = re.compile(r"([^\W\d_]+)(?: …|$)", re.MULTILINE)
# What a user types, and where things are: options, files, addresses, fields; and JSON, which programs read.
_TYPED = re.compile(r"^[\[{].*$|^Next: es-simhash .*$|--[a-z-]+|https?://\S+|\S+\.[a-z]+\b|'[^']*'", re.MULTILINE)


def technical() -> set[str]:
    """Return the words of our names for inner parts: of sketches, their modules, and the settings of schemes."""
    names = [*es_simhash.sketches.__all__]
    names += [path.stem for folder in ("sketches", "scheme") for path in (ROOT / "es_simhash" / folder).rglob("*.py")]
    names += [each.name for kind in (settings.SimHash, settings.MinHash, settings.Layout) for each in fields(kind)]
    parts = {part.lower() for name in names for part in re.findall(r"[A-Z]?[a-z]+", name)}
    return (_JARGON | {_singular(part) for part in parts if len(part) > 2}) - _KNOWN


def unexplained(output: str, data: str = "") -> set[str]:
    """Return the words of an output that are neither explained, nor everyday English, nor in the user's ``data``."""
    theirs, cut = {*_words(data)}, {*_CUT.findall(output.lower())}
    known = EVERYDAY | {word for term in TEN for word in _words(term)} | theirs
    known |= {_singular(word) for word in known}
    known |= {word for word in cut if any(each.startswith(word) for each in theirs)}
    written = _words(_TYPED.sub(" ", _CHANGES.sub(" ", output)))
    return {word for word in written if not {word, _singular(word)} & known}


def text_of_page(path: Path) -> str:
    """Return the text of a page of HTML, without its style."""
    reader = _Text()
    reader.feed(path.read_text(encoding="utf-8"))
    return " ".join(reader.texts)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._skips = self._in_text = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        # Ids, settings and texts are the user's.
        self._in_text = self._in_text or ("class", "text") in attributes
        self._skips = tag in ("style", "script", "code") or ("class", "code") in attributes

    def handle_endtag(self, tag: str) -> None:
        self._skips = False
        self._in_text = self._in_text and tag != "p"

    def handle_data(self, data: str) -> None:
        if not (self._skips or self._in_text):
            self.texts.append(data)


def _words(text: str) -> list[str]:
    """Return the English words of a text, by their letters."""
    return [word for word in _WORD.findall(text.lower()) if word.isascii() and len(word) > 1]


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
