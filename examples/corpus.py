"""A generated corpus to try things on: distinct stories, copies of some, and texts that only look like copies."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

LANGUAGES = {"en": "English", "zh": "Chinese", "ja": "Japanese"}
FIELDS = ("title", "body")

# The share of each kind of text; the rest are originals.
_SHARES = {
    "copy": 0.04,
    "variant": 0.04,
    "edited": 0.10,
    "reordered": 0.05,
    "truncated": 0.05,
    "template": 0.06,
    "boilerplate": 0.06,
}
# The number of texts with the same template, or of the same site.
_FAMILY = 10

KINDS = {
    "original": "stories of their own",
    "copy": "exact copies",
    "variant": "copies in other widths or capitals",
    "edited": "copies with 1–5% of the words or characters changed",
    "reordered": "copies with sentences or paragraphs in another order",
    "truncated": "the first 50–95% of another text",
    "template": "the same words about other names and numbers: no duplicates",
    "boilerplate": "other texts between the same header and footer: no duplicates",
}


@dataclass(frozen=True)
class CorpusDocument:
    """A document and its true ``family``: copies have the id of their original, look-alikes their template or site."""

    id: str
    language: str
    kind: str
    family: str
    title: str
    body: str

    @property
    def text(self) -> str:
        """The text to fingerprint."""
        return f"{self.title}\n{self.body}"

    @property
    def document(self) -> dict[str, str]:
        """The document as an index takes it."""
        own = {"title": self.title, "body": self.body, "lang": self.language, "kind": self.kind, "family": self.family}
        return {"_id": self.id, **own}


def make_corpus(size: int, *, seed: int = 1) -> list[CorpusDocument]:
    """Make about ``size`` documents, a third in each language, the same for the same seed."""
    return [document for code in LANGUAGES for document in _in_language(language(code), size // 3, seed)]


def _in_language(language: Language, size: int, seed: int) -> Iterator[CorpusDocument]:
    rng = random.Random(f"{seed} {language.code}")
    counts = {kind: round(share * size) for kind, share in _SHARES.items()}
    originals = [Writer(language, rng).story(rng.randint(6, 9)) for _ in range(size - sum(counts.values()))]
    number = 0

    def planted(kind: str, story: Story, family: str | None = None) -> CorpusDocument:
        nonlocal number
        number += 1
        id_ = f"{language.code}-{number:04}"
        return CorpusDocument(id_, language.code, kind, family or id_, story.title, language.body(story))

    stored = [planted("original", story) for story in originals]
    yield from stored
    for kind, copier in COPIERS.items():
        for _ in range(counts[kind]):
            # Squared, so that some stories are copied much more often than others.
            place = int(len(originals) * rng.random() ** 2)
            yield planted(kind, copier(rng, language, originals[place]), stored[place].id)
    for i in range(counts["template"]):
        which = i // _FAMILY % len(language.templates)
        story = Writer(language, rng).from_template(language.templates[which])
        yield planted("template", story, f"{language.code}-template-{which + 1}")
    for i in range(counts["boilerplate"]):
        which = i // _FAMILY % len(language.frames)
        header, footer = language.frames[which]
        story = Writer(language, rng).story(rng.randint(6, 9))
        framed = Story(story.title, ((header,), *story.paragraphs, (footer,)))
        yield planted("boilerplate", framed, f"{language.code}-site-{which + 1}")


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
    """Read the file ``stories/CODE.txt``: sections of alternatives, one a line or separated by bars."""
    text = (Path(__file__).parent / "stories" / f"{code}.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^\[(\w+)\]\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    templates, frames = (
        [block.splitlines() for block in sections.pop(name).strip().split("\n\n")] for name in ("templates", "frames")
    )
    rules = {name: re.split(r" \| |\n", section.strip()) for name, section in sections.items()}
    return Language(code, " " if code == "en" else "", rules, templates, frames)


class Writer:
    """Writes one text by a grammar: a rule's name in braces stands for one of its alternatives.

    ``{town}`` is another town each time; ``{TOWN}`` is chosen once for each text.
    """

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


Copier: TypeAlias = Callable[[random.Random, Language, Story], Story]


def same(rng: random.Random, language: Language, story: Story) -> Story:
    """Return the story itself."""
    return story


def edited(rng: random.Random, language: Language, story: Story) -> Story:
    """Replace, delete or follow by another 1% to 5% of the words or characters."""
    units = language.units(language.body(story))
    bare = [unit.rstrip() for unit in units]
    edits = max(1, round(rng.uniform(0.01, 0.05) * len(units)))
    for place in rng.sample(range(len(units)), edits):
        own, other = bare[place], rng.choice(bare)
        space = units[place].removeprefix(own)
        units[place] = rng.choice((other, "", own + language.gap + other)) + space
    return _with_body(story, "".join(units).strip())


def truncated(rng: random.Random, language: Language, story: Story) -> Story:
    """Keep the first 50% to 95%."""
    units = language.units(language.body(story))
    kept = units[: int(rng.uniform(0.5, 0.95) * len(units))]
    return _with_body(story, "".join(kept).rstrip() + "…")


def reordered(rng: random.Random, language: Language, story: Story) -> Story:
    """Put the sentences, or the paragraphs, in another order."""
    paragraphs = list(story.paragraphs)
    if rng.random() < 0.5:
        return replace(story, paragraphs=tuple(reversed(paragraphs)))
    sentences = [sentence for paragraph in paragraphs for sentence in paragraph]
    return replace(story, paragraphs=(tuple(rng.sample(sentences, len(sentences))),))


def variant(rng: random.Random, language: Language, story: Story) -> Story:
    """Write the same characters in other widths, or all letters as capitals."""
    change = str.upper if language.gap and rng.random() < 0.5 else _in_other_widths
    paragraphs = tuple(tuple(map(change, paragraph)) for paragraph in story.paragraphs)
    return Story(change(story.title), paragraphs)


# The functions by the kinds of copies that they make.
COPIERS: dict[str, Copier] = {
    "copy": same,
    "variant": variant,
    "edited": edited,
    "reordered": reordered,
    "truncated": truncated,
}


def _with_body(story: Story, body: str) -> Story:
    return replace(story, paragraphs=tuple((paragraph,) for paragraph in body.split("\n\n")))


def _in_other_widths(text: str) -> str:
    return text.translate(_OTHER_WIDTHS)


def _other_widths() -> dict[int, str]:
    """Return a table for `str.translate` that swaps the widths of ASCII, punctuation and katakana."""
    full = {code: chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
    half = {ord(wide): chr(code) for code, wide in full.items()}
    # In half width, the voice marks of kana are characters of their own.
    kana = {unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0xFF61, 0xFFA0)}
    for code in range(0x3001, 0x3100):
        parts = unicodedata.normalize("NFD", chr(code))
        if all(part in kana for part in parts):
            half[code] = "".join(kana[part] for part in parts)
    return {**full, **half, 0x20: "\u3000"}


_OTHER_WIDTHS = _other_widths()
