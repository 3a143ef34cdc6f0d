"""Texts of one template, filled in: those of `make_corpus`."""

from __future__ import annotations

import random

from examples.corpus import Writer, language


def filled(code: str, template: int, count: int, seed: int = 1) -> list[str]:
    """Return texts that differ in the names and numbers of one of a language's four templates."""
    own, chosen = language(code), random.Random(f"{code} {template} {seed}")
    stories = [Writer(own, chosen).from_template(own.templates[template]) for _ in range(count)]
    return [f"{story.title}\n{own.body(story)}" for story in stories]
