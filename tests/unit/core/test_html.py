"""What notebooks show holds any text, and is cut."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.html import Html, element, escape, in_notebook, table
from es_simhash._core.humanize import listed, shortened
from es_simhash._core.rows import Shown
from tests.support.html_reader import Reader


def test_text_is_escaped_and_markup_is_not() -> None:
    assert element("p", "a < b", element("b", "c")) == "<p>a &lt; b<b>c</b></p>"
    assert element("p", ["one", Html("<i>two</i>")]) == "<p>one<i>two</i></p>"
    assert element("br") == "<br>"


def test_attributes_are_escaped_and_may_be_left_out() -> None:
    made = element("p", class_='"x"', aria_hidden="true", hidden=True, title=None, id=False)
    assert made == '<p class="&quot;x&quot;" aria-hidden="true" hidden></p>'


@given(st.text())
def test_any_text_is_read_as_it_is_but_for_what_no_page_can_hold(text: str) -> None:
    read = Reader(element("p", text))
    assert [tag for tag, _ in read.elements] == ["p"]
    kept = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)
    assert read.text == kept
    escape(text).encode()


def test_a_table_names_its_rows_and_columns() -> None:
    read = Reader(table(["", "one"], [["row", "<1>"]]))
    assert [each.get("scope") for tag, each in read.elements if tag == "th"] == ["col", "col", "row"]
    assert read.text == "onerow<1>"


HOSTILE = [
    "<script>alert(1)</script>",
    "</td></table></div><img src=x onerror=alert(1)>",
    "\"' onmouseover=alert(1) x='",
    "<!--", "-->", "<![CDATA[", "]]>", "&lt;b&gt;", "&#x3c;script&#x3e;",
    "$\\href{javascript:alert(1)}{x}$", "\\(x^2\\)", "\u202e\u2066evil", "\x00\x1b[31m\x85", "\ud800",
    "<style>*{display:none}</style>", "</bdi></b></p>",
]  # fmt: skip
TAGS = {"div", "p", "b", "small", "table", "thead", "tbody", "tr", "th", "td", "bdi"}
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
any_texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60), st.lists(st.sampled_from(HOSTILE)).map("".join))


@given(any_texts, st.lists(st.tuples(any_texts, any_texts), max_size=12), any_texts)
def test_fuzz_any_text_is_shown_as_text(heading: str, rows: list[tuple[str, str]], note: str) -> None:
    read = Reader(in_notebook(Shown(heading, ["one", "two"], rows, len(rows), [note])))
    assert {tag for tag, _ in read.elements} <= TAGS
    assert {name for _, attributes in read.elements for name in attributes} <= {"class", "style"}
    shown = [heading]
    # Columns without anything are left out.
    kept = [place for place in (0, 1) if any(row[place] for row in rows[:10])]
    shown += [("one", "two")[place] for place in kept]
    shown += [shortened(row[place]) for row in rows[:10] for place in kept]
    if len(rows) > 10:
        shown.append(f"… and {len(rows) - 10} more")
    assert read.text == FORBIDDEN.sub("\ufffd", "".join([*shown, note]))


def test_colours_are_those_of_the_notebook_and_formulas_are_not_set() -> None:
    made = in_notebook(Shown("heading", ["a"], [["x"]], 3, ["note"]))
    assert not re.search(r"colou?r|background|#[0-9a-f]{3}", made)
    assert 'class="tex2jax_ignore mathjax_ignore"' in made
    assert "… and 2 more" in made


def test_long_lists_and_texts_are_cut_with_a_count() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([f"{place}" for place in range(9)]) == "0, 1, 2, 3, 4 and 4 others"
    assert shortened("x" * 5000) == "x" * 200 + "… (5,000 characters)"
    many = in_notebook(Shown("", ["n"], ([str(place)] for place in range(10_000)), 10_000))
    assert len(many) < 2000
    assert "… and 9,990 more" in many
