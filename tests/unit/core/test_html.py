from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.html import Html, element, escape, table
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
