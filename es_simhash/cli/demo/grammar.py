"""A grammar that writes news: a rule's name in braces stands for one of its alternatives.

``{town}`` is another town each time; ``{TOWN}`` is chosen once for each text.
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
    """A language's rules, and the templates and frames that make texts look like duplicates.

    The rules ``title``, ``opening``, ``sentence``, ``quote`` and ``closing`` make a story. ``templates`` are whole
    stories in which only the names in braces vary: a title in the first line, a paragraph in each other line.
    ``frames`` are the headers and footers of sites. ``gap`` separates words.
    """

    code: str
    gap: str
    rules: dict[str, list[str]]
    templates: list[list[str]]
    frames: list[list[str]]

    def body(self, story: Story) -> str:
        """Join the paragraphs to one text."""
        return "\n\n".join(self.gap.join(sentences) for sentences in story.paragraphs)

    def units(self, text: str) -> list[str]:
        """Split a text into words, or into characters if the language has no spaces, each with the space after it."""
        return re.findall(r"\S+\s*" if self.gap else r"\S\s*", text)


@cache
def language(code: str) -> Language:
    """Read the file ``CODE.txt``: sections of alternatives, one a line or separated by bars."""
    text = files(__package__).joinpath(f"{code}.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^\[(\w+)\]\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    templates, frames = (
        [block.splitlines() for block in sections.pop(name).strip().split("\n\n")] for name in ("templates", "frames")
    )
    rules = {name: re.split(r" \| |\n", section.strip()) for name, section in sections.items()}
    return Language(code, " " if code == "en" else "", rules, templates, frames)


class Writer:
    """Writes one text; names in capitals are chosen once."""

    def __init__(self, language: Language, rng: random.Random) -> None:
        self._rules = language.rules
        self._rng = rng
        self._chosen: dict[str, str] = {}

    def story(self, sentences: int) -> Story:
        """Write a story with this number of distinct sentences between its opening and its closing."""
        quotes = 1 + sentences // 4
        middle = [*self._some("sentence", sentences - quotes), *self._some("quote", quotes)]
        self._rng.shuffle(middle)
        half = len(middle) // 2
        first = (self.expand("{opening}"), *middle[:half])
        second = (*middle[half:], self.expand("{closing}"))
        return Story(self.expand("{title}"), (first, second))

    def from_template(self, template: Sequence[str]) -> Story:
        """Write a story that differs from others of its template only in the names in braces."""
        title, *paragraphs = map(self.expand, template)
        return Story(title, tuple((paragraph,) for paragraph in paragraphs))

    def expand(self, text: str) -> str:
        """Replace each name in braces by an alternative, and capitalize the text."""
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
