"""A language to write news in: rules with alternatives, whose names in braces stand for one of these.

``{town}`` is another town each time; ``{TOWN}`` is chosen once a text and stays the same in it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Story:
    """A text: its title, and its paragraphs as lists of sentences."""

    title: str
    paragraphs: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Language:
    """A language's rules, and what makes texts alike that are no duplicates.

    The rules ``title``, ``opening``, ``sentence``, ``quote`` and ``closing`` make a story. ``templates`` are whole
    stories in which only the names in braces vary: the title in the first line, a paragraph in each other. ``frames``
    are the headers and footers of sites. ``gap`` is what stands between words.
    """

    code: str
    gap: str
    rules: dict[str, list[str]]
    templates: list[list[str]]
    frames: list[list[str]]

    def body(self, story: Story) -> str:
        """The paragraphs as one text."""
        return "\n\n".join(self.gap.join(sentences) for sentences in story.paragraphs)

    def units(self, text: str) -> list[str]:
        """The words, or the characters where no spaces are written, each with the white space after it."""
        return re.findall(r"\S+\s*" if self.gap else r"\S\s*", text)


@cache
def language(code: str) -> Language:
    """The language of the file ``CODE.txt``: sections of alternatives, in lines of their own or between bars."""
    text = files(__package__).joinpath(f"{code}.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^\[(\w+)\]\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    templates, frames = (
        [block.splitlines() for block in sections.pop(name).strip().split("\n\n")] for name in ("templates", "frames")
    )
    rules = {name: re.split(r" \| |\n", section.strip()) for name, section in sections.items()}
    return Language(code, " " if code == "en" else "", rules, templates, frames)


class Writer:
    """Writes one text; what is chosen once a text stays so."""

    def __init__(self, language: Language, rng: random.Random) -> None:
        self._rules = language.rules
        self._rng = rng
        self._chosen: dict[str, str] = {}

    def story(self, sentences: int) -> Story:
        """A story with so many sentences between its opening and its closing, none of them twice."""
        quotes = 1 + sentences // 4
        middle = [*self._some("sentence", sentences - quotes), *self._some("quote", quotes)]
        self._rng.shuffle(middle)
        half = len(middle) // 2
        first = (self.expand("{opening}"), *middle[:half])
        second = (*middle[half:], self.expand("{closing}"))
        return Story(self.expand("{title}"), (first, second))

    def from_template(self, template: Sequence[str]) -> Story:
        """A story that differs from others of its template only where names in braces stand."""
        title, *paragraphs = map(self.expand, template)
        return Story(title, tuple((paragraph,) for paragraph in paragraphs))

    def expand(self, text: str) -> str:
        """The text with an alternative in place of each name in braces, and a capital first."""
        expanded = self._expand(text)
        return expanded[:1].upper() + expanded[1:]

    def _expand(self, text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: self._one(found[1]), text)

    def _one(self, name: str) -> str:
        if not name.isupper():
            return self._expand(self._rng.choice(self._rules[name]))
        if name not in self._chosen:
            self._chosen[name] = self._one(name.lower())
        return self._chosen[name]

    def _some(self, rule: str, count: int) -> list[str]:
        return [self.expand(each) for each in self._rng.sample(self._rules[rule], count)]
