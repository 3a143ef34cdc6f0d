"""Runs of characters by slicing strings (defined in `es_simhash.text.words`), and texts that have many kinds."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from tests.support.texts import AWKWARD

_DENSE = re.compile(
    "[\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001b000-\U0001b16f\u3105-\u312f"
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb]"
)
# The ends of all ranges, and their neighbours.
ENDS = "".join(chr(ord(end) + step) for end in _DENSE.pattern.strip("[]").replace("-", "") for step in (-1, 0, 1))


def runs_of(text: str, dense: int = 2) -> list[str]:
    """Return the run that begins at each character, or the whole text if none does."""
    sizes = (dense if _DENSE.match(character) else 5 for character in text)
    runs = [text[start : start + size] for start, size in enumerate(sizes) if start + size <= len(text)]
    return runs or [text] * bool(text)


def mixed_text(max_size: int = 30) -> st.SearchStrategy[str]:
    """Texts of dense and other characters."""
    return st.text(st.sampled_from("ab 漢字かな한" + AWKWARD + ENDS), max_size=max_size)
