"""Texts for property tests: any Unicode, and much of what makes normalisation and cutting hard."""

from __future__ import annotations

from hypothesis import strategies as st

# Kana with marks, jamo, ligatures, full-width forms, circled and unassigned characters, emoji, surrogate pairs.
AWKWARD = (
    "aA ßİ\t\n\u3000\x1f.'…ﬁ①Ａｶﾞか゛が\u0301\u0323ᄀ각각中。😀👩‍🚀𝐀𠀀\U0002f800\U00010400\u0378\U0001f8ff\uffff\x00"
)


def any_text(max_size: int = 40) -> st.SearchStrategy[str]:
    """Texts without lone surrogates."""
    characters = st.one_of(st.sampled_from(AWKWARD), st.characters(exclude_categories=["Cs"]))
    return st.text(characters, max_size=max_size)


def batches(max_size: int = 8) -> st.SearchStrategy[list[str]]:
    """Return lists of such texts."""
    return st.lists(any_text(), max_size=max_size)
