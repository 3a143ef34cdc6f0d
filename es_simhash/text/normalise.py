"""The definition of normalisation, for one text, by Unicode 13.0 on every Python.

1. ``nfkc``: Normalisation Form KC. 2. ``casefold``: full case folding, then, with ``nfkc``, Form KC again.
3. ``fold``: single characters that are taken for one (see `es_simhash.text.folding`). 4. ``whitespace``: each run of
white space becomes one space; none is left at the beginning and the end.

Code points that Unicode 13.0 (that of Python 3.10) has not assigned are left unchanged, since a newer Python would
change some of them. What is assigned is stable by Unicode's policies. White space is defined by `str.isspace`: the same
29 code points in every version.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from es_simhash.errors import SchemeError
from es_simhash.text.folding import Folding, checked_kinds, folded_characters


@dataclass(frozen=True)
class Normalisation:
    """The steps of normalisation; by default all of them but ``fold``, which names kinds of folding.

    >>> Normalisation(fold=("han", "kana"))("漢字、カナ") == "汉字、かな"
    True
    """

    nfkc: bool = True
    casefold: bool = True
    whitespace: bool = True
    fold: tuple[Folding, ...] = ()

    def __post_init__(self) -> None:
        for step in (self.nfkc, self.casefold, self.whitespace):
            if not isinstance(step, bool):
                raise SchemeError(f"A step of the normalisation cannot be {step!r}. Give True or False.")
        object.__setattr__(self, "fold", checked_kinds(self.fold))

    def __call__(self, text: str) -> str:
        """Normalise a text."""
        text = self.of_characters(text)
        return " ".join(text.split()) if self.whitespace else text

    def of_characters(self, text: str) -> str:
        """Take the first three steps, which look at characters and their combinations only."""
        if text.isascii():
            return text.lower() if self.casefold else text
        parts = _unassigned().split(text)
        parts[::2] = map(self._fold_assigned, parts[::2])
        text = "".join(parts)
        return text.translate(folded_characters(self.fold)) if self.fold else text

    def _fold_assigned(self, text: str) -> str:
        if self.nfkc:
            text = unicodedata.normalize("NFKC", text)
        if self.casefold:
            text = text.casefold()
            if self.nfkc:
                text = unicodedata.normalize("NFKC", text)
        return text


def is_unassigned(character: str) -> bool:
    """Return whether Unicode 13.0 has no such character."""
    return _unassigned().match(character) is not None


def unassigned_ranges() -> list[tuple[int, int]]:
    """Return the first and the last of each run of code points that Unicode 13.0 has not assigned."""
    ranges = files(__package__).joinpath("unassigned.txt").read_text(encoding="ascii").split()
    bounds = (line.split("-") for line in ranges)
    return [(int(first, 16), int(last, 16)) for first, last in bounds]


@cache
def _unassigned() -> re.Pattern[str]:
    return re.compile("([" + "".join(f"\\U{low:08X}-\\U{high:08X}" for low, high in unassigned_ranges()) + "]+)")
