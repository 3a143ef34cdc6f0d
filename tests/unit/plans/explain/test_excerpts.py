from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.plans.explain.text_differences import Piece, excerpt, marked_changes
from es_simhash.scheme.scheme import Scheme

SCHEME = Scheme()
FILLER = "The quick brown fox jumps over the lazy dog. " * 20


def test_a_short_text_is_shown_whole_and_a_long_one_cut() -> None:
    assert excerpt(SCHEME, " short \n", 100) == (Piece("both", "short"),)
    assert excerpt(SCHEME, "x" * 120, 100) == (Piece("both", "x" * 100), Piece("more", left_out=20))
    assert excerpt(SCHEME, " ", 100) == ()


def test_markup_that_a_scheme_removes_is_not_shown() -> None:
    scheme = Scheme(html=True)
    assert excerpt(scheme, "<p>one</p>", 100) == (Piece("both", "one"),)
    assert marked_changes(scheme, "<p>one</p>", "<b>one</b>") == ()


def test_a_change_is_shown_with_some_context() -> None:
    found = marked_changes(SCHEME, f"{FILLER}A tree stands. {FILLER}", f"{FILLER}A house stands. {FILLER}")
    assert [piece.kind for piece in found] == ["same", "both", "removed", "added", "both", "same"]
    assert (found[2].text, found[3].text) == ("tree", "house")
    assert found[1].text.endswith("dog. A ")
    assert len(found[1].text) == 60


def test_what_the_scheme_does_not_distinguish_is_not_a_change() -> None:
    assert marked_changes(SCHEME, "One Text, ", "one  text,") == ()


def test_long_changes_are_cut_and_what_is_left_out_is_counted() -> None:
    a, b = ("".join(f"{name}{i} " for i in range(500)) for name in "xy")
    found = marked_changes(SCHEME, a, b)
    assert [piece.kind for piece in found] == ["removed", "more", "added", "more"]
    assert found[0].text + "#" * found[1].left_out == a.strip()[:240] + "#" * (len(a.strip()) - 240)


def test_the_first_of_many_changes_are_shown_and_the_others_counted() -> None:
    a = "".join(f"{FILLER[:200]}{i} " for i in range(100))
    b = "".join(f"{FILLER[:200]}z{i} " for i in range(100))
    found = marked_changes(SCHEME, a, b)
    assert sum(len(piece.text) for piece in found) < 1500
    assert found[-1].kind == "more"
    assert 1000 < found[-1].left_out < len(a)
    assert len([piece for piece in found if piece.kind == "removed"]) > 3


@pytest.mark.parametrize("word", ["{} ", "{:0100} "])
def test_only_the_beginnings_of_very_long_texts_are_compared(word: str) -> None:
    """Be they too long in words, or in characters; what was compared with nothing is not a change."""
    long = "".join(word.format(i) for i in range(30_000))
    found = marked_changes(SCHEME, f"one {long}two", f"one and {long}three")
    assert [piece.text for piece in found if piece.kind in ("removed", "added")] == ["and "]
    assert found[-1].kind == "more"
    assert found[-1].left_out > 50_000


def test_long_texts_that_differ_from_begin_to_end_still_show_it() -> None:
    a, b = ("".join(f"{name}{i} " for i in range(40_000)) for name in "xy")
    found = marked_changes(SCHEME, a, b)
    assert [piece.kind for piece in found] == ["removed", "more", "added", "more", "more"]


texts = st.text(st.sampled_from("ab c.\n中文"), max_size=80)


@given(texts, texts)
def test_short_texts_are_shown_whole(a: str, b: str) -> None:
    found = marked_changes(SCHEME, a, b)
    if not found:
        assert SCHEME.normalisation(a).strip() == SCHEME.normalisation(b).strip()
        return
    member = "".join(piece.text for piece in found if piece.kind in ("both", "added"))
    skipped = sum(piece.left_out for piece in found)
    assert len(member) + skipped == len(b.strip())
