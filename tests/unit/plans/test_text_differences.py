""""""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from es_simhash.plans.text_differences import Piece, TextPart, aligned, difference, excerpt, marked_changes, rows, units
from es_simhash.scheme.scheme import Scheme
from es_simhash.text.normalise import Normalisation
from tests.support.texts import any_text

SCHEME = Scheme()


def parts(a: str, b: str, scheme: Scheme = SCHEME) -> list[tuple[str, str, str]]:
    return [(part.kind, part.a, part.b) for part in difference(scheme, (a, b))]


def test_words_that_differ_are_shown_whole() -> None:
    assert parts("the fox jumps, twice", "the fox jumped, twice!") == [
        ("equal", "the fox ", "the fox "),
        ("changed", "jumps", "jumped"),
        ("equal", ", twice", ", twice"),
        ("changed", "", "!"),
    ]


def test_chinese_and_japanese_differ_by_characters() -> None:
    assert parts("两篇文章只改动了几个字", "两篇文章改动了三个字") == [
        ("equal", "两篇文章", "两篇文章"),
        ("changed", "只", ""),
        ("equal", "改动了", "改动了"),
        ("changed", "几", "三"),
        ("equal", "个字", "个字"),
    ]
    assert parts("これはカタカナです", "これはヒラガナです")[1] == ("changed", "カタカナ", "ヒラガナ")


def test_what_the_scheme_folds_is_not_a_difference() -> None:
    a, b = " The ＡＢＣ  Straße\nends ", "the abc strasse ends"
    assert parts(a, b) == [("equal", a.strip(), b)]
    kept = replace(SCHEME, normalisation=Normalisation(casefold=False))
    assert [part for part in parts("The end", "the end", kept) if part[0] == "changed"] == [("changed", "The", "the")]


def test_the_markup_of_html_is_not_a_difference() -> None:
    scheme = Scheme(html=True)
    assert [kind for kind, *_ in parts("<p>one <b>two</b></p>", "<div>one two</div>", scheme)] == ["equal"]


@settings(max_examples=200)
@given(a=any_text(), b=any_text(), insert=any_text(5))
def test_joined_parts_are_the_texts(a: str, b: str, insert: str) -> None:
    for first, second in ((a, b), (a, insert + a), (a + b, a + insert + b)):
        found = difference(SCHEME, (first, second))
        assert "".join(part.a for part in found) == first.strip()
        assert "".join(part.b for part in found) == second.strip()
        assert all(one.kind != other.kind for one, other in pairwise(found))
        normalised = SCHEME.normalisation
        for part in found:
            if part.kind == "equal":
                same = [normalised(unit) or " " for unit in units(part.a)]
                assert same == [normalised(unit) or " " for unit in units(part.b)]


@given(text=any_text())
def test_a_text_has_no_difference_from_itself(text: str) -> None:
    assert {part.kind for part in difference(SCHEME, (text, text))} <= {"equal"}


@given(text=any_text())
def test_joined_units_are_the_text(text: str) -> None:
    assert "".join(units(text)) == text


def test_a_word_shared_by_unrelated_texts_is_part_of_a_change() -> None:
    a = "several sentences concerning weather and politics yesterday"
    b = "completely different matters regarding cooking and gardening tomorrow"
    assert [kind for kind, *_ in parts(a, b)] == ["changed"]


def test_a_part_too_long_to_align_is_reported_as_cut() -> None:
    a = "same start " + "".join(f"a{i} " for i in range(9000)) + "same end"
    b = "same start " + "".join(f"b{i} " for i in range(2000)) + "same end"
    found = difference(SCHEME, (a, b))
    assert [part.kind for part in found] == ["equal", "changed", "cut", "equal"]
    assert "".join(part.a for part in found) == a
    assert "".join(part.b for part in found) == b
    assert found[2].a.endswith("a8999")


def test_a_common_beginning_and_end_are_never_cut() -> None:
    long = "some words " * 20_000
    assert parts(f"{long}one {long}", f"{long}two {long}")[1] == ("changed", "one", "two")


E1 = TextPart("equal", "a" * 100, "A" * 100)
C1 = TextPart("changed", "x", "y")


@pytest.mark.parametrize(
    ("given_parts", "lengths", "skipped"),
    [
        ([C1], [[1]], [0]),
        ([E1], [[20]], [0, 80]),
        ([C1, E1, C1], [[1, 10], [10, 1]], [0, 80]),
        ([E1, C1], [[10, 1]], [90]),
        ([C1, E1], [[1, 10]], [0, 90]),
        ([C1, TextPart("equal", "b" * 20, "b" * 20), C1], [[1, 20, 1]], [0]),
        ([], [], []),
    ],
)
def test_rows_leave_out_the_middle_of_long_equal_parts(
    given_parts: list[TextPart], lengths: list[list[int]], skipped: list[int]
) -> None:
    found = rows(given_parts, 10)
    assert [[len(part.a) for part in row.parts] for row in found if row.parts] == lengths
    assert [row.skipped for row in found] == skipped


@given(lengths=st.lists(st.integers(1, 60), max_size=6), starts_equal=st.booleans())
def test_rows_show_or_count_every_character(lengths: list[int], starts_equal: bool) -> None:
    made = [
        TextPart("equal", "e" * n, "E" * n) if (i + starts_equal) % 2 else TextPart("changed", "x" * n, "")
        for i, n in enumerate(lengths)
    ]
    found = rows(made, 10)
    shown = sum(len(part.a) for row in found for part in row.parts)
    assert shown + sum(row.skipped for row in found) == sum(lengths)


items = st.lists(st.sampled_from("abcd"), max_size=14)


def length(a: list[str], b: list[str]) -> int:
    """The length of the longest common subsequence, by the table of the textbook."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(items, items)
def test_it_is_a_common_subsequence_and_none_is_longer(a: list[str], b: list[str]) -> None:
    pairs = aligned(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))
    assert len(pairs) == length(a, b)


@given(items)
def test_a_list_is_aligned_with_itself(a: list[str]) -> None:
    assert aligned(a, a) == [(i, i) for i in range(len(a))]


def test_long_lists_that_meet_the_worst_case_of_difflib_are_aligned() -> None:
    a = [each for i in range(1500) for each in (f"a{i}", " ")]
    b = [each for i in range(1500) for each in (f"b{i}", " ")]
    assert len(aligned(a, b)) == 1500


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
