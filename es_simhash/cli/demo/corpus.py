"""The corpus: distinct stories, copies of some of them, and texts that only look like copies."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from es_simhash.cli.demo.copies import COPIERS
from es_simhash.cli.demo.grammar import Language, Story, Writer, language

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


def make_corpus(size: int, seed: int = 1) -> list[CorpusDocument]:
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
