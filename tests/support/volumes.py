"""Records in which a number decides: volumes of one series, and an edited copy of the first."""

from __future__ import annotations

import re
from typing import Final

from tests.support.corpus import corpus, edited

_WORDS: Final = re.sub(r"\d+", "some", corpus(1)[0]["body"])


def volume(number: int, year: int, seed: int | None = None) -> str:
    """A volume of the series; with a seed, a word of it is another one."""
    text = _WORDS if seed is None else edited({"body": _WORDS}, 1, seed=seed)["body"]
    return f"Volume {number}. {text} Printed in {year}."


# The second volume has no number of the first; the copy has both.
TEXTS: Final = {"first": volume(17, 2019), "second": volume(18, 2020), "copy": volume(17, 2019, seed=1)}
